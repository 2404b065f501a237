import types

import pytest
from hypothesis import given, strategies as st

from identify.inertia.conventions import (
    SdfInertial,
    find_convention,
)
from tests.close import assert_same_body
from tests.inertia.conventions.files import sdf_text, urdf_text
from tests.strategies import bodies, rotations

DRAKE, MATRIX = find_convention("drake"), find_convention("drake_matrix")


@pytest.fixture(scope="module")
def tree() -> types.ModuleType:
    return pytest.importorskip("pydrake.multibody.tree", reason="Drake is not installed")


@pytest.fixture(scope="module")
def read():
    """Reads a model file with Drake and returns the spatial inertia of the link `body`."""
    parsing = pytest.importorskip("pydrake.multibody.parsing", reason="Drake is not installed")
    plants = pytest.importorskip("pydrake.multibody.plant", reason="Drake is not installed")

    def parse(text: str, kind: str):
        plant = plants.MultibodyPlant(0.0)
        parsing.Parser(plant).AddModelsFromString(text, kind)
        plant.Finalize()
        return plant.GetBodyByName("body").default_spatial_inertia()

    return parse


@given(bodies(flat=False), rotations())
def test_drake_reads_urdf_as_same_body(read, phi, R):
    for axes in ("body", "principal", R):
        theirs = read(urdf_text(SdfInertial.from_phi(phi, axes)), "urdf")
        assert_same_body(MATRIX.to_phi(theirs.CopyToFullMatrix6()), phi, 1e-14)


@given(
    bodies(flat=False),
    rotations(),
    st.sampled_from([("euler_rpy", False), ("euler_rpy", True), ("quat_xyzw", False)]),
)
def test_drake_reads_sdf_as_same_body(read, phi, R, form):
    rotation_format, degrees = form
    for axes in ("body", "principal", R):
        ours = SdfInertial.from_phi(phi, axes, rotation_format=rotation_format, degrees=degrees)
        theirs = read(sdf_text(ours), "sdf")
        assert_same_body(MATRIX.to_phi(theirs.CopyToFullMatrix6()), phi, 1e-14)
