import re
from dataclasses import replace

import numpy as np
import pytest

import identify
from identify.arms import TorqueScale, fit_arm, fit_payload, read_arm, write_arm
from identify.arms.arm_fit import scan_logs
from identify.arms.model import arm_system
from identify.arms.torque_scale import SCALE_OF_WARM_MOTORS, LoadedScale, ScaleBetweenRuns
from identify.errors import LogError, ModelError, ProblemError
from identify.estimation import NegativeMass
from identify.estimation.estimator import solve_unknowns
from identify.estimation.terms import ComInBox, KnownMass
from identify.inertia import BaseColumns, InertialParameters, base_columns
from identify.pipeline.misread_error import MisreadLog
from identify.regressors import join_logs
from identify.robots import robot_base_columns
from tests.arms.simulated import (
    AXES,
    FRICTION,
    LOAD,
    RATE_HZ,
    Motion,
    recording,
    simulate,
    torques,
    true_links,
)
from tests.close import assert_close
from tests.slow import mostly_slow

NOISE = 0.3
DRIFTED = FRICTION * [1.1, 0.9, 1.3]


@pytest.fixture(scope="module")
def pair(robot):
    """Loaded and empty, with friction that differs between the two."""
    return simulate(robot, 1, load=LOAD, noise=NOISE, friction=DRIFTED), simulate(
        robot, 2, noise=NOISE
    )


@pytest.fixture(scope="module")
def quiet(robot):
    """Loaded and empty, which tell a scale between them to less than 1 %."""
    return simulate(robot, 1, load=LOAD, noise=0.01), simulate(robot, 2, noise=0.01)


@pytest.fixture(scope="module")
def payload(robot, pair):
    return fit_payload(*pair, robot=robot, frame="tool", scale=TorqueScale.known(0.0, 3))


def test_logs_without_noise_give_the_load(robot):
    logs = simulate(robot, 1, load=LOAD, friction=DRIFTED), simulate(robot, 2)
    fit = fit_payload(*logs, robot=robot, frame="tool")
    assert_close(fit.estimate.parameters.phi, LOAD.phi, 1e-4)
    assert fit.errors.total < 1e-6
    scalars = {name: value for name, (value, _) in fit.estimate.scalars.items()}
    assert_close([scalars[f"joint_{j} viscous"] for j in range(3)], DRIFTED[:, 0], 1e-4)
    assert_close([scalars[f"joint_{j} coulomb 1"] for j in range(3)], FRICTION[:, 1], 1e-4)


def test_fitted_arm_serves_under_another_choice_of_columns(robot, pair, monkeypatch):
    arm = fit_arm(pair[1], robot=robot).saved
    expected = fit_payload(pair[0], robot=robot, frame="tool", arm=arm).estimate
    D = robot_base_columns(robot).dependence
    last = base_columns(D * np.linspace(1.0, 100.0, D.shape[1])).independent
    other = BaseColumns(last, np.linalg.solve(D[:, last], D))
    assert set(last) != set(robot_base_columns(robot).independent)
    for module in ("columns", "saved_arm"):
        monkeypatch.setattr(f"identify.arms.{module}.robot_base_columns", lambda robot: other)
    estimate = fit_payload(pair[0], robot=robot, frame="tool", arm=arm).estimate
    assert_close(estimate.parameters.phi, expected.parameters.phi, 1e-9)
    assert_close(estimate.covariance, expected.covariance, 1e-9)


def test_a_centre_that_noise_hides_is_a_default_and_widens_the_mass(robot):
    small = InertialParameters.from_com(
        mass=0.5, com=[0.01, -0.02, 0.04], inertia_about_com=np.diag([6e-4, 6e-4, 3e-4])
    )
    widths = []
    for noise, decided_by in ((0.5, {"data"}), (4.0, {"default"})):
        logs = (
            simulate(robot, seed, load=load, noise=noise, seconds=20)
            for seed, load in ((11, small), (12, None))
        )
        exact = TorqueScale.known(0.0, 3)
        estimate = fit_payload(*logs, robot=robot, frame="tool", scale=exact).estimate
        assert estimate.decided_by["m"] == "data"
        assert {estimate.decided_by[name] for name in ("hx", "hy", "hz")} == decided_by
        assert (estimate.intervals["cy"] is None) == ("default" in decided_by)
        low, high = estimate.intervals["m"]
        assert low < small.mass < high
        widths.append(high - low)
    assert widths[1] > 3.0 * widths[0]


