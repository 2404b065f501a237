"""ROS: `geometry_msgs/Inertia` as YAML."""

from __future__ import annotations

from identify.exchange.controllers.payload import Payload
from identify.exchange.controllers.setting import PayloadSetting
from identify.exchange.controllers.tensor import tensor_figures

_ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def ros(payload: Payload) -> PayloadSetting:
    """The fields m, com and ixx to izz, the inertia about the centre of mass."""
    figures = tensor_figures(payload)
    lines = [
        "# geometry_msgs/Inertia: m kg; com m; ixx to izz kg m^2 about the centre of mass,",
        "# in axes of the message's frame",
        f"m: {figures.mass}",
        "com:",
        *(f"  {axis}: {number}" for axis, number in zip("xyz", figures.com, strict=True)),
        *(f"{name}: {number}" for name, number in zip(_ENTRIES, figures.six, strict=True)),
    ]
    lost = (*figures.lost, "the frame: the message has no header, InertiaStamped has one")
    notes = ("messages documented before 2026 leave the point of the inertia open",)
    return PayloadSetting("ros", "\n".join(lines) + "\n", lost, notes)
