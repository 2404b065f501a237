"""Bodies that no controller is told of, and names that are none."""

from __future__ import annotations

import numpy as np
import pytest

from identify.errors import ModelError
from identify.exchange.controllers import CONTROLLERS, payload_setting
from identify.inertia import InertialParameters

ROUND = 0.01 * np.eye(3)


@pytest.mark.parametrize("name", CONTROLLERS)
@pytest.mark.parametrize("mass", [0.0, -1.0])
def test_no_mass(name: str, mass: float) -> None:
    phi = np.array([mass, 0.1, 0.0, 0.0, 0.01, 0.0, 0.0, 0.01, 0.0, 0.01])
    with pytest.raises(ModelError, match=rf"a mass of {mass:g} kg.*check the sign"):
        payload_setting(name, InertialParameters(phi))


@pytest.mark.parametrize("name", CONTROLLERS)
def test_an_impossible_body(name: str) -> None:
    body = InertialParameters.from_com(1.0, [0, 0, 0.1], np.diag([0.01, 0.01, 0.03]))
    with pytest.raises(ModelError, match=r"triangle inequality.*nearest possible body"):
        payload_setting(name, body)


def test_a_mass_that_no_arm_carries() -> None:
    with pytest.raises(ModelError, match=r"4000 kg; at most 3000 kg.*check the units"):
        payload_setting("kuka", InertialParameters.from_com(4000.0, [0, 0, 0], ROUND))


def test_a_mass_above_the_arm_s_own() -> None:
    body = InertialParameters.from_com(5.5, [0, 0, 0.05], ROUND)
    with pytest.raises(ModelError, match=r"5\.5 kg; at most 5 kg"):
        payload_setting("ur", body, largest_mass=5.0)
    assert payload_setting("ur", body, largest_mass=6.0).text


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan")])
def test_a_limit_that_is_none(limit: float) -> None:
    body = InertialParameters.from_com(5.5, [0, 0, 0.05], ROUND)
    with pytest.raises(ModelError, match="largest mass: expected a positive number"):
        payload_setting("ur", body, largest_mass=limit)


def test_a_mass_below_a_milligram() -> None:
    with pytest.raises(ModelError, match=r"1e-07 kg; expected 1e-06 kg or more"):
        payload_setting("ur", InertialParameters.from_com(1e-7, [0, 0, 0], 1e-9 * ROUND))


def test_a_centre_of_mass_in_millimetres() -> None:
    with pytest.raises(ModelError, match=r"80 m from the flange.*check the units"):
        payload_setting("abb", InertialParameters.from_com(2.0, [0, 0, 80.0], ROUND))


def test_an_inertia_in_other_units() -> None:
    body = InertialParameters.from_com(2.0, [0, 0, 0.08], 1e4 * np.eye(3))
    with pytest.raises(ModelError, match=r"radius of gyration.*units of the inertia"):
        payload_setting("kuka", body)


def test_an_unknown_controller() -> None:
    with pytest.raises(ModelError, match=r"no controller 'kukka' among .*did you mean 'kuka'"):
        payload_setting("kukka", InertialParameters.from_com(1.0, [0, 0, 0], ROUND))


def test_names_and_titles() -> None:
    assert list(CONTROLLERS) == sorted(CONTROLLERS)
    assert all(entry.name == name and entry.title for name, entry in CONTROLLERS.items())
