import json
import re

import numpy as np
import pytest
from hypothesis import given

from identify.errors import SimulationError
from identify.reporting.poinsot_animation import poinsot_html, save_poinsot_animation
from identify.reporting.simulated_motion import View, poinsot as draw, polhode_family
from identify.simulation.poinsot import poinsot_motion
from tests.close import assert_close
from tests.simulation.free_rotation.cases import ALL, QUATERNION, body
from tests.strategies import seeds

NAMES = [
    *("about the smallest", "about the largest", "oblate", "prolate", "thin rod"),
    *("tennis racket", "on the separatrix", "sphere", "spin, middle", "spin across a top"),
]


def made(name: str, count: int = 301):
    inertia, w = body(ALL[name], turned=True)
    return poinsot_motion(inertia, QUATERNION, w, np.linspace(0.0, 20.0, count))


@pytest.mark.parametrize("name", NAMES)
def test_figure_of_every_kind_of_motion(name):
    figure = draw(made(name))
    figure.canvas.draw()
    labels = [axes.get_xlabel() for axes in figure.axes] + [a.get_ylabel() for a in figure.axes]
    assert sum("[1/√(kg m²)]" in label for label in labels) == 4
    assert sum("[rad/s]" in label for label in labels) == 3
    for axes in figure.axes:
        low, high = axes.get_ylim()
        assert np.isfinite([low, high]).all()
        assert low < high


def test_the_family_is_on_the_ellipsoid_with_the_separatrix():
    moments = np.array([1.0, 2.0, 2.5])
    curves, separatrix = polhode_family(moments)
    assert len(curves) == 28
    assert len(separatrix) == 2
    for curve in curves + separatrix:
        assert_close(curve**2 @ moments, np.ones(len(curve)), 1e-12)
    assert polhode_family(np.ones(3)) == ([], [])
    curves, separatrix = polhode_family(np.array([1.0, 1.0, 1.8]))
    assert len(curves) == 14
    assert separatrix == []


@given(seeds())
def test_the_outline_holds_all_points_and_touches_some(seed):
    """Support of the shadow in any direction of the picture: √(uᵀ S I⁻¹ Sᵀ u)."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 3))
    inertia = A @ A.T + 0.1 * np.eye(3)
    view = View.of(*rng.uniform(-3.0, 3.0, 2))
    assert_close(view.axes @ view.axes.T, np.eye(3), 1e-14)
    assert np.linalg.det(view.axes) == pytest.approx(1.0)
    r = rng.normal(size=(5000, 3))
    r /= np.sqrt(np.einsum("ni,ij,nj->n", r, inertia, r))[:, None]
    u = rng.normal(size=2)
    reach = (view.outline(inertia, 3601) @ u).max()
    assert (view.project(r) @ u).max() <= reach * (1.0 + 1e-5)
    d = view.axes[:2].T @ u
    assert_close(reach, np.sqrt(d @ np.linalg.solve(inertia, d)), 1e-5)
    # Half of it is in front: a point and its opposite never both.
    assert (view.faces_viewer(r, inertia) != view.faces_viewer(-r, inertia)).all()


def test_the_ellipsoid_touches_the_floor():
    scene = data(poinsot_html(made("about the smallest")))
    inverse = np.diag(1.0 / np.array(scene["inertia"]))
    for rotation, contact in zip(scene["rotations"], scene["contact"], strict=True):
        R = np.array(rotation).reshape(3, 3)
        lowest = -np.sqrt((R @ inverse @ R.T)[2, 2])
        assert lowest == pytest.approx(-scene["distance"], abs=2e-4)
        assert contact[2] == pytest.approx(-scene["distance"], abs=2e-5)
        assert np.linalg.det(R) == pytest.approx(1.0, abs=1e-4)
        # r in principal axes lies on the ellipsoid.
        r = R.T @ contact
        assert r @ np.diag(scene["inertia"]) @ r == pytest.approx(1.0, abs=1e-3)


def data(page: str) -> dict:
    (text,) = re.findall(r'<script type="application/json" id="scene">(.*?)</script>', page)
    return json.loads(text)


def test_the_file_is_html(tmp_path):
    construction = made("about the smallest", 5)
    page = save_poinsot_animation(construction, tmp_path / "new" / "roll.html")
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    with pytest.raises(SimulationError, match=r"ends in \.html, not in '\.mp4'"):
        save_poinsot_animation(construction, tmp_path / "roll.mp4")
    with pytest.raises(SimulationError, match="at least two times, got 1"):
        save_poinsot_animation(made("about the smallest", 1), tmp_path / "other.html")
    assert not (tmp_path / "other.html").exists()


def test_its_script_runs_in_a_browser(visit, tmp_path):
    """The policy allows the script by its hash alone."""
    page = save_poinsot_animation(made("about the smallest"), tmp_path / "roll.html")
    assert "script-src 'sha256-" in page.read_text(encoding="utf-8")
    seen = visit(page)
    assert seen.console == []
    assert re.search(r'<output id="clock">[\d.]+ s</output>', seen.dom)
