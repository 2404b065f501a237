"""Equations of an arm: inertial parameters of its links and a payload, and friction of its joints.

r = τ / gain − Y[kept] D (φ of the links + T φ of the payload on its link) − friction
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from identify.arms.columns import (
    FRICTION,
    FURTHER_FRICTION,
    FURTHER_OF_RUN,
    ROTOR_INERTIA,
    ArmColumns,
)
from identify.arrays import Array
from identify.inertia import BaseColumns
from identify.inertia.frames import frame_map
from identify.regressors import Equations, LinearSystem, Offsets, ParameterSpace
from identify.robots import FramePlacement

PAYLOAD = "payload"
"""Name of the body on the frame."""


@dataclass(frozen=True, eq=False)
class ArmEquations(Equations):
    """Equations of some logs of one arm, with friction of each run; rotor inertia is shared.

    Attributes:
        columns: columns of the statistics.
        space: the unknowns: the payload, if any log has one, the links, then scalars.
        runs: number of the run, which has friction of its own, of each log.
        loaded: for each log, whether it has the payload.
        gains: gain of each joint's logged torque, by which it is divided, shape (n,).
        frame: frame of the payload; None without a payload.
    """

    columns: ArmColumns
    space: ParameterSpace
    runs: tuple[int, ...]
    loaded: tuple[bool, ...]
    gains: Array
    frame: str | None = None
    offsets: Offsets = "none"

    def residual_coefficients(self, log: int, group: int) -> Array:
        """Return the coefficients of the residual of a joint in a log, shape (K, 1, 1 + p)."""
        columns, space = self.columns, self.space
        C = np.zeros((len(columns), 1, 1 + len(space)))
        C[columns.torque, 0, 0] = 1.0 / self.gains[group]
        links = 1 + space.body_slice(columns.robot.links[0]).start
        D = columns.base.dependence
        C[columns.links, 0, links : links + D.shape[1]] = D
        if self.loaded[log]:
            block = space.body_slice(PAYLOAD)
            C[columns.links, 0, 1 + block.start : 1 + block.stop] = self._payload_columns
        for name, column in self._scalars(group, self.runs[log]):
            C[column, 0, 1 + self._numbers[name]] = 1.0
        return C

    def equation_key(self, log: int, group: int) -> object:
        """Return a key of joint, run and payload."""
        return group, self.runs[log], self.loaded[log]

    @cached_property
    def _payload_columns(self) -> Array:
        """Columns of the payload's parameters in terms of the independent ones, shape (nb, 10)."""
        return payload_columns(self.columns.base, self.columns.robot.frame(str(self.frame)))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.space.names)}

    def _scalars(self, joint: int, run: int) -> list[tuple[str, int]]:
        """Return names of the scalars that act on a joint with their columns."""
        columns = self.columns
        first, name = columns.friction.start, columns.joints[joint]
        scalars = [(f"{name} {ROTOR_INERTIA}", first)]
        scalars += [(of_run(name, kind, run), first + k) for k, kind in enumerate(FRICTION, 1)]
        for column, kind in enumerate(FURTHER_FRICTION, columns.further.start):
            further = of_run(name, kind, run if kind in FURTHER_OF_RUN else 0)
            scalars += [(further, column)] if further in self._numbers else []
        for number, (motor, shares) in enumerate(columns.motors):
            if shares[joint]:
                first, kinds = columns.motor(number).start, FRICTION[:2]
                scalars.append((f"{motor} {ROTOR_INERTIA}", first))
                scalars += [
                    (of_run(motor, kind, run), first + k) for k, kind in enumerate(kinds, 1)
                ]
        return scalars


def payload_columns(base: BaseColumns, placement: FramePlacement) -> Array:
    """Return the columns of a load on a frame in terms of the independent ones, shape (nb, 10)."""
    link = 10 * placement.link
    return base.dependence[:, link : link + 10] @ frame_map(placement.X_LF)


def of_run(owner: str, kind: str, run: int) -> str:
    """Return the name of a friction scalar of a run; that of the first run has no number."""
    return f"{owner} {kind} {run}" if run else f"{owner} {kind}"


def equations_of(system: LinearSystem) -> ArmEquations:
    """Return the equations of a system of an arm."""
    equations = system.data[0][1]
    assert isinstance(equations, ArmEquations)  # as `arm_system` forms it
    return equations
