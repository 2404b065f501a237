"""ROS: the message `geometry_msgs/Inertia`.

Its inertia is about the centre of mass, in axes of the frame the message is given in. The comments
of the message say so since 2026 (ros2/common_interfaces #313, in Humble and newer); those before
left the point open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from numpy.typing import ArrayLike

from identify.arrays import Array, Phi, Vec3
from identify.inertia.conventions.central import central_inertia
from identify.inertia.conventions.sealing import seal_fields
from identify.inertia.conventions.six_orders import matrix_from_six, six_in_order
from identify.inertia.matrices import phi_from_inertia


@dataclass(frozen=True, slots=True)
class RosInertia:
    """The fields of `geometry_msgs/Inertia`.

    Attributes:
        m: mass [kg], shape (...).
        com: centre of mass [m], shape (..., 3).
        inertia: ixx, ixy, ixz, iyy, iyz, izz about the centre of mass [kg m²], shape (..., 6).
    """

    m: Array
    com: Vec3
    inertia: Array

    def __post_init__(self) -> None:
        seal_fields(self, {"m": (), "com": (3,), "inertia": (6,)})

    @classmethod
    def from_phi(cls, phi: ArrayLike) -> Self:
        """The fields of ten parameters; a mass of zero raises `ModelError`."""
        mass, com, inertia = central_inertia(phi, "geometry_msgs/Inertia")
        return cls(mass, com, six_in_order(inertia, "ros"))

    def to_phi(self) -> Phi:
        """Ten parameters about the origin of the message's frame, shape (..., 10)."""
        return phi_from_inertia(self.m, self.com, matrix_from_six(self.inertia, "ros"))
