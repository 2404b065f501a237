"""Continuous causes that a log may be misread by: the map of each, its sizes, and its remedy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array
from identify.diagnosis.facts import LogFacts
from identify.regressors import SCAN_LAYOUT, WIDE_LAYOUT
from identify.regressors.log_corrections import (
    displaced_point,
    earlier_wrench,
    other_clock,
    other_gravity,
    scaled_position,
    scaled_torque,
    turned_wrench,
    unlagged_wrench,
)
from identify.regressors.wrench import DDW, DW, RT, W
from identify.spatial.rotations import (
    exp_rotation,
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
)

_DEGREE = float(np.radians(1.0))


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A cause of misfit with a few continuous parameters η, zero where the log is as read.

    Attributes:
        name: its own name, unique.
        code: of the finding.
        parameters: names of the components of η.
        unit: of all of them, in messages.
        per_unit: η in SI of one such unit.
        floor: |η| below which it does no harm worth a word [SI].
        matters: standard error of every component, times 4.5, that a log has to stay below to tell
            the hypothesis [SI].
        change: M(η) of the columns a fit reads, (η, facts) → (40, 19).
        applies: whether it makes sense for a log.
        remedy: the line of the schema, or the action, for sizes η.
        amplifies: whether its correction makes noise of the wrench larger.
        undecided: what else may be wrong that looks just the same, where it is to be corrected
            otherwise, so that a person has to say; empty where there is nothing.
    """

    name: str
    code: str
    parameters: tuple[str, ...]
    unit: str
    per_unit: float
    floor: float
    matters: float
    change: Callable[[Array, LogFacts], Array]
    applies: Callable[[LogFacts], bool]
    remedy: Callable[[Array, LogFacts], str]
    amplifies: bool = False
    undecided: Callable[[LogFacts], str] = lambda facts: ""

    def map_of(self, size: Array, facts: LogFacts) -> Array:
        """M(η) of all wide columns, shape (40, 40): maps follow each other as products."""
        return _of_all_columns(self.change(np.asarray(size, dtype=np.float64), facts))

    def tangent(self, facts: LogFacts) -> Array:
        """∂M/∂η at zero, of the columns a fit reads, shape (40, 19, d): by central differences."""
        steps = 1e-4 * self.matters * np.eye(len(self.parameters))
        slopes = [
            (self.change(step, facts) - self.change(-step, facts)) / (2.0 * step.sum())
            for step in steps
        ]
        return np.stack(slopes, axis=-1)


def tilted_gravity(angles: Array, gravity: Array) -> Array:
    """Change δg of gravity that is turned by small angles about two axes across it, shape (3,)."""
    across = _across(gravity)
    R = rotation_from_quaternion(exp_rotation(angles @ across))
    return R @ gravity - gravity


def _across(gravity: Array) -> Array:
    """Two unit vectors across g and each other, near the world's axes, shape (2, 3)."""
    down = gravity / np.linalg.norm(gravity)
    first = np.eye(3)[np.argsort(np.abs(down), kind="stable")[0]]
    first = first - (first @ down) * down
    first /= np.linalg.norm(first)
    return np.stack((first, np.cross(down, first)))


def _of_all_columns(M: Array) -> Array:
    """M of [1, ψ, w] carried to the derivatives: what acts on w, ẇ, ẅ acts on theirs."""
    K, fit = len(WIDE_LAYOUT.columns), len(SCAN_LAYOUT.columns)
    whole = np.zeros((K, K))
    whole[:, :fit] = M
    whole[RT, RT] = np.eye(9)
    whole[DW, DW] = whole[DDW, DDW] = M[W, W]
    whole[DDW, DW] = M[DW, W]
    return whole


def _line(table: str, key: str, values: Array | float) -> str:
    listed = np.round(np.atleast_1d(values), 6) + 0.0
    spelled = f"{listed[0]:g}" if np.ndim(values) == 0 else str([float(v) for v in listed])
    return f"In the schema, [{table}], set {key} = {spelled}"


def _gravity_line(change: Array, facts: LogFacts) -> str:
    return _line("world", "gravity", facts.gravity + change)


def _delay_line(size: Array, facts: LogFacts) -> str:
    return _line("wrench", "delay_s", float(size[0]))


def _lag_line(size: Array, facts: LogFacts) -> str:
    corner = 1.0 / (2.0 * np.pi * max(abs(float(size[0])), 1e-9))
    return (
        f"The sensor filters its wrench, with a corner near {corner:.3g} Hz: switch its low-pass "
        "off or raise it, and log again"
    )


def _turn_line(size: Array, facts: LogFacts) -> str:
    turn = exp_rotation(size)
    if facts.X_BS is None:
        return _line("wrench.mount", "quaternion", turn) + ' with [wrench] frame = "sensor"'
    mount = quaternion_from_rotation(facts.X_BS.rotation)
    return _line("wrench.mount", "quaternion", quaternion_product(mount, turn))


