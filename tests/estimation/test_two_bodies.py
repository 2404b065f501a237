import numpy as np
from hypothesis import given, settings

from identify.estimation import estimate_body, solve_unknowns
from identify.estimation.least_squares import weighted_least_squares
from identify.estimation.terms import Consistent
from identify.inertia import PHI
from identify.regressors import LinearSystem, ParameterSpace, WrenchEquations, join_logs
from tests.close import assert_close, assert_same_body, body_scale
from tests.estimation.simulated import samples, wrench_noise
from tests.strategies import random_body, seeds

SPACE = ParameterSpace(("payload", "carrier"))
EQUATIONS = WrenchEquations(space=SPACE, bodies=(("payload", "carrier"), ("carrier",)))


def logs_of(rng, payload, carrier, *, share: float = 0.0, count: int = 200):
    """Both on the sensor, then the carrier alone, each log with an offset of its own."""
    total = payload + carrier
    noise = wrench_noise(total, share)
    return [
        samples(phi, rng, count, noise=noise, bias=rng.normal(size=6)).blocks()
        for phi in (total, carrier)
    ]


def system_of(logs) -> LinearSystem:
    return LinearSystem.of([(join_logs(logs), EQUATIONS)])


def one_body(log, weight) -> tuple[np.ndarray, np.ndarray]:
    """Least squares of one log at a weight, and its sandwich covariance without small factors."""
    system = LinearSystem.of([(log, WrenchEquations())])
    problem = system.problem(weight[None])
    phi = np.linalg.solve(problem.A, problem.b)
    inverse = np.linalg.inv(problem.A.T @ problem.A)
    return phi, inverse


@settings(max_examples=15)
@given(seeds())
def test_without_noise_both_are_recovered_as_by_two_fits(seed):
    rng = np.random.default_rng(seed)
    payload, carrier = random_body(rng, 0.4, 0.1), random_body(rng, 3.0, 0.2)
    logs = logs_of(rng, payload, carrier)
    estimate = solve_unknowns(system_of(logs)).estimate()
    total, alone = (estimate_body([log]).parameters.phi for log in logs)
    scale = body_scale(payload + carrier)
    assert_close(estimate.parameters.phi, total - alone, 1e-8, scale=scale)
    assert_close(estimate.parameters.phi, payload, 1e-8, scale=scale)
    assert_same_body(estimate.others["carrier"].parameters.phi, carrier, 1e-8)
    assert estimate.certificate.solver == "none"
    assert estimate.biases.shape == (2, 6)


@settings(max_examples=10)
@given(seeds())
def test_payload_at_equal_weights_is_difference_of_two_fits(seed):
    rng = np.random.default_rng(seed)
    payload, carrier = random_body(rng, 1.0, 0.2), random_body(rng, 3.0, 0.2)
    logs = logs_of(rng, payload, carrier, share=0.003, count=400)
    system = system_of(logs)
    fit = weighted_least_squares(system, (Consistent(),))
    estimate = solve_unknowns(system).estimate()
    (weight,) = fit.weights
    (total, of_total), (alone, of_alone) = (one_body(log, weight) for log in logs)
    scale = body_scale(payload + carrier)
    assert_close(fit.x[:10], total - alone, 1e-8, scale=scale)
    assert_close(fit.x[10:], alone, 1e-8, scale=scale)
    units = np.outer(scale, scale)
    expected = of_total + of_alone
    assert_close(estimate.covariance / units, expected / units, 1e-6)
    found = estimate.others["carrier"].covariance
    assert_close(found / units, of_alone / units, 1e-6)


def test_a_light_payload_is_possible_where_the_difference_is_not():
    """Noise of the heavy carrier: the difference of two possible bodies is no body at all."""
    impossible = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        payload, carrier = random_body(rng, 0.15, 0.03), random_body(rng, 3.0, 0.2)
        logs = logs_of(rng, payload, carrier, share=0.01)
        estimate = solve_unknowns(system_of(logs)).estimate()
        other = estimate.others["carrier"]
        assert estimate.parameters.consistent
        assert other.parameters.consistent
        assert estimate.certificate.primal_residual <= 1e-9
        assert estimate.certificate.distance_to_optimum < 0.1
        assert len(estimate.certificate.eigenvalues) == 8
        total, alone = (estimate_body([log]) for log in logs)
        difference = type(estimate.parameters)(total.parameters.phi - alone.parameters.phi)
        impossible += not difference.consistent
        met = estimate.least_squares.consistent and other.least_squares.consistent
        assert estimate.certificate.solver == ("none" if met else "Clarabel")
    assert impossible >= 4


def test_unidentified_directions_use_default_of_each_body():
    rng = np.random.default_rng(2)
    payload, carrier = random_body(rng, 1.0), random_body(rng, 3.0)
    logs = []
    for phi in (payload + carrier, carrier):
        motion = samples(phi, rng, 60).motion
        motion.angular_velocity[:] = 0.0
        motion.angular_acceleration[:] = 0.0
        logs.append(samples(phi, rng, motion=motion, noise=wrench_noise(phi, 0.002)).blocks())
    estimate = solve_unknowns(system_of(logs)).estimate()
    for one, phi in ((estimate, payload), (estimate.others["carrier"], carrier)):
        assert [one.decided_by[name] for name in PHI] == ["data"] * 4 + ["default"] * 6
        assert one.default_body is not None
        assert_close(one.parameters.mass, phi[0], 0.02)
        assert one.parameters.consistent
    assert estimate.certificate.rank == 8
