"""How other tools write the inertia of a rigid body: by name, each way and back.

    find_convention("mujoco").from_phi(phi)    MujocoInertial(mass, pos, quat_wxyz, diaginertia)
    MujocoInertial(...).to_phi()               phi

Every order, sign and point that is not that of phi lives here and nowhere else. Nothing imports the
tools themselves.
"""

from identify.inertia.conventions.cad import CadMassProperties
from identify.inertia.conventions.central import Axes
from identify.inertia.conventions.dart import (
    DartInertia,
    dart_parameters,
    dart_spatial_tensor,
    phi_from_dart_parameters,
    phi_from_dart_spatial_tensor,
)
from identify.inertia.conventions.drake import (
    DrakeSpatialInertia,
    drake_matrix,
    phi_from_drake_matrix,
)
from identify.inertia.conventions.euler import rotation_from_rpy, rpy_from_rotation
from identify.inertia.conventions.featherstone import (
    featherstone_inertia,
    phi_from_featherstone_inertia,
)
from identify.inertia.conventions.gazebo import (
    GazeboInertial,
    GazeboMassMatrix3,
    gazebo_body_matrix,
    phi_from_gazebo_body_matrix,
)
from identify.inertia.conventions.mujoco import (
    SMALLEST_FULL_INERTIA,
    SMALLEST_INERTIA,
    MujocoFullInertial,
    MujocoInertial,
)
from identify.inertia.conventions.pinocchio import (
    PinocchioInertia,
    dynamic_parameters,
    phi_from_dynamic_parameters,
)
from identify.inertia.conventions.principal import PrincipalFrame, principal_frame
from identify.inertia.conventions.registry import CONVENTIONS, Convention, find_convention
from identify.inertia.conventions.rigeo import (
    phi_from_rigeo_matrix,
    phi_from_rigeo_vector,
    rigeo_matrix,
    rigeo_vector,
)
from identify.inertia.conventions.ros import RosInertia
from identify.inertia.conventions.sdf import SdfInertial
from identify.inertia.conventions.six_orders import (
    SIX_ORDERS,
    matrix_from_six,
    six_in_order,
)
from identify.inertia.conventions.spatial_matrix import (
    phi_from_spatial_matrix,
    spatial_matrix,
)
from identify.inertia.conventions.ten_orders import TEN_ORDERS, phi_from_ten, ten_from_phi
from identify.inertia.conventions.urdf import UrdfInertial
from identify.inertia.conventions.wensing import (
    phi_from_wensing_parameters,
    wensing_parameters,
)
from identify.inertia.matrices import swap_spatial_order

__all__ = [
    "CONVENTIONS",
    "SIX_ORDERS",
    "SMALLEST_FULL_INERTIA",
    "SMALLEST_INERTIA",
    "TEN_ORDERS",
    "Axes",
    "CadMassProperties",
    "Convention",
    "DartInertia",
    "DrakeSpatialInertia",
    "GazeboInertial",
    "GazeboMassMatrix3",
    "MujocoFullInertial",
    "MujocoInertial",
    "PinocchioInertia",
    "PrincipalFrame",
    "RosInertia",
    "SdfInertial",
    "UrdfInertial",
    "dart_parameters",
    "dart_spatial_tensor",
    "drake_matrix",
    "dynamic_parameters",
    "featherstone_inertia",
    "find_convention",
    "gazebo_body_matrix",
    "matrix_from_six",
    "phi_from_dart_parameters",
    "phi_from_dart_spatial_tensor",
    "phi_from_drake_matrix",
    "phi_from_dynamic_parameters",
    "phi_from_featherstone_inertia",
    "phi_from_gazebo_body_matrix",
    "phi_from_rigeo_matrix",
    "phi_from_rigeo_vector",
    "phi_from_spatial_matrix",
    "phi_from_ten",
    "phi_from_wensing_parameters",
    "principal_frame",
    "rigeo_matrix",
    "rigeo_vector",
    "rotation_from_rpy",
    "rpy_from_rotation",
    "six_in_order",
    "spatial_matrix",
    "swap_spatial_order",
    "ten_from_phi",
    "wensing_parameters",
]
