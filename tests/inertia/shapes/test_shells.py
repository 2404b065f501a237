"""Shells as the limit of thin walls, and what the shell of an ellipsoid is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import special

from identify.inertia import InertialParameters, in_frame
from identify.inertia.shapes import (
    Box,
    BoxShell,
    Capsule,
    CapsuleShell,
    Cone,
    ConeShell,
    Cylinder,
    CylinderShell,
    EllipsoidShell,
    Shape,
    Sphere,
    SphereShell,
)
from identify.spatial import Pose
from tests.close import assert_close, assert_same_body
from tests.inertia.shapes.parametric import TURN, Patch, patches_of, phi_of_patches

WALL = 1e-4


def cone_offset(radius: float, height: float, by: float) -> InertialParameters:
    """The cone whose sides and base lie `by` outside of another's: similar about its incentre."""
    inradius = radius * height / (radius + np.hypot(radius, height))
    k = 1.0 + by / inradius
    lifted = np.array([0.0, 0.0, (1.0 - k) * inradius])
    return in_frame(Cone(k * radius, k * height).body(density=1.0), Pose(np.eye(3), lifted))


def even(body: Shape | InertialParameters) -> np.ndarray:
    return (body.body(density=1.0) if isinstance(body, Shape) else body).phi


@pytest.mark.parametrize(
    ("shell", "outer", "inner"),
    [
        (
            BoxShell(0.5, 0.7, 1.1),
            Box(0.5 + WALL, 0.7 + WALL, 1.1 + WALL),
            Box(0.5 - WALL, 0.7 - WALL, 1.1 - WALL),
        ),
        (SphereShell(0.5), Sphere(0.5 + WALL / 2), Sphere(0.5 - WALL / 2)),
        (
            CylinderShell(0.5, 0.7),
            Cylinder(0.5 + WALL / 2, 0.7 + WALL),
            Cylinder(0.5 - WALL / 2, 0.7 - WALL),
        ),
        (CapsuleShell(0.5, 0.7), Capsule(0.5 + WALL / 2, 0.7), Capsule(0.5 - WALL / 2, 0.7)),
        (
            ConeShell(0.5, 0.7),
            cone_offset(0.5, 0.7, WALL / 2),
            cone_offset(0.5, 0.7, -WALL / 2),
        ),
    ],
    ids=["box", "sphere", "cylinder", "capsule", "cone"],
)
def test_a_shell_is_the_limit_of_a_thin_wall(shell, outer, inner):
    """A wall half outside and half inside differs from the shell by the square of its thickness."""
    wall = even(outer) - even(inner)
    assert_close(wall[0], WALL * shell.measure, 1e-6)
    assert_same_body(3.0 / wall[0] * wall, shell.body(mass=3.0), 1e-6)


@pytest.mark.parametrize("axes", [(1.0, 1.0, 1.0), (1.0, 2.0, 3.0), (0.4, 1.0, 1.0)])
def test_the_ellipsoids_shell_is_the_limit_of_a_wall_of_one_thickness(axes):
    a, b, c = axes
    surface = patches_of(EllipsoidShell(*axes))[0]

    def at(polar, turn, outwards):
        x, y, z = surface.map(polar, turn)
        n = np.array([x / a**2, y / b**2, z / c**2])
        return tuple(
            p + outwards * d / np.sqrt(n[0] ** 2 + n[1] ** 2 + n[2] ** 2)
            for p, d in zip((x, y, z), n, strict=True)
        )

    wall = Patch(at, ((0.0, np.pi), TURN, (-WALL / 2, WALL / 2)))
    phi = phi_of_patches([wall], 40)
    shell = EllipsoidShell(*axes)
    assert_same_body(3.0 / phi[0] * phi, shell.body(mass=3.0), 1e-6)
    assert_close(phi[0], WALL * shell.measure, 1e-6)


@given(st.floats(-6.0, 0.0), st.floats(-6.0, 0.0), st.permutations([0, 1, 2]))
def test_area_of_an_ellipsoid_is_carlsons_integral(second, third, order):
    """4π R_G(b²c², c²a², a²b²), DLMF 19.33.1, for thin ones too."""
    axes = np.array([1.0, 10.0**second, 10.0**third])[list(order)]
    squares = np.prod(axes**2) / axes**2
    expected = 4.0 * np.pi * special.elliprg(*squares)
    assert_close(EllipsoidShell(*axes).measure, expected, 3e-15)


@given(st.floats(-5.0, 0.0))
def test_mean_squares_of_spheroids_against_their_meridian(exponent):
    """Of a spheroid about z: one ordinary integral over the latitude."""
    a, c = 1.0, 10.0**exponent
    # t = sin(latitude) on a mesh that crowds at the rim, where a flat spheroid bends.
    s, w = np.polynomial.legendre.leggauss(400)
    strength = 14.0
    t = np.sinh(0.5 * strength * (s + 1.0)) / np.sinh(strength)
    w = w * 0.5 * strength * np.cosh(0.5 * strength * (s + 1.0)) / np.sinh(strength)
    element = w * np.sqrt(c**2 + (a**2 - c**2) * t**2)
    z2 = c**2 * (element @ t**2) / element.sum()
    x2 = a**2 * (element @ (1.0 - t**2)) / element.sum() / 2.0
    squares = np.diag(EllipsoidShell(a, a, c).covariance)
    assert_close(squares, [x2, x2, z2], 1e-12, scale=[x2, x2, z2])


@pytest.mark.parametrize("size", [1e-50, 1e-9, 1.0, 1e9, 1e50])
def test_the_ellipsoids_shell_has_no_scale(size):
    one, other = EllipsoidShell(1.0, 2.0, 3.0), EllipsoidShell(size, 2.0 * size, 3.0 * size)
    assert_close(other.measure, size**2 * one.measure, 1e-14)
    assert_close(other.covariance, size**2 * one.covariance, 1e-14)
