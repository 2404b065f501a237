"""The ten inertial parameters of a rigid body: matrices, changes of frame, consistency, shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.inertia.added_mass import AddedMassWarning as AddedMassWarning
    from identify.inertia.added_mass import added_mass_about_origin as added_mass_about_origin
    from identify.inertia.added_mass import (
        added_mass_about_origin_by_blocks as added_mass_about_origin_by_blocks,
    )
    from identify.inertia.added_mass import added_mass_in_frame as added_mass_in_frame
    from identify.inertia.added_mass import checked_added_mass as checked_added_mass
    from identify.inertia.composition import Difference as Difference
    from identify.inertia.composition import ImpossibleDifference as ImpossibleDifference
    from identify.inertia.composition import composite as composite
    from identify.inertia.composition import difference as difference
    from identify.inertia.composition import subtract as subtract
    from identify.inertia.consistency import BodyKind as BodyKind
    from identify.inertia.consistency import body_kinds as body_kinds
    from identify.inertia.consistency import is_consistent as is_consistent
    from identify.inertia.consistency import (
        smallest_pseudo_eigenvalue as smallest_pseudo_eigenvalue,
    )
    from identify.inertia.frames import congruence_map as congruence_map
    from identify.inertia.frames import frame_map as frame_map
    from identify.inertia.frames import in_frame as in_frame
    from identify.inertia.frames import spatial_inertia_in_frame as spatial_inertia_in_frame
    from identify.inertia.log_cholesky import LOG_CHOLESKY as LOG_CHOLESKY
    from identify.inertia.log_cholesky import log_cholesky_from_phi as log_cholesky_from_phi
    from identify.inertia.log_cholesky import log_cholesky_jacobian as log_cholesky_jacobian
    from identify.inertia.log_cholesky import phi_from_log_cholesky as phi_from_log_cholesky
    from identify.inertia.matrices import PSEUDO_INERTIA_BASIS as PSEUDO_INERTIA_BASIS
    from identify.inertia.matrices import inertia_about_com as inertia_about_com
    from identify.inertia.matrices import inertia_about_origin as inertia_about_origin
    from identify.inertia.matrices import (
        inertia_from_second_moment as inertia_from_second_moment,
    )
    from identify.inertia.matrices import move_inertia as move_inertia
    from identify.inertia.matrices import move_second_moment as move_second_moment
    from identify.inertia.matrices import phi_from_inertia as phi_from_inertia
    from identify.inertia.matrices import phi_from_pseudo_inertia as phi_from_pseudo_inertia
    from identify.inertia.matrices import pseudo_inertia as pseudo_inertia
    from identify.inertia.matrices import second_moment_about_com as second_moment_about_com
    from identify.inertia.matrices import (
        second_moment_from_inertia as second_moment_from_inertia,
    )
    from identify.inertia.matrices import spatial_inertia as spatial_inertia
    from identify.inertia.matrices import swap_spatial_order as swap_spatial_order
    from identify.inertia.momentum import kinetic_energy as kinetic_energy
    from identify.inertia.momentum import momentum_in_frame as momentum_in_frame
    from identify.inertia.momentum import spatial_momentum as spatial_momentum
    from identify.inertia.nearest import NearestBody as NearestBody
    from identify.inertia.nearest import nearest_consistent as nearest_consistent
    from identify.inertia.parameters import PHI as PHI
    from identify.inertia.parameters import UNITS as UNITS
    from identify.inertia.parameters import InertialParameters as InertialParameters
    from identify.inertia.parameters import default_body as default_body
    from identify.inertia.verdict import Verdict as Verdict
    from identify.inertia.verdict import Violation as Violation
    from identify.inertia.verdict import check as check
    from identify.inertia.verdict import half_unit as half_unit
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "added_mass": (
                "AddedMassWarning",
                "added_mass_about_origin",
                "added_mass_about_origin_by_blocks",
                "added_mass_in_frame",
                "checked_added_mass",
            ),
            "composition": (
                "Difference",
                "ImpossibleDifference",
                "composite",
                "difference",
                "subtract",
            ),
            "consistency": (
                "BodyKind",
                "body_kinds",
                "is_consistent",
                "smallest_pseudo_eigenvalue",
            ),
            "frames": (
                "congruence_map",
                "frame_map",
                "in_frame",
                "spatial_inertia_in_frame",
            ),
            "log_cholesky": (
                "LOG_CHOLESKY",
                "log_cholesky_from_phi",
                "log_cholesky_jacobian",
                "phi_from_log_cholesky",
            ),
            "matrices": (
                "PSEUDO_INERTIA_BASIS",
                "inertia_about_com",
                "inertia_about_origin",
                "inertia_from_second_moment",
                "move_inertia",
                "move_second_moment",
                "phi_from_inertia",
                "phi_from_pseudo_inertia",
                "pseudo_inertia",
                "second_moment_about_com",
                "second_moment_from_inertia",
                "spatial_inertia",
                "swap_spatial_order",
            ),
            "momentum": ("kinetic_energy", "momentum_in_frame", "spatial_momentum"),
            "nearest": ("NearestBody", "nearest_consistent"),
            "parameters": ("PHI", "UNITS", "InertialParameters", "default_body"),
            "verdict": ("Verdict", "Violation", "check", "half_unit"),
        },
    )
