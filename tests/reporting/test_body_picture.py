import re
from dataclasses import replace

import numpy as np
import pytest

from identify.inertia import InertialParameters
from identify.reporting.body_picture import body_drawing, ellipsoid_semi_axes
from identify.spatial import BodyFrame, Pose
from tests.reporting.page import Page


def test_the_ellipsoid_has_the_mass_and_the_inertia(result):
    estimate = result.estimate
    a, b, c = ellipsoid_semi_axes(estimate)
    solid = estimate.mass / 5.0 * np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2])
    np.testing.assert_allclose(solid, [axis.moment for axis in estimate.principal_axes])
    axes = np.array([axis.direction for axis in estimate.principal_axes])
    about_com = InertialParameters.from_com(
        estimate.mass, estimate.com, axes.T @ np.diag(solid) @ axes
    )
    np.testing.assert_allclose(about_com.phi, estimate.parameters.phi, rtol=1e-6, atol=1e-9)


def test_every_point_is_drawn_where_the_first_view_has_it(result):
    svg = body_drawing(result.estimate).svg
    x0, y0, scale = map(float, re.search(r'data-frame="([^"]+)"', svg)[1].split())
    view = np.array(re.search(r'data-view="([^"]+)"', svg)[1].split(), float).reshape(3, 3)
    np.testing.assert_allclose(view @ view.T, np.eye(3), atol=2e-3)
    assert np.linalg.det(view) > 0.0
    found = re.findall(r'<path data-p="([^"]+)" d="M([^"]+)"', svg)
    assert len(found) > 10
    for said, d in found:
        points = np.array(said.split(), float).reshape(-1, 3)
        seen = np.array(re.split("[L ]", d), float).reshape(-1, 2)
        expected = np.array([x0, y0]) + scale * points @ view[:2].T * (1.0, -1.0)
        np.testing.assert_allclose(seen, expected, atol=0.3)
        assert (seen > 0.0).all()
        assert (seen < (340.0, 280.0)).all()


def test_flange_is_drawn_when_known(result):
    known = BodyFrame("wrist", Pose(np.eye(3), np.array([0.0, 0.0, -0.05])))
    drawn = body_drawing(replace(result.estimate, frames=known))
    assert ">flange<" in drawn.svg
    assert "The flange is placed by the schema" in drawn.caption
    assert ">flange<" not in body_drawing(result.estimate).svg


def test_an_inertia_that_is_not_known_has_no_ellipsoid(still):
    drawn = body_drawing(still.estimate)
    assert "ellipsoid" not in drawn.svg + drawn.caption
    assert "<circle" in drawn.svg


@pytest.mark.parametrize("name", ['<script>alert("x")</script>', "a & b'"])
def test_names_of_frames_are_text(result, name):
    drawn = body_drawing(replace(result.estimate, frames=BodyFrame(name)))
    tags = {tag for tag, _ in Page(f"<div>{drawn.svg}</div>").tags}
    assert tags == {"div", "svg", "path", "text", "circle"}
