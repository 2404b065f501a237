"""Moments of shapes from their parametrisation: Gauss points, Jacobian by complex steps."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from identify.inertia import phi_from_pseudo_inertia
from identify.inertia.shapes import (
    Box,
    BoxShell,
    Capsule,
    CapsuleShell,
    Cone,
    ConeShell,
    Cylinder,
    CylinderShell,
    Disc,
    Ellipsoid,
    EllipsoidShell,
    Plate,
    Rod,
    Shape,
    Sphere,
    SphereShell,
    Tube,
)

TURN = (0.0, 2.0 * np.pi)
_STEP = 1e-30


@dataclass(frozen=True)
class Patch:
    """A piece of a body: x = map(u), u in a box of one to three dimensions."""

    map: Callable[..., tuple]
    limits: tuple[tuple[float, float], ...]

    def points_and_weights(self, order: int) -> tuple[np.ndarray, np.ndarray]:
        """Points of the piece (n, 3) and their shares of its volume, area or length (n,)."""
        x, w = np.polynomial.legendre.leggauss(order)
        lower, upper = np.array(self.limits).T
        half = 0.5 * (upper - lower)
        u = lower + half * (1.0 + np.array(list(product(x, repeat=len(half)))))
        weights = np.prod(half) * np.array(list(product(w, repeat=len(half)))).prod(axis=1)
        columns = []
        for k in range(len(half)):
            stepped = u.astype(complex)
            stepped[:, k] += 1j * _STEP
            columns.append(self(stepped).imag / _STEP)
        jacobian = np.stack(columns, axis=-1)
        gram = np.swapaxes(jacobian, 1, 2) @ jacobian
        return self(u).real, weights * np.sqrt(np.linalg.det(gram))

    def __call__(self, u: np.ndarray) -> np.ndarray:
        coordinates = self.map(*u.T)
        return np.stack([c + 0.0 * u[:, 0] for c in coordinates], axis=-1)


def phi_of_patches(patches: list[Patch], order: int = 24) -> np.ndarray:
    """Ten parameters at density one."""
    Pi = np.zeros((4, 4))
    for patch in patches:
        points, weights = patch.points_and_weights(order)
        homogeneous = np.column_stack((points, np.ones(len(points))))
        Pi += (homogeneous * weights[:, None]).T @ homogeneous
    return phi_from_pseudo_inertia(Pi)


def patches_of(shape: Shape) -> list[Patch]:
    """The shape again, from its picture rather than from its moments."""
    return _PATCHES[type(shape)](shape)


def _box(s: Box) -> list[Patch]:
    sides = tuple((-0.5 * length, 0.5 * length) for length in (s.x, s.y, s.z))
    return [Patch(lambda x, y, z: (x, y, z), sides)]


def _box_shell(s: BoxShell) -> list[Patch]:
    X, Y, Z = ((-0.5 * length, 0.5 * length) for length in (s.x, s.y, s.z))
    patches = []
    for sign in (-0.5, 0.5):
        patches += [
            Patch(lambda y, z, c=sign * s.x: (c, y, z), (Y, Z)),
            Patch(lambda x, z, c=sign * s.y: (x, c, z), (X, Z)),
            Patch(lambda x, y, c=sign * s.z: (x, y, c), (X, Y)),
        ]
    return patches


def _ball(a: float, b: float, c: float) -> list[Patch]:
    def at(r, polar, turn):
        return (
            a * r * np.sin(polar) * np.cos(turn),
            b * r * np.sin(polar) * np.sin(turn),
            c * r * np.cos(polar),
        )

    return [Patch(at, ((0.0, 1.0), (0.0, np.pi), TURN))]


def _ball_shell(a: float, b: float, c: float) -> list[Patch]:
    solid = _ball(a, b, c)[0]
    return [Patch(lambda polar, turn: solid.map(1.0, polar, turn), solid.limits[1:])]


def _disc(radius: float, z: float) -> Patch:
    return Patch(lambda r, turn: (r * np.cos(turn), r * np.sin(turn), z), ((0.0, radius), TURN))


def _side(radius: float, length: float) -> Patch:
    return Patch(
        lambda z, turn: (radius * np.cos(turn), radius * np.sin(turn), z),
        ((-0.5 * length, 0.5 * length), TURN),
    )


def _cylinder(radius: float, length: float) -> Patch:
    return Patch(
        lambda r, turn, z: (r * np.cos(turn), r * np.sin(turn), z),
        ((0.0, radius), TURN, (-0.5 * length, 0.5 * length)),
    )


def _half_ball(radius: float, z: float, sign: float) -> Patch:
    def at(r, polar, turn):
        ring = r * np.sin(polar)
        return ring * np.cos(turn), ring * np.sin(turn), z + sign * r * np.cos(polar)

    return Patch(at, ((0.0, radius), (0.0, 0.5 * np.pi), TURN))


def _half_sphere(radius: float, z: float, sign: float) -> Patch:
    solid = _half_ball(radius, z, sign)
    return Patch(lambda polar, turn: solid.map(radius, polar, turn), solid.limits[1:])


def _cone(s: Cone) -> list[Patch]:
    def at(share, turn, z):
        r = share * s.radius * (1.0 - z / s.height)
        return r * np.cos(turn), r * np.sin(turn), z

    return [Patch(at, ((0.0, 1.0), TURN, (0.0, s.height)))]


def _cone_shell(s: ConeShell) -> list[Patch]:
    def at(z, turn):
        r = s.radius * (1.0 - z / s.height)
        return r * np.cos(turn), r * np.sin(turn), z

    return [Patch(at, ((0.0, s.height), TURN)), _disc(s.radius, 0.0)]


_PATCHES = {
    Box: _box,
    BoxShell: _box_shell,
    Ellipsoid: lambda s: _ball(s.a, s.b, s.c),
    EllipsoidShell: lambda s: _ball_shell(s.a, s.b, s.c),
    Sphere: lambda s: _ball(s.radius, s.radius, s.radius),
    SphereShell: lambda s: _ball_shell(s.radius, s.radius, s.radius),
    Cylinder: lambda s: [_cylinder(s.radius, s.length)],
    CylinderShell: lambda s: [
        _side(s.radius, s.length),
        _disc(s.radius, 0.5 * s.length),
        _disc(s.radius, -0.5 * s.length),
    ],
    Tube: lambda s: [_side(s.radius, s.length)],
    Capsule: lambda s: [
        _cylinder(s.radius, s.length),
        _half_ball(s.radius, 0.5 * s.length, 1.0),
        _half_ball(s.radius, -0.5 * s.length, -1.0),
    ],
    CapsuleShell: lambda s: [
        _side(s.radius, s.length),
        _half_sphere(s.radius, 0.5 * s.length, 1.0),
        _half_sphere(s.radius, -0.5 * s.length, -1.0),
    ],
    Cone: _cone,
    ConeShell: _cone_shell,
    Plate: lambda s: [
        Patch(lambda x, y: (x, y, 0.0), ((-0.5 * s.x, 0.5 * s.x), (-0.5 * s.y, 0.5 * s.y)))
    ],
    Disc: lambda s: [_disc(s.radius, 0.0)],
    Rod: lambda s: [Patch(lambda z: (0.0, 0.0, z), ((-0.5 * s.length, 0.5 * s.length),))],
}
