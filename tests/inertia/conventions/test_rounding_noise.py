"""Rounding noise that is not shown: products of round bodies, coordinates of centred ones."""

import re

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.spatial.transform import Rotation

from identify.exchange import export_body
from identify.exchange.controllers import CONTROLLERS
from identify.inertia import InertialParameters
from identify.inertia.conventions.mass_properties import without_rounding_noise
from identify.spatial import Pose
from tests.close import assert_close

angles = st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3)
positions = st.lists(st.floats(-10.0, 10.0), min_size=3, max_size=3)


@given(angles, positions, st.floats(1e-3, 1e3))
def test_a_ball_has_no_products_in_any_axes_about_any_point(rotation, position, mass):
    ball = InertialParameters.from_com(mass, np.zeros(3), 0.4 * mass * 0.05**2 * np.eye(3))
    X = Pose(Rotation.from_rotvec(rotation).as_matrix(), position)
    moved = ball.in_frame(X)
    _, com, inertia = without_rounding_noise(moved.phi)
    assert (inertia[~np.eye(3, dtype=bool)] == 0.0).all()
    assert_close(com, position, 1e-9, scale=0.1 + np.linalg.norm(position))
    assert_close(np.diag(inertia), np.diag(ball.inertia_about_com), 1e-6)


@pytest.mark.parametrize(("share", "is_noise"), [(5e-10, True), (2e-9, False)])
def test_what_is_small_but_resolved_stays(share, is_noise):
    """A product beside the geometric mean of its moments; a coordinate beside the size."""
    inertia = np.diag([4.0, 1.0, 4.0])
    inertia[0, 1] = inertia[1, 0] = -2.0 * share
    com = np.array([0.0, share * 1.5, 0.0])  # radius of gyration √(9 / (2·2)) = 1.5
    body = InertialParameters.from_com(2.0, com, inertia)
    _, c, about_com = without_rounding_noise(body.phi)
    assert bool(about_com[0, 1] == 0.0) is is_noise
    assert bool(c[1] == 0.0) is is_noise
    assert_close(np.diag(about_com), np.diag(inertia), 1e-12)


@pytest.mark.parametrize("name", ["urdf", "sdf", "mjcf", "usd", "drake", "dart", *CONTROLLERS])
def test_no_export_prints_noise(name):
    """A centred box with products and coordinates of 1e-13; principal axes are the box's."""
    noisy = np.diag([0.1, 0.2, 0.15]) + 1e-14 * np.array([[0, 1, -1], [1, 0, 1], [-1, 1, 0]])
    com = np.array([1e-15, -1e-16, 0.1])
    identity = Pose.identity()
    text, plain = (
        export_body(InertialParameters.from_com(2.0, c, inertia), name, X_AB=identity).text
        for c, inertia in ((com, noisy), (np.array([0.0, 0.0, 0.1]), np.diag([0.1, 0.2, 0.15])))
    )
    assert text == plain
    assert not re.search(r"-0\.?0*(?![.\d])", text)


def test_the_table_of_a_body_shows_none(tmp_path, cli):
    path = tmp_path / "body.toml"
    path.write_text(
        "mass = 2\ncom = [1e-15, 0, -1e-16]\n"
        "inertia_about_com = [[0.1, 1e-14, 0], [1e-14, 0.2, 0], [0, 0, 0.15]]\n"
    )
    out = cli.done("body", path)
    assert re.search(r"cx\s+mm\s+0\.000000\b", out)
    assert re.search(r"hx\s+kg m\s+0\.000000\b", out)
