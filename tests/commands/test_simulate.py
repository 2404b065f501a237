import json

import numpy as np
import pandas as pd
import pytest

from identify.exchange import read_estimate
from identify.simulation import State, free_motion, read_simulation
from tests.close import assert_close
from tests.recordings import NO_EFFECTS

BODY = """
[body]
mass = 1.2
com = [0.01, 0.02, -0.03]
inertia_about_com = [[0.013, 0, 0.001], [0, 0.010, 0], [0.001, 0, 0.005]]
"""
STATE = """
[state]
frame = "body"
linear = [0.3, 0, 2]
angular = [0.4, 6, -1]
"""
LOADS = """
[[loads]]
file = "wrench.csv"
frame = "body"
"""
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text(BODY + STATE)
    return path


@pytest.fixture
def undrawn(monkeypatch):
    """Figures take seconds."""
    monkeypatch.setattr("identify.reporting.simulated_motion.make_figure", lambda *_, **__: None)
    monkeypatch.setattr("identify.reporting.canvas.png_bytes", lambda figure: PNG)


def test_a_free_body_with_figures_and_the_construction(cli, spec, tmp_path):
    out = tmp_path / "new" / "out"
    printed = cli.done("simulate", spec, "--duration", 1, "--dt", 0.001, "-o", out)
    names = ["trajectory.parquet", "trajectory.toml", "motion.png", "poinsot.png", "poinsot.html"]
    assert [line for line in printed.splitlines() if str(out) in line] == [
        str(out / name) for name in names
    ]
    assert (out / "motion.png").read_bytes().startswith(PNG)
    assert (out / "poinsot.png").read_bytes().startswith(PNG)
    assert "<html" in (out / "poinsot.html").read_text()
    table = pd.read_parquet(out / "trajectory.parquet")
    assert len(table) == 1001
    simulation = read_simulation(spec)
    exact = free_motion(simulation.body.phi, simulation.start, table["t"].to_numpy())
    assert_close(table[["px", "py", "pz"]].to_numpy(), exact.position, 1e-9)
    assert not table[["fx", "fy", "fz", "tx", "ty", "tz"]].to_numpy().any()


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_simulated_log_can_be_fitted(cli, spec, tmp_path, monkeypatch):
    monkeypatch.setattr("identify.reporting.page.report_html", lambda *given: "")
    time = np.arange(0.0, 5.01, 0.002)
    rng = np.random.default_rng(0)
    waves = np.sin(np.outer(time, rng.uniform(4, 9, 6)) + rng.uniform(0, 6, 6))
    table = np.column_stack((time, waves * [3, 3, 3, 0.02, 0.02, 0.02]))
    header = "time,fx,fy,fz,tx,ty,tz"
    np.savetxt(tmp_path / "wrench.csv", table, delimiter=",", header=header, comments="")
    spec.write_text(BODY + '[state]\nframe = "body"\nangular = [0.2, 0.5, -0.1]\n' + LOADS)
    simulated, fitted = tmp_path / "sim", tmp_path / "fit"
    words = ("--duration", 5, "--dt", 0.01, "-o", simulated, "--quiet")
    assert cli("simulate", spec, *words) == (0, "", "")
    assert not (simulated / "poinsot.png").exists()
    log, schema = simulated / "trajectory.parquet", simulated / "trajectory.toml"
    schema.write_text(f"{schema.read_text()}\n{NO_EFFECTS}")
    assert cli("fit", log, "--schema", schema, "-o", fitted, "--no-bias").status == 0
    truth = read_simulation(spec).body
    found = read_estimate(fitted / "estimate.json").parameters
    assert found.mass == pytest.approx(truth.mass, rel=1e-4)
    assert_close(found.inertia_about_com, truth.inertia_about_com, 1e-4)


