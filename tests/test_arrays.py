import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import identify
from identify.arrays import as_array, as_real, is_masked, require_positive, seal
from identify.errors import IdentifyError, LogError, ModelError, SchemaError
from identify.inertia import (
    InertialParameters,
    composite,
    in_frame,
    phi_from_inertia,
    pseudo_inertia,
)
from identify.simulation import State
from identify.spatial import Pose, exp_rotation, quaternion_product

PHI = np.array([1.5, 0.0, 0.1, 0.0, 0.1, 0.0, 0.01, 0.12, 0.0, 0.15])
HIDDEN = np.ma.masked_array(PHI, mask=[0] * 9 + [1])
IMAGINARY = PHI + 1e-9j

ENTRANCES = {
    "seal": lambda x: seal(x, "phi", (10,)),
    "a list for seal": lambda x: seal([x, x], "phi", (2, 10)),
    "InertialParameters": InertialParameters,
    "from_com": lambda x: InertialParameters.from_com(x[9], np.zeros(3), np.eye(3)),
    "phi_from_inertia": lambda x: phi_from_inertia(1.0, x[7:], np.eye(3)),
    "pseudo_inertia": pseudo_inertia,
    "in_frame": lambda x: in_frame(x, Pose.identity()),
    "composite": lambda x: composite([PHI, x]),
    "Pose": lambda x: Pose(np.eye(3), x[7:]),
    "Pose.from_quaternion": lambda x: Pose.from_quaternion([0.0, 0.0, 0.0, 1.0], x[7:]),
    "exp_rotation": lambda x: exp_rotation(x[7:]),
    "quaternion_product": lambda x: quaternion_product(np.array([0, 0, 0, 1.0]), x[6:]),
    "State": lambda x: State(position=x[7:]),
}


@pytest.mark.parametrize("enter", ENTRANCES.values(), ids=ENTRANCES)
@pytest.mark.parametrize(("values", "said"), [(HIDDEN, "masked"), (IMAGINARY, "complex128")])
def test_masked_and_complex_numbers_are_rejected(enter, values, said):
    with pytest.raises(IdentifyError, match=said):
        enter(values)


@pytest.mark.parametrize("enter", ENTRANCES.values(), ids=ENTRANCES)
def test_masked_array_without_masked_values_is_accepted(enter):
    enter(np.ma.masked_array(PHI))


def test_a_list_of_masked_rows_is_masked():
    assert is_masked([[1.0, 2.0, 3.0], HIDDEN[7:]])
    assert not is_masked([PHI, PHI.tolist(), np.ma.masked_array(PHI), "text", 1.0])


def test_real_numbers_are_not_copied():
    assert as_real(PHI, "phi") is PHI
    assert as_real([1, 2**70], "two").tolist() == [1.0, 2.0**70]


def test_the_message_names_the_array_once():
    with pytest.raises(ModelError) as error:
        identify.InertialParameters(IMAGINARY)
    assert str(error.value) == "phi: expected real numbers, got complex128; give .real"


@pytest.mark.parametrize(
    ("shape", "fits", "fits_not"),
    [
        ((3,), [(3,)], [(), (4,), (1, 3)]),
        ((None, 3), [(0, 3), (5, 3)], [(3,), (3, 5), (1, 5, 3)]),
        ((..., 3), [(3,), (2, 3), (0, 2, 3)], [(), (3, 2)]),
        ((..., None, 3), [(2, 3), (4, 2, 3)], [(3,)]),
        ((...,), [(), (2,), (2, 3)], []),
    ],
)
def test_a_shape_has_lengths_that_may_be_free_and_a_batch(shape, fits, fits_not):
    for lengths in fits:
        assert as_array(np.zeros(lengths), "x", shape).shape == lengths
    for lengths in fits_not:
        spelled = ", ".join({None: "n", ...: "..."}.get(length, str(length)) for length in shape)
        with pytest.raises(ModelError, match=re.escape(f"x: expected shape ({spelled}), got")):
            as_array(np.zeros(lengths), "x", shape)


def test_seal_returns_read_only_copy():
    assert as_array(PHI, "phi", (10,)) is PHI
    sealed = seal(PHI, "phi", (..., 10))
    assert not np.shares_memory(sealed, PHI)
    assert not sealed.flags.writeable


def test_error_type_is_an_argument():
    path = Path("log.csv")
    with pytest.raises(LogError, match=r"phi: entry \(4,\) is nan; every entry") as caught:
        seal(np.where(np.arange(10) == 4, np.nan, PHI), "phi", (10,), partial(LogError, path=path))
    assert caught.value.path == path
    assert np.isnan(as_array([np.nan], "x", (1,), finite=False)).all()


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2.0), np.int64(2), np.array(2.0)])
def test_a_positive_number_is_a_float(value):
    number = require_positive(value, "mass", "kg")
    assert type(number) is float
    assert number == 2.0


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, np.array(-2.0)])
def test_positive_rejects_zero_negative_and_infinite(value):
    said = rf"^mass: expected a positive, finite number \[kg\], got {float(value):g}$"
    with pytest.raises(ModelError, match=said):
        require_positive(value, "mass", "kg")


@pytest.mark.parametrize("value", ["2", None, [2.0], 2j, np.ones(1)])
def test_positive_rejects_non_numbers(value):
    with pytest.raises(SchemaError, match=r"^mass: expected a number \[kg\], got"):
        require_positive(value, "mass", "kg", SchemaError)


def test_read_only_array_is_sealed_without_a_copy_if_nothing_else_can_write_it():
    values = np.arange(3.0)
    first = seal(values, "x", (3,))
    values[0] = 5.0
    assert first[0] == 0.0
    assert seal(first, "x", (3,)) is first
    window = values[:]
    window.flags.writeable = False
    sealed = seal(window, "x", (3,))
    values[0] = 7.0
    assert sealed[0] == 5.0
