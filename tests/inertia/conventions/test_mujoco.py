import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import ModelError
from identify.inertia import inertia_about_com
from identify.inertia.conventions import (
    MUJOCO_MIN_FULL_INERTIA,
    MUJOCO_MIN_INERTIA,
    MassProperties,
    MujocoInertial,
    SdfInertial,
    find_convention,
)
from tests.close import assert_close, assert_same_body
from tests.inertia.conventions.files import mjcf_text, urdf_text
from tests.strategies import bodies, rotations


def compiled(mujoco, text: str) -> MujocoInertial:
    model = mujoco.MjModel.from_xml_string(text)
    body = model.nbody - 1
    return MujocoInertial(
        model.body_mass[body],
        model.body_ipos[body],
        model.body_iquat[body],
        model.body_inertia[body],
    )


@given(bodies(flat=False))
def test_principal_moments_compile_to_themselves(mujoco, phi):
    ours = MujocoInertial.from_phi(phi)
    read = compiled(mujoco, mjcf_text(ours))
    assert np.array_equal(read.diaginertia, ours.diaginertia)
    assert_close(read.quat_wxyz, ours.quat_wxyz, 1e-15)
    assert_same_body(read.to_phi(), phi, 1e-14)


@given(bodies(flat=False), rotations())
def test_mujoco_compiles_urdf_to_same_body(mujoco, phi, R):
    for axes in ("body", "principal", R):
        read = compiled(mujoco, urdf_text(SdfInertial.from_phi(phi, axes), moving=True))
        Ic = inertia_about_com(phi)
        assert_close(inertia_about_com(read.to_phi()), Ic, 1e-13, scale=10.0 * np.abs(Ic).max())
        assert_close(read.pos, phi[1:4] / phi[0], 1e-14)


floors = st.sampled_from([0.0, 0.5, np.nextafter(1.0, 0.0), 1.0, 2.0, 1e3])
shares = st.sampled_from([0.0, 0.3, 0.7, 1.0 - 1e-16, 1.0, 1.0 + 2.3e-16, 1.0 + 1e-9, 1.5])


@given(floors, st.tuples(floors, floors, shares, st.permutations([0, 1, 2])))
def test_compiles_matches_mujoco_compiler(mujoco, mass, shape):
    a, b, share, order = shape
    moments = MUJOCO_MIN_INERTIA * np.array([a, b, share * (a + b)])[order]
    inertial = MujocoInertial(mass * MUJOCO_MIN_INERTIA, np.zeros(3), [1.0, 0, 0, 0], moments)
    if inertial.compiles:
        assert np.array_equal(compiled(mujoco, mjcf_text(inertial)).diaginertia, moments)
    else:
        with pytest.raises(ValueError, match=r"larger than mjMINVAL|must satisfy A \+ B >= C"):
            compiled(mujoco, mjcf_text(inertial))


def test_full_inertia_has_a_higher_floor(mujoco):
    def full(moment: float) -> MassProperties:
        return MassProperties(np.array(1.0), np.zeros(3), moment * np.array([1.0, 1, 1, 0, 0, 0]))

    assert compiled(mujoco, mjcf_text(full(MUJOCO_MIN_FULL_INERTIA))).compiles
    with pytest.raises(ValueError, match="inertia must have positive eigenvalues"):
        compiled(mujoco, mjcf_text(full(0.99 * MUJOCO_MIN_FULL_INERTIA)))


def test_a_quaternion_of_any_length_is_a_rotation():
    once = MujocoInertial(1.0, np.zeros(3), [1.0, 0.0, 0.0, 1.0], [3.0, 2.0, 1.5])
    assert_close(once.to_phi()[[4, 7, 9]], [2.0, 3.0, 1.5], 1e-15)
    with pytest.raises(ModelError, match="has no length"):
        MujocoInertial(1.0, np.zeros(3), np.zeros(4), np.ones(3)).to_phi()


def test_a_mass_below_zero_is_rejected():
    phi = np.array([-1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0])
    for form in ("mujoco", "mujoco_full"):
        with pytest.raises(ModelError, match=f"{form}: a mass of -1 kg; expected a positive mass"):
            find_convention(form).from_phi(phi)
