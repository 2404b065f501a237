from pathlib import Path

import numpy as np
import pytest

from experiments.models_study.programs import URDF, installed, sdf_of
from identify.exchange.link_checks import LinkRequirements, check_links
from identify.exchange.models import read_model
from identify.exchange.repair import RepairSettings, repair_model
from identify.exchange.rewriting import open_model
from identify.exchange.simulators import SIMULATORS
from identify.spatial import rotation_from_quaternion

ROBOTS = Path(__file__).parent / "robots"
SIX = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def diagonal(*moments: float) -> tuple[float, ...]:
    a, b, c = moments
    return a, 0.0, 0.0, b, 0.0, c


def turned(*moments: float) -> tuple[float, ...]:
    R = rotation_from_quaternion(np.array([0.3, -0.5, 0.2, 0.7]))
    six = (R @ np.diag(moments) @ R.T)[np.triu_indices(3)]
    return tuple(six.tolist())


ALL = ("mujoco", "drake", "gazebo", "bullet")
WITH_NEWTON = (*ALL, "newton")  # which computes in single precision
CASES = {
    "solid": ("1", diagonal(1e-3, 2e-3, 2.5e-3), ()),
    "plate": ("1", diagonal(1e-3, 1e-3, 2e-3), ()),
    "point": ("1", diagonal(0, 0, 0), ("mujoco", "bullet")),
    "rod": ("1", diagonal(0, 1e-3, 1e-3), ("mujoco", "bullet")),
    "one in a billion": ("1", diagonal(1e-3, 1e-3, 2e-3 * (1 + 1e-9)), ALL),
    "absolute": (
        "1",
        diagonal(1e-6, 1e-6, 2e-6 * (1 + 1e-9)),
        ("mujoco", "gazebo", "bullet"),
    ),
    "rounding": ("1", diagonal(1.0, 1.0, 2.0 * (1 + 1e-15)), ("mujoco", "bullet")),
    "below MuJoCo's": ("1", diagonal(9e-15, 9e-15, 9e-15), ("mujoco",)),
    "above MuJoCo's": ("1", diagonal(1.1e-14, 1.1e-14, 1.1e-14), ()),
    "light": ("1e-16", diagonal(1e-3, 1e-3, 1e-3), ("mujoco",)),
    "negative moment": ("1", diagonal(-1e-3, 1e-3, 1e-3), WITH_NEWTON),
    "turned, thin": ("1", turned(1e-3, 1e-3 * (1 + 1e-6), 2e-3), ()),
    "turned, at the edge": (
        "1",
        turned(1e-3, 1e-3, 2e-3),
        ("mujoco", "gazebo", "bullet"),
    ),
    "turned, impossible": ("1", turned(1e-3, 1e-3, 2.1e-3), WITH_NEWTON),
    "no mass": ("0", diagonal(1e-3, 1e-3, 1e-3), ("mujoco", "drake", "bullet", "newton")),
    "negative mass": ("-1", diagonal(1e-3, 1e-3, 1e-3), WITH_NEWTON),
}


WRITTEN = {("no mass", "gazebo")}
"""Not measured: SDFormat's documentation says it, of links converted from URDF."""

KEPT = {("point", "bullet"), ("rod", "bullet")}
"""No inertia at all, which Bullet keeps as it is, and which is wrong for every program."""


def inertial(mass: str, six: tuple[float, ...]) -> str:
    entries = " ".join(f'{name}="{x!r}"' for name, x in zip(SIX, six, strict=True))
    return f'<inertial><mass value="{mass}"/><inertia {entries}/></inertial>'


@pytest.mark.parametrize(
    "program", [name for name in SIMULATORS if name not in ("pinocchio", "dart")]
)
@pytest.mark.parametrize("case", CASES)
def test_predicted_rejections_match_programs(tmp_path, case, program):
    """The judgement by the numbers, and the program's own; the list is what was measured."""
    mass, six, refusing = CASES[case]
    path = tmp_path / "r.urdf"
    path.write_text(URDF.format(inertial=inertial(mass, six)))
    (_, link) = read_model(path).links
    said = tuple(SIMULATORS[program].refusals(link))
    foretold = (program in refusing or (case, program) in WRITTEN) and (case, program) not in KEPT
    assert bool(said) == foretold, said
    form, takes = installed().get(program, ("", None))
    if takes is not None:
        text = path.read_text()
        if form == "sdf":
            text = sdf_of(mass, {name: repr(x) for name, x in zip(SIX, six, strict=True)})
        if case != "turned, at the edge":  # rounding decides, if not for Drake
            assert takes(text) == (program not in refusing)
        elif program not in refusing:
            assert takes(text)


