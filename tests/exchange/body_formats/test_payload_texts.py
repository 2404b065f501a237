"""Payload settings read back: those that `export` writes, and others of the same form."""

import json
import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.errors import ModelError
from identify.exchange.body_files import read_body
from identify.exchange.body_formats.payload_texts import PAYLOAD_TEXTS
from identify.exchange.controllers import payload_setting
from identify.inertia import InertialParameters
from tests.close import assert_close
from tests.exchange.body_formats.printing import bracket
from tests.exchange.controllers.reading import READERS

BODY = bracket()
DIGITS = {"abb": 1e-4, "kuka": 1e-4}
"""Error of the six digits that the controllers take; nine of the others."""


@pytest.fixture
def read(tmp_path):
    def read_text(text, name="payload.txt", wanted=""):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return read_body(type(path)(f"{path}#{wanted}" if wanted else path))

    return read_text


@pytest.mark.parametrize("name", [*PAYLOAD_TEXTS, "franka_desk"])
def test_what_export_writes_is_read_back(read, name):
    """The numbers are those of the text by another reader, and of the body to its digits."""
    setting = payload_setting(name, InertialParameters(BODY.phi))
    saved = read(setting.text)
    assert_close(saved.parameters.phi, READERS[name](setting.text).phi, 1e-12)
    assert_close(saved.parameters.phi, BODY.phi, DIGITS.get(name, 1e-8))
    about_flange = name not in ("abb", "ros")
    assert (saved.frames.flange is not None) is about_flange
    assert saved.frame.startswith("flange, as in") is about_flange


@pytest.mark.parametrize("name", ["ur", "kuka", "franka", "franka_desk"])
def test_a_setting_about_the_flange_is_written_for_another_controller(read, name):
    """No pose is asked for, as the text is about the flange."""
    saved = read(payload_setting(name, InertialParameters(BODY.phi)).text)
    other = payload_setting("ur", saved)
    assert_close(READERS["ur"](other.text).phi, BODY.phi, DIGITS.get(name, 1e-8))


def test_kuka_turns_about_z_y_and_x(read):
    """Angles of 90° and 30°, with SciPy's intrinsic turns."""
    saved = read(
        "$LOAD_DATA[3]={M 10.5,CM {X 100.0,Y 0,Z 50.0,A 90.0,B 30.0,C -20.0},J {X 0.5,Y 0.6,Z 0.3}}"
    )
    R = Rotation.from_euler("ZYX", [90.0, 30.0, -20.0], degrees=True).as_matrix()
    assert saved.parameters.mass == 10.5
    np.testing.assert_allclose(saved.parameters.com, [0.1, 0.0, 0.05])
    np.testing.assert_allclose(
        saved.parameters.inertia_about_com, R @ np.diag([0.5, 0.6, 0.3]) @ R.T
    )


def test_loads_that_are_not_set_are_left_out(read):
    zero = "CM {X 0,Y 0,Z 0,A 0,B 0,C 0},J {X 0,Y 0,Z 0}}"
    load = "LOAD_DATA[2]={M 2.0,CM {X 0,Y 0,Z 9,A 0,B 0,C 0},J {X 0.1,Y 0.1,Z 0.1}}"
    unset = f"LOAD_DATA[1]={{M -1.0,{zero}"
    assert read(f"{unset}\n{load}\n{unset}").parameters.mass == 2.0
    with pytest.raises(ModelError, match="every load has a mass below zero"):
        read(unset)
    third = load.replace("2.0", "3.0")
    with pytest.raises(ModelError, match=r"2 payloads: choose one as .*#NUMBER, from 1 to 2"):
        read(f"{load}\n{third}")
    assert read(f"{load}\n{third}", wanted="2").parameters.mass == 3.0
    with pytest.raises(ModelError, match="no payload '3'; expected 1 to 2"):
        read(f"{load}\n{third}", wanted="3")


def test_a_call_with_names_and_a_transition_time_is_checked(read):
    text = "set_target_payload(2.5, [0.01, 0, 0.03], inertia=[0.02, 0.02, 0.01, 0, 0, 0])"
    assert read(f"def main():\n  {text} # tool\nend\n").parameters.mass == 2.5


