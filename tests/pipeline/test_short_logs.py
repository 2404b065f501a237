from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.logs import Recording
from identify.pipeline import Result, fit
from identify.pipeline.corrected_logs import NotCorrected
from tests.checks import checks_of, fit_corrected
from tests.close import assert_close
from tests.diagnosis.logs import PHI, moving, time_of, with_signals, with_wrench
from tests.recordings import without_effects
from tests.slow import mostly_slow


def graver(result: Result) -> list[str]:
    return [finding.code for finding in result.findings if finding.severity != "info"]


def heavier_after(log: Recording, time: float, factor: float) -> Recording:
    """A log whose wrench is so many times as large from a time on."""
    size = np.where(time_of(log) > time, factor, 1.0)[:, None]
    return with_signals(log, **{name: size * log.signals[name] for name in ("force", "torque")})


def ramp(log: Recording) -> np.ndarray:
    """From zero to one, on six channels as forces and torques are, shape (n, 6)."""
    return np.linspace(0.0, 1.0, len(log))[:, None] * [1.0, 1.0, 1.0, 0.05, 0.05, 0.05]


@pytest.mark.parametrize("factor", mostly_slow([1.03, 1.3], {1.03}))
def test_a_payload_that_changes_within_twelve_seconds_is_found(factor):
    result = fit(heavier_after(moving(3, 12.0), 6.0, factor))
    assert graver(result)[0] == "body_changed"
    found = result.findings[0].evidence
    assert_close(found["second"][0] / found["first"][0], factor, 0.01)
    assert abs(found["time"] - 6.0) < 2.5
    assert found["between"][0] < 6.0 < found["between"][1]
    assert "the body changes between " in result.findings[0].text
    assert result.verdict.usable == "no"


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.66, 1.3])
def test_a_first_quarter_that_is_of_another_body_makes_an_estimate_of_no_use(factor):
    result = fit(heavier_after(moving(3, 10.0), 2.4, factor))
    assert graver(result)[0] in ("body_changed", "contact")
    assert result.verdict.usable == "no"


@pytest.mark.parametrize("seed", mostly_slow([3, 11], {3}))
def test_a_fit_of_five_seconds_names_a_sensor_that_is_turned_by_more_than_a_right_angle(seed):
    """Its mass is known to some half of it, and no residual is out of the ordinary."""
    log = moving(seed, 5.0, bandwidth_hz=0.7)
    axis = np.random.default_rng(seed).normal(size=3)
    turn = Rotation.from_rotvec(np.radians(91.0) * axis / np.linalg.norm(axis))
    loads = {name: turn.apply(np.array(log.signals[name])) for name in ("force", "torque")}
    wrong = replace(with_signals(log, **loads), schema={"wrench": {"acts_on": "body"}})
    wrong = without_effects(wrong)
    found = fit(wrong)
    assert graver(found) == ["wrench_misaligned", "unexplained", "imprecise", "imprecise"]
    assert found.verdict.usable == "no"
    right = fit_corrected(wrong, found, "wrench_misaligned")
    assert_close(right.estimate.mass, PHI[0], 0.02)


def test_an_offset_that_drifts_within_twelve_seconds_is_noted_and_corrected():
    log = moving(4, 12.0)
    found = fit(with_wrench(log, ramp(log)))
    assert set(graver(found)) <= {"imprecise"}
    (note,) = (finding for finding in found.findings if finding.code == "drift")
    assert_close(note.evidence["range"], ramp(log)[-1], 0.25)
    assert_close(found.estimate.mass, PHI[0], 2e-3)
    low, high = found.estimate.intervals["m"]
    assert low < PHI[0] < high


@pytest.mark.slow
def test_different_bodies_are_not_explained_by_sign_error():
    """Of one body for both, another sign of the torque explains more than none."""
    log = moving(6, 24.0)
    halves = [
        replace(
            log,
            time=time_of(log)[rows],
            sha256=name,
            name=name,
            signals={name: values[rows] for name, values in log.signals.items()},
        )
        for name, rows in (("first", slice(0, 1200)), ("second", slice(1200, 2400)))
    ]
    heavier = {name: 1.5 * halves[1].signals[name] for name in ("force", "torque")}
    logs = [halves[0], with_signals(halves[1], **heavier)]
    found = fit(logs, check=True)
    assert graver(found)[0] == "bodies_differ"
    assert not {"torque_sign", "gain", "position_unit"} & set(graver(found))
    ranking = checks_of(found).ranking
    assert ranking.separate_bodies_lead > ranking.best.log_likelihood_ratio
    with pytest.raises(NotCorrected, match=r"cannot be corrected\. second: .* Exclude it"):
        fit_corrected(logs, found, "bodies_differ")


def test_scores_use_drift_corrected_wrench():
    log = moving(2, 60.0)
    drifting = with_wrench(log, np.outer(ramp(log)[:, 0], [0.0, 0.0, 5.0, 0.0, 0.0, 0.0]))
    found = fit(drifting)
    assert [finding.code for finding in found.findings] == ["drift"]
    # What it does within a block is left.
    assert found.validation.scores.rms[2] < 0.05 * 5.0


@pytest.mark.slow
def test_clean_short_logs_have_no_findings():
    for seed in range(2):
        assert graver(fit(moving(seed, 12.0), check=True)) == []
