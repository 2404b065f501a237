"""Orders of regressors' columns, against the functions of the tools."""

import numpy as np
import pytest

from identify.errors import ModelError
from identify.inertia import PHI, InertialParameters
from identify.inertia.conventions import (
    REGRESSOR_ORDERS,
    ColumnOrder,
    entries_in_order,
    find_convention,
)
from tests.close import assert_close
from tests.strategies import random_body


@pytest.mark.parametrize("order", REGRESSOR_ORDERS)
def test_columns_return_to_the_order_of_phi(order):
    rng = np.random.default_rng(1)
    A = rng.normal(size=(7, 23))  # two bodies and three scalars
    columns = ColumnOrder.of(order, 2, 3)
    names = REGRESSOR_ORDERS[order]
    given = np.concatenate(
        [A[:, 10 * k + np.array([PHI.index(n) for n in names])] for k in (0, 1)], 1
    )
    assert (columns.to_phi(np.concatenate((given, A[:, 20:]), axis=1)) == A).all()


def test_orders_agree_with_the_conventions_of_numbers():
    phi = random_body(np.random.default_rng(2))
    inertia = InertialParameters(phi).inertia_about_origin
    for order in ("pinocchio", "drake", "voigt", "cyclic"):
        ten = np.array([phi[PHI.index(name)] for name in REGRESSOR_ORDERS[order]])
        assert_close(ten[4:], entries_in_order(inertia, order), 1e-12)
    ten = np.array([phi[PHI.index(name)] for name in REGRESSOR_ORDERS["pinocchio"]])
    assert_close(ten, find_convention("pinocchio").from_phi(phi), 1e-12)


def test_figaroh_has_four_more_columns_a_body():
    names = [*REGRESSOR_ORDERS["figaroh"], "Ia", "fv", "fs", "off"]
    A = np.arange(28.0)[None]  # two bodies, block after block
    read = ColumnOrder.of("figaroh", 2, 8).to_phi(A)[0]
    assert read[0] == names.index("m")
    assert read[10] == 14 + names.index("m")
    assert read[20:].tolist() == [10, 11, 12, 13, 24, 25, 26, 27]


def test_signs_and_invalid_orders():
    flipped = [f"-{name}" if name in ("Ixy", "Ixz", "Iyz") else name for name in PHI]
    A = np.ones((1, 10))
    read = ColumnOrder.of(flipped, 1).to_phi(A)[0]
    assert read.tolist() == [1, 1, 1, 1, 1, -1, -1, 1, -1, 1]
    with pytest.raises(ModelError, match="did you mean 'pinocchio'"):
        ColumnOrder.of("pinochio", 1)
    with pytest.raises(ModelError, match=r"expected each of m, hx, .* once"):
        ColumnOrder.of([*PHI[:9], "Iyz"], 1)


def test_pinocchios_body_regressor(pinocchio):
    rng = np.random.default_rng(3)
    phi = random_body(rng)
    v, a = pinocchio.Motion(rng.normal(size=6)), pinocchio.Motion(rng.normal(size=6))
    Y = pinocchio.bodyRegressor(v, a).copy()
    inertia = pinocchio.Inertia.FromDynamicParameters(find_convention("pinocchio").from_phi(phi))
    force = (inertia * a + v.cross(inertia * v)).vector
    assert_close(ColumnOrder.of("pinocchio", 1).to_phi(Y) @ phi, force, 1e-12)


def test_pi_of_mujocos_sysid_has_all_nine_entries_of_the_inertia():
    """Its documentation says ten numbers, m, h, Ixx, Iyy, Izz, Ixy, Iyz, Ixz (MuJoCo 4.0)."""
    modifier = pytest.importorskip("mujoco.sysid._src.model_modifier")
    rng = np.random.default_rng(4)
    pi = modifier.pi_from_theta(0.3 * rng.normal(size=10))
    assert pi.shape == (13,)
    assert_close(pi[4:].reshape(3, 3), pi[4:].reshape(3, 3).T, 1e-12)
