"""Bodies written into models in memory: the simulated and the saved one, by each program."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.errors import ModelError
from identify.exchange import SavedEstimate
from identify.inertia import InertialParameters, phi_from_inertia
from tests.close import assert_close
from tests.exchange.body_formats.printing import bracket

BODY = InertialParameters(bracket().phi)

MJCF = """<mujoco>{compiler}<worldbody><body name="tool"><freejoint/>
  <inertial pos="0.3 0 0" mass="7" diaginertia="1 1 1"/>
  <geom type="box" size="0.1 0.1 0.1"/></body>
  <body name="other"><geom type="sphere" size="0.1"/></body></worldbody></mujoco>"""

URDF = """<robot name="arm"><link name="base"/>
  <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <link name="arm"><inertial><mass value="3"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <joint name="mount" type="fixed"><parent link="arm"/><child link="tool"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/></joint>
  <link name="tool"><inertial><origin xyz="0 0 0.1"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link></robot>"""


MOVING_BODY = URDF[URDF.index('<mass value="3"/>') : URDF.index("</inertial>")]
FIXED_BODY = URDF[URDF.index('<origin xyz="0 0 0.1"/>') : URDF.rindex("</inertial>")]


def urdf_inertial(body):
    x, y, z = map(float, body.com)
    six = map(float, body.inertia_about_com[np.triu_indices(3)])
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    entries = " ".join(f'{name}="{value!r}"' for name, value in zip(names, six, strict=True))
    return f'<origin xyz="{x} {y} {z}"/><mass value="{body.mass}"/><inertia {entries}/>'


class TestMujoco:
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")

    def spec(self, compiler=""):
        return self.mujoco.MjSpec.from_string(MJCF.format(compiler=compiler))

    @pytest.mark.parametrize("compiled_before", [False, True])
    def test_the_simulated_and_the_saved_body(self, compiled_before):
        spec = self.spec()
        if compiled_before:
            spec.compile()
        BODY.apply_to(spec, "tool")
        simulated = spec.compile()
        assert_close(InertialParameters.from_mujoco(simulated.body("tool")).phi, BODY.phi, 1e-12)
        assert simulated.body("other").mass[0] > 1.0
        saved = self.mujoco.MjSpec.from_string(spec.to_xml()).compile()  # of six digits
        assert_close(InertialParameters.from_mujoco(saved.body("tool")).phi, BODY.phi, 1e-5)

    @pytest.mark.parametrize("scale", [1e-9, 1.0, 1e4])
    def test_a_plate_compiles_after_it_was_saved(self, scale):
        for moments in scale * np.random.default_rng(5).uniform(1e-4, 1e-3, (40, 2)):
            plate = np.diag([*moments, moments.sum() * (1 - 1e-9)])
            body = InertialParameters.from_com(0.1, np.zeros(3), plate)
            spec = self.spec()
            body.apply_to(spec, "tool")
            saved = self.mujoco.MjSpec.from_string(spec.to_xml()).compile().body("tool")
            assert_close(np.sort(saved.inertia), np.sort(np.diag(plate)), 3e-5)

    @pytest.mark.parametrize(
        ("compiler", "message"),
        [
            ('<compiler inertiafromgeom="true"/>', "inertiafromgeom to 2"),
            ('<compiler settotalmass="5"/>', "scales all masses to 5 kg"),
        ],
    )
    def test_settings_that_would_change_the_body(self, compiler, message):
        with pytest.raises(ModelError, match=message):
            BODY.apply_to(self.spec(compiler), "tool")

    def test_what_is_no_specification(self):
        with pytest.raises(ModelError, match=r"no body 'tol' among .*did you mean 'tool'"):
            BODY.apply_to(self.spec(), "tol")
        with pytest.raises(ModelError, match="MjModel; expected an MjSpec"):
            BODY.apply_to(self.spec().compile(), "tool")


class TestPinocchio:
    pinocchio = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")

    @pytest.mark.parametrize(("link", "old"), [("tool", FIXED_BODY), ("arm", MOVING_BODY)])
    def test_the_model_is_that_of_a_file_with_these_numbers(self, link, old):
        model = self.pinocchio.buildModelFromXML(URDF)
        model.armature[:] = 0.3
        SavedEstimate(BODY).apply_to(model, link)
        expected = self.pinocchio.buildModelFromXML(URDF.replace(old, urdf_inertial(BODY)))
        for inertia, other in zip(model.inertias, expected.inertias, strict=True):
            assert_close(inertia.toDynamicParameters(), other.toDynamicParameters(), 1e-12)
        for frame, other in zip(model.frames, expected.frames, strict=True):
            assert_close(frame.inertia.toDynamicParameters(), other.inertia.toDynamicParameters())
        assert model.armature[0] == 0.3

    def test_again_is_the_same(self):
        model = self.pinocchio.buildModelFromXML(URDF)
        BODY.apply_to(model, "tool")
        once = model.inertias[1].toDynamicParameters()
        BODY.apply_to(model, "tool")
        assert_close(model.inertias[1].toDynamicParameters(), once, 1e-12)
        with pytest.raises(ModelError, match="no body frame 'tol'"):
            BODY.apply_to(model, "tol")


class TestUsd:
    @pytest.fixture
    def pxr(self):
        return pytest.importorskip("pxr", reason="OpenUSD is not installed")

    @pytest.mark.parametrize(("metres", "kilograms"), [(1.0, 1.0), (0.01, 0.001)])
    def test_the_saved_prim(self, pxr, tmp_path, metres, kilograms):
        """In the units of the stage, and over an earlier mass with another newton:inertia."""
        from pxr import Usd, UsdGeom, UsdPhysics

        stage = Usd.Stage.CreateNew(str(tmp_path / "arm.usda"))
        UsdGeom.SetStageMetersPerUnit(stage, metres)
        UsdPhysics.SetStageKilogramsPerUnit(stage, kilograms)
        UsdGeom.Xform.Define(stage, "/arm")
        UsdGeom.Xform.Define(stage, "/arm/tool").AddTranslateOp().Set((1.0, 2.0, 3.0))
        InertialParameters(3.0 * BODY.phi).apply_to(stage, "/arm/tool")
        BODY.apply_to(stage, "/arm/tool")
        stage.GetRootLayer().Save()
        saved = Usd.Stage.Open(str(tmp_path / "arm.usda"))
        prim = saved.GetPrimAtPath("/arm/tool")
        mass = UsdPhysics.MassAPI(prim)
        axes = mass.GetPrincipalAxesAttr().Get()
        R = Rotation.from_quat([*axes.GetImaginary(), axes.GetReal()]).as_matrix()
        principal = (R * np.array(mass.GetDiagonalInertiaAttr().Get())) @ R.T
        xx, yy, zz, xy, xz, yz = prim.GetAttribute("newton:inertia").Get()
        matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        com = metres * np.array(mass.GetCenterOfMassAttr().Get())
        for inertia, rtol in ((principal, 1e-6), (matrix, 1e-6)):  # of single precision
            about_com = kilograms * metres**2 * inertia
            phi = phi_from_inertia(kilograms * mass.GetMassAttr().Get(), com, about_com)
            assert_close(phi, BODY.phi, rtol)
        assert "NewtonMassAPI" in prim.GetMetadata("apiSchemas").GetAppliedItems()

    def test_a_prim_that_is_scaled_or_absent(self, pxr):
        from pxr import Usd, UsdGeom

        stage = Usd.Stage.CreateInMemory()
        UsdGeom.Xform.Define(stage, "/tool").AddScaleOp().Set((0.001, 0.001, 0.001))
        with pytest.raises(ModelError, match="is scaled by"):
            BODY.apply_to(stage, "/tool")
        with pytest.raises(ModelError, match="no prim '/tol'"):
            BODY.apply_to(stage, "/tol")


def test_a_model_of_another_program():
    with pytest.raises(ModelError, match=r"cannot be written to a builtins\.int; .*PyBullet"):
        BODY.apply_to(3, "tool")
