import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.signal import firwin, kaiser_beta

from identify.signals.resampling import KERNEL_HALF_WIDTH, kernel_reach, resample
from identify.signals.white_noise import power_spectrum
from tests.close import assert_close
from tests.strategies import seeds


def times(rate: float, to: float, seconds: float, phase: float = 0.0) -> np.ndarray:
    """Times of the slow clock for which there are samples, but for those next to the ends."""
    lost = kernel_reach(rate, to)
    return lost + phase / to + np.arange(int((seconds - 2.0 * lost) * to) - 1) / to


@given(st.floats(100.0, 3000.0), st.floats(0.0, 1.0), seeds())
def test_slow_signals_are_resampled_at_any_times(rate, phase, seed):
    rng = np.random.default_rng(seed)
    amplitude, frequency = rng.normal(size=4), rng.uniform(0.0, 25.0, 4)
    shift = rng.uniform(0.0, 2.0 * np.pi, 4)

    def signal(time: np.ndarray) -> np.ndarray:
        return (amplitude * np.cos(2.0 * np.pi * np.outer(time, frequency) + shift)).sum(
            axis=1, keepdims=True
        )

    samples = 7.0 + np.arange(round(2.0 * rate)) / rate
    wanted = 7.0 + times(rate, 100.0, 2.0 - 1.0 / rate, phase)
    values = resample(signal(samples), 7.0, rate, wanted, 100.0)
    assert_close(values, signal(wanted), 5e-4, scale=np.abs(amplitude).sum())


@pytest.mark.parametrize("rate", [100.0, 700.0, 1234.5])
def test_resampling_preserves_constants_and_lines(rate):
    time = np.arange(round(rate)) / rate
    wanted = times(rate, 100.0, 1.0 - 1.0 / rate, 0.3)
    values = resample(np.column_stack((np.ones(len(time)), time)), 0.0, rate, wanted, 100.0)
    assert_close(values[:, 0], np.ones(len(wanted)), 1e-14)
    assert_close(values[:, 1], wanted, 1e-4)


def test_samples_of_the_same_clock_are_taken_as_they_are():
    columns = np.random.default_rng(0).normal(size=(200, 2))
    wanted = np.arange(KERNEL_HALF_WIDTH, 200 - KERNEL_HALF_WIDTH) / 50.0
    assert_close(
        resample(columns, 0.0, 50.0, wanted, 50.0),
        columns[KERNEL_HALF_WIDTH:-KERNEL_HALF_WIDTH],
        1e-12,
    )


@pytest.mark.parametrize("frequency", [62.0, 95.0, 203.0, 330.0])
def test_vibration_above_the_slow_rate_is_not_folded_in(frequency):
    time = np.arange(7000) / 700.0
    wave = np.sin(2.0 * np.pi * frequency * time + 0.4)[:, None]
    values = resample(wave, 0.0, 700.0, times(700.0, 100.0, 9.99), 100.0)
    assert np.abs(values).max() < 1e-3


@pytest.mark.parametrize("rate", [100.0, 137.0, 700.0, 2000.0])
def test_white_noise_keeps_its_density_up_to_most_of_the_band(rate):
    noise = np.random.default_rng(1).normal(size=(round(300 * rate), 2)) * np.sqrt(rate)
    wanted = times(rate, 100.0, 300.0 - 1.0 / rate, 0.5)
    values = resample(noise, 0.0, rate, wanted, 100.0)
    frequency, power, _ = power_spectrum(values, 100.0)
    for low, high in ((0.5, 10.0), (10.0, 25.0), (25.0, 40.0)):
        band = (frequency > low) & (frequency < high)
        assert power[band].mean() == pytest.approx(2.0, rel=0.06)


def test_the_weights_match_a_windowed_sinc():
    """The response to one sample, against the design of SciPy at the rate's own times."""
    rate, to, half = 500.0, 100.0, KERNEL_HALF_WIDTH * 5
    impulse = np.zeros((4 * half + 1, 1))
    impulse[2 * half] = 1.0
    wanted = np.arange(half, 3 * half + 1) / rate
    response = np.concatenate(
        [resample(impulse, 0.0, rate, wanted[k : k + 1], to)[0] for k in range(len(wanted))]
    )
    window = ("kaiser", 7.0)
    assert kaiser_beta(70.0) == pytest.approx(7.0, abs=0.3)
    designed = firwin(2 * half + 1, to / 2.0, window=window, fs=rate, scale=True)
    assert_close(response, designed, 1e-6)
