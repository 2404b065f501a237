import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from identify.errors import MissingExtra, ModelError
from identify.inertia import (
    InertialParameters,
    kinetic_energy,
)
from identify.inertia.conventions import MassProperties, find_convention
from tests.close import assert_close, assert_same_body
from tests.strategies import bodies, random_body, rotations, vectors

TWO = InertialParameters(np.array([random_body(np.random.default_rng(k)) for k in range(2)]))


@pytest.fixture(scope="module")
def tree():
    return pytest.importorskip("pydrake.multibody.tree", reason="Drake is not installed")


@given(bodies(), vectors(6))
def test_pinocchio_has_the_same_body_and_energy(pinocchio, phi, V):
    body = InertialParameters(phi)
    theirs = body.to_pinocchio()
    assert_same_body(InertialParameters.from_pinocchio(theirs).phi, phi, 1e-13)
    scale = kinetic_energy(np.abs(phi), np.ones(6)) * 10.0
    assert_close(
        0.5 * theirs.vtiv(pinocchio.Motion(V)), kinetic_energy(body, V), 1e-13, scale=scale
    )
    assert_same_body(
        InertialParameters.from_spatial(theirs.matrix(), "pinocchio_matrix").phi, phi, 1e-13
    )


@given(bodies(flat=False, offset=1.0), vectors(6))
def test_drake_has_the_same_body_and_energy(tree, phi, V):
    from pydrake.multibody.math import SpatialVelocity

    body = InertialParameters(phi)
    theirs = body.to_drake()
    assert_same_body(InertialParameters.from_drake(theirs).phi, phi, 1e-13)
    momentum = theirs * SpatialVelocity(w=V[3:], v=V[:3])
    energy = 0.5 * np.concatenate((momentum.translational(), momentum.rotational())) @ V
    scale = kinetic_energy(np.abs(phi), np.ones(6)) * 10.0
    assert_close(energy, kinetic_energy(body, V), 1e-13, scale=scale)
    assert_close(theirs.CopyToFullMatrix6(), body.to_spatial("drake_matrix"), 1e-13)


def test_drake_rejects_inconsistent_bodies(tree):
    with pytest.raises(ModelError, match=r"Drake rejects the body: .*IsPhysicallyValid"):
        InertialParameters.from_com(1.0, [0, 0, 0], np.diag([1.0, 1.0, 5.0])).to_drake()
    with pytest.raises(ModelError, match="Drake"):
        InertialParameters(np.zeros(10)).to_drake()


def specification(mujoco):
    spec = mujoco.MjSpec()
    return spec, spec.worldbody.add_body(name="hand", pos=[0, 0, 1])


@settings(max_examples=30)
@given(bodies(flat=False), vectors(6))
def test_mujoco_has_the_same_body_and_energy(mujoco, phi, V):
    body = InertialParameters(phi)
    spec, hand = specification(mujoco)
    hand.add_freejoint()
    body.to_mujoco(hand)
    assert_same_body(InertialParameters.from_mujoco(hand).phi, phi, 1e-13)
    model = spec.compile()
    assert_same_body(InertialParameters.from_mujoco(model.body("hand")).phi, phi, 1e-13)
    data = mujoco.MjData(model)
    data.qvel[:] = V  # of a free joint: velocity of Bo in W, angular velocity in B; here R = 1
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    mujoco.mj_forward(model, data)
    scale = kinetic_energy(np.abs(phi), np.ones(6)) * 10.0
    assert_close(data.energy[1], kinetic_energy(body, V), 1e-12, scale=scale)


@settings(max_examples=20)
@given(bodies(flat=False), rotations())
def test_mujoco_inertia_accepts_full_matrix_or_any_axes(mujoco, phi, R):
    from identify.inertia.conventions import find_convention
    from identify.inertia.conventions.axes import wxyz_from_rotation

    body = InertialParameters(phi)
    spec, hand = specification(mujoco)
    mass, com, full = find_convention("mujoco_full").from_phi(body)
    hand.mass, hand.ipos, hand.fullinertia, hand.explicitinertial = float(mass), com, full, True
    assert_same_body(InertialParameters.from_mujoco(hand).phi, phi, 1e-13)
    compiled = InertialParameters.from_mujoco(spec.compile().body("hand"))
    assert_same_body(compiled.phi, phi, 1e-12)  # their eigenvectors
    body.to_mujoco(hand)  # what was said by `fullinertia` is no longer said
    assert_same_body(InertialParameters.from_mujoco(spec.compile().body("hand")).phi, phi, 1e-13)
    # Moments in axes of their own:
    moments = np.array([0.3, 0.4, 0.5])
    _, turned = specification(mujoco)
    turned.mass, turned.ipos, turned.iquat = 2.0, [0.1, 0, 0], wxyz_from_rotation(R)
    turned.inertia, turned.explicitinertial = moments, True
    expected = InertialParameters.from_com(2.0, [0.1, 0, 0], R @ np.diag(moments) @ R.T)
    assert_same_body(InertialParameters.from_mujoco(turned).phi, expected.phi, 1e-13)


