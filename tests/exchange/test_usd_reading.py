"""Models of OpenUSD that are read: their bodies as OpenUSD computes them, and their joints."""

import sys

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.errors import MissingExtra, ModelError
from identify.exchange import export_body, read_model
from identify.exchange.body_files import read_body
from identify.exchange.model_comparison import merged_pair, model_differences
from identify.inertia import InertialParameters, phi_from_inertia
from identify.spatial import Pose
from tests.close import assert_close
from tests.exchange.body_formats.printing import bracket

BODY = InertialParameters(bracket().phi)
X_ARM_TOOL = Pose(Rotation.from_euler("xyz", [0.4, -0.5, 0.6]).as_matrix(), [0.1, 0.2, 0.3])

URDF = """<robot name="r"><link name="base">{base}</link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="arm-1"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <link name="arm-1">{arm}</link>
  <joint name="mount" type="fixed"><parent link="arm-1"/><child link="tool"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/></joint>
  <link name="tool">{tool}</link></robot>"""


def inertial(body: InertialParameters) -> str:
    six = zip(
        ["xx", "xy", "xz", "yy", "yz", "zz"],
        body.inertia_about_com[np.triu_indices(3)],
        strict=True,
    )
    entries = " ".join(f'i{name}="{float(value)!r}"' for name, value in six)
    x, y, z = map(float, body.com)
    return (
        f'<inertial><origin xyz="{x} {y} {z}"/><mass value="{body.mass}"/><inertia {entries}/>'
        "</inertial>"
    )


def test_a_missing_openusd_names_its_extra(tmp_path, monkeypatch, cli):
    for name in ["pxr", *(name for name in sys.modules if name.startswith("pxr."))]:
        monkeypatch.setitem(sys.modules, name, None)
    path = tmp_path / "robot.usda"
    path.write_text("#usda 1.0\n")
    with pytest.raises(MissingExtra, match=r"needs usd-core.*\[usd\]"):
        read_model(path)
    for words in (("inspect", path), ("compare", path, path), ("body", f"{path}#tool")):
        assert "inertia-identify[usd]" in cli.refused(*words)


class Stage:
    """Stage of USD with bodies in its units, written by OpenUSD alone."""

    def __init__(self, path, metres=1.0, kilograms=1.0):
        from pxr import Usd, UsdGeom, UsdPhysics

        self.path, self.metres, self.kilograms = path, metres, kilograms
        self.usd = Usd.Stage.CreateNew(str(path))
        UsdGeom.SetStageMetersPerUnit(self.usd, metres)
        UsdPhysics.SetStageKilogramsPerUnit(self.usd, kilograms)

    def body(self, at, body=None, translation=(0.0, 0.0, 0.0), scale=None):
        """Add a rigid body, with mass properties along its principal axes."""
        from pxr import Gf, UsdGeom, UsdPhysics

        prim = UsdGeom.Xform.Define(self.usd, at)
        prim.AddTranslateOp().Set(Gf.Vec3d(*(np.array(translation) / self.metres)))
        if scale is not None:
            prim.AddScaleOp().Set(Gf.Vec3f(*scale))
        UsdPhysics.RigidBodyAPI.Apply(prim.GetPrim())
        if body is None:
            return prim.GetPrim()
        moments, axes = np.linalg.eigh(body.inertia_about_com)
        axes *= np.linalg.det(axes)
        x, y, z, w = Rotation.from_matrix(axes).as_quat()
        mass = UsdPhysics.MassAPI.Apply(prim.GetPrim())
        mass.CreateMassAttr().Set(body.mass / self.kilograms)
        mass.CreateCenterOfMassAttr().Set(Gf.Vec3f(*(body.com / self.metres)))
        unit = self.kilograms * self.metres**2
        mass.CreateDiagonalInertiaAttr().Set(Gf.Vec3f(*(moments / unit)))
        mass.CreatePrincipalAxesAttr().Set(Gf.Quatf(*map(float, (w, x, y, z))))
        return prim.GetPrim()

    def collider(self, at):
        from pxr import UsdGeom, UsdPhysics

        UsdPhysics.CollisionAPI.Apply(UsdGeom.Cube.Define(self.usd, at).GetPrim())

    def joint(self, kind, at, parent, child, X_PJ, X_CJ):
        from pxr import Gf, UsdPhysics

        joint = getattr(UsdPhysics, f"{kind}Joint").Define(self.usd, at)
        joint.CreateBody0Rel().SetTargets([parent])
        joint.CreateBody1Rel().SetTargets([child])
        for side, X in enumerate((X_PJ, X_CJ)):
            x, y, z, w = Rotation.from_matrix(X.rotation).as_quat()
            position = Gf.Vec3f(*(X.position / self.metres))
            joint.GetPrim().GetAttribute(f"physics:localPos{side}").Set(position)
            rotation = Gf.Quatf(*map(float, (w, x, y, z)))
            joint.GetPrim().GetAttribute(f"physics:localRot{side}").Set(rotation)

    def read(self):
        self.usd.GetRootLayer().Save()
        return read_model(self.path)

    def as_computed(self, prim):
        """Return mass, centre of mass and inertia as OpenUSD computes them, in SI."""
        from pxr import UsdPhysics

        api = UsdPhysics.RigidBodyAPI(prim)
        information = UsdPhysics.RigidBodyAPI.MassInformation
        mass, moments, com, q = api.ComputeMassProperties(lambda _: information())
        R = Rotation.from_quat([*q.GetImaginary(), q.GetReal()]).as_matrix()
        unit = self.kilograms * self.metres**2
        inertia = unit * (R * np.array(moments)) @ R.T
        return phi_from_inertia(self.kilograms * mass, self.metres * np.array(com), inertia)


