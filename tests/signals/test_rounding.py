"""Rounding to the steps of a register, and what it adds to a wrench on average."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from identify.inertia import InertialParameters
from identify.logs import Recording, synthetic_recording
from identify.regressors.newton_euler import FEATURE_TENSOR
from identify.signals.predicted_wrench import PredictedWrench
from identify.signals.wrench_quantisation import (
    Quantiser,
    WrenchQuantisation,
    fit_quantiser,
    mean_quantisation_error,
)

BODY = InertialParameters.from_com(1.3, [0.01, -0.02, 0.06], np.diag([4e-3, 5e-3, 3e-3]))
STEP = np.repeat([0.25, 0.02], 3)


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.2, 0.5])
def test_mean_of_rounding_matches_many_draws_and_of_a_fourier_series(noise):
    step, first, count = 0.4, 0.13, 50_000
    true = np.linspace(-1.0, 1.0, 41) + 1e-3  # no edge of a step among them
    draws = true + noise * step * np.random.default_rng(3).normal(size=(count, 1))
    given = first + step * np.rint((draws - first) / step)
    error = 0.5 * step / np.sqrt(count)
    found = mean_quantisation_error(true, step, first, noise * step)
    np.testing.assert_allclose(found, np.mean(given - draws, axis=0), atol=5.0 * error)
    if noise >= 0.1:  # of a sawtooth, each harmonic less by what noise takes off it
        k = np.arange(1, 40)[:, None]
        of_noise = np.exp(-2.0 * (np.pi * k * noise) ** 2)
        waves = (-1.0) ** k * np.sin(2.0 * np.pi * k * (true - first) / step)
        np.testing.assert_allclose(
            found, step * np.sum(of_noise * waves / (np.pi * k), axis=0), atol=1e-6 * step
        )


def test_quantiser_step_is_estimated_from_register_values():
    rng = np.random.default_rng(0)
    counts = rng.integers(-80, 80, size=2000)
    found = fit_quantiser(np.round(0.0762939 * counts + 0.011, 3))  # printed with three decimals
    assert found.step == pytest.approx(0.0762939, rel=1e-3)
    assert (found.level - 0.011) / found.step % 1.0 == pytest.approx(0.0, abs=0.1) or (
        (found.level - 0.011) / found.step % 1.0 == pytest.approx(1.0, abs=0.1)
    )
    assert fit_quantiser(rng.normal(size=2000)).step == 0.0
    assert fit_quantiser(np.zeros(2000)).step == 0.0
    assert fit_quantiser(np.zeros(0)).step == 0.0


def rounded(log: Recording) -> Recording:
    wrench = np.hstack((log.signals["force"], log.signals["torque"]))
    wrench = STEP * np.rint(wrench / STEP)
    return replace(log, signals={**log.signals, "force": wrench[:, :3], "torque": wrench[:, 3:]})


def of_body(log: Recording, offset: np.ndarray) -> WrenchQuantisation:
    return WrenchQuantisation(
        quantisers=tuple(Quantiser(float(size), 0.0) for size in STEP),
        noise=(0.0,) * 6,
        body=PredictedWrench.of(FEATURE_TENSOR, BODY.phi, offset, 5.0),
    )


@pytest.mark.parametrize(
    ("include", "frame", "delay"),
    [("pose", "body", 0.0), ("all", "body", 0.03), ("pose", "world", 0.0)],
)
def test_without_noise_the_wrench_before_rounding_comes_back(include, frame, delay):
    offset = np.array([1.0, -2.0, 0.5, 0.1, 0.0, -0.05])
    rng = np.random.default_rng(5)
    log = synthetic_recording(
        BODY, rng=rng, duration=8.0, rate_hz=200.0, bias=offset, include=include, frame=frame
    )
    late = round(200.0 * delay)
    time, kept = log.time[: len(log) - late], slice(0, len(log) - late)
    signals = {name: values[kept] for name, values in log.signals.items()}
    for name in ("force", "torque"):
        signals[name] = log.signals[name][np.maximum(np.arange(len(time)) - late, 0)]
    logged = replace(log, time=time, signals=signals, wrench_delay=delay)
    found = of_body(logged, offset).dequantised(rounded(logged))
    inner = slice(200, len(time) - 200)
    for name, step in (("force", 0.25), ("torque", 0.02)):
        left = (found.signals[name] - signals[name])[inner]
        assert np.median(np.abs(left)) < 0.02 * step
        assert np.mean(np.abs(left) > 0.1 * step) < 0.05  # beside an edge the other value
    assert [finding.code for finding in found.findings] == ["wrench_rounded"]
    np.testing.assert_array_equal(found.signals["force"][0], rounded(logged).signals["force"][0])


def test_short_log_is_not_dequantised():
    log = rounded(
        synthetic_recording(BODY, rng=np.random.default_rng(1), duration=0.1, rate_hz=100.0)
    )
    assert of_body(log, np.zeros(6)).dequantised(log) is log