def test_intervals_hold_the_load(payload):
    estimate = payload.estimate
    assert [bias.sha256 for bias in estimate.bias] == [log.sha256 for log in payload.logs]
    for name, true in {
        "m": LOAD.mass,
        **dict(zip(("cx", "cy", "cz"), LOAD.com, strict=True)),
    }.items():
        low, high = estimate.intervals[name]
        assert low < true < high, name
    low, high = estimate.intervals["m"]
    assert high - low < 0.1 * LOAD.mass
    assert estimate.interval_kind.startswith("95 %, bootstrap")
    assert estimate.body == "payload"
    assert list(estimate.others) == ["link_0", "link_1", "link_2"]
    assert estimate.certificate.distance_to_optimum < 0.02


def test_formula_is_said_where_blocks_are_few(robot):
    logs = [
        simulate(robot, k, load=load, noise=NOISE, seconds=11) for k, load in ((1, LOAD), (2, None))
    ]
    fit = fit_payload(*logs, robot=robot, frame="tool")
    assert "by residuals" in fit.estimate.interval_kind
    assert "8 blocks of time" in fit.estimate.interval_kind
    assert (
        "torque scale of each joint to 2 % (assumed), gains of joints fitted"
        in fit.estimate.interval_kind
    )
    with pytest.raises(ProblemError, match=r"8 blocks of time"):
        fit_payload(*logs, robot=robot, frame="tool", interval="bootstrap")


def test_error_of_the_torque_scale_is_in_the_interval(robot, quiet):
    fits = [
        fit_payload(*quiet, robot=robot, frame="tool", scale=TorqueScale.known(error, 3))
        for error in (0.05, 0.0)
    ]
    wide, narrow = (np.ptp(each.estimate.intervals["m"]) for each in fits)
    # Gains of single joints move the mass by 5 % of the share of each in it.
    assert 0.05 * LOAD.mass < wide - narrow < 0.2 * LOAD.mass
    # The logs tell gains of single joints better than that.
    mass, by_exact = (each.estimate.parameters.mass for each in fits)
    assert_close(mass, by_exact, 0.03)


@pytest.mark.parametrize("gain", [0.96, 1.03])
def test_logs_show_their_scale_beside_the_load(robot, gain):
    empty = simulate(robot, 2)

    def posterior(gain):
        loaded = log_with_gain(simulate(robot, 1, load=LOAD, noise=0.01), gain)
        columns, scans = scan_logs([loaded, empty], robot, None)
        statistics = join_logs([scan.statistics for scan in scans])
        loads = {"loaded": (True, False), "frame": "tool"}
        return solve_unknowns(arm_system(statistics, columns, runs=(0, 1), **loads)).posterior

    scale = LoadedScale.of(posterior(gain))
    assert_close(scale.score / scale.information, gain - 1.0, 0.2)
    # the change of the mass by a difference of two fits
    step = 1e-3
    one, more = (posterior(each).x[0] for each in (1.0, 1.0 + step))
    assert_close((more - one) / step, LoadedScale.of(posterior(1.0)).changes[0], 1e-2)
    # probability and mean square by integrals over the density of s
    s = np.linspace(-0.6, 0.6, 200_001)
    prior = ScaleBetweenRuns(0.01, 6.0)
    kinds = {prior.error: 1.0, SCALE_OF_WARM_MOTORS: np.exp(-0.5 * prior.lead)}
    for score, information in ((0.0, 0.0), (30.0, 100.0), (100.0, 700.0), (170.0, 3000.0)):
        few = scale._replace(score=score, information=information)
        usual, warm = (
            odds * np.exp(score * s - 0.5 * (information + size**-2) * s**2) / size
            for size, odds in kinds.items()
        )
        both = usual.sum() + warm.sum()
        assert few.probability_of_warmth(prior) == pytest.approx(warm.sum() / both, rel=1e-4)
        assert_close(few.mean_square(prior), (usual + warm) @ s**2 / both, 1e-4)


