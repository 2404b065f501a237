"""Intervals of estimates whose logs have a fault that was found: left in, or corrected."""

import numpy as np
import pytest

from identify.estimation import estimate_body
from identify.estimation.variance import SOURCES
from identify.estimation.widened import of_shift, of_size, widened
from identify.pipeline import FitResult, fit
from identify.pipeline.correcting import NotCorrected
from identify.regressors import block_statistics
from identify.signals import prepare
from identify.spatial.rotations import rotation_from_quaternion
from tests.close import assert_close
from tests.diagnosis.logs import PHI, late, moving, time_of, with_signals, with_wrench

LOG = moving(3, 20.0, bandwidth_hz=1.2)


def inside(result: FitResult) -> bool:
    """Whether the intervals of the ten parameters hold the truth."""
    names = list(result.estimate.intervals)[:10]
    bounds = [result.estimate.intervals[name] for name in names]
    return all(
        low <= truth <= high
        for (low, high), truth in zip(bounds, PHI, strict=True)  # type: ignore[misc]
    )


@pytest.fixture(scope="module")
def plain():
    return estimate_body([block_statistics(prepare(LOG))])


def test_a_widened_interval_covers_another_estimate_with_its_interval(plain):
    shift = 7.0 * np.sqrt(np.diag(plain.covariance)) * np.resize([1.0, -1.0], 10)
    added = of_shift(shift, plain.covariance)
    wide = widened(plain, added)
    for name, move in zip(list(plain.intervals)[:10], shift, strict=True):
        (low, high), (least, most) = plain.intervals[name], wide.intervals[name]
        assert least <= max(min(low, low + move), 0.0 if name in ("m", "Ixx") else -np.inf)
        assert most >= max(high, high + move)
        shares = wide.variance_shares[name]
        assert_close(sum(shares.values()), 1.0, 1e-9)
        assert shares["fault"] > 0.5
    assert set(wide.variance_shares["m"]) == set(SOURCES) - {"prior"}
    assert all(
        new.half_angle is None or old.half_angle < new.half_angle
        for old, new in zip(plain.principal_axes, wide.principal_axes, strict=True)
    )
    assert_close(wide.covariance, plain.covariance + added, 1e-12)


def test_nothing_found_leaves_an_estimate_as_it_is(plain):
    clean = fit(LOG).estimate
    assert "fault" not in clean.variance_shares["m"]
    same = widened(plain, np.zeros((10, 10)))
    for name, interval in plain.intervals.items():
        assert_close(clean.intervals[name], interval, 1e-9)
        assert_close(same.intervals[name], interval, 1e-9)


def test_a_delay_that_is_left_is_in_the_intervals_and_corrected_its_error_is():
    wrong = late(LOG, 0.02)
    left = fit(wrong)
    assert left.verdict.usable == "with care"
    assert inside(left)
    assert left.estimate.variance_shares["Ixx"]["fault"] > 0.9
    corrected = fit(wrong, apply=("delay",))
    assert corrected.verdict.usable == "yes"
    assert inside(corrected)
    assert 0.0 < corrected.estimate.variance_shares["Ixx"]["fault"] < 0.2


def test_of_two_that_tie_one_is_chosen_by_its_name_and_the_other_is_in_the_interval():
    wrong = late(moving(3, 20.0), 0.006)
    found = fit(wrong)
    (first, *_) = found.findings
    assert {first.code, *first.evidence["equivalent"]} == {"delay", "sensor_lag"}
    assert "To tell them apart, move faster" in first.remedy
    assert "--apply delay" in first.remedy
    assert "--apply sensor_lag" in first.remedy
    chosen = {code: fit(wrong, apply=(code,)) for code in ("delay", "sensor_lag")}
    assert all(map(inside, chosen.values()))
    bodies = [result.estimate for result in chosen.values()]
    for estimate, other in (bodies, bodies[::-1]):
        low, high = estimate.intervals["Ixx"]
        assert low <= other.parameters.phi[4] <= high
        assert estimate.variance_shares["Ixx"]["fault"] > 0.2


def test_a_gain_of_the_force_that_is_left_is_in_the_interval_of_the_mass():
    """Named is the torque over the force; of the two the force may be wrong, and the mass is."""
    scaled = with_signals(LOG, force=0.9 * LOG.signals["force"])
    left = fit(scaled)
    assert "gain" in left.verdict.reasons
    low, high = left.estimate.intervals["m"]
    assert low < PHI[0] < high


@pytest.mark.parametrize("applied", [(), ("drift",)])
def test_a_drift_is_in_the_intervals_whether_it_is_left_or_taken_off(applied):
    ramp = np.linspace(0.0, 1.0, len(LOG))[:, None] * [0.5, 0.3, -0.5, 0.02, 0.02, 0.02]
    result = fit(with_wrench(LOG, ramp), apply=applied)
    assert inside(result)
    assert result.estimate.variance_shares["m"]["fault"] > 0.0


