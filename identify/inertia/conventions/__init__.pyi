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
    ENTRY_ORDERS as ENTRY_ORDERS,
    entries_in_order as entries_in_order,
    matrix_from_entries as matrix_from_entries,
    phi_from_spatial_matrix as phi_from_spatial_matrix,
    spatial_matrix as spatial_matrix,
)
from identify.inertia.conventions.registry import (
    CONVENTIONS as CONVENTIONS,
    Convention as Convention,
    find_convention as find_convention,
)
from identify.inertia.conventions.regressor_orders import (
    REGRESSOR_ORDERS as REGRESSOR_ORDERS,
    ColumnOrder as ColumnOrder,
)
from identify.inertia.conventions.simulators import (
    MUJOCO_MIN_FULL_INERTIA as MUJOCO_MIN_FULL_INERTIA,
    MUJOCO_MIN_INERTIA as MUJOCO_MIN_INERTIA,
    GazeboInertial as GazeboInertial,
    MujocoInertial as MujocoInertial,
    SdfInertial as SdfInertial,
)
