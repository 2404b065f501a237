import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.spatial.transform import Rotation

from identify.diagnosis import calibration, excitation, find_faults, score_tests, sized_faults
from identify.diagnosis.score_test import Linearised, each_beside, solve_extra
from identify.diagnosis.search import SCREEN, _calibrated, hidden, with_maps
from identify.diagnosis.trial import Trial
from identify.errors import ProblemError
from identify.estimation import EstimatorSettings, body_system
from identify.estimation.least_squares import weighted_least_squares
from identify.regressors import block_statistics
from identify.regressors.log_corrections import earlier_wrench
from identify.signals import prepare
from identify.signals.transform import band_middle
from tests.close import assert_close, group_errors
from tests.diagnosis.logs import (
    PHI,
    fitted,
    late,
    moving,
    still,
    time_of,
    with_signals,
    with_wrench,
)

LOG = moving(0)
FIT, FACTS = fitted(LOG)
TURN = np.radians([1.0, -1.5, 0.8])


def turned(log):
    turn = Rotation.from_rotvec(TURN)
    loads = {name: turn.apply(np.array(log.signals[name])) for name in ("force", "torque")}
    return with_signals(log, **loads)


def tilted(log):
    tilt = Rotation.from_rotvec(np.radians([2.0, -1.0, 0.0]))
    return replace(log, gravity=tilt.apply(np.array(log.gravity)))


def displaced(log):
    R = Rotation.from_quat(np.array(log.signals["quaternion"]))
    moved = R.apply([[0.01, -0.006, 0.008]])
    return with_signals(log, position=log.signals["position"] + moved)


FAULTS = {
    "delay": (lambda log: late(log, 0.01), [0.01], 2e-4),
    "wrench_misaligned": (turned, -TURN, 2e-3),
    "kinematic_offset": (displaced, [-0.01, 0.006, -0.008], 4e-4),
    "position_unit": (
        lambda log: with_signals(log, position=1.05 * log.signals["position"]),
        [1.0 / 1.05 - 1.0],
        2e-3,
    ),
}


def named(name, facts=FACTS):
    ((fault, *_),) = sized_faults(facts, [name])
    return fault


def named_of_logs(facts, name):
    (candidate,) = sized_faults(facts, [name])
    return candidate


def scores_of(log):
    fit, facts = fitted(log)
    return score_tests(fit, sized_faults(facts))


@pytest.mark.parametrize("code", FAULTS)
def test_a_fault_is_found_at_its_size_and_its_correction_gives_the_body(code):
    wrong, size, within = FAULTS[code]
    fit, facts = fitted(wrong(LOG))
    found = find_faults(fit, facts)
    assert [fault.code for fault in found.found] == [code]
    fault = found.found[0]
    assert fault.p_value < 1e-6
    assert fault.gain > 100.0
    np.testing.assert_allclose(fault.size, size, atol=within)
    assert (np.abs(fault.size - size) < 2.0 * fault.half_width + 0.3 * within).all()
    before, after = group_errors(fit.x, PHI), group_errors(found.fit.x, PHI)
    assert after.inertia < 0.2 * before.inertia
    mapped = [s.mapped(fault.faults[0].map_at(fault.size)) for s, _ in fit.data.system.data]
    assert_close(found.fit.data.system.data[0][0].totals, mapped[0].totals, 1e-9)


def test_gravity_that_was_tilted_is_put_back_by_the_line_of_the_schema():
    fit, facts = fitted(tilted(LOG))
    (fault,) = find_faults(fit, facts).found
    assert fault.code == "gravity_tilted"
    assert fault.remedy.startswith("In the schema, [world], set `gravity = [")
    line = json.loads(fault.remedy.partition("= ")[2].partition("`")[0])
    np.testing.assert_allclose(line, LOG.gravity, atol=5e-3)


