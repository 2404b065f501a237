"""Logs that nothing explains: contacts of a good part of them, and the best of bad readings."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter

from identify.diagnosis import Explanation, Ranking
from identify.diagnosis.faults import faults_of
from identify.estimation import NegativeMass
from identify.estimation.terms import ComInBox, MassBetween
from identify.inertia import InertialParameters
from identify.inertia.shapes import Sphere
from identify.logs import Noise, Recording, synthetic_recording
from identify.logs.log_properties import LogProperties
from identify.pipeline import check_logs, fit
from identify.pipeline.checks import Checks
from identify.pipeline.corrected_logs import NotCorrected
from identify.pipeline.hypotheses import findings_of
from identify.pipeline.wrench_hypotheses import wrench_hypotheses
from identify.spatial import rotation_from_quaternion
from identify.spatial.rotations import rotate_back
from tests.checks import fit_corrected
from tests.diagnosis.logs import PHI, late, moving, time_of, with_signals, with_wrench
from tests.recordings import without_effects
from tests.slow import mostly_slow


def in_thousandths(log: Recording) -> Recording:
    return with_signals(log, **{name: 1000.0 * log.signals[name] for name in ("force", "torque")})


def touched(share: float = 0.45):
    """A vibrating arm whose body rests on something for a share of the log."""
    log = moving(5, 20.0, bandwidth_hz=0.6)
    time = time_of(log)
    inside = (time > 6.0) & (time < 6.0 + share * time[-1])
    R = rotation_from_quaternion(log.signals["quaternion"])
    support = np.zeros((len(time), 3))
    support[:, 2] = -0.8 * 9.80665 * PHI[0] * inside
    force = rotate_back(R, support)
    waves = np.sin(2.0 * np.pi * np.outer(time, [6.3, 7.1, 7.9]))
    extra = np.concatenate((force + waves, np.cross([0.02, 0.03, 0.06], force) + 0.1 * waves), 1)
    return with_wrench(log, extra)


def test_a_body_that_hangs_on_a_hose_is_blamed_on_no_sign():
    log = moving(5, 20.0, bandwidth_hz=0.6)
    R = rotation_from_quaternion(log.signals["quaternion"])
    at = np.array([0.02, 0.03, 0.06])
    away = np.array([0.2, 0.3, 0.8]) - log.signals["position"] - R @ at
    length = np.linalg.norm(away, axis=1, keepdims=True)
    pull = rotate_back(R, 1.5 * 9.80665 * PHI[0] * away * (1.0 - 0.2 / length))
    with pytest.raises(NegativeMass, match="besides gravity and motion") as caught:
        fit(without_effects(with_wrench(log, -np.hstack((pull, np.cross(at, pull))))))
    assert caught.value.finding.code == "unexplained"
    assert "hose" in caught.value.finding.remedy


def test_long_contact_is_an_error_and_excluding_it_recovers_body():
    log = touched()
    found = fit(without_effects(log))
    first = found.findings[0]
    assert (first.code, first.severity) == ("contact", "error")
    ((start, stop),) = first.evidence["spans"]
    assert (start, stop) == pytest.approx((6.0, 15.0), abs=0.6)
    assert (found.verdict.usable, found.verdict.explains_data) == ("no", False)
    assert "acceleration_kind" not in found.verdict.reasons
    applied = fit_corrected(log, found, "contact")
    low, high = applied.estimate.intervals["m"]
    assert abs(PHI[0] - 0.5 * (low + high)) < 1.5 * 0.5 * (high - low)  # three standard errors
    assert high - low < 0.05 * PHI[0]
    assert applied.verdict.explains_data


@pytest.mark.slow
def test_recurring_residual_of_two_errors_is_not_a_contact():
    log = moving(3, 20.0)
    force = log.signals["force"][:, [0, 2, 1]]
    torque = log.signals["torque"][:, [1, 0, 2]] * [-1.0, 1.0, 1.0]
    wrong = replace(log, signals={**log.signals, "force": force, "torque": torque})
    found = fit(wrong).findings
    assert (found[0].code, found[0].severity) == ("unexplained", "error")
    assert "contact" not in {each.code for each in found}


def test_unexplained_log_is_reported_first_without_remedy():
    log = moving(0, 20.0)
    other = moving(8, 20.0)  # the wrench of another motion
    wrong = replace(
        log, signals={**log.signals, **{n: other.signals[n] for n in ("force", "torque")}}
    )
    found = check_logs(wrong)
    if found.result is None:
        assert "the log does not match its schema" not in found.fit_error
        return
    assert (found.findings[0].code, found.findings[0].severity) == ("unexplained", "error")
    assert found.verdict.reasons[0] == "unexplained"


def test_best_of_poor_readings_is_not_named_alone(monkeypatch):
    log = moving(0, 20.0)
    sign = next(c for c in faults_of([LogProperties.of(log)]) if c[0].code == "torque_sign")
    best = Explanation(300.0, PHI, sign, unexplained=0.4)
    bad = Checks(ranking=Ranking((best, Explanation(0.0, PHI))), unexplained_share=0.4)
    (first,) = findings_of(wrench_hypotheses(bad))
    assert (first.code, first.severity) == ("unexplained", "error")
    assert sign[0].text in first.text
    assert "torque_sign" not in first.remedy
    good = replace(bad, ranking=Ranking((replace(best, unexplained=0.01),)), unexplained_share=0.01)
    assert [finding.code for finding in findings_of(wrench_hypotheses(good))] == ["torque_sign"]
    monkeypatch.setattr("identify.pipeline.correcting.run_checks", lambda *_, **__: bad)
    with pytest.raises(NotCorrected, match="found: unexplained"):
        fit(log, apply=("torque_sign",))


@pytest.mark.slow
def test_mass_predicted_by_reading_matches_corrected_fit():
    log = moving(1, 20.0)
    flip = np.concatenate((0.0 * log.signals["force"], -2.0 * log.signals["torque"]), axis=1)
    wrong = with_wrench(log, flip)
    found = check_logs(without_effects(wrong)).findings[0]
    assert found.code == "torque_sign"
    low, high = fit(log).estimate.intervals["m"]
    assert low < found.evidence["mass"] < high


def test_contradicted_box_is_named_with_its_violation():
    com = PHI[1:4] / PHI[0]
    x, y, z = (com[2], com[0], com[1] + 0.04)
    box = ComInBox((x - 0.01, y - 0.01, z - 0.01), (x + 0.01, y + 0.01, z + 0.01))
    log = without_effects(moving(2, 20.0))
    result = fit(log, terms=[MassBetween(0.5 * PHI[0], 2.0 * PHI[0]), box])
    (said,) = [f for f in result.findings if f.code == "choice_contradicted"]
    assert said.severity == "error"
    assert result.verdict.usable == "no"
    assert str(box) in said.text
    assert "with the mass" not in said.text
    assert said.evidence["standard_errors"] > 100.0


def test_estimate_on_consistency_boundary_is_usable_with_care():
    noise = Noise(position=2e-4, orientation=5e-4, force=0.3, torque=0.03)
    short = synthetic_recording(
        InertialParameters.from_com(1.0, [0.01, 0.02, 0.05], np.diag([1.0, 1.0, 0.02]) * 2e-3).phi,
        rng=np.random.default_rng(2),
        duration=5.0,
        rate_hz=100.0,
        noise=noise,
    )
    result = fit(short)
    assert not result.estimate.least_squares.consistent
    assert "at_the_edge" in result.verdict.reasons
    assert result.verdict.usable == "with care"
    assert "at_the_edge" not in fit(moving(2, 20.0)).verdict.reasons


@pytest.mark.slow
def test_a_wrench_in_thousandths_is_a_body_denser_than_any_material():
    (said,) = fit(in_thousandths(moving(3, 10.0))).findings
    assert (said.code, said.severity) == ("too_dense", "error")
    gold = Sphere(0.05).body(density=19_300.0)
    assert said.evidence["density"] > 2.5e4
    heavy = synthetic_recording(gold.phi, rng=np.random.default_rng(0), duration=10.0)
    assert not fit(heavy).findings


@pytest.mark.slow
def test_finding_with_implausible_density_becomes_error():
    found = fit(in_thousandths(late(moving(3, 10.0), 0.02)))
    assert (found.findings[0].code, found.findings[0].severity) == ("delay", "error")
    assert found.findings[0].text.endswith("the body is denser than any material.")
    assert "too_dense" not in found.verdict.reasons


@pytest.mark.slow
def test_a_contact_is_no_cause_of_a_body_denser_than_any_material():
    log = in_thousandths(moving(3, 10.0))
    force = log.signals["force"].copy()
    force[300:400, 2] += 2.0 * np.abs(force).max()
    found = fit(with_signals(log, force=force)).findings
    assert {"too_dense", "contact"} <= {finding.code for finding in found}
    assert "denser" not in next(f.text for f in found if f.code == "contact")


def test_saturated_rows_are_excluded_and_body_is_recovered():
    log = moving(3, 30.0)
    most = 0.8 * np.abs(log.signals["force"]).max()
    clipped = with_signals(log, force=np.clip(log.signals["force"], -most, most))
    found = fit(clipped)
    assert found.findings[0].code == "saturation"
    low, high = found.estimate.intervals["m"]
    assert low < PHI[0] < high
    applied = fit_corrected(clipped, found, "saturation")
    low, high = applied.estimate.intervals["m"]
    assert low < PHI[0] < high
    assert high - low < 0.01 * PHI[0]


def test_fully_saturated_log_is_rejected():
    log = moving(3, 20.0)
    most = 0.05 * np.abs(log.signals["force"]).max()
    clipped = with_signals(log, force=np.clip(log.signals["force"], -most, most))
    with pytest.raises(NotCorrected, match="the log is too short"):
        fit(clipped, apply=("saturation",))


@pytest.mark.parametrize("seed", mostly_slow(range(3), {0}))
def test_slow_sensor_noise_counts_as_explained_with_weak_torque(seed):
    """It forgets in a quarter of a second, and its spectrum is small above the motion's."""
    log = moving(seed, 20.0)
    keep = np.exp(-0.01 / 0.25)
    white = np.random.default_rng(seed).normal(size=(len(log), 6))
    slow = lfilter([np.sqrt(1.0 - keep**2)], [1.0, -keep], white, axis=0)
    result = fit(with_wrench(log, slow * np.repeat([0.1, 0.03], 3)))
    assert all(finding.severity == "info" for finding in result.findings)
    assert result.verdict.explains_data
