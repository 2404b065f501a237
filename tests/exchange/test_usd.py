"""The layer of USD: read as text, and by USD where it is installed."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.exchange import export_body
from identify.inertia import InertialParameters, phi_from_inertia
from tests.close import assert_close
from tests.exchange.body_formats.printing import bracket

BODY = bracket()


def attribute(text: str, name: str) -> np.ndarray:
    values = re.search(rf"{name} = [(\[]?([^)\]\n]*)", text)[1]
    return np.array([float(value) for value in values.split(",")])


def test_both_forms_of_the_inertia_are_of_the_body():
    """Moments along principal axes whose quaternion has its scalar first, and a matrix."""
    text = export_body(InertialParameters(BODY.phi), "usd").text
    R = Rotation.from_quat(np.roll(attribute(text, "principalAxes"), -1)).as_matrix()
    principal = (R * attribute(text, "diagonalInertia")) @ R.T
    xx, yy, zz, xy, xz, yz = attribute(text, "newton:inertia")
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    for inertia in (principal, matrix):
        (mass,), com = attribute(text, "physics:mass"), attribute(text, "centerOfMass")
        assert_close(phi_from_inertia(mass, com, inertia), BODY.phi, 1e-7)


def test_usd_reads_the_layer():
    usd = pytest.importorskip("pxr.Usd", reason="OpenUSD is not installed")
    physics = pytest.importorskip("pxr.UsdPhysics")
    geometry = pytest.importorskip("pxr.UsdGeom")
    stage = usd.Stage.CreateInMemory()
    geometry.Xform.Define(stage, "/tool")
    layer = pytest.importorskip("pxr.Sdf").Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(export_body(InertialParameters(BODY.phi), "usd").text)
    prim = stage.GetPrimAtPath("/tool")
    prim.GetReferences().AddReference(layer.identifier)
    assert prim.HasAPI(physics.MassAPI)
    mass = physics.MassAPI(prim)
    axes = mass.GetPrincipalAxesAttr().Get()
    quaternion = [*axes.GetImaginary(), axes.GetReal()]
    R = Rotation.from_quat(quaternion).as_matrix()
    inertia = (R * np.array(mass.GetDiagonalInertiaAttr().Get())) @ R.T
    com = np.array(mass.GetCenterOfMassAttr().Get())
    assert_close(phi_from_inertia(mass.GetMassAttr().Get(), com, inertia), BODY.phi, 1e-6)
    six = prim.GetAttribute("newton:inertia").Get()
    assert_close(np.array(six)[:3], np.diag(BODY.about_com), 1e-7)
