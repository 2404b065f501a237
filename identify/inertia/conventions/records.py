"""Records with the arguments, fields or attributes of a tool, each one layout of the same body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Phi, Vec3
from identify.errors import ModelError
from identify.inertia.conventions.axes import rotation_from_rpy, rpy_from_rotation
from identify.inertia.conventions.central import (
    Axes,
    InertialFrame,
    central_inertia,
    inertial_frame,
    require_mass,
)
from identify.inertia.conventions.orders import (
    Point,
    Products,
    matrix_from_six,
    signed,
    six_in_order,
)
from identify.inertia.conventions.sealing import Record, seal_phi
from identify.inertia.matrices import inertia_about_origin, phi_from_inertia, six_from_symmetric
from identify.spatial import Pose


class CentralRecord(Record):
    """Mass, centre of mass and the inertia about it in the body's axes, in this order.

    `SIX` is the order of the inertia's six entries where it is not a matrix.
    """

    __slots__ = ()
    SIX: ClassVar[str] = ""

    @classmethod
    def from_phi(cls, phi: ArrayLike) -> Self:
        """The record of ten parameters, shape (..., 10); a mass of zero raises `ModelError`."""
        mass, com, inertia = central_inertia(phi, cls.__name__)
        numbers = mass, com, six_in_order(inertia, cls.SIX) if cls.SIX else inertia
        return cls(*numbers)  # pyright: ignore[reportCallIssue]

    def to_phi(self) -> Phi:
        """Ten parameters about the origin of the body's frame, shape (..., 10)."""
        mass, com, inertia = (getattr(self, name) for name in self.SHAPES)
        return phi_from_inertia(
            mass, com, matrix_from_six(inertia, self.SIX) if self.SIX else inertia
        )


@dataclass(frozen=True, slots=True)
class PinocchioInertia(CentralRecord):
    """Arguments of `pinocchio.Inertia(mass, lever, inertia)`.

    Attributes:
        mass: [kg], shape (...).
        lever: centre of mass in the body's frame [m], shape (..., 3).
        inertia: about the centre of mass, in the body's axes [kg m²], shape (..., 3, 3).
    """

    SHAPES: ClassVar = {"mass": (), "lever": (3,), "inertia": (3, 3)}
    mass: Array
    lever: Vec3
    inertia: Mat33


@dataclass(frozen=True, slots=True)
class DartInertia(CentralRecord):
    """Arguments of DART's `Inertia(mass, com, momentOfInertia)`.

    Attributes:
        mass: [kg], shape (...).
        com: local centre of mass [m], shape (..., 3).
        moment: about the centre of mass, in the body's axes [kg m²], shape (..., 3, 3).
    """

    SHAPES: ClassVar = {"mass": (), "com": (3,), "moment": (3, 3)}
    mass: Array
    com: Vec3
    moment: Mat33


@dataclass(frozen=True, slots=True)
class RosInertia(CentralRecord):
    """The fields of `geometry_msgs/Inertia`, in axes of the frame the message is given in.

    The comments of the message name the point since 2026 (ros2/common_interfaces #313, in Humble
    and newer); those before left it open.

    Attributes:
        m: mass [kg], shape (...).
        com: centre of mass [m], shape (..., 3).
        inertia: ixx, ixy, ixz, iyy, iyz, izz about the centre of mass [kg m²], shape (..., 6).
    """

    SHAPES: ClassVar = {"m": (), "com": (3,), "inertia": (6,)}
    SIX: ClassVar[str] = "ros"
    m: Array
    com: Vec3
    inertia: Array


@dataclass(frozen=True, slots=True)
class DrakeSpatialInertia(Record):
    """Arguments of Drake's `SpatialInertia(mass, p_PScm_E, G_SP_E)`, P at the body's origin.

    The unit inertia is that of one kilogram, about P and **not** about the centre of mass.
    `UnitInertia` takes its six entries in the order `drake`; `MakeFromCentralInertia` takes the
    arguments of `PinocchioInertia` instead.

    Attributes:
        mass: [kg], shape (...).
        p_PScm_E: centre of mass from the body's origin [m], shape (..., 3).
        G_SP_E: unit inertia about the body's origin, I_BBo_B / m [m²], shape (..., 3, 3).
    """

    SHAPES: ClassVar = {"mass": (), "p_PScm_E": (3,), "G_SP_E": (3, 3)}
    mass: Array
    p_PScm_E: Vec3
    G_SP_E: Mat33

    @classmethod
    def from_phi(cls, phi: ArrayLike) -> Self:
        """Arguments of ten parameters; a mass of zero raises `ModelError`."""
        phi = seal_phi(phi)
        require_mass(phi, cls.__name__)
        mass = phi[..., 0]
        unit = inertia_about_origin(phi) / mass[..., None, None]
        return cls(mass, phi[..., 1:4] / mass[..., None], unit)

    def to_phi(self) -> Phi:
        """Ten parameters, shape (..., 10)."""
        mass = self.mass[..., None]
        six = mass * six_from_symmetric(self.G_SP_E)
        return np.concatenate((mass, mass * self.p_PScm_E, six), axis=-1)


