"""Loads of arms whose axes do not show all of them: what they show is fitted, the rest marked."""

from dataclasses import replace

import numpy as np
import pytest

from identify.arms import TorqueScale, fit_arm, fit_payload
from identify.arms.columns import ArmColumns
from identify.arms.equations import payload_columns
from identify.arms.findings import gain_findings
from identify.arms.load_default import shown_combinations, unobservable_directions
from identify.errors import ProblemError
from identify.estimation import NegativeMass
from identify.estimation.terms import KnownMass
from identify.findings import UNIDENTIFIED_SOURCES
from identify.inertia import InertialParameters, base_columns, in_frame
from tests.arms.mechanisms import LOAD, MECHANISMS, log, motion, read_mechanism

SHOWN = {
    "scara": {"m", "cx", "cy", "Iczz"},
    "gantry": {"m"},
    "turntable": set(),
    "two_axes": {"m", "cx", "cz", "Icyy"},
    "pan_tilt": set(),
    "pendulum": set(),
}
"""Mass, centre of mass and inertia about it that motions show."""


@pytest.fixture(scope="module", params=MECHANISMS)
def fitted(request, tmp_path_factory, pinocchio):
    robot = read_mechanism(request.param, tmp_path_factory.mktemp("mechanism"))
    exact = TorqueScale.known(0.0, len(robot.joints))
    logs = log(robot, 1, LOAD), log(robot, 2)
    fit = fit_payload(*logs, robot=robot, frame="tool0", scale=exact)
    return request.param, robot, fit


def test_what_motions_show_is_right_and_the_rest_has_no_interval(fitted):
    name, robot, fit = fitted
    estimate = fit.estimate
    quantities = ("m", "cx", "cy", "cz", "Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz")
    with_interval = {q for q in quantities if estimate.intervals[q] is not None}
    assert with_interval <= SHOWN[name]
    assert with_interval & {"m", "cx", "cy", "cz"} == SHOWN[name] & {"m", "cx", "cy", "cz"}
    central = dict(zip(quantities[1:4], LOAD.com, strict=True)) | {"m": float(LOAD.mass)}
    for quantity in SHOWN[name] & central.keys():
        low, high = estimate.intervals[quantity]
        assert low < central[quantity] < high
        assert high - low < 0.2 * (0.1 if quantity[0] == "c" else 2.0)
    hidden = {n for n, by in estimate.decided_by.items() if by in UNIDENTIFIED_SOURCES}
    (finding,) = (f for f in estimate.findings if f.code == "mechanism")
    assert finding.severity == ("warning" if "m" in hidden else "info")
    # torques of the arm with the fitted load are those with the true one
    _, q, v, a = motion(robot, 3)
    link, X_LF = robot.frame("tool0")
    model = full_model(robot)
    fitted_torque, torque = (
        rnea(model, link, in_frame(body, X_LF), q, v, a) for body in (estimate.parameters, LOAD)
    )
    of_load = torque - rnea(model, link, None, q, v, a)
    assert np.abs(fitted_torque - torque).max() < 0.06 * np.abs(of_load).max()


def full_model(robot):
    import pinocchio

    return pinocchio.buildModelFromUrdf(str(robot.path))


def rnea(model, link, body, q, v, a):
    """Torques by Pinocchio with a load on a link."""
    import pinocchio

    loaded = pinocchio.Model(model)
    if body is not None:
        loaded.inertias[link + 1] += body.to_pinocchio()
    data, rows = loaded.createData(), []
    for state in zip(q[::50], v[::50], a[::50], strict=True):
        position = pinocchio.neutral(loaded)
        for joint, angle in zip(list(loaded.joints)[1:], state[0], strict=True):
            exact = [np.cos(angle), np.sin(angle)] if joint.nq == 2 else [angle]
            position[joint.idx_q : joint.idx_q + joint.nq] = exact
        rows.append(pinocchio.rnea(loaded, data, position, *state[1:]))
    return np.array(rows)


def test_unobservable_directions_change_no_torque(fitted):
    _, robot, _ = fitted
    directions = unobservable_directions(ArmColumns.of(robot), "tool0")
    assert len(directions)
    model, (_, q, v, a) = full_model(robot), motion(robot, 4)
    link, X_LF = robot.frame("tool0")
    torque = rnea(model, link, in_frame(LOAD, X_LF), q, v, a)
    for direction in directions:
        moved = in_frame(InertialParameters(LOAD.phi + 0.01 * direction), X_LF)
        assert np.abs(rnea(model, link, moved, q, v, a) - torque).max() < 1e-9
    for k in np.flatnonzero(np.abs(directions).max(axis=0) < 1e-9):
        step = 0.01 * np.eye(10)[k]
        changed = in_frame(InertialParameters(LOAD.phi + step), X_LF)
        assert np.abs(rnea(model, link, changed, q, v, a) - torque).max() > 1e-5


def test_shown_combinations_have_the_numbers_of_the_true_load(fitted):
    _, robot, fit = fitted
    columns = ArmColumns.of(robot)
    lines = shown_combinations(columns, "tool0", fit.estimate)
    values = [float(line.split(" = ")[1].split(" ± ")[0]) for line in lines]
    truth = base_columns(payload_columns(columns.base, robot.frame("tool0"))).dependence @ LOAD.phi
    assert np.abs(values - truth).max() < 0.06 * np.abs(truth).max()


def test_a_given_mass_tells_the_centre_of_mass_of_a_pendulum(tmp_path, pinocchio):
    robot = read_mechanism("pendulum", tmp_path)
    logs = log(robot, 1, LOAD), log(robot, 2)
    fit = fit_payload(*logs, robot=robot, frame="tool0", terms=[KnownMass(2.0)])
    intervals = fit.estimate.intervals
    assert intervals["cx"][0] < 0.06 < intervals["cx"][1]
    assert intervals["cz"][0] < 0.04 < intervals["cz"][1]
    assert intervals["cy"] is None
    with pytest.raises(ProblemError, match="no motion of this arm shows the mass"):
        fit_payload(*logs, robot=robot, frame="tool0", known_load=2.0)


@pytest.mark.parametrize("count", [1, 2])
def test_gains_that_a_scara_does_not_show_are_not_proposed(tmp_path, pinocchio, count):
    robot = read_mechanism("scara", tmp_path)
    logs = [
        replace(each, signals={**each.signals, "effort": each.signals["effort"] * [0.4, 1, 1, 1]})
        for each in (log(robot, 1, LOAD), log(robot, 2))
    ]
    if count == 1:
        gains = fit_arm(logs[0], robot, interval="formula").gains
    else:
        gains = fit_payload(*logs, robot=robot, frame="tool0", interval="formula").gains
    (finding,) = gain_findings(gains, robot.joints)
    proposed = finding.remedy.partition("gains = [")[2].partition("]")[0].split(", ")
    assert proposed[1:] == ["1", "1", "1"]
    assert 1.5 < float(proposed[0]) < 3.0
    factors = np.array(proposed, dtype=float)
    corrected = [
        replace(each, signals={**each.signals, "effort": each.signals["effort"] * factors})
        for each in logs
    ]
    low, high = fit_payload(*corrected, robot=robot, frame="tool0").estimate.intervals["m"]
    assert low < LOAD.mass < high


def test_swapped_logs_of_a_scara_are_named(tmp_path, pinocchio):
    robot = read_mechanism("scara", tmp_path)
    with pytest.raises(NegativeMass):
        fit_payload(log(robot, 2), log(robot, 1, LOAD), robot=robot, frame="tool0")
