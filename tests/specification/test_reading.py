import re
from pathlib import Path

import numpy as np
import pytest

from identify.errors import MissingFile, ModelError, SchemaError, SimulationError
from identify.exchange import SavedEstimate, write_estimate
from identify.inertia import InertialParameters
from identify.simulation import (
    ConstantLoad,
    Impulse,
    SampledLoad,
    State,
    read_simulation,
    simulate,
    simulation_of_estimate,
)
from identify.spatial.rotations import rotation_from_quaternion
from tests.close import assert_close
from tests.simulation.exact import state_at

BODY = """
[body]
mass = 2.0
com = [0.1, 0, 0]
inertia_about_com = [[0.02, 0.001, 0], [0.001, 0.03, 0], [0, 0, 0.04]]
"""
PARAMETERS = InertialParameters.from_com(
    2.0, [0.1, 0, 0], [[0.02, 0.001, 0], [0.001, 0.03, 0], [0, 0, 0.04]]
)
HEADER = "time,fx,fy,fz,tx,ty,tz\n"


def write(folder: Path, text: str, name: str = "spec.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_complete_specification_is_read(tmp_path):
    write(tmp_path, HEADER + "0,1,2,3,0.1,0.2,0.3\n0.3,0,0,1,0,0,0\n", "wrench.csv")
    path = write(
        tmp_path,
        BODY
        + """
added_mass = [
    [1, 0, 0, 0, 0, 0], [0, 1.5, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0],
    [0, 0, 0, 0.01, 0, 0], [0, 0, 0, 0, 0.02, 0], [0, 0, 0, 0, 0, 0.03],
]
[state]
position = [0, 0, 1]
quaternion = [0, 0, 0.6, 0.8]
linear = [1, 0, 0]
angular = [0, 3, 1]
frame = "body"
[world]
gravity = [0, 0, -9.81]
[[loads]]
force = [0, 0, 20]
point = [0, 0, 0.05]
frame = "world"
from = 0.05
to = 0.2
[[loads]]
file = "wrench.csv"
interpolation = "hold"
point = [0, 0.1, 0]
frame = "body"
[[impulses]]
time = 0.1
linear = [1, 0, 0]
angular = [0, 0.1, 0]
point = [0, 0, 0.1]
frame = "body"
""",
    )
    path_taken = read_simulation(path).run(duration=0.3, step=0.01, integrator="suzuki", every=10)
    q = np.array([0, 0, 0.6, 0.8])
    start = State(
        np.array([0.0, 0, 1]),
        q,
        rotation_from_quaternion(q) @ np.array([1.0, 0, 0]),
        np.array([0.0, 3, 1]),
    )
    samples = np.array([[1, 2, 3, 0.1, 0.2, 0.3], [0, 0, 1, 0, 0, 0]])
    by_hand = simulate(
        PARAMETERS,
        start,
        duration=0.3,
        step=0.01,
        loads=[
            ConstantLoad([0, 0, 20], point=[0, 0, 0.05], frame="world", start=0.05, end=0.2),
            SampledLoad([0, 0.3], samples, point=[0, 0.1, 0], interpolation="hold"),
        ],
        impulses=[Impulse(0.1, [1, 0, 0], [0, 0.1, 0], [0, 0, 0.1])],
        gravity=[0, 0, -9.81],
        integrator="suzuki",
        added_mass=np.diag([1, 1.5, 2, 0.01, 0.02, 0.03]),
        every=10,
    )
    assert_close(path_taken.time, [0, 0.1, 0.2, 0.3], 1e-14)
    for k in range(4):
        assert_close(state_at(path_taken, k), state_at(by_hand, k), 1e-13)
    assert len(path_taken.jumps) == 1


def test_angular_velocity_in_world_axes_is_turned_into_the_bodys(tmp_path):
    text = BODY + '[state]\nquaternion = [0, 0, 1, 0]\nangular = [1, 2, 3]\nframe = "world"\n'
    start = read_simulation(write(tmp_path, text)).start
    assert_close(start.angular_velocity, [-1.0, -2.0, 3.0], 1e-15)


def test_velocities_have_the_names_of_a_state_too(tmp_path):
    text = '[state]\nvelocity = [1, 0, 0]\nangular_velocity = [1, 2, 3]\nframe = "body"\n'
    start = read_simulation(write(tmp_path, BODY + text)).start
    assert_close(start.twist, [1, 0, 0, 1, 2, 3], 1e-15)
    with pytest.raises(SchemaError, match="unknown key 'angular_velocity'"):
        read_simulation(write(tmp_path, BODY + text.replace("velocity = [1, 0", "angular = [1, 0")))


def test_body_is_read_in_every_form(tmp_path):
    write_estimate(SavedEstimate(PARAMETERS), tmp_path / "estimate.json")
    ways = [
        '[body]\nestimate = "estimate.json"\n',
        f"[body]\nphi = {PARAMETERS.phi.tolist()}\n",
        BODY,
        "[body]\nmass = 2\ncom = [0.1, 0, 0]\n[body.inertia_about_com]\n"
        "xx = 0.02\nxy = 0.001\nxz = 0\nyy = 0.03\nyz = 0\nzz = 0.04\n",
    ]
    for text in ways:
        simulation = read_simulation(write(tmp_path, text))
        assert_close(simulation.body.phi, PARAMETERS.phi, 1e-14)
        assert_close(simulation.start.vector, np.r_[0, 0, 0, 0, 0, 0, 1, np.zeros(6)], 0.0)
        assert_close(simulation.gravity, [0, 0, -9.80665], 0.0)
        assert simulation.loads == simulation.impulses == ()
        assert simulation.added_mass is None


def test_an_estimate_alone_is_thrown(tmp_path):
    path = write_estimate(SavedEstimate(PARAMETERS), tmp_path / "estimate.json")
    simulation = simulation_of_estimate(path, linear=[1, 0, 2], angular=[0, 5, 0.1])
    motion = simulation.run(duration=0.1, step=1e-3)
    start = State(np.zeros(3), np.r_[0, 0, 0, 1.0], np.r_[1.0, 0, 2], np.r_[0, 5, 0.1])
    assert_close(
        state_at(motion), state_at(simulate(PARAMETERS, start, duration=0.1, step=1e-3)), 0.0
    )
    with pytest.raises(SimulationError, match=r"angular: expected shape \(3\), got \(2, 3\)"):
        simulation_of_estimate(path, angular=np.zeros((2, 3)))
    with pytest.raises(SimulationError, match=r"linear: entry \(0,\) is nan"):
        simulation_of_estimate(path, linear=[np.nan, 0, 0])
    with pytest.raises(MissingFile, match="no such file"):
        simulation_of_estimate(tmp_path / "nothing.json")


def test_paths_are_from_the_folder_of_the_file(tmp_path, monkeypatch):
    folder = tmp_path / "deep"
    folder.mkdir()
    write_estimate(SavedEstimate(PARAMETERS), tmp_path / "estimate.json")
    path = write(folder, '[body]\nestimate = "../estimate.json"\n')
    monkeypatch.chdir("/")
    assert_close(read_simulation(path).body.phi, PARAMETERS.phi, 0.0)


LOAD = '[[loads]]\nforce = [1, 0, 0]\nframe = "body"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[body\n", "spec.toml: not a TOML file"),
        ("", r"the table \[body\] is missing"),
        ("body = 3\n", r"\[body\] expected a table, got 3"),
        ("[body]\n", r"\[body\] give one of estimate, phi, or mass .*; got none of them"),
        ("[body]\nmass = 1\n", r"\[body\] com is missing beside mass"),
        (BODY + "phi = [1, 0, 0, 0, 1, 0, 0, 1, 0, 1]\n", r"got phi and mass \+ com"),
        (BODY + "addedmass = 1\n", r"unknown key 'addedmass'; did you mean 'added_mass'"),
        (BODY + "gravity = [0, 0, 0]\n", r"unknown key 'gravity'; it belongs in \[world\]"),
        (BODY.replace("2.0", "-2.0"), r"\[body\] mass: input should be greater than 0, got -2"),
        (BODY.replace("0.1, 0, 0]", "0.1, 0]"), r"com: expected a list of 3 numbers, got 2: \[0.1"),
        (
            "[body]\nmass = 1\ncom = [0, 0, 0]\ninertia_about_com = [1, 1, 1, 0, 0, 0]\n",
            "inertia_about_com: the order of six numbers is ambiguous",
        ),
        (
            "[body]\nmass = 1\ncom = [0, 0, 0]\ninertia_about_com = { xx = 1, yy = 1 }\n",
            "inertia_about_com: no entry 'xy'; expected xx, xy",
        ),
        (
            "[body]\nmass = 1\ncom = [0, 0, 0]\ninertia_about_com = { yx = 1 }\n",
            "inertia_about_com: unknown entry 'yx'",
        ),
        (BODY + "added_mass = [[1]]\n", r"added_mass: expected 6 rows of 6 numbers, got 1: "),
        (BODY + "[state]\nlinear = [1, 0, 0]\n", r"\[state\] frame: missing; give the axes"),
        (BODY + '[state]\nframe = "bdy"\n', r"\[state\] frame: .* got 'bdy'; did you mean 'body'"),
        (BODY + "[state]\nquaternion = [0, 0, 0, 0]\n", r"expected a unit quaternion .* of norm 0"),
        (BODY + "[world]\ngravity = -9.81\n", r"\[world\] gravity: expected a list of 3 numbers"),
        (BODY + "[loads]\nforce = 1\n", r"expected tables \[\[loads\]\], got"),
        (BODY + LOAD + "[[loads]]\nforce = [1, 0, 0]\n", r"\[\[loads\]\] 2: the key 'frame' is"),
        (BODY + LOAD + "form = 1\n", r"\[\[loads\]\] 1: unknown key 'form'; did you mean 'from'"),
        (BODY + LOAD + "from = 2\nto = 1\n", r"\[\[loads\]\] 1: to: expected later than from = 2"),
        (BODY + LOAD + 'interpolation = "hold"\n', "interpolation is for a file's samples"),
        (BODY + LOAD + 'file = "w.csv"\n', r"\[\[loads\]\] 1: give force, torque or both, or else"),
        (BODY + '[[loads]]\nframe = "body"\n', r"\[\[loads\]\] 1: give force, torque or both"),
        (BODY + '[[impulses]]\nlinear = [1, 0, 0]\nframe = "body"\n', "key 'time' is missing"),
        (BODY + '[[impulses]]\ntime = 1\nframe = "body"\n', "1: give linear, angular, or both"),
        (
            BODY + '[[impulses]]\ntime = -1\nlinear = [1, 0, 0]\nframe = "body"\n',
            r"\[\[impulses\]\] 1: time: input should be greater than or equal to 0",
        ),
        (
            BODY + '[[loads]]\nfile = "w.csv"\nframe = "body"\ninterpolation = "lin"\n',
            r"interpolation: expected one of 'linear', 'hold', got 'lin'",
        ),
    ],
)
def test_invalid_specification_reports_location(tmp_path, text, message):
    with pytest.raises(SchemaError, match=message) as caught:
        read_simulation(write(tmp_path, text))
    assert str(caught.value).startswith(str(tmp_path / "spec.toml"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[body]\nphi = [1, 0, 0, 0, 5, 0, 0, 1, 0, 1]\n", r"\[body\] phi: .* not physically poss"),
        (BODY.replace("0.04]", "0.4]"), r"\[body\]: the body is not physically possible: "),
        (BODY.replace("0.001, 0.03", "0.002, 0.03"), r"\[body\]: .*expected a symmetric matrix"),
        (BODY.replace("0.02, 0.001", "0, 0").replace("[0.001, 0.03", "[0, 0.04"), "a rod"),
        (BODY + "added_mass = [" + "[0, 0, 0, 0, 0, 1]," * 6 + "]\n", r"\[body\] added_mass: adde"),
    ],
)
def test_inconsistent_body_reports_location(tmp_path, text, message):
    with pytest.raises(ModelError, match=message) as caught:
        read_simulation(write(tmp_path, text))
    assert str(caught.value).startswith(str(tmp_path / "spec.toml"))


