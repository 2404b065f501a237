"""Defects of a log: lost rows and signals, and a delayed or offset wrench."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from identify.arrays import Array
from identify.errors import LogError
from identify.logs import Recording
from identify.spatial.rotations import exp_rotation, rotate, rotate_back, rotation_from_quaternion
from identify.studies.estimator import TrialData
from identify.studies.options import Count, Number, Vector
from identify.studies.perturbations.perturbation import (
    Perturbation,
    require_signals,
    with_rows,
    with_signals,
)
from identify.studies.study_log import StudyLog


class Unperturbed(Perturbation):
    """Perturbation that leaves the log unchanged, for comparison."""

    kind: ClassVar[str] = "none"

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Return the recording unchanged."""
        return recording


class RowDropout(Perturbation):
    """Random loss of rows, singly or in bursts; the other rows keep their times.

    Attributes:
        share: of the rows, on average, at least 0 and below 1.
        burst: rows lost together.
    """

    kind: ClassVar[str] = "dropped_rows"

    share: Annotated[float, Field(strict=True, ge=0.0, lt=1.0)]
    burst: Count = 1

    @property
    def random(self) -> bool:
        """Whether any rows are dropped."""
        return self.share > 0.0

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Remove rows at random."""
        count = len(recording)
        # A row stays if none of the `burst` bursts that could cover it begins.
        starts = rng.uniform(size=count + self.burst - 1) < 1.0 - (1.0 - self.share) ** (
            1.0 / self.burst
        )
        lost = np.convolve(starts, np.ones(self.burst), mode="valid") > 0.5
        return with_rows(recording, ~lost)


class Decimation(Perturbation):
    """Selection of every n-th row without filtering, as by a slower logger.

    Attributes:
        every: 1 keeps all rows.
    """

    kind: ClassVar[str] = "decimation"

    every: Count

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Keep every n-th row, the first included."""
        return with_rows(recording, slice(None, None, self.every))


class SignalSubset(Perturbation):
    """Removal of some of the log's signals, which must then be obtained by differentiation.

    Attributes:
        keep: names of the signals, in addition to force and torque.
    """

    kind: ClassVar[str] = "only"

    keep: tuple[str, ...]

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Remove all signals except those to keep; raises `LogError` if the log lacks one."""
        require_signals(recording, self.keep, "a log of only these signals")
        kept = {*self.keep, "force", "torque"}
        signals = {name: of for name, of in recording.signals.items() if name in kept}
        return replace(recording, signals=signals)


class Delay(Perturbation):
    """Delay of the wrench against the motion, interpolated in sensor axes.

    Rows whose wrench would be outside the log are left out.

    Attributes:
        wrench: delay [s]; negative if the wrench is early.
    """

    kind: ClassVar[str] = "delay"

    wrench: Number

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Shift the wrench in time; raises `LogError` for static poses or a shorter log."""
        time = recording.time
        if time is None:
            raise LogError(f"{recording.name}: a delay needs time, and this log has static poses")
        wanted = time - self.wrench
        held = (wanted >= time[0]) & (wanted <= time[-1])
        if not held.any():
            raise LogError(
                f"{recording.name}: a delay of {self.wrench:g} s is longer than the log "
                f"({time[-1] - time[0]:g} s)"
            )

        def delayed(name: str, values: Array) -> Array:
            return np.stack([np.interp(wanted, time, column) for column in values.T], axis=1)

        return with_rows(_change_wrench(recording, delayed, "a delay"), held)


class SensorOffset(Perturbation):
    """Offset of the force-torque sensor, constant in its own axes.

    Attributes:
        force: added to the force [N], three numbers.
        torque: added to the torque [N m], three numbers.
    """

    kind: ClassVar[str] = "bias"

    force: Vector = (0.0, 0.0, 0.0)
    torque: Vector = (0.0, 0.0, 0.0)

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Add the offset; raises `LogError` for a wrench in world axes without an attitude."""
        added = {"force": np.array(self.force), "torque": np.array(self.torque)}
        return _change_wrench(recording, lambda name, f: f + added[name], "a sensor offset")


class WrenchMap(Perturbation):
    """A sensor whose scale is off, or whose axes are turned: a small fault, or a misreading.

    Attributes:
        gain: factor on force and torque.
        turn: rotation vector of the sensor's axes [rad].
    """

    kind: ClassVar[str] = "wrench_map"

    gain: Number = 1.0
    turn: Vector = (0.0, 0.0, 0.0)

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Turn and scale the wrench; raises `LogError` as `SensorOffset` does."""
        R = rotation_from_quaternion(exp_rotation(np.array(self.turn)))
        return _change_wrench(recording, lambda _, f: self.gain * f @ R.T, "a map of the wrench")


def _change_wrench(
    recording: Recording, change: Callable[[str, Array], Array], purpose: str
) -> Recording:
    """Change force and torque in the axes of the sensor, rotated by the log's attitude and back.

    `change` maps "force" or "torque" and its values, shape (n, 3), to the new values.
    """
    require_signals(recording, ("force", "torque"), purpose)
    wrench = {name: recording.signals[name] for name in ("force", "torque")}
    if recording.frames["wrench"] != "world":
        changed = {name: change(name, values) for name, values in wrench.items()}
        return with_signals(recording, changed)
    require_signals(recording, ("quaternion",), f"{purpose} of a wrench in world axes")
    R = rotation_from_quaternion(recording.signals["quaternion"])
    turned = {
        name: rotate(R, change(name, rotate_back(R, values))) for name, values in wrench.items()
    }
    return with_signals(recording, turned)


class RowsAlone(Perturbation):
    """Leaves of a log only its rows, a regressor and its right-hand side; the last of the steps."""

    kind: ClassVar[str] = "rows"

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Return the recording as it is."""
        return recording

    def apply_to_log(self, log: StudyLog, seed: np.random.SeedSequence) -> StudyLog:
        """Return the rows of the log, also of a load on an arm."""
        return StudyLog(log.name, rows=TrialData(log).rows)
