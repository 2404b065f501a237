import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from experiments.benchmarks import (
    fit_command,
    forward_simulation,
    motion_noise,
    psd_fit,
    refusals,
    run as command,
)
from experiments.benchmarks.measure import Effort, Line, consume, race
from experiments.benchmarks.mujoco_body import GRAVITY, mujoco_many, mujoco_rollout
from experiments.benchmarks.processes import PEAK_MEMORY
from experiments.benchmarks.registry import BENCHMARKS
from identify.inertia import InertialParameters
from identify.logs import Noise, synthetic_recording
from identify.regressors import block_statistics
from identify.signals import prepare
from identify.simulation import fast_rollout
from tests.slow import mostly_slow

TINY = Effort(repetitions=2, size=0.01, seconds=0.0)
SLOW = {
    *("long-logs", "checks", "fit-command", "report", "import", "readers"),
    "forward-simulation",
}


def test_contenders_take_turns_in_alternating_order():
    calls: list[str] = []

    def contender(name: str):
        return lambda: calls.append(name) or 1.0

    seconds = race({"a": contender("a"), "b": contender("b")}, Effort(repetitions=3, seconds=0.0))
    assert [len(values) for values in seconds.values()] == [3, 3]
    assert "".join(calls) == "aabb" + "ab" + "ba" + "ab"


@pytest.mark.parametrize("nothing", [None, float("nan"), np.array([1.0, np.inf])])
def test_a_result_that_cannot_be_used_is_refused(nothing):
    with pytest.raises(ValueError, match="not finite"):
        consume(nothing)


def test_a_fit_without_noise_in_the_motion_is_of_the_same_rows():
    log = synthetic_recording(
        InertialParameters.from_com(1.2, (0.0, 0.02, 0.05), np.diag([3e-3, 2e-3, 4e-3])).phi,
        rng=np.random.default_rng(3),
        duration=12.0,
        rate_hz=100.0,
        noise=Noise(
            force=0.1, torque=0.01, position=1e-4
        ),  # none that turns add to the means of ω²
    )
    noisy, silent = block_statistics(prepare(log)), motion_noise.without_noise_read(log)
    np.testing.assert_allclose(silent.factors, noisy.factors, rtol=0.0, atol=1e-9)
    assert not silent.noise.any()
    exact = motion_noise.without_motion_noise(noisy)
    np.testing.assert_array_equal(exact.noise[..., 13:], noisy.noise[..., 13:])
    assert noisy.noise[..., 1:13].any()
    assert not exact.noise[..., :13].any()


@pytest.mark.parametrize("name", mostly_slow(BENCHMARKS, set(BENCHMARKS) - SLOW))
def test_a_benchmark_runs(name):
    lines = BENCHMARKS[name](TINY)
    assert lines
    assert all(isinstance(line, Line) and line.measured for line in lines)
    assert name == "inspect" or any(line.reach for line in lines)  # for it there is no number


def test_the_fit_that_is_timed_needs_a_solver_and_agrees_with_plain_cvxpy():
    log = psd_fit.noisy_log(1000)
    assert log.estimate.certificate.solver == "Clarabel"
    assert log.estimate.complete
    least_squares = log.estimate.least_squares
    assert not least_squares.consistent
    plain = psd_fit.cvxpy_on_all_rows(log.motion, log.wrench)
    errors = np.sqrt(np.diag(log.estimate.covariance))
    assert np.abs((plain - log.estimate.parameters.phi) / errors).max() < 1.0


def test_both_modes_of_mujoco_integrate_what_the_fast_rollout_does():
    swarm = forward_simulation.swarm(3, 40)
    ours = fast_rollout(swarm.phi, swarm.start, None, 1e-3, GRAVITY, steps=40)
    place, q = ours.position[:, -1], ours.quaternion[:, -1][:, [3, 0, 1, 2]]
    together = mujoco_many(swarm.phi, swarm.start, 40, 1e-3)
    phi, start, _ = swarm.one()
    alone = mujoco_rollout(phi, start, 40, 1e-3)()
    for _ in range(2):  # a second run begins at the start again
        theirs = together()
        np.testing.assert_allclose(theirs[:, :3], place, atol=1e-11)
        np.testing.assert_allclose(np.abs(np.sum(theirs[:, 3:] * q, axis=1)), 1.0, atol=1e-11)
    np.testing.assert_allclose(alone[1:4], place[0], atol=1e-11)


def test_peak_memory_is_that_of_the_command_and_not_of_its_parent():
    heavy = np.ones(40_000_000)  # 320 MB here must not be counted there
    program = "x = bytearray(60_000_000); x[::4096] = b'1' * len(x[::4096]); raise SystemExit(5)"
    command_line = [sys.executable, str(PEAK_MEMORY), sys.executable, "-c", program]
    done = subprocess.run(command_line, check=True, capture_output=True, text=True)
    taken = json.loads(done.stdout)
    assert heavy.sum() > 0.0
    assert taken["exit"] == 5
    assert 60e6 < taken["peak_bytes"] < 200e6


def test_a_command_that_fails_is_an_error_with_its_last_words(tmp_path):
    (tmp_path / "schema.toml").write_text("", encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"ended with status [1-9]"):
        fit_command.fit_once(tmp_path / "no.csv", tmp_path / "schema.toml", tmp_path / "out")


def test_every_absurd_length_is_asked_for_and_other_refusals_do_not_count(tmp_path):
    cases = refusals.absurd_commands(tmp_path)
    assert len(cases) == len({case.what for case in cases}) == 7
    taken = refusals.refused(cases[-1])
    assert taken.status == 2
    with pytest.raises(RuntimeError, match=r"--cutoff 1e-6: status 2: .*nosuch"):
        refusals.refused(
            replace(cases[2], words=(*cases[2].words[:1], "nosuch.csv", *cases[2].words[2:]))
        )


def test_one_that_cannot_run_does_not_hide_the_others(monkeypatch, tmp_path, capsys):
    def broken(effort: Effort) -> list[Line]:
        raise OSError("no room")

    working = [Line("something", "3 ms", "≤ 2 ms", False)]
    monkeypatch.setattr(
        command, "BENCHMARKS", {"broken": broken, "working": lambda effort: working}
    )
    path = tmp_path / "new" / "benchmarks.md"
    assert command.main(["-o", str(path)]) == 1
    text = path.read_text(encoding="utf-8")
    assert "| broken | could not run: OSError: no room |" in text
    assert "| something | 3 ms | ≤ 2 ms | **no** |" in text
    assert "linear algebra: " in text
    assert text.endswith("\n\nNot the whole list: some could not run.\n")
    assert text in capsys.readouterr().out
