"""The ten inertial parameters of a rigid body: matrices, changes of frame, consistency."""

from identify.inertia.consistency import is_consistent, smallest_pseudo_eigenvalue
from identify.inertia.default_body import default_body
from identify.inertia.frames import in_frame
from identify.inertia.matrices import (
    inertia_about_com,
    inertia_about_origin,
    phi_from_inertia,
    spatial_inertia,
)
from identify.inertia.parameters import PHI, UNITS, InertialParameters
from identify.inertia.pseudo_inertia import (
    PSEUDO_INERTIA_BASIS,
    phi_from_pseudo_inertia,
    pseudo_inertia,
)

__all__ = [
    "PHI",
    "PSEUDO_INERTIA_BASIS",
    "UNITS",
    "InertialParameters",
    "default_body",
    "in_frame",
    "inertia_about_com",
    "inertia_about_origin",
    "is_consistent",
    "phi_from_inertia",
    "phi_from_pseudo_inertia",
    "pseudo_inertia",
    "smallest_pseudo_eigenvalue",
    "spatial_inertia",
]
