import numpy as np
import pytest

import identify
from identify.arrays import as_real, is_masked, seal
from identify.errors import IdentifyError, ModelError
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
def test_masked_and_complex_numbers_are_refused(enter, values, said):
    with pytest.raises(IdentifyError, match=said):
        enter(values)


@pytest.mark.parametrize("enter", ENTRANCES.values(), ids=ENTRANCES)
def test_an_array_with_a_mask_that_hides_nothing_is_a_plain_one(enter):
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