def test_mujoco_bodies_that_only_the_compiler_knows_are_rejected(mujoco):
    spec, hand = specification(mujoco)
    hand.add_geom(size=[0.1, 0.1, 0.1], type=mujoco.mjtGeom.mjGEOM_BOX)
    with pytest.raises(ModelError, match=r"'hand' has no explicit inertial.*model\.body\('hand'\)"):
        InertialParameters.from_mujoco(hand)
    box = InertialParameters.from_mujoco(spec.compile().body("hand"))
    assert_close(box.mass, 8.0, 1e-14)  # 1000 kg/m³
    TWO[0].to_mujoco(hand)
    hand.ialt.type, hand.ialt.euler = mujoco.mjtOrientation.mjORIENTATION_EULER, [0.1, 0.2, 0.3]
    with pytest.raises(ModelError, match="mjORIENTATION_EULER; compile"):
        InertialParameters.from_mujoco(hand)


@given(bodies(), st.sampled_from(["drake_matrix", "featherstone", "rigeo_matrix", "dart_tensor"]))
def test_a_matrix_by_its_convention(phi, name):
    body = InertialParameters(phi)
    theirs = body.to_spatial(name)
    swap = [3, 4, 5, 0, 1, 2]
    assert np.array_equal(theirs, body.spatial_inertia[np.ix_(swap, swap)])
    assert InertialParameters.from_spatial(theirs, name) == body


def test_matrices_are_batched_and_unknown_names_rejected():
    again = InertialParameters.from_spatial(TWO.to_spatial("featherstone"), "featherstone")
    assert again == TWO
    with pytest.raises(ModelError, match="did you mean 'drake_matrix'"):
        TWO.to_spatial("drake_matrx")
    with pytest.raises(ModelError, match="convention of a 6×6 matrix"):
        TWO.to_spatial("mujoco")
    with pytest.raises(ModelError, match="expected the blocks m 1"):
        InertialParameters.from_spatial(np.diag([1.0, 2, 3, 1, 1, 1]), "pinocchio_matrix")


@pytest.mark.parametrize(
    ("tool", "module"), [("pinocchio", "pinocchio"), ("drake", "pydrake.multibody.tree")]
)
def test_missing_tool_names_extra(monkeypatch, tool, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"inertia-identify\[{tool}\]"):
        getattr(TWO[0], f"to_{tool}")()


TEN, ARGUMENTS = find_convention("pinocchio"), find_convention("pinocchio_inertia")


@given(bodies(flat=False))
def test_arguments_construct_the_same_inertia(pinocchio, phi):
    ours = ARGUMENTS.from_phi(phi)
    theirs = pinocchio.Inertia(float(ours.mass), np.array(ours.com), np.array(ours.inertia))
    assert_same_body(TEN.to_phi(theirs.toDynamicParameters()), phi, 1e-14)
    read = MassProperties(theirs.mass, theirs.lever, theirs.inertia)
    assert_same_body(ARGUMENTS.to_phi(read), phi, 1e-14)


VECTOR, MATRIX = find_convention("rigeo"), find_convention("rigeo_matrix")


@given(bodies(flat=False))
def test_vector_and_matrix_match_rigeo(rigeo, phi):
    theirs = rigeo.InertialParameters.from_vec(np.array(VECTOR.from_phi(phi)))
    scale = np.abs(theirs.M).max()
    assert_close(theirs.M, MATRIX.from_phi(phi), 1e-14, scale=scale)
    assert_same_body(VECTOR.to_phi(theirs.vec), phi, 1e-14)
    assert_same_body(MATRIX.to_phi(theirs.M), phi, 1e-14)
