"""Unknowns of an arm with their defaults and bounds, and the system of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from identify.arms.columns import FRICTION, ROTOR_INERTIA, ArmColumns
from identify.arms.equations import PAYLOAD, ArmEquations, of_run
from identify.arms.load_default import first_load_default, unobservable_directions
from identify.arrays import Array, Phi
from identify.inertia.matrices import phi_from_pseudo_inertia, pseudo_inertia
from identify.regressors import LinearSystem, ParameterSpace, ScalarUnknown, Statistics

Friction: TypeAlias = Literal["own", "shared"]
"""Whether each log has friction of its own, or all logs share it; rotor inertia is shared."""

_MIN_DEFAULT_MASS = 0.05
"""Smallest mass of a link's default [kg]: URDFs round those of small links to zero."""

_MIN_DEFAULT_RADIUS = 0.03
"""Smallest root mean square distance of a link's mass from its centre along an axis [m]."""


def runs_of(logs: int, friction: Friction) -> tuple[int, ...]:
    """Return the number of the run of each log."""
    return tuple(range(logs)) if friction == "own" else (0,) * logs


def arm_system(
    statistics: Statistics,
    columns: ArmColumns,
    scatter: float = 1.0,
    *,
    runs: Sequence[int],
    loaded: Sequence[bool] = (),
    frame: str | None = None,
    gains: Array | None = None,
    bounded: bool = True,
    load_default: Phi | None = None,
    further: Sequence[str] = (),
) -> LinearSystem:
    """Form the system of logs of one arm.

    `loaded`: for each log, whether it has the payload; none has if not given; `frame`: frame of the
    payload in the URDF; `gains`: gain of each joint's logged torque, shape (n,); one if not given;
    `bounded`: whether friction and rotor inertias are at least zero; `load_default`: body that
    stands in for what is not identified of the payload; one as heavy as the arm, if not given and
    no motion shows its mass or centre of mass.
    `further`: names of further friction that the logs show (`further_friction`).
    `scatter` divides the number of independent samples; each run has friction of its own.
    """
    space = arm_space(columns, max(runs) + 1, payload=any(loaded), bounded=bounded)
    low = {
        name: 0.0
        if bounded and " coulomb_change" not in name and " viscous_change" not in name
        else -np.inf
        for name in further
    }
    scalars = (*space.scalars, *(ScalarUnknown(name, low=low[name]) for name in further))
    space = replace(space, scalars=scalars)
    if any(loaded):
        space = replace(space, unobservable={PAYLOAD: unobservable_directions(columns, str(frame))})
        if load_default is not None or space.unobservable_unknowns()[:4].any():
            default = first_load_default(columns) if load_default is None else load_default
            space = space.with_defaults({PAYLOAD: default, **space.defaults})
    equations = ArmEquations(
        columns=columns,
        space=space,
        runs=tuple(runs),
        loaded=tuple(loaded) or (False,) * len(runs),
        gains=np.ones(len(columns.joints)) if gains is None else gains,
        frame=frame,
    )
    discounted = replace(statistics, effective_samples=statistics.effective_samples / scatter)
    return LinearSystem.of([(discounted, equations)])


def arm_space(
    columns: ArmColumns, runs: int = 1, *, payload: bool = False, bounded: bool = True
) -> ParameterSpace:
    """Return the unknowns of an arm with so many runs, with the arguments of `arm_system`."""
    low, robot = 0.0 if bounded else -np.inf, columns.robot
    owners = [(joint, FRICTION) for joint in columns.joints]
    owners += [(motor, FRICTION[:2]) for motor, _ in columns.motors]
    scalars = [ScalarUnknown(f"{owner} {ROTOR_INERTIA}", low=low) for owner, _ in owners]
    scalars += [
        ScalarUnknown(of_run(owner, kind, run), low=-np.inf if kind == "offset" else low)
        for run in range(runs)
        for owner, kinds in owners
        for kind in kinds
    ]
    bodies = (PAYLOAD, *robot.links) if payload else robot.links
    defaults = {link: link_default(phi) for link, phi in zip(robot.links, robot.phi, strict=True)}
    return ParameterSpace(bodies, tuple(scalars), defaults)


def link_default(phi: Phi) -> Phi:
    """Return the default of a link: its body in the URDF, no smaller than 50 g and 30 mm.

    Links are scaled by their defaults. A link that the URDF rounds to a point, or to a body that
    cannot exist, would have no scale.
    """
    mass = max(float(phi[0]), _MIN_DEFAULT_MASS)
    com = phi[1:4] / phi[0] if phi[0] > 0.0 else np.zeros(3)
    second = pseudo_inertia(phi)[:3, :3] - np.outer(com, phi[1:4])
    values, axes = np.linalg.eigh(0.5 * (second + second.T))
    to_com = np.append(com, 1.0)
    Pi = mass * np.outer(to_com, to_com)
    Pi[:3, :3] += axes * np.maximum(values, mass * _MIN_DEFAULT_RADIUS**2) @ axes.T
    return phi_from_pseudo_inertia(Pi)
