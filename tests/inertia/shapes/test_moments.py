import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import ModelError
from identify.inertia import is_consistent
from identify.inertia.shapes import (
    SHAPES,
    Box,
    EllipsoidShell,
    shape_from_sizes,
    shape_sizes,
)
from tests.close import assert_close, assert_same_body
from tests.inertia.shapes.drawing import shapes
from tests.inertia.shapes.parametric import patches_of, phi_of_patches
from tests.strategies import masses

EXAMPLES = [shape_from_sizes(name, [0.3, 0.2, 0.5][: len(shape_sizes(name))]) for name in SHAPES]
BY_NAME = pytest.mark.parametrize("shape", EXAMPLES, ids=list(SHAPES))


@BY_NAME
def test_moments_match_numerical_quadrature(shape):
    order = 48 if isinstance(shape, EllipsoidShell) else 24
    assert_same_body(shape.body(density=1.0), phi_of_patches(patches_of(shape), order), 1e-13)


@given(shapes(), masses())
def test_mass_and_equivalent_density_give_same_body(shape, mass):
    by_mass = shape.body(mass=mass)
    assert_close(by_mass.mass, mass, 0.0)
    assert_same_body(by_mass, shape.body(density=mass / shape.measure), 1e-14)
    assert is_consistent(by_mass)


@given(shapes(), st.floats(-2.0, 2.0))
def test_scaling_laws(shape, exponent):
    """Lengths times k at one mass: first moments times k, inertia times k²."""
    k = 10.0**exponent
    larger = type(shape)(*(k * getattr(shape, size.name) for size in shape_sizes_of(shape)))
    units = np.repeat([1.0, k, k * k], [1, 3, 6])
    assert_same_body(larger.body(mass=2.0), units * shape.body(mass=2.0), 1e-13)
    power = {"volume": 3, "area": 2, "length": 1}[shape.measure_kind]
    assert_close(larger.measure, k**power * shape.measure, 1e-13)


def shape_sizes_of(shape):
    return shape_sizes(
        next(name for name, named in SHAPES.items() if named.shape_class is type(shape))
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, r"Box: expected either a mass \[kg\] or a density \[kg/m³\], got neither"),
        ({"mass": 1.0, "density": 2.0}, "got both"),
        ({"mass": 0.0}, r"Box: mass: expected a positive, finite number \[kg\], got 0"),
        ({"mass": -1.0}, "got -1"),
        ({"density": np.inf}, r"Box: density: expected a positive, finite number \[kg/m³\]"),
        ({"mass": np.nan}, "got nan"),
        ({"mass": "heavy"}, r"Box: mass: expected a number \[kg\], got 'heavy'"),
    ],
)
def test_invalid_mass_or_density_is_rejected(arguments, message):
    with pytest.raises(ModelError, match=message):
        Box(1, 2, 3).body(**arguments)


def test_overflowing_body_is_rejected():
    with pytest.raises(ModelError, match="inertia overflows"):
        Box(1e59, 1e59, 1e59).body(mass=1e300)
