import numpy as np
import pytest

from identify.errors import IdentifyError, ProblemError
from identify.inertia import PHI, InertialParameters
from identify.regressors import ONE_BODY_SPACE, ParameterSpace, ScalarUnknown
from tests.close import assert_close

SPACE = ParameterSpace(
    ("payload", "carrier"), (ScalarUnknown("friction", low=0.0), ScalarUnknown("gain"))
)


def test_bodies_come_first_then_scalars():
    assert len(SPACE) == 22
    assert SPACE.body_slice("payload") == SPACE.body_slice(0) == slice(0, 10)
    assert SPACE.body_slice("carrier") == SPACE.body_slice(1) == slice(10, 20)
    assert SPACE.scalar_slice == slice(20, 22)
    assert SPACE.names[:2] == ("payload.m", "payload.hx")
    assert SPACE.names[10:12] == ("carrier.m", "carrier.hx")
    assert SPACE.names[20:] == ("friction", "gain")
    assert len(SPACE.names) == len(SPACE)


def test_single_body_uses_unprefixed_names():
    assert ONE_BODY_SPACE.names == PHI
    assert len(ONE_BODY_SPACE) == 10
    assert ONE_BODY_SPACE.scalar_slice == slice(10, 10)


def test_defaults_of_bodies_compare_by_value():
    phi = uniform_box(2.0)
    space = SPACE.with_defaults({"carrier": InertialParameters(phi)})
    assert_close(space.default_parameters("carrier"), phi, 0.0)
    assert_close(space.default_parameters(1), phi, 0.0)
    assert space.default_parameters("payload") is None
    assert space == ParameterSpace(space.bodies, space.scalars, {"carrier": phi.tolist()})
    assert hash(space) == hash(SPACE)
    assert space != SPACE
    assert space.with_defaults({}) == SPACE


def uniform_box(mass: float) -> np.ndarray:
    return InertialParameters.from_com(mass, np.ones(3), np.diag([1.0, 2.0, 2.5])).phi


def test_default_that_is_no_body_is_rejected():
    point = InertialParameters.from_com(1.0, np.ones(3), np.zeros((3, 3)))
    for phi in (-uniform_box(2.0), np.zeros(10), point):
        with pytest.raises(ProblemError, match="default of 'payload': expected a physically"):
            SPACE.with_defaults({"payload": phi})
    with pytest.raises(ProblemError, match="no body 'tool' among payload, carrier"):
        SPACE.with_defaults({"tool": uniform_box(2.0)})
    with pytest.raises(IdentifyError, match="default of 'payload': expected shape"):
        SPACE.with_defaults({"payload": np.ones(9)})


def test_errors_name_the_invalid_argument():
    with pytest.raises(ProblemError, match="no body 'tool' among payload, carrier"):
        SPACE.body_slice("tool")
    with pytest.raises(ProblemError, match="at least one body"):
        ParameterSpace(())
    with pytest.raises(ProblemError, match="must differ, got arm, arm"):
        ParameterSpace(("arm",), (ScalarUnknown("arm"),))
    with pytest.raises(ProblemError, match="must differ, got arm, arm"):
        ParameterSpace(("arm", "arm"))
    for low, high in ((1.0, 1.0), (2.0, 1.0), (np.nan, 1.0)):
        with pytest.raises(ProblemError, match="friction: expected low < high"):
            ScalarUnknown("friction", low, high)
