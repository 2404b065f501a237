"""The low-pass and the local polynomials: gains, exactness, decimation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.signal import savgol_coeffs

from identify.signals.kernels import (
    Differentiator,
    LowPass,
    default_cutoff_hz,
    frequency_response,
)
from tests.close import assert_close

RATES = [(50.0, 5.0), (100.0, 5.0), (500.0, 5.0), (1000.0, 2.0), (125.0, 12.5), (100.0, 40.0)]


def test_the_default_cutoff_is_five_hertz_or_a_tenth_of_the_rate():
    assert [default_cutoff_hz(rate) for rate in (10.0, 49.0, 50.0, 1000.0)] == [1.0, 4.9, 5.0, 5.0]


@given(st.floats(20.0, 5000.0), st.floats(0.002, 0.44))
def test_lowpass_has_unit_gain_at_zero_and_is_symmetric(rate, share):
    filter_ = LowPass.design(rate, share * rate)
    assert len(filter_.taps) % 2 == 1
    assert_close(filter_.taps.sum(), 1.0, 1e-14)
    assert_close(filter_.taps, filter_.taps[::-1], 1e-14)
    assert filter_.halo == len(filter_.taps) // 2


@pytest.mark.parametrize(("rate", "cutoff"), RATES)
def test_lowpass_is_six_decibels_down_at_the_cutoff_and_almost_sixty_from_one_and_a_half_on(
    rate, cutoff
):
    filter_ = LowPass.design(rate, cutoff)

    def gain_db(frequency):
        gain = filter_.response(np.atleast_1d(np.asarray(frequency, dtype=float)))
        return 20.0 * np.log10(np.maximum(gain, 1e-12))

    assert_close(gain_db(cutoff), [20.0 * np.log10(0.5)], 0.1)
    assert np.abs(gain_db(np.linspace(0.0, 0.5 * cutoff, 50))).max() < 0.02
    if 1.5 * cutoff < 0.5 * rate:
        assert gain_db(np.linspace(1.5 * cutoff, 0.5 * rate, 400)).max() < -57.0


@pytest.mark.parametrize(("rate", "cutoff"), RATES)
def test_lowpass_output_is_the_convolution_at_every_decimated_row(rate, cutoff):
    filter_ = LowPass.design(rate, cutoff)
    columns = np.random.default_rng(0).normal(size=(2 * len(filter_.taps) + 37, 3))
    out = filter_.apply(columns)
    full = np.column_stack([np.convolve(c, filter_.taps, mode="valid") for c in columns.T])
    assert_close(out, full[:: filter_.decimation], 1e-13)
    time = np.arange(len(columns)) / rate
    assert_close(
        filter_.apply_to_time(time), time[filter_.halo : -filter_.halo][:: filter_.decimation], 0.0
    )
    assert len(filter_.apply_to_time(time)) == len(out)


@given(st.floats(20.0, 5000.0), st.floats(0.002, 0.44))
def test_decimation_keeps_four_outputs_a_cutoff_where_there_are_as_many_inputs(rate, share):
    filter_ = LowPass.design(rate, share * rate)
    assert filter_.decimation >= 1
    assert rate / filter_.decimation >= min(4.0 * share * rate * (1.0 - 1e-12), rate)


@pytest.mark.parametrize(("rate", "cutoff"), RATES)
def test_a_row_is_worth_its_share_of_the_noise_bandwidth(rate, cutoff):
    filter_ = LowPass.design(rate, cutoff)
    gain = np.abs(np.fft.fft(filter_.taps, 4096))
    assert_close(filter_.independent_share, np.mean(gain**2), 1e-12)
    assert_close(filter_.independent_share, 2.0 * 0.9 * cutoff / rate, 0.12)


def test_white_noise_keeps_the_share_of_its_variance():
    filter_ = LowPass.design(100.0, 5.0)
    noise = np.random.default_rng(1).normal(size=(100_000, 1))
    assert_close(filter_.apply(noise).var(), filter_.independent_share, 0.05)


def test_a_slow_sine_goes_through_unchanged_and_a_constant_exactly():
    filter_ = LowPass.design(200.0, 5.0)
    time = np.arange(0.0, 5.0, 1 / 200.0)
    columns = np.column_stack((np.sin(2 * np.pi * 0.5 * time), np.full_like(time, 3.7)))
    at = filter_.apply_to_time(time)
    out = filter_.apply(columns)
    # All that acts on a slow sine is the gain at its frequency: no lag.
    gain = filter_.response(np.array([0.5]))[0]
    assert_close(out[:, 0], gain * np.sin(2 * np.pi * 0.5 * at), 1e-12)
    assert abs(gain - 1.0) < 2e-3
    assert_close(out[:, 1], np.full(len(out), 3.7), 1e-14)


@pytest.mark.parametrize(("rate", "cutoff"), [r for r in RATES if r[0] < 1000.0])
def test_differentiator_is_that_of_savitzky_and_golay(rate, cutoff):
    differentiator = Differentiator.design(rate, cutoff)
    length = differentiator.kernels.shape[1]
    assert length == 2 * differentiator.halo + 1
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
    inner = slice(differentiator.halo, count - differentiator.halo)
    for order in range(3):
        if degree == 7 and order == 1:
            continue  # the window's symmetry gives value and second derivative one degree more
        out = differentiator.apply(polynomial(x)[:, None], order)[:, 0]
        exact = (polynomial.deriv(order) if order else polynomial)(x[inner]) * speed**order
        assert_close(out, exact, 1e-9, scale=max(1.0, np.abs(exact).max()) * 10.0)


@pytest.mark.parametrize(("rate", "cutoff"), [(100.0, 5.0), (500.0, 5.0), (50.0, 5.0)])
@pytest.mark.parametrize("frequency", [0.2, 1.0, 2.0])
def test_derivatives_of_a_slow_sine_are_accurate(rate, cutoff, frequency):
    differentiator = Differentiator.design(rate, cutoff)
    time = np.arange(0.0, 3.0 / frequency, 1.0 / rate)
    omega = 2.0 * np.pi * frequency
    inner = time[differentiator.halo : len(time) - differentiator.halo]
    columns = np.sin(omega * time)[:, None]
    reach = (omega * differentiator.halo / rate) ** 6
    for order in range(3):
        exact = omega**order * np.sin(omega * inner + order * np.pi / 2)
        out = differentiator.apply(columns, order)[:, 0]
        assert_close(out, exact, max(reach / 500.0, 1e-10), scale=omega**order)
        gain = differentiator.response(np.array([frequency]), order)[0]
        assert_close(gain, omega**order, max(reach / 500.0, 1e-10))


@pytest.mark.parametrize("rate", [50.0, 60.0, 100.0, 125.0, 250.0, 500.0, 1000.0])
def test_the_differentiators_pass_band_is_about_three_cutoffs_wide(rate):
    differentiator = Differentiator.design(rate, 5.0)
    frequency = np.linspace(0.1, 0.5 * rate, 20_000)
    gain = differentiator.response(frequency, 0)
    half_power = frequency[np.argmax(gain < np.sqrt(0.5))]
    assert 2.2 * 5.0 < half_power < 3.3 * 5.0
    assert np.abs(gain[frequency < 5.0] - 1.0).max() < 0.02


def test_errors_of_derivatives_fall_with_the_sixth_power_of_frequency():
    differentiator = Differentiator.design(100.0, 5.0)
    frequency = np.array([1.0, 2.0])
    omega = 2.0 * np.pi * frequency
    for order in (1, 2):
        error = np.abs(differentiator.response(frequency, order) / omega**order - 1.0)
        assert 5.5 < np.log2(error[1] / error[0]) < 6.5


def test_frequency_response_is_that_of_the_fourier_transform():
    taps = np.random.default_rng(2).normal(size=16)
    spectrum = np.abs(np.fft.rfft(taps, 64))
    assert_close(frequency_response(taps, np.arange(33) / 64.0), spectrum, 1e-13)


@given(st.floats(20.0, 5000.0), st.floats(0.002, 0.44))
def test_the_length_is_known_before_a_kernel_is_made(rate, share):
    cutoff = share * rate
    for kind in (LowPass, Differentiator):
        assert kind.halo_of(rate, cutoff) == kind.design(rate, cutoff).halo


def test_a_length_beyond_any_memory_is_a_number_too():
    for kind in (LowPass, Differentiator):
        assert kind.halo_of(1e300, 5.0) > 1e298
        assert kind.halo_of(1e300, 1e-300) == np.inf
