import numpy as np
import pytest

from identify.errors import ModelError
from identify.exchange.controllers import CONTROLLERS, payload_setting
from identify.inertia import InertialParameters

UNIT = np.eye(3)


@pytest.mark.parametrize("name", CONTROLLERS)
def test_massless_or_inconsistent_bodies_are_rejected_by_every_controller(name: str) -> None:
    for mass in (0.0, -1.0):
        phi = np.array([mass, 0.1, 0.0, 0.0, 0.01, 0.0, 0.0, 0.01, 0.0, 0.01])
        with pytest.raises(ModelError, match=rf"a mass of {mass:g} kg.*check the sign"):
            payload_setting(name, InertialParameters(phi))
    body = InertialParameters.from_com(1.0, [0, 0, 0.1], np.diag([0.01, 0.01, 0.03]))
    with pytest.raises(
        ModelError, match=r"triangle inequality.*nearest physically consistent body"
    ):
        payload_setting(name, body)


@pytest.mark.parametrize(
    ("name", "mass", "height", "moment", "message"),
    [
        ("kuka", 4000.0, 0.0, 0.01, r"4000 kg; expected at most 3000 kg.*check the units"),
        ("ur", 1e-7, 0.0, 1e-11, r"1e-07 kg; expected 1e-06 kg or more"),
        ("abb", 2.0, 80.0, 0.01, r"80 m from the flange.*check the units"),
        ("kuka", 2.0, 0.08, 1e4, r"radius of gyration.*units of the inertia"),
        ("kukka", 1.0, 0.0, 0.01, r"no controller 'kukka' among .*did you mean 'kuka'"),
        ("ur", 500.0, 0.0, 134.0, r"134 kg m².*at most 133.*check the units"),
        ("abb", 5e-4, 0.01, 1e-9, r"0\.0005 kg; expected 0\.001 kg.*use load0"),
        ("fanuc", 1e-4, 0.01, 1e-9, r"0\.0001 kg is zero in \d decimals"),
        ("yaskawa", 1e-4, 0.01, 1e-9, r"0\.0001 kg is zero in \d decimals"),
    ],
)
def test_implausible_payload_is_rejected(
    name: str, mass: float, height: float, moment: float, message: str
) -> None:
    body = InertialParameters.from_com(mass, [0, 0, height], moment * UNIT)
    with pytest.raises(ModelError, match=message):
        payload_setting(name, body)


def test_payload_limit_of_the_arm_is_enforced_and_checked() -> None:
    body = InertialParameters.from_com(5.5, [0, 0, 0.05], 0.01 * UNIT)
    with pytest.raises(ModelError, match=r"5\.5 kg; expected at most 5 kg"):
        payload_setting("ur", body, largest_mass=5.0)
    assert payload_setting("ur", body, largest_mass=6.0).text
    for limit in (0.0, -1.0, float("nan")):
        with pytest.raises(ModelError, match="largest mass: expected a positive number"):
            payload_setting("ur", body, largest_mass=limit)