@dataclass(frozen=True, slots=True)
class UrdfInertial(Record):
    """The numbers of URDF's `<inertial>`, which places a frame C at the centre of mass.

    Attributes:
        mass: [kg], shape (...).
        xyz: centre of mass in the link's frame [m], shape (..., 3).
        rpy: angles of C about the link's fixed axes [rad], R_LC = Rz(yaw) Ry(pitch) Rx(roll), shape
            (..., 3).
        inertia: ixx, ixy, ixz, iyy, iyz, izz about the centre of mass in C [kg m²], shape (..., 6).
    """

    SHAPES: ClassVar = {"mass": (), "xyz": (3,), "rpy": (3,), "inertia": (6,)}
    mass: Array
    xyz: Vec3
    rpy: Vec3
    inertia: Array

    @classmethod
    def from_phi(cls, phi: ArrayLike, axes: Axes = "body") -> Self:
        """The numbers of ten parameters about the link's origin.

        Args:
            phi: shape (..., 10).
            axes: of the inertia: the link's (rpy = 0), the principal ones, or a rotation R_LC,
                such as that of an `<origin>` that stays as it is.

        Raises:
            ModelError: a mass of zero.
        """
        mass, X_LC, inertia = inertial_frame(phi, "URDF inertial", axes)
        rpy = rpy_from_rotation(X_LC.rotation)
        return cls(mass, X_LC.position, rpy, six_in_order(inertia, "urdf"))

    def to_phi(self) -> Phi:
        """Ten parameters about the link's origin, shape (..., 10)."""
        X_LC = Pose(rotation_from_rpy(self.rpy), self.xyz)
        return InertialFrame(self.mass, X_LC, matrix_from_six(self.inertia, "urdf")).phi


@dataclass(frozen=True, slots=True)
class CadMassProperties(Record):
    """Mass properties as a CAD program prints them, in axes of the output coordinate system.

    SolidWorks prints `positive tensor notation` unless told otherwise, and the matrix twice: about
    the centre of mass (L) and about the origin (I). Units are the reader's to see to.

    Attributes:
        mass: [kg], shape (...).
        com: centre of mass [m], shape (..., 3).
        inertia: the matrix as it is printed [kg m²], shape (..., 3, 3).
        products: sign of its products of inertia.
        point: what it is about.
    """

    SHAPES: ClassVar = {"mass": (), "com": (3,), "inertia": (3, 3)}
    mass: Array
    com: Vec3
    inertia: Mat33
    products: Products = "positive"
    point: Point = "centre of mass"

    def __post_init__(self) -> None:
        Record.__post_init__(self)
        signed(self.inertia, self.products)
        if self.point not in ("centre of mass", "origin"):
            raise ModelError(f"point: expected 'centre of mass' or 'origin', got {self.point!r}")

    @classmethod
    def from_phi(
        cls, phi: ArrayLike, products: Products = "positive", point: Point = "centre of mass"
    ) -> Self:
        """What a CAD program prints of ten parameters; a mass of zero raises `ModelError`."""
        mass, com, inertia = central_inertia(phi, "CAD mass properties")
        if point == "origin":
            inertia = inertia_about_origin(seal_phi(phi))
        return cls(mass, com, signed(inertia, products), products, point)

    def to_phi(self) -> Phi:
        """Ten parameters about the origin of the coordinate system, shape (..., 10)."""
        inertia = signed(self.inertia, self.products)
        if self.point == "centre of mass":
            return phi_from_inertia(self.mass, self.com, inertia)
        mass = self.mass[..., None]
        return np.concatenate((mass, mass * self.com, six_from_symmetric(inertia)), axis=-1)
