"""Solids of a known shape: their bodies, and that the report of the study has what it says."""

import numpy as np
import pytest

from experiments import solids_shape
from experiments.solids_shape import log_of, solids
from identify.inertia import is_consistent
from identify.inertia.shapes import Mesh, PointMasses
from tests.close import assert_close


@pytest.mark.parametrize("name", solids())
def test_point_and_mesh_logs_share_body_and_motion(name):
    (one, points), (two, mesh) = (log_of(name, known, 3) for known in ("points", "mesh"))
    assert_close(points.phi, mesh.phi, 0.0)
    assert_close(one.signals["force"], two.signals["force"], 0.0)
    assert is_consistent(mesh.phi)
    assert isinstance(points.shape, PointMasses)
    assert isinstance(mesh.shape, Mesh)
    assert_close(points.shape.measure, mesh.shape.measure, 0.08)  # of thin parts
    assert_close(mesh.sides, np.ptp(points.shape.positions, axis=0), 0.15)


@pytest.mark.slow
def test_the_shape_makes_the_errors_of_a_slow_log_small(tmp_path, monkeypatch, capsys):
    few = {name: solids()[name] for name in ("cuboid", "plate")}
    monkeypatch.setattr(solids_shape, "solids", lambda: few)
    path = tmp_path / "solids.md"
    assert solids_shape.main(["-o", str(path), "--motions", "1", "--seeds", "1"]) == 0
    text = path.read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if "| points |" in line]
    assert [row[0] for row in rows] == ["cuboid", "plate"]
    assert all(float(row[6]) < 1.0 / 3.0 for row in rows), rows
    assert text.splitlines()[-1].startswith("Not the whole study: with other motions, seeds.")
    assert capsys.readouterr().out.strip() == text.strip()
