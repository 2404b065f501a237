import numpy as np
import pytest

from identify.errors import ModelError
from identify.inertia.shapes import (
    SHAPES,
    Box,
    Capsule,
    Size,
    shape_from_sizes,
    shape_sizes,
)


def test_a_shape_is_built_from_its_name_and_numbers():
    assert shape_from_sizes("box", [0.1, 0.2, 0.3]) == Box(0.1, 0.2, 0.3)
    assert shape_from_sizes("capsule", np.array([0.1, 0.2])) == Capsule(0.1, 0.2)


def test_shape_lists_sizes_and_units():
    assert shape_sizes("box")[0] == Size("x", "length along x")
    assert [size.name for size in shape_sizes("cylinder")] == ["radius", "length"]
    assert "without the half balls" in shape_sizes("capsule")[1].meaning
    for name in SHAPES:
        sizes = shape_sizes(name)
        assert 1 <= len(sizes) <= 3
        assert all(size.meaning for size in sizes)


def test_shape_describes_itself_and_its_origin():
    """A shape whose centroid is not at the origin does not have its origin at its centre."""
    for name, (kind, description, origin) in SHAPES.items():
        shape = kind(*[0.3, 0.2, 0.1][: len(shape_sizes(name))])
        assert (origin == "its centre") == (not shape.centroid.any())
        assert ("solid" in description) == (shape.measure_kind == "volume")
        assert ("closed" in description) == name.endswith("-shell")
    assert "open at both ends" in SHAPES["tube"].description


def test_unknown_shape_suggests_nearest():
    with pytest.raises(ModelError, match=r"no shape 'spere' among box, .*did you mean 'sphere'"):
        shape_from_sizes("spere", [1.0])


def test_wrong_number_of_sizes_lists_expected():
    with pytest.raises(ModelError, match=r"shape box: expected 3 sizes, got 2: x \(length"):
        shape_from_sizes("box", [0.1, 0.2])
    with pytest.raises(ModelError, match=r"shape sphere: expected 1 size, got 0: radius"):
        shape_from_sizes("sphere", [])
    with pytest.raises(ModelError, match=r"side and base disc .*; the origin is the middle of its"):
        shape_from_sizes("cone-shell", [])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0.0, r"Box: y \(length along y\): expected a positive, finite number \[m\], got 0"),
        (-0.1, "got -0.1"),
        (np.nan, "got nan"),
        (np.inf, "got inf"),
        (None, r"expected a number \[m\], got None"),
        ("wide", "got 'wide'"),
        (1e80, "expected a length from 1e-60 to 1e"),
        (1e-80, "got 1e-80"),
    ],
)
def test_invalid_size_is_rejected(value, message):
    with pytest.raises(ModelError, match=message):
        shape_from_sizes("box", [0.1, value, 0.3])