@pytest.mark.parametrize("rate", [1.03, 0.9])
def test_a_clock_is_named_alone_where_gravity_is_that_of_earth(rate):
    fit, facts = fitted(replace(LOG, time=LOG.time * rate))
    (fault,) = find_faults(fit, facts).found
    assert (fault.code, fault.equivalent) == ("clock_rate", ())
    np.testing.assert_allclose(fault.size, [1.0 / rate - 1.0], atol=2e-3)


def test_a_clock_is_named_with_the_size_of_a_gravity_that_is_not_that_of_earth():
    log = moving(0)
    down = Rotation.from_quat(np.array(log.signals["quaternion"])).inv().apply([0.0, 0.0, -9.0])
    fewer = down * (1.0 - 9.80665 / 9.0)  # as on a planet of 9 m/s²
    added = np.hstack((PHI[0] * fewer, np.cross(PHI[1:4], fewer)))
    there = replace(with_wrench(log, -added), gravity=np.array([0.0, 0.0, -9.0]))
    fit, facts = fitted(replace(there, time=there.time * 1.03))
    (fault,) = find_faults(fit, facts).found
    assert {fault.code, *fault.equivalent} == {"clock_rate", "gravity_magnitude"}


def relieved(log, mass, com):
    """A log without the weight of another body: what the controller takes off."""
    R = Rotation.from_quat(np.array(log.signals["quaternion"]))
    weight = mass * R.inv().apply([0.0, 0.0, -9.80665])
    return with_wrench(log, np.hstack((weight, np.cross(com, weight))))


@pytest.mark.parametrize(("share", "off"), [(0.8, 0.02), (0.3, -0.03)])
def test_the_weight_of_another_body_is_found_with_its_size_and_interval(share, off):
    mass, com = share * PHI[0], PHI[1:4] / PHI[0] + [off, 0.0, -off]
    fit, facts = fitted(relieved(LOG, mass, com))
    (fault,) = find_faults(fit, facts).found
    assert (fault.code, fault.severity) == ("partly_compensated", "error")
    size = np.append(mass, mass * com)
    assert (np.abs(fault.size - size) < 1.5 * fault.half_width).all()
    assert (fault.half_width[0] < 0.02 * PHI[0]).all()
    assert f"the weight of a body of {fault.size[0]:.4g} ± " in fault.text
    assert "pendant shows" in fault.remedy
    assert_close(fault.phi[0], PHI[0], 0.02)


def test_a_weight_of_the_other_sign_is_taken_off_by_no_controller():
    fit, facts = fitted(relieved(LOG, -0.5 * PHI[0], PHI[1:4] / PHI[0] + 0.03))
    codes = [
        code for each in find_faults(fit, facts).found for code in (each.code, *each.equivalent)
    ]
    assert "partly_compensated" not in codes


def test_a_second_fault_is_found_beside_the_first():
    fit, facts = fitted(tilted(late(LOG, 0.01)))
    found = find_faults(fit, facts)
    assert {fault.code for fault in found.found} == {"delay", "gravity_tilted"}
    delay = next(fault for fault in found.found if fault.code == "delay")
    np.testing.assert_allclose(delay.size, [0.01], atol=2e-4)
    assert group_errors(found.fit.x, PHI).inertia < 0.02


@pytest.mark.parametrize("seed", [1, 2])
def test_a_clean_log_has_no_fault(seed):
    fit, facts = fitted(moving(seed, 20.0))
    found = find_faults(fit, facts)
    assert found.found == ()
    assert found.fit is fit


def test_the_step_of_a_score_test_is_where_a_scan_of_shifted_logs_fits_best():
    """By fits of the log with its wrench really shifted: another route than derivatives."""
    read = late(LOG, 0.003)
    (test,) = score_tests(fitted(read)[0], [(named("delay"),)])
    grid = np.array([0.002, 0.003, 0.004])
    left = []
    for delay in grid:
        fit, _ = fitted(late(read, -delay))
        moments = fit.data.system.residual_moments(fit.x, FIT.weights)
        left.append(sum(np.sum(W * m) for W, m in zip(FIT.weights, moments, strict=True)))
    a, b, _ = np.polyfit(grid, left, 2)
    np.testing.assert_allclose(test.size, [-b / (2.0 * a)], atol=1e-4)


