"""The ten inertial parameters of a rigid body: matrices, changes of frame, consistency, shapes."""

from identify.inertia.added_mass import (
    AddedMassWarning,
    added_mass_about_origin,
    added_mass_about_origin_by_blocks,
    added_mass_in_frame,
    checked_added_mass,
    inertia_with_added_mass,
)
from identify.inertia.composition import (
    Difference,
    ImpossibleDifference,
    composite,
    difference,
    subtract,
)
from identify.inertia.consistency import is_consistent, smallest_pseudo_eigenvalue
from identify.inertia.default_body import default_body
from identify.inertia.frames import (
    congruence_map,
    frame_map,
    in_frame,
    in_frame_by_coadjoint,
    in_frame_by_sandwich,
    phi_from_spatial_inertia,
    rotate_frame,
    shift_origin,
    spatial_inertia_in_frame,
)
from identify.inertia.kinds import BodyKind, body_kinds
from identify.inertia.log_cholesky import (
    LOG_CHOLESKY,
    log_cholesky_from_phi,
    log_cholesky_jacobian,
    phi_from_log_cholesky,
)
from identify.inertia.matrices import (
    inertia_about_com,
    inertia_about_origin,
    phi_from_inertia,
    spatial_inertia,
    swap_spatial_order,
)
from identify.inertia.momentum import kinetic_energy, momentum_in_frame, spatial_momentum
from identify.inertia.nearest import NearestBody, nearest_consistent
from identify.inertia.parameters import PHI, UNITS, InertialParameters
from identify.inertia.printed import half_unit
from identify.inertia.pseudo_inertia import (
    PSEUDO_INERTIA_BASIS,
    phi_from_pseudo_inertia,
    pseudo_inertia,
)
from identify.inertia.second_moment import (
    inertia_from_second_moment,
    move_inertia,
    move_second_moment,
    second_moment_about_com,
    second_moment_from_inertia,
)
from identify.inertia.verdict import Verdict, Violation, check

__all__ = [
    "LOG_CHOLESKY",
    "PHI",
    "PSEUDO_INERTIA_BASIS",
    "UNITS",
    "AddedMassWarning",
    "BodyKind",
    "Difference",
    "ImpossibleDifference",
    "InertialParameters",
    "NearestBody",
    "Verdict",
    "Violation",
    "added_mass_about_origin",
    "added_mass_about_origin_by_blocks",
    "added_mass_in_frame",
    "body_kinds",
    "check",
    "checked_added_mass",
    "composite",
    "congruence_map",
    "default_body",
    "difference",
    "frame_map",
    "half_unit",
    "in_frame",
    "in_frame_by_coadjoint",
    "in_frame_by_sandwich",
    "inertia_about_com",
    "inertia_about_origin",
    "inertia_from_second_moment",
    "inertia_with_added_mass",
    "is_consistent",
    "kinetic_energy",
    "log_cholesky_from_phi",
    "log_cholesky_jacobian",
    "momentum_in_frame",
    "move_inertia",
    "move_second_moment",
    "nearest_consistent",
    "phi_from_inertia",
    "phi_from_log_cholesky",
    "phi_from_pseudo_inertia",
    "phi_from_spatial_inertia",
    "pseudo_inertia",
    "rotate_frame",
    "second_moment_about_com",
    "second_moment_from_inertia",
    "shift_origin",
    "smallest_pseudo_eigenvalue",
    "spatial_inertia",
    "spatial_inertia_in_frame",
    "spatial_momentum",
    "subtract",
    "swap_spatial_order",
]
