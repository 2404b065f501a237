"""Fits of bodies that have a default of their own, such as the links of a robot."""

import numpy as np
import pytest
from hypothesis import given, settings

from identify import solve
from identify.errors import ProblemError
from identify.estimation import TooLittleMotion
from identify.estimation.scaling import BodyScaling
from identify.estimation.terms import KnownMass
from identify.inertia import PHI, InertialParameters, inertia_about_com
from identify.inertia.frames import phi_in_frame
from identify.regressors import ParameterSpace, ScalarUnknown, newton_euler_regressor
from identify.spatial import BodyMotion, Pose
from tests.close import assert_close, assert_same_body, body_scale
from tests.estimation.simulated import samples, wrench_noise
from tests.strategies import random_body, seeds

LINKS = ("upper", "lower")


def pendulum_rows(rng: np.random.Generator, count: int = 300) -> np.ndarray:
    """Torque about z of two links that turn about one vertical and one tilted fixed axis.

    A link that turns about an axis shows two first moments and one moment of inertia: of twenty
    parameters six.
    """
    rows = []
    for gravity in ([0.0, 0.0, -9.81], [0.0, -9.81, 0.0]):
        angle, rate, acceleration = rng.normal(size=(3, count))
        turned = np.stack((np.cos(angle), np.sin(angle), np.zeros(count)), axis=1)
        across = np.stack((-np.sin(angle), np.cos(angle), np.zeros(count)), axis=1)
        g = -turned * gravity[0] + across * gravity[1]
        motion = BodyMotion(-g, rate[:, None] * [0, 0, 1.0], acceleration[:, None] * [0, 0, 1.0])
        rows.append(newton_euler_regressor(motion)[:, 5])
    zero = np.zeros((count, 10))
    return np.block([[rows[0], zero], [zero, rows[1]]])


def near(phi: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A body of a tenth more mass, somewhat moved."""
    return 1.1 * phi_in_frame(phi, Pose(np.eye(3), 0.1 * rng.normal(size=3)))


@settings(max_examples=10)
@given(seeds())
def test_what_the_data_leave_open_is_that_of_the_default(seed):
    """Without noise the estimate is the nearest to the defaults that explains the data."""
    rng = np.random.default_rng(seed)
    truth = np.concatenate([random_body(rng, 2.0, 0.2), random_body(rng, 0.5, 0.1)])
    defaults = [near(truth[:10], rng), near(truth[10:], rng)]
    A = pendulum_rows(rng)
    space = ParameterSpace(LINKS, defaults=dict(zip(LINKS, defaults, strict=True)))
    estimate = solve(A, A @ truth, space=space)
    x = np.concatenate([body.least_squares.phi for body in estimate.bodies])
    assert_close(A @ x, A @ truth, 1e-8)
    units = np.zeros((20, 20))
    for k, phi in enumerate(defaults):
        body = BodyScaling.of_body(phi)
        scales = np.ones(10)
        scales[1:4] = np.hypot(1.0, min(np.linalg.norm(body.com) / body.length, 10.0))
        units[10 * k : 10 * k + 10, 10 * k : 10 * k + 10] = body.to_phi * scales
    given = np.concatenate(defaults)
    nearest = given + units @ np.linalg.lstsq(A @ units, A @ (truth - given), rcond=1e-10)[0]
    assert_close(x[:10], nearest[:10], 1e-6, scale=body_scale(truth[:10]))
    assert_close(x[10:], nearest[10:], 1e-6, scale=body_scale(truth[10:]))
    assert all(body.parameters.consistent for body in estimate.bodies)
    assert estimate.decided_by["m"] == "default"


def test_body_with_a_default_needs_neither_mass_nor_centre():
    rng = np.random.default_rng(1)
    phi = random_body(rng, 2.0, 0.2)
    truth = np.concatenate((phi, phi))
    A = pendulum_rows(rng)
    with pytest.raises(TooLittleMotion, match=r"upper\.m"):
        solve(A, A @ truth, space=ParameterSpace(LINKS))
    space = ParameterSpace(LINKS, defaults={"upper": phi, "lower": phi})
    estimate = solve(A, A @ truth, space=space)
    for body in estimate.bodies:
        assert_same_body(body.parameters.phi, phi, 1e-7)
    assert estimate.default_body is not None
    assert estimate.default_body.startswith("default given for it, 2 kg")
    with pytest.raises(TooLittleMotion, match=r"lower\.m"):
        solve(A, A @ truth, space=space.with_defaults({"upper": phi}))


def test_silent_body_is_its_default_and_the_other_is_found():
    rng = np.random.default_rng(2)
    payload, link = random_body(rng, 1.0), random_body(rng, 3.0)
    log = samples(payload, rng, 150, noise=wrench_noise(payload, 0.01))
    A = newton_euler_regressor(log.motion).reshape(-1, 10)
    groups = ["force"] * 3 + ["torque"] * 3
    space = ParameterSpace(
        ("payload", "link"), (ScalarUnknown("friction", low=0.0),), {"link": link}
    )
    column = rng.normal(size=(len(A), 1))
    rows = np.hstack((A, np.zeros_like(A), column))
    b = log.wrench.ravel() + 0.3 * column[:, 0]
    estimate = solve(rows, b, space=space, groups=groups * 150)
    alone = solve(
        np.hstack((A, column)),
        b,
        space=ParameterSpace(("payload",), space.scalars),
        groups=groups * 150,
    )
    assert_same_body(estimate.parameters.phi, alone.parameters.phi, 1e-6)
    assert_same_body(estimate.others["link"].parameters.phi, link, 1e-9)
    assert estimate.others["link"].decided_by == dict.fromkeys(PHI, "default")
    assert_close(estimate.scalars["friction"], alone.scalars["friction"], 1e-4)
    size = np.sqrt(0.5 * np.trace(inertia_about_com(link)) / link[0])
    spread = np.sqrt(estimate.others["link"].covariance[0, 0])
    assert_close(spread, link[0], 1e-9)
    assert size > 0.0


def test_known_mass_moves_a_silent_default():
    rng = np.random.default_rng(3)
    phi = random_body(rng, 2.0, 0.2)
    truth = np.concatenate((phi, phi))
    A = pendulum_rows(rng)
    space = ParameterSpace(LINKS, defaults={"upper": phi, "lower": phi})
    estimate = solve(A, A @ truth, space=space, terms=[KnownMass(2.5, "lower")])
    lower = estimate.others["lower"]
    assert_close(lower.parameters.mass, 2.5, 1e-9)
    assert lower.decided_by["m"] == "given"
    x = np.concatenate([body.parameters.phi for body in estimate.bodies])
    assert_close(A @ x, A @ truth, 1e-6)


def test_thin_default_gives_a_body_inside_the_cone():
    """A sheet is on the edge of consistency: noise that asks for less than none is held there."""
    rng = np.random.default_rng(4)
    sheet = InertialParameters.from_com(2.0, [0.1, 0.2, 0.0], np.diag([0.02, 0.03, 0.05])).phi
    A = pendulum_rows(rng)
    space = ParameterSpace(LINKS, defaults={"upper": sheet, "lower": sheet})
    b = A @ np.concatenate((sheet, sheet))
    estimate = solve(A, b * (1.0 + 0.3 * rng.normal(size=len(b))), space=space)
    for body in estimate.bodies:
        assert body.parameters.consistent


def test_default_of_an_unknown_body_is_rejected():
    with pytest.raises(ProblemError, match="no body 'tool' among upper, lower"):
        ParameterSpace(LINKS, defaults={"tool": np.ones(10)})
