"""The controllers by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from identify.errors import ModelError, did_you_mean
from identify.exchange.controllers.abb import abb
from identify.exchange.controllers.fanuc import fanuc
from identify.exchange.controllers.franka import franka, franka_desk
from identify.exchange.controllers.kuka import kuka
from identify.exchange.controllers.payload import HEAVIEST, Payload, checked_payload
from identify.exchange.controllers.ros import ros
from identify.exchange.controllers.setting import PayloadSetting
from identify.exchange.controllers.universal_robots import universal_robots
from identify.exchange.controllers.yaskawa import yaskawa
from identify.inertia import InertialParameters


@dataclass(frozen=True, slots=True)
class Controller:
    """A controller that takes a payload.

    Attributes:
        name: what it is called here.
        title: maker and what is written, for lists.
        write: its setting of a checked payload.
    """

    name: str
    title: str
    write: Callable[[Payload], PayloadSetting]


_ALL = (
    Controller("abb", "ABB, loaddata of RAPID", abb),
    Controller("fanuc", "FANUC, payload schedule", fanuc),
    Controller("franka", "Franka, setLoad of libfranka", franka),
    Controller("franka_desk", "Franka, end effector of Desk (JSON)", franka_desk),
    Controller("kuka", "KUKA, LOAD_DATA of KRL", kuka),
    Controller("ros", "ROS, geometry_msgs/Inertia (YAML)", ros),
    Controller("ur", "Universal Robots, set_target_payload of URScript", universal_robots),
    Controller("yaskawa", "Yaskawa, tool load information", yaskawa),
)

CONTROLLERS: Mapping[str, Controller] = MappingProxyType({entry.name: entry for entry in _ALL})
"""Every controller by its name. A new one is a file and a line here."""


def find_controller(name: str) -> Controller:
    """The controller of a name.

    Raises:
        ModelError: no controller is called so.
    """
    if name not in CONTROLLERS:
        hint = did_you_mean(name, CONTROLLERS)
        raise ModelError(f"no controller {name!r} among {', '.join(CONTROLLERS)}{hint}")
    return CONTROLLERS[name]


def payload_setting(
    controller: str, body: InertialParameters, *, largest_mass: float = HEAVIEST
) -> PayloadSetting:
    """A body as the payload setting of a controller.

    Args:
        controller: one of `CONTROLLERS`.
        body: about the origin of the flange's (ABB payloads: the tool's) frame, in its axes.
        largest_mass: what the arm may carry [kg].

    Raises:
        ModelError: an unknown controller, an impossible body, or one out of the range that the
            controller or any arm takes.
    """
    return find_controller(controller).write(checked_payload(body, largest_mass=largest_mass))
