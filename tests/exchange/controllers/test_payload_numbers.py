import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.exchange.controllers.payload_numbers import (
    decimals_for,
    format_fixed,
    nearest_principal_frame,
    round_moments,
)
from identify.spatial import exp_rotation, rotation_from_quaternion
from tests.close import assert_close
from tests.strategies import rotations

second_moments = st.tuples(*(st.floats(0.0, 10.0),) * 3)


@given(second_moments, st.integers(1, 8))
def test_rounded_moments_stay_consistent_and_close(
    second: tuple[float, ...], decimals: int
) -> None:
    moments = sum(second) - np.array(second)
    texts = round_moments(moments, decimals)
    units = np.array([int(text.replace(".", "")) for text in texts])
    assert 2 * units.max() <= units.sum()
    assert np.abs(units - moments * 10.0**decimals).max() <= 1.5 + 1e-6


def test_rounding_a_plate_lowers_largest_moment_by_one_unit() -> None:
    assert round_moments([0.0149, 0.0149, 0.0298], 2) == ("0.01", "0.01", "0.02")


@pytest.mark.parametrize(
    ("values", "decimals"), [([123.4], 3), ([0.0123, -0.5], 6), ([0.0], 0), ([1.0], 5)]
)
def test_decimals_by_the_largest(values: list[float], decimals: int) -> None:
    assert decimals_for(values, 6) == decimals


def test_a_zero_has_no_sign() -> None:
    assert format_fixed(-1e-9, 3) == "0.000"
    assert format_fixed(2.0, 0) == "2.0"


@given(second_moments, rotations())
def test_the_frame_is_principal_and_right_handed(second: tuple[float, ...], R: np.ndarray) -> None:
    inertia = (R * (sum(second) - np.array(second))) @ R.T
    inertia = 0.5 * (inertia + inertia.T)
    moments, axes = nearest_principal_frame(inertia)
    assert_close((axes * moments) @ axes.T, inertia, 1e-12)
    assert_close(axes @ axes.T, np.eye(3), 1e-12)
    assert_close(np.linalg.det(axes), 1.0, 1e-12)


@given(st.permutations([1.0, 2.0, 2.5]), st.tuples(*(st.floats(-0.3, 0.3),) * 3))
def test_a_small_turn_is_found_in_any_order(moments: list[float], turn: tuple[float, ...]) -> None:
    R = rotation_from_quaternion(exp_rotation(np.array(turn)))
    found = nearest_principal_frame((R * np.array(moments)) @ R.T)
    assert_close(found.moments, moments, 1e-12)
    assert_close(found.rotation, R, 1e-9)