@pytest.fixture
def stage(tmp_path):
    pytest.importorskip("pxr", reason="OpenUSD is not installed")
    return Stage(tmp_path / "robot.usda", metres=0.01, kilograms=0.001)


class TestBodies:
    @pytest.mark.parametrize("scale", [None, (2.0, 2.0, 2.0)])
    def test_are_those_that_openusd_computes(self, stage, scale):
        prim = stage.body("/robot/tool", BODY, (1.0, 2.0, 3.0), scale)
        stage.collider("/robot/tool/shape")
        (link,) = stage.read().links
        assert link.name == "tool"
        assert_close(link.phi, stage.as_computed(prim), 1e-6)
        assert link.verdict.kind == "solid"
        if scale is None:
            assert_close(link.phi, BODY.phi, 1e-6)

    @pytest.mark.parametrize("factor", [1.0, 1.5])
    def test_newton_inertia_goes_before_the_moments(self, stage, factor):
        prim = stage.body("/tool")
        body = InertialParameters.from_com(2.0, [0.1, 0.0, 0.0], np.diag([3.0, 4.0, 5.0]))
        body.apply_to(stage.usd, "/tool")
        six = prim.GetAttribute("newton:inertia")
        six.Set([factor * value for value in six.Get()])
        (link,) = stage.read().links
        assert_close(link.parameters.inertia_about_com, factor * np.diag([3.0, 4.0, 5.0]), 1e-6)
        assert ("moments differ from newton:inertia by 33.3 %" in link.note) == (factor != 1.0)

    def test_of_an_exported_layer(self, tmp_path, cli):
        pytest.importorskip("pxr", reason="OpenUSD is not installed")
        path = tmp_path / "tool.usda"
        path.write_text(export_body(BODY, "usd").text)
        assert_close(read_model(path).link("body").phi, BODY.phi, 1e-6)
        cli.done("body", f"{path}#body", "-o", tmp_path / "body.json")
        assert_close(read_body(tmp_path / "body.json").parameters.phi, BODY.phi, 1e-6)

    @pytest.mark.parametrize(
        ("unset", "note"),
        [
            ("mass", "no mass is written, programs take it from its shapes"),
            ("diagonalInertia", "no inertia is written, programs take it from its shapes"),
            ("centerOfMass", "no centre of mass is written, programs take it from its shapes"),
        ],
    )
    def test_that_programs_complete_are_not_known(self, stage, unset, note):
        prim = stage.body("/tool", BODY)
        stage.collider("/tool/shape")
        prim.GetAttribute(f"physics:{unset}").Clear()
        (link,) = stage.read().links
        assert link.phi is None
        assert not link.massless
        assert note in link.note

    def test_without_shapes_or_mass_are_frames(self, stage, cli):
        stage.body("/robot/base")
        stage.body("/robot/tool", BODY).GetAttribute("physics:centerOfMass").Clear()
        base, tool = stage.read().links
        assert base.massless
        assert_close(tool.parameters.com, np.zeros(3), 1e-12)
        status, out, _ = cli("inspect", stage.path)
        assert status == 0
        assert "2 links (usd): 1 massless, 1 possible." in out

    def test_impossible_ones_and_repeated_names(self, stage, cli):
        bad = InertialParameters.from_com(1.0, [0.0, 0.0, 0.0], np.diag([1.0, 1.0, 3.0]))
        stage.body("/left/finger", bad)
        stage.body("/right/finger", BODY)
        assert [link.name for link in stage.read().links] == ["/left/finger", "/right/finger"]
        status, out, _ = cli("inspect", stage.path)
        assert status == 1
        assert "impossible" in out

    def test_numbers_that_are_none(self, stage):
        from pxr import Sdf

        prim = stage.body("/tool", BODY)
        six = prim.CreateAttribute("newton:inertia", Sdf.ValueTypeNames.DoubleArray)
        six.Set([1.0, 2.0])
        (link,) = stage.read().links
        assert link.unreadable
        assert "expected six finite numbers, got [1.0, 2.0]" in link.note

    def test_a_stage_without_a_unit_or_with_a_missing_layer(self, tmp_path):
        pytest.importorskip("pxr", reason="OpenUSD is not installed")
        path = tmp_path / "robot.usda"
        path.write_text('#usda 1.0\ndef "a" (references = @./b.usda@</b>) {}\n')
        notes = read_model(path).notes
        assert any("no metersPerUnit: OpenUSD takes 0.01 m" in note for note in notes)
        assert any("b.usda" in note for note in notes)

    def test_a_file_that_openusd_cannot_open(self, tmp_path):
        pytest.importorskip("pxr", reason="OpenUSD is not installed")
        path = tmp_path / "robot.usda"
        path.write_text("#usda 1.0\ndef {\n")
        with pytest.raises(ModelError, match=r"robot\.usda: OpenUSD cannot open it: .*:2"):
            read_model(path)


