"""Against Pinocchio itself, its inertia and its reader of URDF."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from identify.inertia import inertia_about_com, spatial_inertia
from identify.inertia.conventions import MassProperties, SdfInertial, find_convention
from tests.close import assert_close, assert_same_body
from tests.inertia.conventions.files import urdf_text
from tests.strategies import bodies, rotations

TEN, ARGUMENTS = find_convention("pinocchio"), find_convention("pinocchio_inertia")


@given(bodies(flat=False))
def test_dynamic_parameters_are_those_of_pinocchio(pinocchio, phi):
    theirs = pinocchio.Inertia.FromDynamicParameters(TEN.from_phi(phi))
    scale = np.abs(spatial_inertia(phi)).max()
    assert_close(theirs.matrix(), spatial_inertia(phi), 1e-14, scale=scale)
    assert_same_body(TEN.to_phi(theirs.toDynamicParameters()), phi, 1e-14)


@given(bodies(flat=False))
def test_arguments_construct_the_same_inertia(pinocchio, phi):
    ours = ARGUMENTS.from_phi(phi)
    theirs = pinocchio.Inertia(float(ours.mass), np.array(ours.com), np.array(ours.inertia))
    assert_same_body(TEN.to_phi(theirs.toDynamicParameters()), phi, 1e-14)
    read = MassProperties(theirs.mass, theirs.lever, theirs.inertia)
    assert_same_body(ARGUMENTS.to_phi(read), phi, 1e-14)


@given(bodies(flat=False), rotations())
def test_urdf_is_read_by_pinocchio_as_it_is_meant(pinocchio, phi, R):
    for axes in ("body", "principal", R):
        text = urdf_text(SdfInertial.from_phi(phi, axes))
        model = pinocchio.buildModelFromXML(text, pinocchio.JointModelFreeFlyer())
        read = model.inertias[1]
        assert_same_body(TEN.to_phi(read.toDynamicParameters()), phi, 1e-14)
        assert_close(read.inertia, inertia_about_com(phi), 1e-13, scale=np.abs(phi[4:]).max())
