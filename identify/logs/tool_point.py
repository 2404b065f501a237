"""Logs of a tool point: transfer of motion and noise to the flange B, and reference of a wrench.

With C fixed to B at X_BC and r = p_BC, both seen from W:

    p_C = p_B + r        v_C = v_B + ω × r        a_C = a_B + α × r + ω × (ω × r)

A proper acceleration moves as the classical one; a spatial one as a twist, a_C = a_B + α × r.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from identify.arrays import Array, Vec3
from identify.errors import LogError
from identify.logs.signal_table import SIGNALS
from identify.spatial import Pose, quaternion_from_rotation, quaternion_product
from identify.spatial.rotations import cross, rotate, rotate_back, rotation_from_quaternion

_GROUP_OF_SIGNAL = {s.name: s.group for s in SIGNALS if s.group in ("twist", "acceleration")}

_LEVER_SIGNALS = (
    ("position", "quaternion"),
    ("linear_velocity", "angular_velocity"),
    ("linear_acceleration", "angular_acceleration"),
)
"""Pairs of a linear signal and the angular signal whose noise a lever arm adds to it."""


def motion_of_frame(
    signals: Mapping[str, Array],
    axes: Mapping[str, str],
    X_BC: Pose,
    *,
    kind: str = "classical",
    still: bool = False,
) -> dict[str, Array]:
    """Compute the motion of a body-fixed frame C from that of B.

    `signals`: of B, as in a `Recording`, all of the same rows; others are left as they are.
    Raises `LogError`: a lever needs a signal that is not among them.
    """
    motion = _Motion(signals, axes, X_BC)
    moved = dict(signals)
    if "quaternion" in signals:
        turn = quaternion_from_rotation(X_BC.rotation)
        moved["quaternion"] = quaternion_product(signals["quaternion"], turn)
    if "position" in signals:
        moved["position"] = signals["position"] + motion.lever_arm("world", "position")
    if "linear_velocity" in signals and not still:
        lever = motion.lever_arm(axes["twist"], "linear_velocity")
        rates = motion.angular_rate("angular_velocity", axes["twist"], "linear_velocity")
        moved["linear_velocity"] = signals["linear_velocity"] + cross(rates, lever)
    if "linear_acceleration" in signals and not still:
        lever = motion.lever_arm(axes["acceleration"], "linear_acceleration")
        changes, rates = (
            motion.angular_rate(name, axes["acceleration"], "linear_acceleration")
            for name in ("angular_acceleration", "angular_velocity")
        )
        added = cross(changes, lever)
        if kind != "spatial":
            added = added + cross(rates, cross(rates, lever))
        moved["linear_acceleration"] = signals["linear_acceleration"] + added
    for name, group in _GROUP_OF_SIGNAL.items():
        if name in signals and axes[group] == "body":
            moved[name] = moved[name] @ X_BC.rotation  # rows of Rᵀ v
    return moved


def noise_of_frame(noise: Mapping[str, float], X_BC: Pose) -> dict[str, float]:
    """Compute the noise of the signals of C from that of B, with the lever arm's contribution.

    σ² + ⅔ |r|² σ_turning², the mean over three axes; |r| is the lever's length.
    """
    moved, lever = dict(noise), float(np.linalg.norm(X_BC.position))
    for linear, turning in _LEVER_SIGNALS:
        if linear in noise and turning in noise:
            of_lever = np.sqrt(2.0 / 3.0) * lever * noise[turning]
            moved[linear] = float(np.hypot(noise[linear], of_lever))
    return moved


def wrench_point(frame: str, tcp: Pose | None) -> Pose | None:
    """Return the reference point of a wrench without a sensor frame: Bo (None), or a tool point.

    `frame`: its axes, "body" or "world"; `tcp`: X_BT of a log of a tool point, else None.
    """
    return Pose(np.eye(3), tcp.position) if frame == "world" and tcp is not None else None


class _Motion:
    """Lever arms p_BC and angular rates, to compute the signal `moved`, in body or world axes."""

    def __init__(self, signals: Mapping[str, Array], axes: Mapping[str, str], X_BC: Pose) -> None:
        self._signals, self._axes, self._X_BC = signals, axes, X_BC

    def lever_arm(self, axes: str, moved: str) -> Vec3:
        """Return the lever arm p_BC from Bo to Co in body or world axes, (3,) or (n, 3)."""
        r = self._X_BC.position
        return r if axes == "body" else rotate(self._rotation(moved), r)

    def angular_rate(self, name: str, axes: str, moved: str) -> Vec3:
        """Return the angular velocity or acceleration (`name`) in body or world axes, (n, 3)."""
        if name not in self._signals:
            raise _missing_signal(name, moved)
        given = self._axes[_GROUP_OF_SIGNAL[name]]
        if given == axes:
            return self._signals[name]
        turned = rotate if axes == "world" else rotate_back
        return turned(self._rotation(moved), self._signals[name])

    def _rotation(self, moved: str) -> Array:
        if "quaternion" not in self._signals:
            raise _missing_signal("pose", moved)
        return rotation_from_quaternion(self._signals["quaternion"])


def _missing_signal(name: str, moved: str) -> LogError:
    return LogError(
        f"[body.tcp]: the {moved.replace('_', ' ')} of the flange needs the "
        f"{name.replace('_', ' ')} of the tool point in the same rows; log them together, leave "
        f"the {moved.replace('_', ' ')} out, or give [body.flange] in place of [body.tcp]"
    )