class TestComparison:
    BASE, ARM, TOOL = BODY, InertialParameters(2.0 * BODY.phi), InertialParameters(0.5 * BODY.phi)

    def urdf(self, folder):
        path = folder / "robot.urdf"
        bodies = {"base": self.BASE, "arm": self.ARM, "tool": self.TOOL}
        path.write_text(URDF.format(**{name: inertial(body) for name, body in bodies.items()}))
        return path

    def converted(self, stage, tool):
        """Write the robot with frames of joints that are turned in both of their bodies."""
        identity = Pose.identity()
        stage.body("/r/base", self.BASE)
        stage.body("/r/arm_1", self.ARM, (0.0, 0.0, 1.0))
        stage.body("/r/tool", tool, (5.0, 0.0, 0.0))
        stage.joint("Revolute", "/r/turn", "/r/base", "/r/arm_1", identity, identity)
        X_CJ = Pose(Rotation.from_euler("zyx", [1.0, 0.3, -0.2]).as_matrix(), [0.3, -0.1, 0.2])
        stage.joint("Fixed", "/r/mount", "/r/arm_1", "/r/tool", X_ARM_TOOL @ X_CJ, X_CJ)
        model = stage.read()
        assert model.parents == {"arm_1": "base", "tool": "arm_1"}

    def test_a_conversion_agrees(self, stage, tmp_path, cli):
        self.converted(stage, self.TOOL)
        urdf = self.urdf(tmp_path)
        a, b = merged_pair(urdf, stage.path)
        assert model_differences(a, b) == {}
        expected = self.ARM.phi + self.TOOL.in_frame(X_ARM_TOOL).phi
        assert_close(b.bodies["arm_1"], expected, 1e-6)
        status, out, _ = cli("compare", urdf, stage.path)
        assert status == 0
        assert "agree 2 bodies; 0 differ" in out
        assert "arm_1 includes tool (fixed)" in out

    def test_a_conversion_that_lost_a_mass_differs(self, stage, tmp_path, cli):
        self.converted(stage, InertialParameters(0.4 * BODY.phi))
        status, out, _ = cli("compare", self.urdf(tmp_path), stage.path)
        assert status == 1
        assert "arm_1: " in out
        assert "base: " not in out

    def test_disabled_joints_and_those_to_parts_of_bodies(self, stage):
        """A joint may be to a prim in a body; a loop's closing joint has no child of its own."""
        from pxr import UsdGeom, UsdPhysics

        self.converted(stage, self.TOOL)
        part = UsdGeom.Xform.Define(stage.usd, "/r/arm_1/flange")
        part.AddTranslateOp().Set((10.0, 0.0, 0.0))
        identity = Pose.identity()
        stage.joint("Fixed", "/r/closing", "/r/base", "/r/tool", identity, identity)
        UsdPhysics.Joint(stage.usd.GetPrimAtPath("/r/closing")).CreateExcludeFromArticulationAttr(
            True
        )
        stage.joint("Fixed", "/r/disabled", "/r/tool", "/r/base", identity, identity)
        UsdPhysics.Joint(stage.usd.GetPrimAtPath("/r/disabled")).CreateJointEnabledAttr(False)
        stage.usd.RemovePrim("/r/mount")
        X_FT = Pose.identity()
        stage.joint("Fixed", "/r/mount", "/r/arm_1/flange", "/r/tool", X_FT, identity)
        assert stage.read().parents == {"arm_1": "base", "tool": "arm_1"}
        _, b = merged_pair(stage.path, stage.path)
        shifted = self.TOOL.in_frame(Pose(np.eye(3), [0.1, 0.0, 0.0]))
        assert_close(b.bodies["arm_1"], self.ARM.phi + shifted.phi, 1e-6)


def test_what_takes_xml_alone(stage, cli, tmp_path):
    stage.body("/tool", BODY)
    stage.read()
    out = tmp_path / "out.usda"
    assert "not a stage of USD" in cli.refused("inspect", stage.path, "--for", "newton")
    assert "not a stage of USD" in cli.refused("inspect", stage.path, "--repair", "-o", out)
    body = tmp_path / "body.toml"
    body.write_text("mass = 1\ncom = [0, 0, 0]\ninertia_about_com = [[1,0,0],[0,1,0],[0,0,1]]\n")
    message = cli.refused("export", body, "--into", stage.path, "--link", "tool")
    assert "read, not edited: open its stage, and use apply_to" in message
