import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.signal import savgol_coeffs

from identify.signals.differentiator import (
    Differentiator,
    default_cutoff_hz,
)
from tests.close import assert_close

RATES = [(50.0, 5.0), (100.0, 5.0), (500.0, 5.0), (1000.0, 2.0), (125.0, 12.5), (100.0, 40.0)]


def response(differentiator: Differentiator, frequency_hz: np.ndarray, order: int) -> np.ndarray:
    taps = differentiator.kernels[order]
    angles = 2.0 * np.pi * frequency_hz / differentiator.rate_hz
    return np.abs(np.exp(-1j * np.outer(angles, np.arange(len(taps)))) @ taps)


def test_the_default_cutoff_is_five_hertz_or_a_tenth_of_the_rate():
    assert [default_cutoff_hz(rate) for rate in (10.0, 49.0, 50.0, 1000.0)] == [1.0, 4.9, 5.0, 5.0]


@pytest.mark.parametrize(("rate", "cutoff"), [r for r in RATES if r[0] < 1000.0])
def test_differentiator_matches_savitzky_and_golay(rate, cutoff):
    differentiator = Differentiator.design(rate, cutoff)
    length = differentiator.kernels.shape[1]
    assert length == 2 * differentiator.half_window + 1
    for order in range(3):
        theirs = savgol_coeffs(length, 6, deriv=order, delta=1 / rate, use="dot")
        # SciPy's powers of the index lose digits on long windows.
        assert_close(differentiator.kernels[order], theirs, 1e-6)


@pytest.mark.parametrize(("rate", "cutoff"), RATES)
@pytest.mark.parametrize("degree", range(8))
def test_derivatives_of_polynomials_are_exact(rate, cutoff, degree):
    differentiator = Differentiator.design(rate, cutoff)
    count = 3 * differentiator.kernels.shape[1]
    x = np.linspace(-1.0, 1.0, count)
    # Scaled so that every derivative is of order one; x' is the rate of x in time.
    speed = 2.0 / (count - 1) * rate
    polynomial = np.polynomial.Polynomial(np.cos(np.arange(degree + 1.0)))
    inner = slice(differentiator.half_window, count - differentiator.half_window)
    for order in range(3):
        if degree == 7 and order == 1:
            continue  # the window's symmetry gives value and second derivative one degree more
        out = differentiator.apply(polynomial(x)[:, None], order)[:, 0]
        exact = (polynomial.deriv(order) if order else polynomial)(x[inner]) * speed**order
        assert_close(out, exact, 1e-9, scale=max(1.0, np.abs(exact).max()) * 10.0)


@pytest.mark.parametrize("count", [37, 400, 2**14 + 400])
def test_sums_match_each_window_however_long_the_columns(count):
    differentiator = Differentiator.design(100.0, 5.0)
    columns = np.random.default_rng(count).normal(size=(count, 4))
    taps = differentiator.kernels.shape[1]
    windows = np.lib.stride_tricks.sliding_window_view(columns, taps, axis=0)
    for order in range(3):
        expected = windows @ differentiator.kernels[order]
        assert_close(differentiator.apply(columns, order), expected, 1e-12)


@pytest.mark.parametrize(("rate", "cutoff"), [(100.0, 5.0), (500.0, 5.0), (50.0, 5.0)])
@pytest.mark.parametrize("frequency", [0.2, 1.0, 2.0])
def test_derivatives_of_a_slow_sine_are_accurate(rate, cutoff, frequency):
    differentiator = Differentiator.design(rate, cutoff)
    time = np.arange(0.0, 3.0 / frequency, 1.0 / rate)
    omega = 2.0 * np.pi * frequency
    inner = time[differentiator.half_window : len(time) - differentiator.half_window]
    columns = np.sin(omega * time)[:, None]
    reach = (omega * differentiator.half_window / rate) ** 6
    for order in range(3):
        exact = omega**order * np.sin(omega * inner + order * np.pi / 2)
        out = differentiator.apply(columns, order)[:, 0]
        assert_close(out, exact, max(reach / 500.0, 1e-10), scale=omega**order)
        gain = response(differentiator, np.array([frequency]), order)[0]
        assert_close(gain, omega**order, max(reach / 500.0, 1e-10))


@pytest.mark.parametrize("rate", [50.0, 60.0, 100.0, 125.0, 250.0, 500.0, 1000.0])
def test_the_differentiators_pass_band_is_about_three_cutoffs_wide(rate):
    differentiator = Differentiator.design(rate, 5.0)
    frequency = np.linspace(0.1, 0.5 * rate, 20_000)
    gain = response(differentiator, frequency, 0)
    half_power = frequency[np.argmax(gain < np.sqrt(0.5))]
    assert 2.2 * 5.0 < half_power < 3.3 * 5.0
    assert np.abs(gain[frequency < 5.0] - 1.0).max() < 0.02


def test_errors_of_derivatives_fall_with_the_sixth_power_of_frequency():
    differentiator = Differentiator.design(100.0, 5.0)
    frequency = np.array([1.0, 2.0])
    omega = 2.0 * np.pi * frequency
    for order in (1, 2):
        error = np.abs(response(differentiator, frequency, order) / omega**order - 1.0)
        assert 5.5 < np.log2(error[1] / error[0]) < 6.5


@given(st.floats(20.0, 5000.0), st.floats(0.002, 0.44))
def test_the_length_is_known_before_a_kernel_is_made(rate, share):
    cutoff = share * rate
    half_window = Differentiator.design(rate, cutoff).half_window
    assert Differentiator.designed_half_window(rate, cutoff) == half_window


def test_a_length_beyond_any_memory_is_a_number_too():
    assert Differentiator.designed_half_window(1e300, 5.0) > 1e298
    assert Differentiator.designed_half_window(1e300, 1e-300) == np.inf
