"""Yaskawa: the tool load information of a tool file."""

from __future__ import annotations

from identify.exchange.controllers.payload import Payload
from identify.exchange.controllers.screen import Screen, screen_figures
from identify.exchange.controllers.setting import PayloadSetting

_SCREEN = Screen("yaskawa", length=1e-3, inertia=1.0, decimals=3)


def yaskawa(payload: Payload) -> PayloadSetting:
    """W, Xg, Yg, Zg and Ix, Iy, Iz at the centre of gravity, axes parallel to the flange's."""
    figures = screen_figures(payload, _SCREEN)
    lines = [f"W        {figures.mass} kg"]
    for axis, number in zip("XYZ", figures.com, strict=True):
        lines.append(f"{axis}g       {number} mm")
    for axis, number in zip("xyz", figures.moments, strict=True):
        lines.append(f"I{axis}       {number} kg.m2")
    notes = (
        "typed on the TOOL window of the tool in use",
        "centre in the flange coordinates; moments about the centre, axes parallel to the flange's",
        "the manual advises to round W up a little; the arm's allowable wrist load is not checked",
    )
    return PayloadSetting("yaskawa", "\n".join(lines) + "\n", figures.lost, notes)
