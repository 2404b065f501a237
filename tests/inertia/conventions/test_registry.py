import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import ModelError
from identify.inertia.conventions import CONVENTIONS, find_convention
from tests.close import assert_same_body
from tests.strategies import bodies, random_body, seeds

ABOUT_ORIGIN = {  # forms that hold phi's own numbers, so that not a bit is lost
    "dart_tensor",
    "drake_matrix",
    "featherstone",
    "pinocchio",
    "pinocchio_matrix",
    "rigeo",
    "rigeo_matrix",
    "wensing",
}
names = st.sampled_from(sorted(CONVENTIONS))


@given(names, bodies())
def test_convention_round_trip(name, phi):
    convention = find_convention(name)
    back = convention.to_phi(convention.from_phi(phi))
    if name in ABOUT_ORIGIN:
        assert np.array_equal(back, phi)
    else:
        assert_same_body(back, phi, 1e-14)


@given(names, seeds())
def test_batch_equals_single_bodies(name, seed):
    convention = find_convention(name)
    rng = np.random.default_rng(seed)
    batch = np.array([random_body(rng, mass) for mass in (0.1, 1.0, 20.0, 3e3)]).reshape(2, 2, 10)
    back = convention.to_phi(convention.from_phi(batch))
    assert back.shape == batch.shape
    assert_same_body(back, batch, 1e-14)
    for index in np.ndindex(2, 2):
        alone = convention.to_phi(convention.from_phi(batch[index]))
        assert_same_body(back[index], alone, 1e-15)


@pytest.mark.parametrize("name", sorted(CONVENTIONS))
def test_a_body_without_mass_is_rejected_where_its_centre_is_needed(name):
    convention = find_convention(name)
    massless = np.array([0.0, *np.full(3, 0.1), 1.0, 0.0, 0.0, 1.0, 0.0, 1.0])
    if name in ABOUT_ORIGIN - {"dart_tensor"}:
        assert np.array_equal(convention.to_phi(convention.from_phi(massless)), massless)
        return
    with pytest.raises(ModelError, match=r"the body has no mass \(m = 0\)"):
        convention.from_phi(massless)
    with pytest.raises(ModelError, match=r"body 1 of the batch has no mass"):
        convention.from_phi(np.stack([np.ones(10), massless]))


@pytest.mark.parametrize("name", sorted(CONVENTIONS))
def test_wrong_shape_or_nan_is_rejected(name):
    convention = find_convention(name)
    with pytest.raises(ModelError, match=r"phi: expected shape \(..., 10\), got \(9,\)"):
        convention.from_phi(np.ones(9))
    with pytest.raises(ModelError, match=r"phi: entry \(1, 4\) is nan"):
        convention.from_phi(np.array([np.ones(10), [1.0, 0, 0, 0, np.nan, 0, 0, 1, 0, 1]]))


def test_an_unknown_name_gets_a_hint():
    with pytest.raises(ModelError, match=r"no convention 'mujco'.*did you mean 'mujoco'"):
        find_convention("mujco")


def test_results_are_read_only():
    phi = random_body(np.random.default_rng(3))
    record = find_convention("mujoco").from_phi(phi)
    with pytest.raises(ValueError, match="read-only"):
        record.pos[0] = 1.0


def test_no_tool_is_imported():
    tools = "pinocchio pydrake mujoco dartpy rigeo ignition"
    code = (
        "import sys, identify.inertia.conventions;"
        f"print([name for name in {tools.split()} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
