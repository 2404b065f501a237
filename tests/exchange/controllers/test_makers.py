import numpy as np
import pytest

from identify.exchange.controllers import payload_setting
from identify.inertia import InertialParameters
from identify.spatial import exp_rotation, rotation_from_quaternion
from tests.close import assert_close
from tests.exchange.controllers.reading import READERS, numbers


def gripper(inertia: np.ndarray | None = None) -> InertialParameters:
    default = np.array([[0.012, 0.001, 0.0], [0.001, 0.01, 0.0], [0.0, 0.0, 0.006]])
    return InertialParameters.from_com(
        2.5, [0.01, -0.02, 0.08], default if inertia is None else inertia
    )


def box() -> InertialParameters:
    return gripper(np.diag([0.012, 0.01, 0.006]))


def turned(degrees: float) -> InertialParameters:
    R = rotation_from_quaternion(exp_rotation(np.array([0.0, 0.0, np.radians(degrees)])))
    return gripper(R @ np.diag([0.006, 0.012, 0.01]) @ R.T)


def test_universal_robots() -> None:
    text = payload_setting("ur", gripper()).text
    assert text.splitlines()[-1] == (
        "set_target_payload(2.50000000, [0.0100000000, -0.0200000000, 0.0800000000], "
        "[0.0120000000, 0.0100000000, 0.0060000000, 0.0010000000, 0.0000000000, 0.0000000000])"
    )


def test_kuka_angles_match_the_principal_axes() -> None:
    text = payload_setting("kuka", turned(20.0)).text
    assert text.splitlines()[-1] == (
        "LOAD_DATA[1]={M 2.50000,CM {X 10.0000,Y -20.0000,Z 80.0000,A 20.0000,B 0.0000,C 0.0000},"
        "J {X 0.0060000,Y 0.0120000,Z 0.0100000}}"
    )


def test_abb_quaternion_has_its_scalar_first() -> None:
    text = payload_setting("abb", turned(20.0)).text
    assert text.splitlines()[-1] == (
        "PERS loaddata payload := [2.50000,[10.0000,-20.0000,80.0000],"
        "[0.9848078,0.0000000,0.0000000,0.1736482],0.0060000,0.0120000,0.0100000];"
    )


def test_fanuc_units() -> None:
    one = InertialParameters.from_com(20.0, [0.1, 0.0, -0.25], np.eye(3))
    text = payload_setting("fanuc", one).text
    assert_close(numbers(text), [20.0, 10.0, 0.0, -25.0, 10.2, 10.2, 10.2], 1e-9)
    assert "[kgfcms^2] 10.20" in text


def test_yaskawa_units() -> None:
    text = payload_setting("yaskawa", gripper()).text
    assert text.splitlines() == [
        "W        2.500 kg",
        "Xg       10.000 mm",
        "Yg       -20.000 mm",
        "Zg       80.000 mm",
        "Ix       0.012 kg.m2",
        "Iy       0.010 kg.m2",
        "Iz       0.006 kg.m2",
    ]


@pytest.mark.parametrize("name", ["fanuc", "yaskawa"])
def test_screen_setting_reports_lost_products(name: str) -> None:
    assert any(
        "products of inertia" in said for said in payload_setting(name, gripper()).lost_information
    )
    assert not any(
        "products of inertia" in said for said in payload_setting(name, box()).lost_information
    )


@pytest.mark.parametrize("name", ["franka", "franka_desk", "ros", "ur"])
def test_plate_is_thickened_by_less_than_is_worth_a_note(name: str) -> None:
    plate = gripper(np.diag([0.01, 0.02, 0.03]))
    written = payload_setting(name, plate)
    thick = payload_setting(name, gripper(np.diag([0.01, 0.02, 0.028])))
    assert written.lost_information == thick.lost_information
    moments = np.diag(READERS[name](written.text).inertia)
    assert moments[0] + moments[1] > moments[2]
    assert_close(moments, [0.01, 0.02, 0.03], 1e-8)