ROS = "m: 2\ncom: {x: 0, y: 0, z: 0}\nixx: 1\nixy: 0\nixz: 0\niyy: 1\niyz: 0\nizz: 1\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "set_target_payload(2.5, [0, 0, 0.1])",
            "without an inertia is mass and centre of mass only",
        ),
        (
            "set_target_payload(m, [0, 0, 0.1], [1, 1, 1, 0, 0, 0])",
            "line 1: the mass: expected 1 number, got",
        ),
        ("set_target_payload(2, [0, 0], [1, 1, 1, 0, 0, 0])", "the centre: expected 3 numbers"),
        ("set_target_payload(2, [0, 0, 0], [1, 1, 1, 0, 0])", "the inertia: expected 6 numbers"),
        ("robot.setLoad(1.0, {{0, 0, 0.1}});", r"expected setLoad\(m, \{\{3\}\}, \{\{9\}\}\)"),
        ("LOAD_DATA[1]={M 2,CM {X 0,Y 0,Z 9,A 0,B 0,C 0}}", r"the load data have no J \{…\}"),
        (
            "LOAD_DATA[1]={M 2,CM {X 0,Y 0,A 0,B 0,C 0},J {X 1,Y 1,Z 1}}",
            "the load data have no Z in",
        ),
        ("PERS loaddata a := [2,[0,0,1],[1,0,0,0],0.1,0.1];", "loaddata: expected 11 numbers"),
        (
            "set_target_payload(2,5, [0, 0, 0.1], [1, 1, 1, 0, 0, 0])",
            "line 1: the mass: expected 1 number, .* Write decimal points",
        ),
        (
            "\nLOAD_DATA[1]={M 2,5,CM {X 0,Y 0,Z 9,A 0,B 0,C 0},J {X 1,Y 1,Z 1}}",
            "line 2: the load data have no M: .* Write decimal points",
        ),
        (
            "LOAD_DATA[1]={M 2,CM {X 0,Y 0,Z 9,5,A 0,B 0,C 0},J {X 1,Y 1,Z 1}}",
            "the load data have no Z in .* Write decimal points",
        ),
        (f"{ROS.replace('m: 2', 'm: 2,5')}", "line 1: the message has no m; .* decimal points"),
        (f"{ROS}{ROS}", "several messages: keep one"),
        (ROS.replace("m: 2", "m: 0"), "line 1: a mass of 0 kg: write the mass"),
        ("# load\nset_target_payload(2.5, [0, 0", "line 2: set_target_payload .* has no end"),
        ("x\nrobot.setLoad(1.0, {{0, 0,", "line 2: setLoad of Franka has no end"),
        ("LOAD_DATA[1]={M 2,CM {X 0,Y 0", "line 1: LOAD_DATA of KUKA has no end"),
        ("\nPERS loaddata a := [2,[0,0,1]", "line 2: loaddata of ABB has no end"),
        ('ros2 service call /a ur_msgs/srv/SetPayload "{mass: 1.0', "has no end"),
        (
            "m: 2\ncom:\n  x: 0\n  y: 0\n  z: 0\nixx: 1\niyy: 1\n",
            "the message has no ixy, ixz, iyz, izz",
        ),
    ],
)
def test_a_setting_that_lacks_numbers(read, text, message):
    with pytest.raises(ModelError, match=message):
        read(text)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("mass", "2 kg", "mass: expected a finite number, got '2 kg'"),
        ("centerOfMass", [0, 0], "centerOfMass: expected a list of 3 numbers"),
        ("inertia", [1, 2, 3, 4, 5, 6, 7, 8, 9], "expected a symmetric matrix"),
    ],
)
def test_a_damaged_end_effector_of_franka(read, key, value, message):
    text = payload_setting("franka_desk", InertialParameters(BODY.phi)).text
    with pytest.raises(ModelError, match=re.escape(message)):
        read(json.dumps({**json.loads(text), key: value}))