def _point_line(size: Array, facts: LogFacts) -> str:
    shown = [round(1e3 * float(v), 2) + 0.0 for v in size]
    return (
        f"The pose is of a point {shown} mm (body axes) before the body's origin: log the pose of "
        "the point the wrench is at, or move the mount by as much"
    )


def _gain_text(size: Array, facts: LogFacts) -> str:
    return (
        f"Torque over force is {1.0 / (1.0 + float(size[0])):.4g} of what fits: check both units "
        "and the sensor's calibration"
    )


def _clock_text(size: Array, facts: LogFacts) -> str:
    return f"Check the rate of the log: its time runs at {1.0 / (1.0 + float(size[0])):.4g} of ours"


def _position_text(size: Array, facts: LogFacts) -> str:
    return f"Check the scale of [pose] position: lengths are {1.0 + float(size[0]):.4g} of it"


def _moving(facts: LogFacts) -> bool:
    return not facts.still


HYPOTHESES: tuple[Hypothesis, ...] = (
    Hypothesis(
        *("delay", "delay", ("delay",), "ms", 1e-3),
        floor=0.5e-3,
        matters=10e-3,
        change=lambda size, facts: earlier_wrench(float(size[0])),
        applies=_moving,
        remedy=_delay_line,
    ),
    Hypothesis(
        *("sensor_lag", "sensor_lag", ("time constant",), "ms", 1e-3),
        floor=0.5e-3,
        matters=10e-3,
        change=lambda size, facts: unlagged_wrench(float(size[0])),
        applies=_moving,
        remedy=_lag_line,
        amplifies=True,
    ),
    Hypothesis(
        *("wrench_misaligned", "wrench_misaligned", ("about x", "about y", "about z"), "deg"),
        per_unit=_DEGREE,
        floor=0.11 * _DEGREE,
        matters=2.0 * _DEGREE,
        change=lambda size, facts: turned_wrench(size, facts.X_BS),
        applies=lambda facts: True,
        remedy=_turn_line,
    ),
    Hypothesis(
        *("gravity_tilted", "gravity_tilted", ("first axis", "second axis"), "deg"),
        per_unit=_DEGREE,
        floor=0.11 * _DEGREE,
        matters=2.0 * _DEGREE,
        change=lambda size, facts: other_gravity(tilted_gravity(size, facts.gravity)),
        applies=lambda facts: facts.gravity_added,
        remedy=lambda size, facts: _gravity_line(tilted_gravity(size, facts.gravity), facts),
    ),
    Hypothesis(
        *("gravity_magnitude", "gravity_magnitude", ("share",), "%", 1e-2),
        floor=0.5e-2,
        matters=4e-2,
        change=lambda size, facts: other_gravity(float(size[0]) * facts.gravity),
        applies=lambda facts: facts.gravity_added and not facts.still,
        remedy=lambda size, facts: _gravity_line(float(size[0]) * facts.gravity, facts),
    ),
    Hypothesis(
        *("clock_rate", "clock_rate", ("rate",), "%", 1e-2),
        floor=0.25e-2,
        matters=2e-2,
        change=lambda size, facts: other_clock(float(size[0]), facts.gravity),
        applies=lambda facts: facts.gravity_added and facts.timed and not facts.still,
        remedy=_clock_text,
    ),
    Hypothesis(
        *("position_scale", "position_unit", ("scale",), "%", 1e-2),
        floor=1e-2,
        matters=4e-2,
        change=lambda size, facts: scaled_position(float(size[0]), facts.gravity),
        applies=lambda facts: facts.gravity_added and facts.positioned,
        remedy=_position_text,
    ),
    Hypothesis(
        *("kinematic_offset", "kinematic_offset", ("x", "y", "z"), "mm", 1e-3),
        floor=1e-3,
        matters=10e-3,
        change=lambda size, facts: displaced_point(size),
        applies=_moving,
        remedy=_point_line,
        undecided=lambda facts: (
            "" if facts.X_BS is None else "the point of the pose or the mount may be wrong"
        ),
    ),
    Hypothesis(
        *("torque_gain", "gain", ("gain",), "%", 1e-2),
        floor=1e-2,
        matters=5e-2,
        change=lambda size, facts: scaled_torque(float(size[0]), facts.X_BS),
        applies=lambda facts: True,
        remedy=_gain_text,
        undecided=lambda facts: "of force and torque either may be wrong, and the mass with force",
    ),
)
"""All of them. The floors are sizes that move no parameter by a half-width of
practical fits (0.5 ms, 0.11°, .25 %, 1 %, 1 mm); larger ones are tested at 4.5 standard errors."""
