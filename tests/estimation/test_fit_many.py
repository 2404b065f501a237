"""Many fits at once: the same estimates as one by one, and errors in the place of those without."""

from collections.abc import Sequence

import numpy as np
import pytest

from identify.errors import IdentifyError, ProblemError
from identify.estimation import Estimate, EstimatorSettings, estimate_body, fit_many
from identify.estimation.in_step import Asked, _weighted, in_turn, together
from identify.estimation.terms import KnownCom, MassBetween
from identify.logs import synthetic_recording
from identify.regressors import Statistics
from identify.spatial import BodyMotion
from tests.estimation.simulated import fitted, flat_body, samples, wrench_noise
from tests.estimation.test_least_squares import NOISE, banded
from tests.strategies import random_body


def logs_of_all_kinds() -> list[list[Statistics]]:
    """Flat and full bodies, little and much noise, bands of frequency, two logs, still poses."""
    fits = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        phi = flat_body(rng, (1.0, 0.5, 0.0)) if seed % 2 else random_body(rng)
        noise = wrench_noise(phi, (0.01, 0.1, 0.3)[seed % 3])
        fits.append([samples(phi, rng, 60, noise=noise).blocks()])
        if seed < 3:
            fits.append([banded(random_body(rng), seed, NOISE)])
    rng = np.random.default_rng(9)
    phi = random_body(rng)
    fits.append([samples(phi, rng, 80, noise=wrench_noise(phi, 0.05)).blocks() for _ in range(2)])
    down = rng.normal(size=(60, 3))
    still = BodyMotion(down, np.zeros((60, 3)), np.zeros((60, 3)))
    fits.append([samples(phi, rng, noise=wrench_noise(phi, 0.01), motion=still).blocks()])
    return fits


def one_by_one(
    fits: Sequence[Sequence[Statistics]], settings: EstimatorSettings
) -> list[Estimate | IdentifyError]:
    found: list[Estimate | IdentifyError] = []
    for logs in fits:
        try:
            found.append(estimate_body(logs, settings))
        except IdentifyError as error:
            found.append(error)
    return found


def proved(one: Estimate, other: Estimate) -> float:
    """Standard errors that two solutions of one program may be apart by their certificates."""
    return one.certificate.distance_to_optimum + other.certificate.distance_to_optimum


@pytest.mark.parametrize(
    "settings",
    [
        EstimatorSettings(),
        EstimatorSettings(bias="none", terms=(MassBetween(1e-9, 1e9),), simultaneous=True),
        EstimatorSettings(terms=(KnownCom((0.0, 0.0, 0.1)),)),
    ],
    ids=["as they are", "options", "equalities"],
)
def test_estimates_are_those_of_one_by_one(settings):
    fits = logs_of_all_kinds()
    many, each = fit_many(fits, settings), one_by_one(fits, settings)
    assert len(many) == len(fits)
    kinds = set()
    for found, expected in zip(many, each, strict=True):
        assert type(found) is type(expected)
        kinds.add(type(found))
        if isinstance(expected, Exception):
            assert str(found) == str(expected)
            continue
        errors = np.sqrt(np.diag(expected.covariance))
        pairs = (
            (found.least_squares.phi, expected.least_squares.phi, 1e-9),
            # The solver ends somewhere within what is proved of it.
            (found.parameters.phi, expected.parameters.phi, 1e-6 + proved(found, expected)),
        )
        for here, there, near in pairs:
            assert (np.abs(here - there) <= near * errors + 1e-13 * np.abs(there) + 1e-20).all()
        assert found.certificate.distance_to_optimum < 1e-2
        assert found.decided_by == expected.decided_by
        for name, interval in expected.intervals.items():
            if interval is not None:
                np.testing.assert_allclose(found.intervals[name], interval, rtol=1e-6, atol=1e-12)
    assert Estimate in kinds


def test_an_error_of_one_is_in_its_place_and_the_others_go_on():
    rng = np.random.default_rng(1)
    phi = random_body(rng)
    good = samples(phi, rng, 80, noise=wrench_noise(phi, 0.02)).blocks()
    same = BodyMotion(np.tile([0.0, 0.0, 9.81], (60, 1)), np.zeros((60, 3)), np.zeros((60, 3)))
    still = samples(phi, rng, noise=wrench_noise(phi, 0.02), motion=same).blocks()
    first, bad, last = fit_many([[good], [still], [good]])
    assert isinstance(bad, IdentifyError)
    assert "does not identify" in str(bad)
    assert np.array_equal(first.parameters.phi, last.parameters.phi)
    assert fit_many([]) == []


def test_weights_that_fail_together_are_worked_out_each_by_itself():
    rng = np.random.default_rng(2)
    fits = [fitted(samples(random_body(rng), rng, 60, noise=0.1)) for _ in range(2)]
    asked = [Asked(fit.data, fit.x, fit.leverages) for fit in fits]
    spoiled = asked[0]._replace(leverage=np.full_like(asked[0].leverage, np.nan))
    (right,) = _weighted([asked[1]])
    with np.errstate(invalid="ignore"):
        found = _weighted([spoiled, asked[1]])
    assert np.array_equal(found[1].weights, right.weights)
    assert not right.beyond.size

    def failing():
        try:
            yield asked[0]
        except np.linalg.LinAlgError:
            return "told"
        return "not told"

    def raising():
        yield asked[1]
        raise np.linalg.LinAlgError("singular")

    assert together([failing(), failing()]) == ["not told", "not told"]
    rounds = failing()
    next(rounds)
    with pytest.raises(StopIteration, match="told"):
        rounds.throw(np.linalg.LinAlgError("singular"))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        in_turn(raising())


@pytest.mark.parametrize("call", [estimate_body, fit_many])
@pytest.mark.parametrize("wrap", [lambda one: one, lambda one: [one], lambda one: [[one]]])
def test_recordings_in_place_of_statistics_are_told_the_way(call, wrap):
    recording = synthetic_recording(
        random_body(np.random.default_rng(0)), rng=np.random.default_rng(0), duration=2.0
    )
    with pytest.raises(ProblemError, match=r"got (Recording|list); identify\.fit takes recordings"):
        call(wrap(recording))