def test_gains_of_all_torques_scale_the_load(robot, pair, payload):
    scale = TorqueScale(np.full(3, 1.25), np.zeros((3, 3)), "given")
    fit = fit_payload(*pair, robot=robot, frame="tool", scale=scale)
    assert_close(1.25 * fit.estimate.parameters.mass, payload.estimate.parameters.mass, 1e-3)


@pytest.mark.parametrize("gain", mostly_slow([0.6, 1.1, 1.7], {0.6}))
def test_known_load_gives_the_scale_of_the_torques(robot, pair, gain):
    loaded, empty = (log_with_gain(log, gain) for log in pair)
    fit = fit_payload(loaded, empty, robot=robot, frame="tool", known_load=LOAD.mass)
    assert_close(fit.scale.gains, [gain] * 3, 0.03)
    assert fit.estimate.parameters.mass == pytest.approx(LOAD.mass, rel=1e-9)
    assert fit.estimate.decided_by["m"] == "given"
    assert "torque scale by a load of 1.4 kg" in fit.estimate.interval_kind
    # The scale then holds for another load.
    other = log_with_gain(simulate(robot, 3, load=LOAD, noise=NOISE), gain)
    again = fit_payload(other, empty, robot=robot, frame="tool", scale=fit.scale)
    low, high = again.estimate.intervals["m"]
    assert low < LOAD.mass < high


def test_known_load_that_is_no_error_of_scale_is_refused(robot, pair):
    for mass in (LOAD.mass / 10, 10 * LOAD.mass):
        with pytest.raises(ProblemError, match=r"the torques show 1\.\d+ kg.*check the mass, the"):
            fit_payload(*pair, robot=robot, frame="tool", known_load=mass)


def log_with_gain(log, gain):
    q, effort = log.signals["joint_position"], log.signals["effort"]
    return recording(log.time, q, gain * effort, log.name)


def test_fitted_arm_takes_the_place_of_the_log_without_the_load(robot, pair, payload, tmp_path):
    loaded, empty = pair
    path = write_arm(fit_arm(empty, robot).saved, tmp_path / "arm.json")
    fit = fit_payload(loaded, robot=robot, frame="tool", arm=read_arm(path))
    assert_close(fit.estimate.parameters.phi, payload.estimate.parameters.phi, 1e-3)
    of_scale = r"with and without the load to \d % \(taken\), of which 1 % is 3\.\d % of the mass"
    assert re.search(of_scale, fit.estimate.interval_kind)


def test_scale_between_runs_is_in_the_interval(robot, pair, quiet):
    """The logs tell part of an error that is taken, and the size of a larger one."""
    half, words = {}, {}

    def fit(logs, gain, error):
        scale, log = TorqueScale.known(error, 3), log_with_gain(logs[0], gain)
        estimate = fit_payload(log, logs[1], robot=robot, frame="tool", scale=scale).estimate
        low, high = estimate.intervals["m"]
        assert low < LOAD.mass < high
        half[gain, error], words[gain, error] = (high - low) / 2.0, estimate.interval_kind

    fit(quiet, 1.05, 0.02)
    assert "by their torques" in words[1.05, 0.02]
    for error in (0.0, 0.01, 0.1):
        fit(pair, 1.0, error)
    assert "without" not in words[1.0, 0.0]
    assert "with and without the load to 0.6 % (taken)" in words[1.0, 0.01]  # the mean of three
    change = 3.8 * 1.96 * LOAD.mass * 0.01 / np.sqrt(3.0)
    of_scale = np.sqrt(half[1.0, 0.01] ** 2 - half[1.0, 0.0] ** 2)
    assert 0.5 * change < of_scale < 1.5 * change
    assert half[1.0, 0.1] < 0.2 * LOAD.mass  # logs 2.2 standard errors from equal scales


def test_terms_are_of_the_load(robot, pair):
    fit = fit_payload(*pair, robot=robot, frame="tool", terms=[KnownMass(1.42)])
    assert fit.estimate.parameters.mass == pytest.approx(1.42, rel=1e-9)
    assert fit.contradicted is None


