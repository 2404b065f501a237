"""Shapes together, and less their holes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from identify.errors import ModelError
from identify.inertia import is_consistent
from identify.inertia.shapes import (
    Box,
    Compound,
    Cylinder,
    Disc,
    Placed,
    Plate,
    Points,
    Rod,
    Sphere,
    SphereShell,
)
from identify.spatial import Pose
from tests.close import assert_close, assert_same_body
from tests.inertia.shapes.drawing import shapes
from tests.strategies import poses


def at(x: float, y: float = 0.0, z: float = 0.0) -> Pose:
    return Pose(np.eye(3), np.array([x, y, z]))


@given(st.floats(0.01, 0.99), poses())
def test_a_box_less_its_one_part_is_the_other(share, X):
    whole = Placed(Box(2.0, 1.0, 0.5), X)
    left = Placed(Box(2.0 * share, 1.0, 0.5), X @ at(share - 1.0))
    right = Placed(Box(2.0 * (1.0 - share), 1.0, 0.5), X @ at(share))
    rest = Compound([whole], [left])
    assert_same_body(rest.phi(density=700.0), right.phi(density=700.0), 1e-11)
    together = Compound([left, right])
    assert_same_body(together.phi(mass=3.0), whole.phi(mass=3.0), 1e-12)
    assert is_consistent(rest.phi(mass=1.0))


@given(shapes(("box", "cylinder", "ellipsoid", "capsule", "cone")), st.floats(0.1, 0.9), poses())
def test_holes_are_bodies_of_negative_mass(shape, share, X):
    hole = type(shape)(*(share * getattr(shape, name) for name in shape.__dataclass_fields__))
    hollow = Placed(Compound([shape], [hole]), X)
    expected = Placed(shape, X).phi(density=10.0) - Placed(hole, X).phi(density=10.0)
    assert_same_body(hollow.phi(density=10.0), expected, 1e-10)
    assert_close(hollow.measure, shape.measure * (1.0 - share**3), 1e-12)


def test_a_thick_tube_and_a_hollow_ball():
    r, R, length = 0.3, 0.5, 2.0
    tube = Compound([Cylinder(R, length)], [Cylinder(r, length)])
    across = (3 * (r * r + R * R) + length**2) / 12
    phi = tube.phi(mass=1.0)
    assert_close(phi[[4, 7, 9]], [across, across, (r * r + R * R) / 2], 1e-13)
    ball = Compound([Sphere(R)], [Sphere(r)]).phi(mass=1.0)
    assert_close(ball[[4, 7, 9]], np.full(3, 0.4 * (R**5 - r**5) / (R**3 - r**3)), 1e-13)


def test_plates_and_rods_are_compounds_of_their_own_kind():
    washer = Compound([Disc(0.5)], [Disc(0.3)])
    assert washer.extent == "area"
    assert_close(washer.phi(mass=1.0)[9], (0.5**2 + 0.3**2) / 2, 1e-14)
    corner = Compound(
        [
            Rod(2.0),
            Placed(Rod(2.0), Pose.from_quaternion([0, np.sqrt(0.5), 0, np.sqrt(0.5)], [1, 0, -1])),
        ]
    )
    assert_close(corner.measure, 4.0, 1e-15)
    assert_close(corner.centroid, [0.5, 0.0, -0.5], 1e-15)


def test_bodies_of_two_densities_are_sums():
    rod = Placed(Cylinder(0.05, 1.0), at(0.0, 0.0, 0.5))
    phi = Box(0.2, 0.2, 0.2).phi(density=7850.0) + rod.phi(mass=0.3)
    assert_close(phi[0], 7850.0 * 0.008 + 0.3, 1e-15)
    assert_close(phi[3], 0.15, 1e-13)
    assert is_consistent(phi)


def test_a_plate_with_four_bores():
    bores = [Placed(Cylinder(0.01, 0.02), at(x, y)) for x in (-0.08, 0.08) for y in (-0.03, 0.03)]
    plate = Compound([Box(0.2, 0.1, 0.02)], bores)
    volume = 0.2 * 0.1 * 0.02 - 4 * np.pi * 0.01**2 * 0.02
    assert_close(plate.measure, volume, 1e-14)
    assert_close(plate.centroid, np.zeros(3), 1e-15, scale=0.2)
    bore = np.pi * 0.01**2 * 0.02
    steiner = 0.08**2 + 0.03**2 + 0.01**2 / 2
    spin = 0.2 * 0.1 * 0.02 * (0.2**2 + 0.1**2) / 12 - 4 * bore * steiner
    assert_close(plate.phi(density=1.0)[9], spin, 1e-13)
    # Its hull and ellipsoid are those of the box: bores do not count.
    assert_close(plate.bounding_ellipsoid().Q, Box(0.2, 0.1, 0.02).bounding_ellipsoid().Q, 0.0)
    assert len(plate.hull().vertices) == 8


def test_points_in_a_compound_bring_their_own_masses():
    first = Points(np.array([[1.0, 0, 0], [-1, 0, 0]]), np.array([1.0, 2.0]))
    second = Points(np.array([[0.0, 1, 0]]), np.array([3.0]))
    both = Compound([first, second])
    assert_same_body(both.phi(), first.phi() + second.phi(), 1e-14)
    assert_same_body(Compound([first, second], [second]).phi(), first.phi(), 1e-13)


@pytest.mark.parametrize(
    ("hole", "message"),
    [
        (Placed(Cylinder(0.1, 0.1), at(0.5)), r"hole 0 \(Cylinder\) sticks out .* by 0.1 m"),
        (Cylinder(0.1, 1.001), r"hole 0 \(Cylinder\) sticks out .* by 0.0005 m"),
        (Placed(Sphere(0.1), at(5.0)), "would take away what is not there"),
        (Box(1.0, 1.0, 1.0), "so that nothing remains"),
    ],
)
def test_a_wrong_hole_is_noticed(hole, message):
    with pytest.raises(ModelError, match=message):
        Compound([Box(1.0, 1.0, 1.0)], [hole])


def test_a_hole_outside_of_a_round_solid_is_noticed():
    solid = Placed(Cylinder(0.5, 1.0), Pose.from_quaternion([0.3, 0.4, 0.5, 0.6], [1, 2, 3]))
    inside = Placed(Cylinder(0.5, 0.5), solid.X_BA)
    Compound([solid], [inside])
    with pytest.raises(ModelError, match="sticks out"):
        Compound([solid], [Placed(Cylinder(0.5001, 0.5), solid.X_BA)])


def test_holes_that_overlap_until_nothing_can_be_left_are_noticed():
    ends = [Placed(Box(1.0, 1.0, 0.24), at(0.0, 0.0, z)) for z in (-0.37, 0.37)]
    Compound([Box(1.0, 1.0, 1.0)], ends)
    with pytest.raises(ModelError, match=r"no body is what remains: .* holes overlap each other"):
        Compound([Box(1.0, 1.0, 1.0)], ends + ends)
    with pytest.raises(ModelError, match=r"take away 1.44 of a volume of 1 \(SI\)"):
        Compound([Box(1.0, 1.0, 1.0)], ends * 3)


def test_parts_of_different_kinds_are_refused():
    with pytest.raises(ModelError, match=r"got \['area', 'volume'\]; add the ten parameters"):
        Compound([Sphere(1.0)], [SphereShell(0.5)])
    with pytest.raises(ModelError, match="expected at least one solid"):
        Compound([])


def test_a_placed_compound_of_compounds():
    inner = Compound([Plate(1.0, 2.0)], [Plate(0.5, 0.5)])
    outer = Compound([inner, Placed(inner, at(3.0))])
    phi = inner.phi(density=2.0)
    assert_same_body(outer.phi(density=2.0), phi + Placed(inner, at(3.0)).phi(density=2.0), 1e-14)
    assert len(outer.hull().vertices) == 4
