"""How other tools write the inertia of a rigid body: by name, each way and back.

    find_convention("mujoco").from_phi(phi)    MujocoInertial(mass, pos, quat_wxyz, diaginertia)
    MujocoInertial(...).to_phi()               phi

Every order, sign and point that is not that of phi lives here and nowhere else. Nothing imports the
tools themselves; names are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.inertia.conventions.axes import PrincipalFrame as PrincipalFrame
    from identify.inertia.conventions.axes import principal_frame as principal_frame
    from identify.inertia.conventions.axes import rotation_from_rpy as rotation_from_rpy
    from identify.inertia.conventions.axes import rpy_from_rotation as rpy_from_rotation
    from identify.inertia.conventions.central import Axes as Axes
    from identify.inertia.conventions.central import MassProperties as MassProperties
    from identify.inertia.conventions.orders import SIX_ORDERS as SIX_ORDERS
    from identify.inertia.conventions.orders import matrix_from_six as matrix_from_six
    from identify.inertia.conventions.orders import (
        phi_from_spatial_matrix as phi_from_spatial_matrix,
    )
    from identify.inertia.conventions.orders import six_in_order as six_in_order
    from identify.inertia.conventions.orders import spatial_matrix as spatial_matrix
    from identify.inertia.conventions.registry import CONVENTIONS as CONVENTIONS
    from identify.inertia.conventions.registry import Convention as Convention
    from identify.inertia.conventions.registry import find_convention as find_convention
    from identify.inertia.conventions.simulators import (
        SMALLEST_FULL_INERTIA as SMALLEST_FULL_INERTIA,
    )
    from identify.inertia.conventions.simulators import SMALLEST_INERTIA as SMALLEST_INERTIA
    from identify.inertia.conventions.simulators import GazeboInertial as GazeboInertial
    from identify.inertia.conventions.simulators import MujocoInertial as MujocoInertial
    from identify.inertia.conventions.simulators import SdfInertial as SdfInertial
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "axes": (
                "PrincipalFrame",
                "principal_frame",
                "rotation_from_rpy",
                "rpy_from_rotation",
            ),
            "central": ("Axes", "MassProperties"),
            "orders": (
                "SIX_ORDERS",
                "matrix_from_six",
                "phi_from_spatial_matrix",
                "six_in_order",
                "spatial_matrix",
            ),
            "registry": ("CONVENTIONS", "Convention", "find_convention"),
            "simulators": (
                "SMALLEST_FULL_INERTIA",
                "SMALLEST_INERTIA",
                "GazeboInertial",
                "MujocoInertial",
                "SdfInertial",
            ),
        },
    )