@pytest.mark.parametrize(
    ("factor", "severity"), [(0.5, "error"), (1.0, None), (1.02, "warning"), (2.0, "error")]
)
def test_wrong_known_mass_is_contradicted_by_the_torques(robot, pair, factor, severity):
    mass, exact = factor * LOAD.mass, TorqueScale.known(0.0, 3)
    fit = fit_payload(*pair, robot=robot, frame="tool", scale=exact, terms=[KnownMass(mass)])
    if severity is None:
        assert fit.contradicted is None
        return
    assert fit.contradicted.code == "choice_contradicted"
    assert fit.contradicted.severity == severity
    assert f"contradict mass = {mass:g} kg" in fit.contradicted.text
    assert_close(fit.contradicted.evidence["mass_by_data"], LOAD.mass, 0.03)


def test_com_and_box_that_the_torques_contradict_are_named(robot, pair):
    wrong = ComInBox((0.08, -0.1, 0.0), (0.2, 0.1, 0.2))
    fit = fit_payload(*pair, robot=robot, frame="tool", terms=[wrong])
    assert fit.contradicted.severity == "error"
    assert str(wrong) in fit.contradicted.text
    right = ComInBox((0.0, -0.1, 0.0), (0.2, 0.1, 0.2))
    fit = fit_payload(*pair, robot=robot, frame="tool", terms=[right])
    assert fit.contradicted is None


@pytest.mark.parametrize(("factor", "contradicted"), [(1.0, False), (1.7, True), (0.6, True)])
def test_known_load_that_torques_and_model_contradict_is_an_error(
    robot, pair, factor, contradicted
):
    """The model's links are a fifth too light: torques and a right load contradict them alone."""
    mass = factor * LOAD.mass
    fit = fit_payload(*pair, robot=robot, frame="tool", known_load=mass)
    if not contradicted:
        assert fit.contradicted is None
        return
    finding = fit.contradicted
    assert (finding.code, finding.severity) == ("choice_contradicted", "error")
    assert f"known load of {mass:.4g} kg" in finding.text
    assert_close(finding.evidence["mass_by_data"], LOAD.mass, 0.03)
    assert_close(finding.evidence["gain"], 1.0 / factor, 0.05)


def test_known_load_that_the_model_confirms_tells_the_scale(robot, pair):
    near = replace(robot, phi=true_links(robot))
    logs = [log_with_gain(log, 0.7) for log in pair]
    fit = fit_payload(*logs, robot=near, frame="tool", known_load=LOAD.mass)
    assert fit.contradicted is None
    assert_close(fit.scale.gains, 0.7 * np.ones(3), 0.03)


def test_load_that_is_a_thin_sheet_is_found(robot):
    sheet = InertialParameters.from_com(
        mass=1.4, com=[0.03, -0.02, 0.09], inertia_about_com=np.diag([0.011, 0.006, 0.017])
    )
    logs = simulate(robot, 1, load=sheet), simulate(robot, 2)
    fit = fit_payload(*logs, robot=robot, frame="tool", interval="formula")
    assert_close(fit.estimate.parameters.phi, sheet.phi, 1e-4)
    assert fit.estimate.certificate.margin < 1e-8


def test_joint_that_is_never_fast_does_not_count(robot):
    slow = replace(AXES, still_below=np.array([99.0, 0.02, 0.02]))
    logs = [
        replace(simulate(robot, seed, load=load, noise=0.1), joints=slow)
        for seed, load in ((1, LOAD), (2, None))
    ]
    fit = fit_payload(*logs, robot=robot, frame="tool", scale=TorqueScale.known(0.0, 3))
    low, high = fit.estimate.intervals["m"]
    assert low < LOAD.mass < high
    assert high - low < 0.3 * LOAD.mass
    assert np.isnan(fit.errors.joints[0])
    assert (fit.errors.joints[1:] < 0.1).all()
    with pytest.raises(ProblemError, match=r"does not excite .*joint_0 viscous"):
        fit_arm(logs[1], robot)


