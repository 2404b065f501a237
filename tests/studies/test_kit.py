"""Bodies of the kit of `docs/benchmark.md`: its table, its drawing, and the bifilar pendulum."""

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests.close import assert_close

DOCS = Path(__file__).parents[2] / "docs"
ROW = re.compile(r"^\| ([A-D]) \|.*?\| ([\d.]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.M)


@pytest.fixture(scope="module")
def kit():
    pytest.importorskip("matplotlib")
    sys.path.insert(0, str(DOCS))
    try:
        yield runpy.run_path(str(DOCS / "kit.py"))
    finally:
        sys.path.remove(str(DOCS))


def numbers(text):
    return [float(word) for word in re.findall(r"-?[\d.]+", text.replace("−", "-"))]


def by_steiner(kit, cubes):
    """Mass, centre of mass and inertia of boxes by the parallel-axis theorem."""
    boxes = [(kit["PLATE"], (0.0, 0.0, 0.005)), *(((0.04,) * 3, (*at, 0.03)) for at in cubes)]
    masses = np.array([kit["DENSITY"] * np.prod(sides) for sides, _ in boxes])
    places = np.array([place for _, place in boxes])
    com = masses @ places / masses.sum()
    inertia = np.zeros((3, 3))
    for m, (sides, place) in zip(masses, boxes, strict=True):
        squares = np.square(sides)
        inertia += m / 12.0 * np.diag(squares.sum() - squares)
        d = place - com
        inertia += m * (d @ d * np.eye(3) - np.outer(d, d))
    return masses.sum(), com, inertia


def test_the_table_of_the_page(kit):
    rows = ROW.findall((DOCS / "benchmark.md").read_text(encoding="utf-8"))
    assert [row[0] for row in rows] == list(kit["BODIES"])
    for name, *texts in rows:
        mass, com, moments, products = map(numbers, texts)
        (m, *rest), _ = kit["with_tolerances"](kit["BODIES"][name])
        expected_mass, expected_com, inertia = by_steiner(kit, kit["BODIES"][name])
        Ixx, Ixy, Ixz, Iyy, Iyz, Izz = 1e6 * np.array(rest[3:])
        assert_close(rest[3:], inertia[np.triu_indices(3)], 1e-12)
        assert_close([m, *rest[:3]], [expected_mass, *expected_com], 1e-12)
        assert abs(mass[0] - m) <= 5e-5
        assert np.abs(np.array(com) - 1e3 * np.array(rest[:3])).max() <= 5e-3
        assert np.abs(np.array(moments) - [Ixx, Iyy, Izz]).max() <= 0.05
        assert np.abs(np.array(products or [0.0] * 3) - [Ixy, Ixz, Iyz]).max() <= 0.05


def test_tolerances_are_of_drawn_errors(kit):
    """Independent errors within the tolerances spread the inertias by what the drawing says."""
    drawn, tolerances = kit["dimensions"](kit["BODIES"]["C"])
    _, effects = kit["with_tolerances"](kit["BODIES"]["C"])
    rng = np.random.default_rng(0)
    made = drawn + tolerances * rng.standard_normal((2000, len(drawn)))
    spread = np.std([kit["quantities"](values) for values in made], axis=0)
    assert_close(spread, effects, 0.08)


def test_bifilar_pendulum(kit):
    """A small swing of a body on two wires, by its equation of motion."""
    inertia, mass, length, distance = 3.6e-3, 0.864, 1.0, 0.1

    def height(angle):
        return length - np.sqrt(length**2 - (distance * np.sin(0.5 * angle)) ** 2)

    def swing(_, state):
        angle, rate = state
        slope = (height(angle + 1e-5) - height(angle - 1e-5)) / 2e-5
        return rate, -mass * 9.80665 * slope / inertia

    def falls(_, state):
        return state[0]

    falls.direction = -1
    result = solve_ivp(swing, (0.0, 30.0), (0.02, 0.0), events=falls, rtol=1e-9, atol=1e-12)
    period = float(np.mean(np.diff(result.t_events[0])))
    assert_close(kit["bifilar_inertia"](mass, period, length, distance), inertia, 1e-3)
