import numpy as np
import pytest
from hypothesis import given

from identify.errors import ModelError
from identify.exchange.models import read_model
from identify.exchange.rewriting import inertial_snippet
from identify.exchange.rounding import DEFAULT_DIGITS, MIN_MOMENT_RATIO, round_body
from identify.inertia import is_consistent, phi_from_inertia, smallest_pseudo_eigenvalue
from identify.inertia.conventions import MujocoInertial, phi_from_spatial_matrix
from identify.inertia.verdict import check_consistency
from tests.close import assert_same_body
from tests.exchange.models.many_bodies import allowed, many_bodies
from tests.slow import few_or_many
from tests.strategies import bodies

many = pytest.mark.parametrize("count", few_or_many(200, 10_000))
"""Bodies of each program; 10 000 of them take two minutes."""


@pytest.mark.parametrize("principal", [False, True])
@given(phi=bodies())
def test_printed_body_is_consistent_and_equal(phi, principal):
    rounded = round_body(phi, principal=principal)
    assert_same_body(rounded.phi, phi, allowed(phi))
    assert is_consistent(rounded.phi)
    centred = phi_from_inertia(
        float(rounded.mass), np.zeros(3), _tensor([float(x) for x in rounded.inertia])
    )
    assert smallest_pseudo_eigenvalue(centred) >= 0.4 * MIN_MOMENT_RATIO
    assert not check_consistency(rounded.phi).impossible
    if principal:
        moments = np.array([float(x) for x in rounded.diagonal])
        quat = np.array([float(x) for x in rounded.quat_wxyz])
        com = np.array([float(x) for x in rounded.com])
        assert MujocoInertial(np.array(float(rounded.mass)), com, quat, moments).compiles


@given(bodies(flat=False))
def test_a_solid_body_is_changed_by_rounding_only(phi):
    assert round_body(phi).change == ""


def test_plate_and_point_mass_moments_are_raised_and_reported():
    plate = phi_from_inertia(2.0, np.zeros(3), np.diag([1.0, 2.0, 3.0]))
    rounded = round_body(plate)
    assert "raised from 0 to 3e-09 kg m² (1e-09 of their sum)" in rounded.change
    assert "no simulator" in rounded.change
    point = round_body(phi_from_inertia(2.0, np.ones(3), np.zeros((3, 3))), principal=True)
    assert "so that no moment is below 1e-15 kg m²" in point.change
    assert min(float(x) for x in point.diagonal) >= 1e-15
    assert point.com == ("1", "1", "1")


def test_digits_are_added_where_three_would_make_it_inconsistent():
    near = phi_from_inertia(1.0, np.zeros(3), np.diag([1.0004, 1.0004, 2.0007]))
    rounded = round_body(near, digits=3)
    assert rounded.digits > 3
    assert not rounded.change
    assert is_consistent(rounded.phi)
    assert round_body(near).digits == DEFAULT_DIGITS


def test_rounding_of_the_shift_to_the_centre_of_mass_is_not_printed():
    com = np.array([-0.008, -0.033, 0.167])
    tensor = np.array([[0.012, 0.0, -0.001], [0.0, 0.012, 0.0], [-0.001, 0.0, 0.007]])
    rounded = round_body(phi_from_inertia(4.2, com, tensor))
    assert rounded.inertia == ("0.012", "0", "-0.001", "0.012", "0", "0.007")
    assert rounded.com == ("-0.008", "-0.033", "0.167")


def test_inconsistent_or_tiny_bodies_are_rejected():
    with pytest.raises(ModelError, match="triangle"):
        round_body(phi_from_inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 3.0])))
    with pytest.raises(ModelError, match="model files need 1e-15 kg or more"):
        round_body(1e-17 * np.array([1.0, 0, 0, 0, 1, 0, 0, 1, 0, 1]))
    with pytest.raises(ModelError, match="expected 3 to 17, got 2"):
        round_body(np.ones(10), digits=2)
    with pytest.raises(ModelError, match="did you mean 'urdf'"):
        inertial_snippet(np.ones(10), "udrf")


@many
def test_many_bodies_compile_in_mujoco_and_come_back(mujoco, tmp_path, count):
    truth = many_bodies(np.random.default_rng(4), count)
    inner = "".join(
        f'<body name="b{i}"><joint/>{inertial_snippet(phi, "mjcf").text}</body>'
        for i, phi in enumerate(truth)
    )
    text = f'<mujoco><compiler balanceinertia="false"/><worldbody>{inner}</worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(text)
    path = tmp_path / "many.xml"
    path.write_text(text)
    read = read_model(path).links
    for i, phi in enumerate(truth):
        numbers = (model.body_ipos, model.body_iquat, model.body_inertia)
        pos, quat, moments = (array[i + 1] for array in numbers)
        compiled = MujocoInertial(model.body_mass[i + 1], pos, quat, moments).to_phi()
        assert_same_body(compiled, phi, 2e-8)
        assert_same_body(read[i].phi, compiled, 1e-12)


@many
def test_many_bodies_load_in_drake_as_they_are_printed(tmp_path, count):
    """Drake puts a ball in the place of what it takes for impossible, so numbers are compared."""
    parsing = pytest.importorskip("pydrake.multibody.parsing", reason="Drake is not installed")
    plants = pytest.importorskip("pydrake.multibody.plant", reason="Drake is not installed")
    truth = many_bodies(np.random.default_rng(7), count)
    plant = plants.MultibodyPlant(0.0)
    parsing.Parser(plant).AddModelsFromString(_urdf_of(truth), "urdf")
    plant.Finalize()
    for i, phi in enumerate(truth):
        inertia = plant.GetBodyByName(f"b{i}").default_spatial_inertia()
        assert inertia.IsPhysicallyValid()
        read = phi_from_spatial_matrix(inertia.CopyToFullMatrix6(), "angular first")
        assert_same_body(read, phi, allowed(phi))


def test_a_rod_in_sdf_is_lifted_higher_and_a_plate_is_not():
    rod = inertial_snippet(phi_from_inertia(2.0, np.zeros(3), np.diag([3.0, 3.0, 0.0])), "sdf")
    assert "raised from 0 to 3e-06 kg m² (1e-06 of their sum)" in rod.body.change
    needle = phi_from_inertia(2.0, np.zeros(3), np.diag([3.0, 3.0, 1e-6]))
    assert "with hardly any thickness" in inertial_snippet(needle, "sdf").body.change
    assert inertial_snippet(needle, "urdf").body.change == ""
    plate = inertial_snippet(phi_from_inertia(2.0, np.zeros(3), np.diag([1.0, 2.0, 3.0])), "sdf")
    assert "raised from 0 to 3e-09 kg m² (1e-09 of their sum)" in plate.body.change


def _tensor(six: list[float]) -> np.ndarray:
    xx, xy, xz, yy, yz, zz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _urdf_of(truth: list[np.ndarray]) -> str:
    links = "".join(
        f'<link name="b{i}">{inertial_snippet(phi, "urdf").text}</link>'
        f'<joint name="j{i}" type="continuous"><parent link="base"/><child link="b{i}"/>'
        f'<axis xyz="0 0 1"/></joint>'
        for i, phi in enumerate(truth)
    )
    return f'<robot name="r"><link name="base"/>{links}</robot>'


def test_massless_frame_is_rejected():
    with pytest.raises(ModelError, match="a massless frame has no inertia to export"):
        round_body(np.zeros(10))
