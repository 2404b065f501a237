from identify.inertia import shapes as shapes
from identify.inertia.added_mass import (
    added_mass_about_origin as added_mass_about_origin,
    added_mass_in_frame as added_mass_in_frame,
    checked_added_mass as checked_added_mass,
)
from identify.inertia.base_parameters import (
    BaseColumns as BaseColumns,
    base_columns as base_columns,
)
from identify.inertia.composition import (
    BodyDifference as BodyDifference,
    ImpossibleDifference as ImpossibleDifference,
    composite as composite,
    subtract as subtract,
    subtract_estimates as subtract_estimates,
)
from identify.inertia.consistency import (
    BodyKind as BodyKind,
    body_kinds as body_kinds,
    is_consistent as is_consistent,
    smallest_pseudo_eigenvalue as smallest_pseudo_eigenvalue,
)
from identify.inertia.frames import (
    congruence_map as congruence_map,
    frame_map as frame_map,
    spatial_inertia_in_frame as spatial_inertia_in_frame,
)
from identify.inertia.matrices import (
    PSEUDO_INERTIA_BASIS as PSEUDO_INERTIA_BASIS,
    inertia_about_com as inertia_about_com,
    inertia_about_origin as inertia_about_origin,
    inertia_from_second_moment as inertia_from_second_moment,
    kinetic_energy as kinetic_energy,
    momentum_in_frame as momentum_in_frame,
    move_inertia as move_inertia,
    move_second_moment as move_second_moment,
    phi_from_inertia as phi_from_inertia,
    phi_from_pseudo_inertia as phi_from_pseudo_inertia,
    pseudo_inertia as pseudo_inertia,
    second_moment_about_com as second_moment_about_com,
    second_moment_from_inertia as second_moment_from_inertia,
    spatial_inertia as spatial_inertia,
    spatial_momentum as spatial_momentum,
    swap_spatial_order as swap_spatial_order,
)
from identify.inertia.nearest import (
    NearestBody as NearestBody,
    nearest_consistent as nearest_consistent,
)
from identify.inertia.parameters import (
    PHI as PHI,
    UNITS as UNITS,
    InertialParameters as InertialParameters,
    default_body as default_body,
    in_frame as in_frame,
)
from identify.inertia.verdict import (
    BodyVerdict as BodyVerdict,
    Violation as Violation,
    check_consistency as check_consistency,
    half_last_digit as half_last_digit,
)