def test_sizes_are_within_their_errors_on_clean_logs():
    ratios = []
    for seed in (4, 5):
        tests = scores_of(moving(seed, 20.0))
        ratios += [value for t in tests for value in t.size / t.errors]
    assert 0.4 < np.sqrt(np.mean(np.square(ratios))) < 1.5


@pytest.mark.parametrize("name", ["torque_gain", "kinematic_offset", "delay"])
def test_what_a_size_makes_of_the_body_is_the_difference_of_a_fit_that_is_corrected(name):
    """The linear step beside the body against a fit of the logs with their columns mapped."""
    wrong = {
        "torque_gain": lambda: with_signals(LOG, torque=1.004 * LOG.signals["torque"]),
        "kinematic_offset": lambda: with_signals(
            LOG,
            position=LOG.signals["position"]
            + Rotation.from_quat(LOG.signals["quaternion"]).apply([0.002, -0.001, 0.001]),
        ),
        "delay": lambda: late(LOG, 0.002),
    }[name]()
    fit, facts = fitted(wrong)
    (candidate,) = sized_faults(facts, [name])
    ((fault, extra),) = each_beside(fit, [candidate])
    after = with_maps(fit, np.array([fault.map_at(extra.size)]), ())
    spread = np.sqrt(np.diag(extra.spread))
    away = after.x - fit.x
    assert np.linalg.norm((away - extra.shift) / spread) < 0.1 * np.linalg.norm(away / spread)
    # What a size says of the body it says with its own error, beside that of the body without it.
    for step in np.diag(np.sqrt(np.diag(extra.by_weights))):
        moved = with_maps(fit, np.array([fault.map_at(step)]), ()).x - fit.x
        assert np.all(spread**2 > 0.9 * moved**2)


def test_a_fault_too_small_to_be_named_is_counted_beside_one_that_was():
    wrong = late(with_signals(LOG, force=LOG.signals["force"] * [1.0, 1.0, 1.01]), 0.02)
    fit, facts = fitted(wrong)
    found = find_faults(fit, facts)
    assert found.found[0].code == "delay"
    named = {code for each in found.found for code in (each.code, *each.equivalent)}
    others = list(hidden(found.fit, facts, named))
    assert "gain" in {other.fault.code for other in others}
    assert not named & {other.fault.code for other in others}
    clean, of_clean = fitted(moving(7))
    assert list(hidden(clean, of_clean, ())) == []


def test_the_equations_at_a_fit_are_those_of_the_fit():
    whole = Linearised.of(FIT, [np.zeros((40, 19, 1))])
    split = FIT.identifiability
    to_y = FIT.scaling.to_x @ np.concatenate((split.identifiable, split.unidentifiable), axis=1)
    k = to_y.shape[1]
    found = whole.rows[:, :k].T @ whole.rows[:, :k]
    rows = FIT.problem.A @ to_y
    assert_close(found, rows.T @ rows, 1e-8)


def test_what_unknowns_take_whole_is_not_observable():
    """A common gain of force and torque is the scale of the body."""
    gain = np.zeros((40, 19, 1))
    gain[13:19, 13:19, 0] = np.eye(6)
    assert solve_extra(Linearised.of(FIT, [gain]), slice(0, 1)) is None


def test_maps_of_one_fault_after_another_are_those_of_a_log_with_both():
    """Also of ẇ, on which a delay acts after the wrench was turned."""
    turn, delay = named("wrench_misaligned"), named("delay")
    M = turn.map_at(-TURN) @ delay.map_at(np.array([0.004]))
    rows = prepare(turned(late(LOG, 0.004)), 5.0, wide=True).blocks[1].rows
    meant = prepare(LOG, 5.0, wide=True).blocks[1].rows
    slow = slice(0, 30)
    assert_close((rows @ M)[slow, :19], meant[slow, :19], 2e-4)
    once = earlier_wrench(0.004)
    assert np.abs(rows @ once - meant[:, :19]).max() > 1e-3