@pytest.mark.usefixtures("undrawn")
def test_the_body_of_an_estimate_is_thrown(cli, tmp_path):
    estimate, out = tmp_path / "e.json", tmp_path / "out"
    estimate.write_text(json.dumps({"phi": [1.0, 0, 0, 0, 1e-2, 0, 0, 2e-2, 0, 2.5e-2]}))
    words = ("--linear", 1, 0, -2, "--angular", 0, 5, 0.1, "--duration", 0.5, "--dt", 0.001)
    assert cli("simulate", estimate, *words, "-o", out).status == 0
    table = pd.read_parquet(out / "trajectory.parquet")
    fallen = 0.5 * np.array([1, 0, -2]) + 0.5 * 0.25 * np.array([0, 0, -9.80665])
    assert_close(table[["px", "py", "pz"]].to_numpy()[-1], fallen, 1e-10)
    start = State(np.zeros(3), np.array([0, 0, 0, 1.0]), np.array([1, 0, -2.0]), np.zeros(3))
    assert start.velocity[0] == table["vx"][0]


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ("", 2, "Missing from identify simulate: --duration S"),
        ("--duration 1 --dt 0", 2, "--dt S: expected a positive, finite number [s], got 0"),
        ("--duration -1 --dt 0.1", 2, "--duration S: expected a positive, finite number"),
        ("--duration 1e9 --dt 1e-3", 2, "1e+12 steps"),
        (
            "--duration 1e4 --dt 1e-3 --every 2",
            2,
            "5e+06 states to keep; expected at most 2e+06 (2 GB)",
        ),
        ("--duration 1e4 --dt 1e-3 --every 2", 2, "use --every 6"),
        ("--duration 1 --dt 0.1 --every 0", 2, "--every N: expected 1 or more, got 0"),
        ("--duration 1 --dt 0.5", 3, "turns by"),
        ("--duration 1 --dt 0.01 --integrator rkmk5", 2, "did you mean 'rkmk4'"),
        ("--duration 1 --dt 0.01 --linear 1 0 0", 2, "require an estimate.json"),
    ],
)
def test_bad_use(cli, spec, tmp_path, words, status, message):
    outcome = cli("simulate", spec, *words.split(), "-o", tmp_path / "out")
    assert outcome.status == status
    assert message in outcome.message
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("undrawn")
def test_exact_and_stepped_motions_end_together(cli, spec, tmp_path):
    """The last step is shorter where the step does not divide the duration."""
    for integrator in ("exact", "suzuki"):
        out = tmp_path / integrator
        words = ("--duration", 1, "--dt", 0.03, "--every", 4, "--integrator", integrator)
        assert cli("simulate", spec, *words, "-o", out, "--quiet").status == 0
    names = ("exact", "suzuki")
    times = [pd.read_parquet(tmp_path / name / "trajectory.parquet")["t"] for name in names]
    np.testing.assert_allclose(times[0], times[1], rtol=1e-12)
    assert times[0].iloc[-1] == 1.0


@pytest.mark.usefixtures("undrawn")
def test_simulated_log_that_a_fit_would_misread_is_noted(cli, spec, tmp_path):
    spec.write_text(BODY + STATE + '[[impulses]]\ntime = 0.1\nlinear = [1, 0, 0]\nframe = "body"\n')
    out = cli("simulate", spec, "--duration", 0.3, "--dt", 0.01, "-o", tmp_path / "out").out
    assert "1 impulse.\n" in out
    assert "but not the impulses, so a fit or a replay of this log would not recover" in out


@pytest.mark.usefixtures("undrawn")
def test_default_body_parameters_are_noted(cli, tmp_path):
    estimate = tmp_path / "e.json"
    phi = [1.0, 0, 0, 0, 1e-2, 0, 0, 2e-2, 0, 2.5e-2]
    estimate.write_text(json.dumps({"phi": phi, "decided_by": {"Iyy": "default"}}))
    words = ("--angular", 0, 1, 0, "--duration", 0.3, "--dt", 0.01, "-o", tmp_path / "out")
    out = cli("simulate", estimate, *words).out
    assert "Note: Iyy are from a default body, not from data.\n" in out


def test_exact_is_for_free_bodies(cli, spec, tmp_path):
    spec.write_text(BODY + STATE + '[[impulses]]\ntime = 0.1\nlinear = [1, 0, 0]\nframe = "body"\n')
    words = ("--duration", 1, "--dt", 0.1, "--integrator", "exact", "-o", tmp_path / "out")
    assert "requires a body without loads, impulses or fluid" in cli.refused(
        "simulate", spec, *words
    )