def test_runs_that_cannot_tell_the_load_are_refused(robot, pair):
    loaded, empty = pair
    with pytest.raises(ProblemError, match=r"do not tell the load from the last link"):
        fit_payload(loaded, robot=robot, frame="tool")
    with pytest.raises(LogError, match=r"have the same content: a log is with the load or"):
        fit_payload(loaded, loaded, robot=robot, frame="tool")
    with pytest.raises(ProblemError, match=r"at least one log with it"):
        fit_payload([], empty, robot=robot, frame="tool")
    with pytest.raises(ModelError, match=r"tool"):
        fit_payload(loaded, empty, robot=robot, frame="toll")
    with pytest.raises(ModelError, match=r"no joint of the log moves the frame 'base'.*tool"):
        fit_payload(loaded, empty, robot=robot, frame="base")


@pytest.mark.parametrize("terms", [(), (KnownMass(LOAD.mass),)])
def test_swapped_logs_are_named(robot, pair, terms):
    loaded, empty = pair
    with pytest.raises(NegativeMass, match=r"mass of the payload is -1.*swap them") as error:
        fit_payload(empty, loaded, robot=robot, frame="tool", terms=terms)
    assert error.value.finding.code == "logs_swapped"
    arm = fit_arm(loaded, robot).saved
    with pytest.raises(NegativeMass, match=r"so does fit-arm"):
        fit_payload(empty, robot=robot, frame="tool", arm=arm)


def test_negative_mass_names_causes_of_joint_torques(robot, pair):
    loaded, empty = (log_with_gain(log, -1) for log in pair)
    with pytest.raises(NegativeMass, match=r"mass of the payload is -.*`names`") as error:
        fit_payload(loaded, empty, robot=robot, frame="tool")
    assert error.value.finding.code == "effort_sign"


def test_negated_gravity_is_named(robot):
    """Gains of the other sign fit the weight, but not friction; the mass has either sign."""
    loaded, empty = simulate(robot, 1, load=LOAD, noise=NOISE), simulate(robot, 2, noise=NOISE)
    wrong = replace(robot, gravity=-robot.gravity)
    try:
        result = identify.fit([loaded], unloaded=[empty], robot=wrong, frame="tool")
    except MisreadLog as error:
        finding = error.finding
    else:
        finding = result.findings[0]
        assert result.verdict.usable == "no"
    assert finding.code == "gravity_direction"


def test_negated_gravity_does_not_count_as_swapped_logs(robot):
    """Swapped, consistent links leave a fifth more than least squares at a noise that is large."""
    loaded = simulate(robot, 1, load=LOAD, noise=1.0, friction=DRIFTED)
    empty = simulate(robot, 2, noise=1.0)
    robot = replace(robot, gravity=-robot.gravity)
    with pytest.raises(NegativeMass) as error:
        fit_payload(loaded, empty, robot=robot, frame="tool")
    assert error.value.finding.code == "effort_sign"


def test_half_at_rest_is_not_scored(robot):
    time = np.arange(5000) / RATE_HZ
    speed = np.clip((time - 26.0) / 3.0, 0.0, 1.0) ** 2
    logs = []
    for seed, load in ((1, LOAD), (2, None)):
        s, slope = np.cumsum(speed) / RATE_HZ, np.gradient(speed, 1.0 / RATE_HZ)
        motion = Motion.along(seed, s, speed, slope, time)
        effort = torques(robot, motion, true_links(robot), load)
        logs.append(recording(time, motion.q, effort, f"late {seed}"))
    fit = fit_payload(*logs, robot=robot, frame="tool")
    assert fit.held_out == ()
    assert_close(fit.estimate.parameters.mass, LOAD.mass, 0.02)
    assert fit_arm(logs[1], robot).held_out == ()


def test_log_of_the_fitted_arm_is_not_given_again(robot, pair):
    loaded, empty = pair
    with pytest.raises(LogError, match=r"the fitted arm includes this log"):
        fit_payload(loaded, empty, robot=robot, frame="tool", arm=fit_arm(empty, robot).saved)


def test_scale_that_is_none_is_refused():
    with pytest.raises(ProblemError, match=r"relative error such as 0.02, or one for each of 3"):
        TorqueScale.known([0.1, 0.2], 3)
    with pytest.raises(ProblemError, match=r"none that is zero"):
        TorqueScale(np.array([1.0, 0.0]), np.eye(2), "given")
