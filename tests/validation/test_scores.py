from dataclasses import replace

import numpy as np
import pytest

from identify.errors import ModelError, ProblemError
from identify.estimation import EstimatorSettings, estimate_body
from identify.validation import held_out_scores
from tests.close import assert_close
from tests.estimation.simulated import residual_rows, samples, wrench_noise
from tests.regressors.rows import statistics_of_rows
from tests.strategies import random_body


def simulated(seed: int, counts: list[int], *, bias: bool = True):
    rng = np.random.default_rng(seed)
    phi = random_body(rng)
    rows = [
        samples(
            phi, rng, n, noise=wrench_noise(phi, 0.02), bias=rng.normal(size=6) if bias else 0.0
        ).rows
        for n in counts
    ]
    return phi, rows


def by_hand(rows, blocks, folds: int, settings: EstimatorSettings):
    """Squared errors of the held-out rows and squared distances from each log's own mean."""
    errors, spread = [], []
    for fold in range(folds):
        training, held = [], []
        for log in blocks:
            edges = np.linspace(0, len(log), folds + 1).astype(int)
            out = np.arange(edges[fold], edges[fold + 1])
            held.append(out)
            training.append(log.subset(np.setdiff1d(np.arange(len(log)), out)))
        estimate = estimate_body(training, settings)
        for z, log, out, bias in zip(rows, blocks, held, estimate.biases, strict=True):
            starts = np.concatenate(([0], np.cumsum(log.samples))).astype(int)
            picked = np.concatenate([np.arange(starts[b], starts[b + 1]) for b in out])
            errors.append(residual_rows(z[picked], estimate.parameters.phi) - bias)
            spread.append(z[picked, 13:] - z[:, 13:].mean(axis=0))
    return np.concatenate(errors), np.concatenate(spread)


@pytest.mark.parametrize(
    ("counts", "settings"),
    [
        ([300], EstimatorSettings()),
        ([200, 120], EstimatorSettings()),
        ([200, 120], EstimatorSettings(bias="shared")),
        ([200], EstimatorSettings(bias="none")),
        ([200], EstimatorSettings(mass=1.0)),
    ],
)
def test_scores_match_every_row_predicted_without_its_fold(counts, settings):
    _, rows = simulated(0, counts, bias=settings.bias != "none")
    blocks = [statistics_of_rows(z, float(len(z))) for z in rows]
    scores = held_out_scores(blocks, lambda parts: estimate_body(parts, settings))
    assert scores is not None
    assert (scores.folds, scores.refused) == (5, 0)
    errors, spread = by_hand(rows, blocks, 5, settings)
    assert len(errors) == sum(counts)
    rms, deviation = (np.sqrt(np.mean(x**2, axis=0)) for x in (errors, spread))
    assert_close(scores.rms, rms, 1e-9)
    assert_close(scores.normalised_rms, rms / deviation, 1e-9)
    assert_close(scores.r_squared, 1.0 - (rms / deviation) ** 2, 1e-9)


def test_scores_are_of_the_size_of_the_noise_and_a_wrong_body_scores_worse():
    phi, rows = simulated(1, [400])
    blocks = [statistics_of_rows(rows[0], 400.0)]
    good = held_out_scores(blocks, estimate_body)
    assert_close(good.rms / wrench_noise(phi, 0.02), np.ones(6), 0.2)
    assert (good.r_squared > 0.9).all()

    def heavy(parts):
        return estimate_body(parts, EstimatorSettings(mass=1.5))

    bad = held_out_scores(blocks, heavy)
    assert (bad.rms[:3] > 3.0 * good.rms[:3]).all()
    assert bad.r_squared[:3].max() < good.r_squared[:3].min()


def test_static_poses_use_leave_one_out():
    rng = np.random.default_rng(2)
    rows = np.zeros((7, 19))
    rows[:, 0] = 1.0
    up = rng.normal(size=(7, 3))
    rows[:, 1:4] = 9.81 * up / np.linalg.norm(up, axis=1, keepdims=True)
    rows[:, 13:16] = 1.1 * rows[:, 1:4]
    rows[:, 16:] = np.cross([0.01, 0.02, 0.05], rows[:, 1:4])
    rows[:, 13:] += rng.normal(size=(7, 6)) * 1e-3
    blocks = statistics_of_rows(rows, 7.0, still=True)
    scores = held_out_scores([blocks], estimate_body)
    assert scores.folds == 7
    errors, _ = by_hand([rows], [blocks], 7, EstimatorSettings())
    assert_close(scores.rms, np.sqrt(np.mean(errors**2, axis=0)), 1e-8)


def test_unexpected_error_in_fold_is_raised():
    _, rows = simulated(3, [200])

    def broken(parts):
        raise ModelError("no body")

    with pytest.raises(ModelError, match="no body"):
        held_out_scores([statistics_of_rows(rows[0], 200.0)], broken)


def test_without_two_folds_or_any_fit_there_are_no_scores():
    _, rows = simulated(5, [100])
    one = statistics_of_rows(rows[0], 4.0)
    assert len(one) == 1
    assert held_out_scores([one], estimate_body) is None

    def never(parts):
        raise ProblemError("too little")

    assert held_out_scores([statistics_of_rows(rows[0], 100.0)], never) is None


def test_constant_axis_has_no_r_squared():
    _, rows = simulated(6, [150])
    rows[0][:, 13] = 0.0
    blocks = [statistics_of_rows(rows[0], 150.0)]
    scores = held_out_scores(blocks, estimate_body)
    assert np.isfinite(scores.normalised_rms).all()
    assert np.isnan(scores.r_squared[0])
    assert np.isfinite(scores.r_squared[1:]).all()
    assert scores.carries_signal.tolist() == [False, *[True] * 5]
    assert scores.signal_r_squared == (None, *scores.r_squared[1:])


def test_an_axis_carries_signal_if_it_varies_by_more_than_its_noise():
    _, rows = simulated(6, [150])
    variance = rows[0][:, 13:].var(axis=0)
    noise = np.zeros(19)
    noise[13:] = variance * [0.1, 0.4, 0.6, 0.1, 0.6, 0.9]
    blocks = [statistics_of_rows(rows[0], 150.0, noise=noise)]
    scores = held_out_scores(blocks, estimate_body)
    assert scores.carries_signal.tolist() == [True, True, False, True, False, False]
    counted = [0, 1]
    spread = (scores.rms / scores.normalised_rms)[counted] ** 2
    pooled = 1.0 - (scores.rms[counted] ** 2).sum() / spread.sum()
    assert_close(scores.pooled_r_squared(slice(0, 3)), pooled, 1e-12)
    assert np.isnan(replace(scores, carries_signal=np.zeros(6, bool)).pooled_r_squared(slice(6)))