def test_slow_motion_does_not_tell_a_clock():
    fit, facts = fitted(moving(2, 30.0, bandwidth_hz=0.1))
    tests = {test.fault.name: test for test in score_tests(fit, sized_faults(facts))}
    assert not tests["clock_rate"].observable
    assert tests["gravity_tilted"].observable


def test_still_poses_are_not_tested_for_what_they_cannot_tell():
    fit, facts = fitted(still(0, 24))
    names = {test.fault.name for test in score_tests(fit, sized_faults(facts))}
    assert names == {"wrench_misaligned", "gravity_tilted", "torque_gain", "partly_compensated"}


def test_still_poses_do_not_tell_a_weight_that_is_missing_and_say_so():
    fit, facts = fitted(still(0, 24))
    tests = score_tests(fit, sized_faults(facts))
    (test,) = (test for test in tests if test.fault.code == "partly_compensated")
    assert not test.observable
    said = excitation(fit, tests).advice
    assert any("partly compensated: this log would not show 10 % of the body" in s for s in said)


def test_narrow_statistics_and_missing_facts_are_refused():
    narrow = weighted_least_squares(
        body_system([block_statistics(prepare(LOG))], EstimatorSettings())
    )
    with pytest.raises(ProblemError, match="wide"):
        find_faults(narrow, FACTS)
    with pytest.raises(ProblemError, match="1 logs, got 2"):
        find_faults(FIT, [*FACTS, *FACTS])


def test_two_logs_are_corrected_by_one_fault_each_by_its_own_map():
    """The second log has another gravity, and so another map of the same tilt."""
    logs = late(LOG, 0.01), late(moving(9, 20.0), 0.01)
    fit, facts = fitted(*logs)
    strong = [facts[0], replace(facts[1], gravity=1.2 * facts[1].gravity)]
    (fault,) = find_faults(fit, facts, names=["delay"]).found
    assert len(fault.faults) == 2
    np.testing.assert_allclose(fault.size, [0.01], atol=2e-4)
    tilts = [named("gravity_tilted", [of_log]) for of_log in strong]
    maps = np.array([tilt.map_at(np.array([0.1, 0.0])) for tilt in tilts])
    both = fit.data.system.data[0][0].mapped(maps).totals
    for log, (M, own) in enumerate(zip(maps, logs, strict=True)):
        alone = block_statistics(prepare(own, wide=True)).mapped(M).totals[0]
        found, expected = (R.swapaxes(-1, -2) @ R for R in (both[log], alone))
        assert_close(found, expected, 1e-9)
    assert np.abs(maps[0] - maps[1]).max() > 0.1


def crosstalk(log):
    """Readings of fx have a share of fz, and tz is too small: no turn of the sensor does that."""
    G = np.eye(6)
    G[0, 2], G[5, 5] = 0.03, 0.9
    loads = np.concatenate((log.signals["force"], log.signals["torque"]), axis=1) @ G.T
    return with_signals(log, force=loads[:, :3], torque=loads[:, 3:])


@pytest.fixture(scope="module")
def crossed():
    return fitted(crosstalk(LOG))


def test_a_wrong_calibration_is_reported_and_a_right_one_is_not(crossed):
    assert calibration(FIT, FACTS) is None
    found = calibration(*crossed)
    assert found is not None
    assert found.code == "wrench_calibration"
    assert found.gain > 500.0


def test_the_map_of_a_calibration_takes_back_what_was_done_along_what_is_seen(crossed):
    """By the residual of readings that are corrected and fitted again."""
    wrong = crosstalk(LOG)
    before, _ = crossed
    found = calibration(*crossed)
    assert found is not None
    loads = np.concatenate((wrong.signals["force"], wrong.signals["torque"]), axis=1)
    better = loads @ (np.eye(6) + found.size.reshape(6, 6)).T
    after, _ = fitted(with_signals(wrong, force=better[:, :3], torque=better[:, 3:]))
    left = [
        sum(np.sum(W * m) for W, m in zip(FIT.weights, moments, strict=True))
        for fit in (before, after)
        for moments in [fit.data.system.residual_moments(fit.x, FIT.weights)]
    ]
    assert left[1] < 0.1 * left[0]


