import re

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.exchange.controllers import CONTROLLERS, MAX_CONTROLLER_PAYLOAD, payload_setting
from identify.inertia import InertialParameters, is_consistent
from tests.close import assert_close, assert_same_body
from tests.exchange.controllers.reading import READERS
from tests.strategies import bodies, masses, vectors

WHOLE = ("franka", "franka_desk", "ros", "ur", "ur_ros2", "ur_ros2_rolling")
WEIGHT = ("mujoco_gravity", "ros2_gravity", "xarm")
PRINCIPAL = ("abb", "kuka")
SCREENS = {"fanuc": (0.01, 0.01, 0.0980665), "yaskawa": (0.001, 0.001, 1.0)}
"""The last digit, and what the units of length and of inertia are in SI."""


def fits(phi: np.ndarray) -> bool:
    body = InertialParameters(phi)
    return (
        0.005 < body.mass < MAX_CONTROLLER_PAYLOAD
        and float(np.linalg.norm(body.com)) < 10.0
        and float(np.abs(body.inertia_about_com).max()) < 100.0
    )


def payloads() -> st.SearchStrategy[InertialParameters]:
    return bodies().filter(fits).map(InertialParameters)


def test_every_controller_has_a_reader() -> None:
    assert set(READERS) == set(CONTROLLERS) == {*WHOLE, *PRINCIPAL, *SCREENS, *WEIGHT}


@pytest.mark.parametrize("name", WHOLE)
@given(body=payloads())
def test_full_inertia_matrix_is_read_back(name: str, body: InertialParameters) -> None:
    read = READERS[name](payload_setting(name, body).text)
    assert_close(read.mass, body.mass, 1e-8)
    assert_close(read.com, body.com, 1e-8, scale=np.abs(body.com).max() + 1e-9)
    assert_close(read.inertia, body.inertia_about_com, 1e-8)
    assert_same_body(read.phi, body.phi, 1e-7)


@pytest.mark.parametrize("name", WEIGHT)
@given(body=payloads())
def test_a_filter_of_gravity_gets_the_weight(name: str, body: InertialParameters) -> None:
    setting = payload_setting(name, body)
    read = READERS[name](setting.text)
    assert_close(read.mass, body.mass, 1e-8)
    assert_close(read.com, body.com, 1e-8, scale=np.abs(body.com).max() + 1e-9)
    assert "the inertia: " in " ".join(setting.lost_information)


@pytest.mark.parametrize("name", PRINCIPAL)
@given(body=payloads())
def test_principal_axes_are_read_back(name: str, body: InertialParameters) -> None:
    read = READERS[name](payload_setting(name, body).text)
    assert_close(read.mass, body.mass, 1e-5)
    assert_close(read.com, body.com, 1e-5, scale=np.abs(body.com).max() + 1e-9)
    assert_close(read.inertia, body.inertia_about_com, 1.5e-5)


@pytest.mark.parametrize("name", SCREENS)
@given(body=payloads())
def test_a_screen_holds_the_diagonal_to_its_last_digit(name: str, body: InertialParameters) -> None:
    read = READERS[name](payload_setting(name, body).text)
    digit, length, unit = SCREENS[name]
    assert abs(read.mass - body.mass) <= 0.5001 * digit
    assert np.abs(read.com - body.com).max() <= 0.5001 * digit * length
    errors = np.abs(np.diag(read.inertia) - np.diag(body.inertia_about_com))
    assert errors.max() <= 1.5001 * digit * unit


@pytest.mark.parametrize("name", CONTROLLERS)
@given(body=payloads())
def test_written_settings_are_physically_consistent(name: str, body: InertialParameters) -> None:
    text = payload_setting(name, body).text
    assert is_consistent(READERS[name](text).phi)
    assert re.search(r"\d[eE][+-]?\d|nan|inf\b|-0\.0+\b", text) is None


@pytest.mark.parametrize("name", CONTROLLERS)
@given(mass=masses(), com=vectors(3, 0.5))
def test_point_mass_keeps_zero_inertia(name: str, mass: float, com: np.ndarray) -> None:
    mass = min(max(mass, 0.01), MAX_CONTROLLER_PAYLOAD)
    body = InertialParameters.from_com(mass, com, np.zeros((3, 3)))
    written = payload_setting(name, body)
    read = READERS[name](written.text)
    assert not read.inertia.any()
    assert is_consistent(read.phi)
    assert any("point mass" in note for note in written.notes) == (name == "abb")


@pytest.mark.parametrize("name", CONTROLLERS)
def test_setting_text_ends_with_newline_and_has_notes(name: str) -> None:
    written = payload_setting(name, InertialParameters.from_com(2.0, [0, 0, 0.1], 0.01 * np.eye(3)))
    assert written.text.endswith("\n")
    assert not written.text.endswith("\n\n")
    assert written.notes[-1].startswith("read back, before the robot moves: ")
    assert CONTROLLERS[name].read_back in written.notes[-1]