def test_a_contact_that_is_left_is_in_the_intervals():
    log = moving(0, 40.0)
    time = time_of(log)
    push = ((time > 12.0) & (time < 14.0))[:, None] * np.array([2.0, -1.0, 3.0, 0.0, 0.0, 0.0])
    left = fit(with_wrench(log, push))
    assert "contact" in left.verdict.reasons
    assert left.verdict.usable == "with care"
    assert inside(left)


def test_two_faults_at_once_are_no_success_until_both_are_corrected():
    log = moving(0, 40.0)
    time = time_of(log)
    push = ((time > 12.0) & (time < 14.0))[:, None] * np.array([6.0, -3.0, 9.0, 0.0, 0.0, 0.0])
    wrong = late(with_wrench(log, push), 0.02)
    left = fit(wrong)
    assert left.verdict.usable == "no"
    (at_once,) = (f for f in left.findings if f.code == "unexplained")
    assert set(at_once.evidence["found"]) == {"delay", "contact"}
    assert "--apply" in at_once.remedy
    half = fit(wrong, apply=("delay",))
    assert half.verdict.usable == "no"
    assert "contact found, once delay had been corrected" in str(half.findings[0])
    whole = fit(wrong, apply=("delay", "contact"))
    assert whole.verdict.usable != "no"
    assert inside(whole)


def test_a_size_adds_what_it_moves_as_a_half_width():
    assert_close(1.96 * np.sqrt(np.diag(of_size(np.array([3.0, -4.0])))), [3.0, 4.0], 1e-12)


def test_a_payload_that_changes_is_not_taken_for_a_step_of_the_offset():
    """On ten seconds; a step that is one is told from it."""
    log = moving(5, 10.0)
    later = (time_of(log) > 10.0 / 3.0)[:, None]
    signals = {name: np.where(later, 1.04, 1.0) * log.signals[name] for name in ("force", "torque")}
    found = fit(with_signals(log, **signals))
    assert found.verdict.usable == "no"
    assert "body_changed" in {
        code for f in found.findings for code in (f.code, *f.evidence.get("equivalent", ()))
    }
    with pytest.raises(NotCorrected, match="body_changed"):
        fit(with_signals(log, **signals), apply=("bias_step",))
    step = with_wrench(log, later * np.array([0.4, -0.3, 0.5, 0.02, 0.02, -0.02]))
    stepped = fit(step)
    assert "bias_step" in stepped.verdict.reasons
    assert stepped.verdict.usable == "with care"
    applied = fit(step, apply=("bias_step",))
    assert applied.verdict.usable == "yes"
    assert inside(applied)


def test_a_gain_that_hides_behind_a_contact_is_in_the_interval_of_the_mass():
    """Of the force: it changes the mass, and a torque that is scaled does not."""
    time = time_of(LOG)
    push = ((time > 8.0) & (time < 8.7))[:, None] * np.array([2.0, -1.0, 2.0, 0.0, 0.0, 0.0])
    wrong = with_wrench(LOG, push)
    left = fit(with_signals(wrong, force=0.985 * wrong.signals["force"]))
    assert left.verdict.reasons == ("contact",)
    assert inside(left)


def test_a_change_that_may_be_chance_is_said_and_covered():
    log = moving(3, 6.0)
    later = (time_of(log) > 3.0)[:, None]
    signals = {
        name: np.where(later, 1.015, 1.0) * log.signals[name] for name in ("force", "torque")
    }
    result = fit(with_signals(log, **signals))
    (said,) = result.findings
    assert (said.code, said.severity) == ("body_changed", "info")
    assert 1e-5 < said.evidence["p_value"] < 1e-3
    assert result.verdict.usable == "yes"
    assert inside(result)
    assert result.estimate.variance_shares["m"]["fault"] > 0.5


def test_a_correction_that_leaves_no_possible_body_is_an_error_as_is_what_it_corrects():
    """A torque of the other sign looks like an offset of many centimetres."""
    log = moving(4, 20.0, bandwidth_hz=0.8)
    R = rotation_from_quaternion(log.signals["quaternion"])
    wrong = with_signals(
        log,
        position=log.signals["position"] + R @ np.array([0.02, -0.02, 0.02]),
        torque=-log.signals["torque"],
    )
    (offset,) = (f for f in fit(wrong).findings if f.code == "kinematic_offset")
    assert offset.severity == "error"
    assert "no fit of a possible body" in offset.text
    assert "--apply" not in offset.remedy
    corrected = fit(wrong, apply=("kinematic_offset",))
    (edge,) = (f for f in corrected.findings if f.code == "at_the_edge")
    assert edge.severity == "error"
    assert edge.evidence["standard_errors"] > 5.0
    assert "So corrected (kinematic_offset), the logs are of no body." in edge.text
    assert corrected.verdict.usable == "no"