def test_a_lag_is_found_at_its_size_though_its_correction_makes_noise_larger():
    """Steps by the residual alone end at half of it: they see the noise that they make."""
    T = 0.05
    log = moving(3, 40.0, bandwidth_hz=0.5)
    rng = np.random.default_rng(0)
    noisy = with_wrench(log, rng.normal(size=(len(log), 6)) * np.repeat([0.3, 0.03], 3))
    keep = np.exp(-np.diff(time_of(log)).mean() / T)
    now = 1.0 - (1.0 - keep) * T / np.diff(time_of(log)).mean()
    slow = {
        name: lfilter(
            [now, 1.0 - keep - now], [1.0, -keep], values, axis=0, zi=(1.0 - now) * values[:1]
        )[0]
        for name in ("force", "torque")
        for values in [noisy.signals[name]]
    }
    first = find_faults(*fitted(with_signals(noisy, **slow))).found[0]
    assert "sensor_lag" in (first.code, *first.equivalent)
    if first.code == "sensor_lag":
        assert_close(first.size, [T], 0.15)
    else:
        pytest.fail(f"{first.code} of {first.size} in its place")


@pytest.mark.parametrize(("row", "column"), [(0, 1), (1, 1), (3, 0)])
def test_a_map_of_the_sensor_is_found_where_no_single_fault_shows(row, column):
    """The gain of one axis, or one that shows in another, is like no turn, gain or place."""
    G = np.eye(6)
    G[row, column] += 0.002 if row == 3 else 0.03
    loads = np.concatenate((LOG.signals["force"], LOG.signals["torque"]), axis=1) @ G.T
    found = find_faults(*fitted(with_signals(LOG, force=loads[:, :3], torque=loads[:, 3:])))
    assert min(test.p_value for test in found.tests) > SCREEN
    assert found.calibration is not None
    assert found.found == ()
    assert find_faults(FIT, FACTS).calibration is None


@pytest.mark.parametrize(("seconds", "bandwidth_hz"), [(5.0, 0.3), (5.0, 1.0), (8.0, 0.3)])
def test_numbers_that_are_not_needed_gain_no_more_than_noise_gives_them(seconds, bandwidth_hz):
    gains = []
    for seed in range(6):
        fit, facts = fitted(moving(seed, seconds, bandwidth_hz=bandwidth_hz))
        before, (_, after) = Trial.of(fit, facts), _calibrated(fit, facts)
        paid = after.price(after.directions)
        gains.append((before.cost - after.cost + paid) / after.directions)
    assert np.mean(gains) < 1.6  # chi square of that many directions has a mean of one for each


def test_logs_that_share_a_fault_are_stepped_as_each_by_itself():
    fit, facts = fitted(moving(0, 10.0), moving(1, 10.0), moving(2, 10.0))
    read = Trial.of(fit, facts)
    shared = [named_of_logs(facts, name) for name in ("delay", "wrench_misaligned")]
    apart = [[replace(fault) for fault in candidate] for candidate in shared]
    sizes = [np.array([0.01]), TURN]
    together, each = (read.at(candidates, sizes) for candidates in (shared, apart))
    power = 0.0
    for rows, M in zip(read.rows, each.maps(apart, sizes), strict=True):
        for n, omega in zip(rows.samples, map(band_middle, rows.bands), strict=True):
            C = M[13:19, 13:19] + 1j * omega * M[28:34, 13:19] - omega**2 * M[34:, 13:19]
            power += n * np.log(abs(np.linalg.det(C)) ** 2)
    misfits = sum(found.cost for found in together.misfits)
    assert together.cost == pytest.approx(misfits - power + together.price(4), rel=1e-12)
    assert each.cost == pytest.approx(together.cost, rel=1e-12)
    for of_all, of_each in zip(together.step()[:2], each.step()[:2], strict=True):
        assert_close(of_all, of_each, 1e-9)