def test_an_inconsistent_estimate_is_named(tmp_path):
    impossible = InertialParameters(np.array([1.0, 0, 0, 0, 5, 0, 0, 1, 0, 1]))
    write_estimate(SavedEstimate(impossible), tmp_path / "bad.json")
    with pytest.raises(ModelError, match=r"spec.toml: \[body\] estimate: .*bad.json: the body is"):
        read_simulation(write(tmp_path, '[body]\nestimate = "bad.json"\n'))
    with pytest.raises(ModelError, match=r"bad.json: the body is not physically possible"):
        simulation_of_estimate(tmp_path / "bad.json")


def test_missing_files_are_named(tmp_path):
    with pytest.raises(MissingFile, match=r"nothing.toml: no such file"):
        read_simulation(tmp_path / "nothing.toml")
    with pytest.raises(MissingFile, match=r"spec.toml: \[body\] estimate: .*no.json: no such file"):
        read_simulation(write(tmp_path, '[body]\nestimate = "no.json"\n'))
    text = BODY + LOAD + '[[loads]]\nfile = "no.csv"\nframe = "world"\n'
    with pytest.raises(MissingFile, match=r"\[\[loads\]\] 2: file: .*no.csv: no such file"):
        read_simulation(write(tmp_path, text))
    with pytest.raises(SchemaError, match="simulation_of_estimate"):
        read_simulation(write(tmp_path, "{}", "estimate.json"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("time,Fx,fy,fz,tx,ty,tz\n0,1,2,3,4,5,6\n", r"no 'fx' among .*; did you mean 'Fx'"),
        ("t,fx,fy,fz,tx,ty,tz\n0,1,2,3,4,5,6\n", "no column 'time'"),
        (
            HEADER + "0,1,2,3,4,5,6\n1,2,x,4,5,6,7\n",
            "line 3: expected time, force and torque",
        ),
        (HEADER + "0,1,2,3,4,5,6\n", "two or more samples"),
        (HEADER + "0,1,2,3,4,5,6\n0,1,2,3,4,5,6\n", "time must increase"),
        (
            HEADER + "0,1,2,3,4,5,6\n1,1,nan,3,4,5,6\n",
            "line 3: expected time, force and torque",
        ),
    ],
)
def test_invalid_sample_file_reports_location(tmp_path, content, message):
    write(tmp_path, content, "w.csv")
    text = BODY + '[[loads]]\nfile = "w.csv"\nframe = "body"\n'
    with pytest.raises(SchemaError, match=message) as caught:
        read_simulation(write(tmp_path, text))
    assert f"spec.toml: [[loads]] 1: file: {tmp_path / 'w.csv'}" in str(caught.value)
    assert str(caught.value).count("w.csv") == 1


def test_documented_specification_is_valid(tmp_path):
    page = Path(__file__).parents[2] / "docs" / "simulation.md"
    (block,) = re.findall(r"^```toml\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    write_estimate(SavedEstimate(PARAMETERS), tmp_path / "estimate.json")
    write(tmp_path, HEADER + "0,1,2,3,0,0,0\n1,1,2,3,0,0,0\n", "wrench.csv")
    simulation = read_simulation(write(tmp_path, block))
    assert len(simulation.loads) == 2
    assert simulation.run(duration=1.0, step=0.01).jumps[0].time == 0.75
