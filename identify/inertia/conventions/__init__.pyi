from identify.inertia.conventions.axes import (
    PrincipalFrame as PrincipalFrame,
    principal_frame as principal_frame,
    rotation_from_rpy as rotation_from_rpy,
    rpy_from_rotation as rpy_from_rotation,
)
from identify.inertia.conventions.mass_properties import (
    Axes as Axes,
    MassProperties as MassProperties,
)
from identify.inertia.conventions.orders import (
    SIX_ORDERS as SIX_ORDERS,
    matrix_from_six as matrix_from_six,
    phi_from_spatial_matrix as phi_from_spatial_matrix,
    six_in_order as six_in_order,
    spatial_matrix as spatial_matrix,
)
from identify.inertia.conventions.registry import (
    CONVENTIONS as CONVENTIONS,
    Convention as Convention,
    find_convention as find_convention,
)
from identify.inertia.conventions.simulators import (
    MIN_FULL_INERTIA as MIN_FULL_INERTIA,
    MIN_INERTIA as MIN_INERTIA,
    GazeboInertial as GazeboInertial,
    MujocoInertial as MujocoInertial,
    SdfInertial as SdfInertial,
)
