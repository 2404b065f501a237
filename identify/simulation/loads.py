"""Loads and impulses on a body, in body or world axes, at any point of the body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Vec3, Vec6, as_array, as_real, seal
from identify.errors import SimulationError
from identify.simulation.checks import Interpolation, require_word
from identify.simulation.state import State

Frame: TypeAlias = Literal["body", "world"]
"""Axes in which a force, torque or impulse is given: those of B or of W."""

_TIME_TOLERANCE = 1e-9
"""Tolerance of times at the ends of a load, relative to the duration."""


class Load(Protocol):
    """Protocol of loads that are linear in time between breaks.

    Attributes:
        point: point of application in B [m], shape (..., 3).
        frame: the axes of its force and torque.
        batch: batch shape (...) of its force and torque.
    """

    @property
    def point(self) -> Vec3: ...  # noqa: D102

    @property
    def frame(self) -> Frame: ...  # noqa: D102

    @property
    def batch(self) -> tuple[int, ...]: ...  # noqa: D102

    def break_times(self) -> Array:
        """Return the times at which the load may jump or bend [s], at which steps end."""
        ...

    def value_and_rate(self, time: float) -> tuple[Vec6, Vec6] | None:
        """Return the wrench [f; t] just after a time and its rate; None while the load is off."""
        ...

    def require_defined(self, duration: float) -> None:
        """Raise `SimulationError` unless the load is defined from time 0 to `duration`."""
        ...


@dataclass(frozen=True, slots=True)
class ConstantLoad:
    """A force and a torque that are constant in body or in world axes, for a time.

    Attributes:
        force: force on the body [N], shape (..., 3).
        torque: torque on the body in addition to that of the force [N m], shape (..., 3).
        point: point of application of the force, from Bo in axes of B [m], shape (..., 3), also for
            forces in axes of W.
        frame: the axes of force and torque.
        start, end: acts from `start` until just before `end` [s].

    Raises:
        SimulationError: numbers that are not finite, another shape, or an end before the start.
    """

    force: Vec3 = (0.0, 0.0, 0.0)  # pyright: ignore[reportAssignmentType]
    torque: Vec3 = (0.0, 0.0, 0.0)  # pyright: ignore[reportAssignmentType]
    point: Vec3 = (0.0, 0.0, 0.0)  # pyright: ignore[reportAssignmentType]
    frame: Frame = "body"
    start: float = 0.0
    end: float = np.inf

    def __post_init__(self) -> None:
        _seal_load(self, "load", "force", "torque", "point")
        _check_window(self.start, self.end)

    @property
    def batch(self) -> tuple[int, ...]:
        """Batch shape of force and torque."""
        return np.broadcast_shapes(self.force.shape[:-1], self.torque.shape[:-1])

    def break_times(self) -> Array:
        """Return start and end of the load."""
        return np.array([self.start, self.end])

    def value_and_rate(self, time: float) -> tuple[Vec6, Vec6] | None:
        """Return the wrench [f; t] and its rate of change, which is zero."""
        if not self.start <= time < self.end:
            return None
        shape = (*self.batch, 3)
        parts = (np.broadcast_to(self.force, shape), np.broadcast_to(self.torque, shape))
        wrench = np.concatenate(parts, axis=-1)
        return wrench, np.zeros_like(wrench)

    def require_defined(self, duration: float) -> None:
        """Accept any duration: a constant load is defined at all times."""


@dataclass(frozen=True, slots=True)
class SampledLoad:
    """Load given by samples of a wrench, in body or world axes.

    Attributes:
        time: times of the samples, from the start of the simulation, increasing [s], shape (n,).
        wrench: [f; t] on the body [N, N m], shape (..., n, 6).
        point: where the force acts, from Bo in axes of B [m], shape (..., 3).
        frame: the axes of force and torque.
        interpolation: linear, or sample and hold. The load ends at the last sample, without
            extrapolation.
        start, end: acts from `start` until just before `end` [s]; needs samples only in between.
        name: name for messages, such as the file's.

    Raises:
        SimulationError: numbers that are not finite, another shape, or stamps that do not increase.
    """

    time: Array
    wrench: Vec6
    point: Vec3 = (0.0, 0.0, 0.0)  # pyright: ignore[reportAssignmentType]
    frame: Frame = "body"
    interpolation: Interpolation = "linear"
    start: float = 0.0
    end: float = np.inf
    name: str = "load"

    def __post_init__(self) -> None:
        time = seal(self.time, f"{self.name}: time", (..., None), SimulationError)
        wrench = seal(self.wrench, f"{self.name}: wrench", (..., None, 6), SimulationError)
        if time.ndim != 1 or len(time) < 2 or wrench.shape[-2] != len(time):
            raise SimulationError(
                f"{self.name}: expected two or more samples, time (n,) and wrench (..., n, 6), "
                f"got {time.shape} and {wrench.shape}"
            )
        back = np.flatnonzero(np.diff(time) <= 0.0)
        if back.size:
            k = int(back[0])
            raise SimulationError(
                f"{self.name}: time must increase, got {time[k]:.9g} s and then "
                f"{time[k + 1]:.9g} s in sample {k + 1}"
            )
        require_word(self.interpolation, Interpolation, f"{self.name}: interpolation")
        _check_window(self.start, self.end, self.name)
        _seal_load(self, self.name, "point")
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "wrench", wrench)

    @property
    def batch(self) -> tuple[int, ...]:
        """Batch shape of the wrench."""
        return self.wrench.shape[:-2]

    def break_times(self) -> Array:
        """Return start, end and the samples between them, at which the load bends or jumps."""
        inside = self.time[(self.time > self.start) & (self.time < self.end)]
        return np.concatenate(([self.start], inside, [self.end]))

    def value_and_rate(self, time: float) -> tuple[Vec6, Vec6] | None:
        """Interpolate the wrench [f; t] and its rate of change between samples."""
        if not self.start <= time < self.end:
            return None
        k = int(np.searchsorted(self.time, time, side="right")) - 1
        k = min(max(k, 0), len(self.time) - 2)
        now = self.wrench[..., k, :]
        if self.interpolation == "hold":
            return now, np.zeros_like(now)
        rate = (self.wrench[..., k + 1, :] - now) / (self.time[k + 1] - self.time[k])
        return now + (time - self.time[k]) * rate, rate

    def require_defined(self, duration: float) -> None:
        """Raise `SimulationError` unless the samples cover the time of the load."""
        first, last = max(self.start, 0.0), min(self.end, duration)
        slack = _TIME_TOLERANCE * max(duration, 0.0)
        if first < last and (self.time[0] > first + slack or self.time[-1] < last - slack):
            raise SimulationError(
                f"{self.name}: the samples reach from {self.time[0]:.9g} to {self.time[-1]:.9g} s, "
                f"but the load acts from {first:.9g} to {last:.9g} s; add samples, shorten the "
                f"simulation, or give start and end of the load"
            )


LoadLaw: TypeAlias = Callable[[float, State], ArrayLike]
"""Function that returns the wrench [f; t] on bodies at a time [s] and in their states."""


@dataclass(frozen=True, slots=True)
class StateLoad:
    """Load that depends on the state of the body: drag, a spring, a controller.

    Integrators keep their order if the law is sufficiently often differentiable.

    Attributes:
        law: (t, state) → [f; t] on the body [N, N m], shape (6,) or (..., 6), of all bodies at
            once: the four fields of the state have the batch shape of the simulation.
        point: where the force acts, from Bo in axes of B [m], shape (..., 3).
        frame: the axes of force and torque: those of B, or those of W.

    Raises:
        SimulationError: the law cannot be called, or an invalid point.
    """

    law: LoadLaw
    point: Vec3 = (0.0, 0.0, 0.0)  # pyright: ignore[reportAssignmentType]
    frame: Frame = "body"

    def __post_init__(self) -> None:
        if not callable(self.law):
            raise SimulationError(
                f"load: expected a law (t, state) → [f; t], or a load such as ConstantLoad, got "
                f"{self.law!r}"
            )
        _seal_load(self, "load", "point")

    def wrench(self, time: float, state: State, *, finite: bool = False) -> Vec6:
        """Evaluate the wrench [f; t] at a time and a state, shape (..., 6).

        Raises:
            SimulationError: the law returns another shape or, with `finite`, numbers that are not
                finite.
        """
        name = f"load: {getattr(self.law, '__name__', 'the law')} at {time:.6g} s"
        return as_array(self.law(time, state), name, (..., 6), SimulationError, finite=finite)


def split_loads(
    loads: Sequence[Load | StateLoad | LoadLaw],
) -> tuple[list[Load], list[StateLoad]]:
    """Split loads into loads that are linear in time, and loads that depend on the state.

    Raises `SimulationError`: one is neither.
    """
    lines: list[Load] = []
    laws: list[StateLoad] = []
    for load in loads:
        if isinstance(load, StateLoad):
            laws.append(load)
        elif hasattr(load, "value_and_rate"):
            lines.append(cast("Load", load))
        else:
            laws.append(StateLoad(cast("LoadLaw", load)))
    return lines, laws


def buoyancy(displaced: ArrayLike, point: ArrayLike, gravity: ArrayLike) -> ConstantLoad:
    """Return the buoyancy of a submerged body: minus the weight of the fluid it displaces.

    Args:
        displaced: mass of the displaced fluid, its density times the volume [kg], shape (...).
        point: centre of buoyancy, from Bo in axes of B [m], shape (..., 3).
        gravity: g in W [m/s²], shape (3,) or (..., 3).

    Raises:
        SimulationError: numbers that are not finite.
    """
    force = -as_real(displaced, "displaced")[..., None] * np.asarray(gravity)
    return ConstantLoad(force=force, point=as_real(point, "point"), frame="world")


def _seal_load(load: Load | StateLoad | Impulse, label: str, *vectors: str) -> None:
    """Check the axes of a load or impulse, and check and seal its vectors."""
    require_word(load.frame, Frame, f"{label}: frame")
    for name in vectors:
        object.__setattr__(
            load, name, seal(getattr(load, name), f"{label}: {name}", (..., 3), SimulationError)
        )


def _check_window(start: float, end: float, label: str = "load") -> None:
    if not (np.isfinite(start) and end > start):  # NaN fails either
        raise SimulationError(
            f"{label}: acts from {start!r} to {end!r} s; expected a finite start and a later end"
        )


@dataclass(frozen=True, slots=True)
class Impulse:
    """Linear impulse J at a point and angular impulse H, which change the momentum instantly.

        Δp = J,    ΔL = H + r × J      (r from the point that L is about)

    Attributes:
        time: time from the start of the simulation [s].
        linear: J on the body [N s], shape (..., 3).
        angular: H on the body, in addition to that of J [N m s], shape (..., 3).
        point: point of application of J, from Bo in axes of B [m], shape (..., 3), also for J in
            axes of W.
        frame: the axes of J and H.

    Raises:
        SimulationError: numbers that are not finite, another shape, or a time below zero.
    """

    time: float
    linear: Vec3 = (0.0, 0.0, 0.0)  # pyright: ignore[reportAssignmentType]
    angular: Vec3 = (0.0, 0.0, 0.0)  # pyright: ignore[reportAssignmentType]
    point: Vec3 = (0.0, 0.0, 0.0)  # pyright: ignore[reportAssignmentType]
    frame: Frame = "body"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.time) and self.time >= 0.0):
            raise SimulationError(
                f"impulse: time must be zero or later and finite, got {self.time!r} s"
            )
        _seal_load(self, "impulse", "linear", "angular", "point")