def test_a_rod_across_the_axes_depends_on_gazebos_rounding(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(URDF.format(inertial=inertial("1", turned(2e-9, 1 + 1e-9, 1 + 1e-9))))
    (_, link) = read_model(path).links
    (why,) = SIMULATORS["gazebo"].refusals(link)
    assert "it depends on rounding whether Gazebo refuses the link" in why
    path.write_text(URDF.format(inertial=inertial("1", diagonal(2e-9, 1 + 1e-9, 1 + 1e-9))))
    assert not tuple(SIMULATORS["gazebo"].refusals(read_model(path).links[1]))


MOVING = (
    '<robot name="r"><link name="root"/>{joints}<link name="a"/><link name="b">{b}</link></robot>'
)
JOINT = (
    '<joint name="{child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/></joint>'
)
SOLID = inertial("1", diagonal(1.0, 1.0, 1.0))


@pytest.mark.parametrize(
    ("first", "second", "b", "alone"),
    [
        ("continuous", "continuous", SOLID, {"a"}),
        ("continuous", "fixed", SOLID, set()),
        ("continuous", "fixed", "", {"a"}),
        ("fixed", "continuous", SOLID, set()),
        ("fixed", "fixed", "", set()),
        ("fixed", "continuous", "", {"b"}),
    ],
)
def test_a_frame_that_moves_needs_a_mass_fixed_to_it(tmp_path, mujoco, first, second, b, alone):
    joints = JOINT.format(parent="root", child="a", kind=first)
    joints += JOINT.format(parent="a", child="b", kind=second)
    path = tmp_path / "r.urdf"
    path.write_text(MOVING.format(joints=joints, b=b))
    found = check_links(read_model(path).links, LinkRequirements(SIMULATORS["mujoco"]))
    assert {entry.link.name for entry in found if entry.problem} == alone
    assert installed()["mujoco"][1](path.read_text()) == (not alone)


def test_a_body_of_mjcf_that_moves_needs_a_mass_fixed_to_it(tmp_path, mujoco):
    path = tmp_path / "m.xml"
    for inner, alone in (
        ('<body><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>', False),
        ('<body><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>', True),
    ):
        path.write_text(
            f'<mujoco><worldbody><body name="a"><joint/>{inner}</body></worldbody></mujoco>'
        )
        assert read_model(path).links[0].is_moving_frame == alone
        try:
            compiled = mujoco.MjModel.from_xml_path(str(path)) is not None
        except ValueError:
            compiled = False
        assert compiled == (not alone)


@pytest.mark.parametrize("robot", ["arm.urdf", "rover.urdf"])
def test_repaired_robots_load_in_every_program(tmp_path, robot):
    """Every inertial alone; what is wrong before is refused by some program."""
    before, fixed = ROBOTS / robot, tmp_path / robot
    repaired = repair_model(before, settings=RepairSettings(density=500.0))
    assert not repaired.unrepaired
    assert len(repaired.repairs) >= 3
    fixed.write_bytes(repaired.content)
    for path, good in ((before, False), (fixed, True)):
        document, form = open_model(path)
        entries = [entry for entry in form.read(document) if entry.inertial_element is not None]
        for name, (given, takes) in installed().items():
            texts = [
                URDF.format(
                    inertial=document.content[slice(*document.span(e.inertial_element))].decode()
                )
                if given == "urdf"
                else sdf_of(
                    repr(e.inertia.phi_as_printed[0].item()),
                    dict(zip(SIX, map(repr, e.inertia.phi_as_printed[4:].tolist()), strict=True)),
                )
                for e in entries
            ]
            took = [takes(text) for text in texts]
            if good or name != "pinocchio":  # which loads anything
                assert all(took) == good, name
    for name in SIMULATORS:
        asked = LinkRequirements(SIMULATORS[name])
        assert not [e for e in check_links(read_model(fixed).links, asked) if e.problem], name
