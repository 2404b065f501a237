"""Columns of a sensor that stand still while the others go on, found as a log is read."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.diagnosis.contacts import FEWEST_POSES, wrench_equations
from identify.diagnosis.signal_faults import Span
from identify.logs import Recording
from identify.logs.signal_table import SIGNALS, Signal
from identify.regressors import LogSummary
from identify.significance import DEAD_CHANNEL_SIGMA
from identify.spatial import coadjoint

NOISE_DIGITS = 2.5
"""Noise of a channel, in last digits of a log, beyond which no value repeats by chance …"""

_MIN_REVERSAL_SHARE = 0.6
"""… where so many third differences have another sign than the next, as those of noise have."""

_FEWEST_STANDING, _LONGER_STANDING, _LONGER_STANDING_OF_WRENCH = 50, 8.0, 2.0
"""Samples that a dead channel stands still for, and times as long as it ever did before: by noise
of the others alone, and where the body says that it should have moved."""

_CARRIED_SAMPLES = 4
"""Samples of the part before that third differences and their changes of sign need."""


class ChannelMonitor:
    """Looks at the columns of a log as it is read, in parts of any size; keeps no rows."""

    def __init__(self) -> None:
        self._columns: dict[str, _ColumnActivity] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._end = 0.0

    def update(self, recording: Recording, rows: slice = slice(None)) -> None:
        """Look at some rows of a log, those after the ones before; of still poses at none."""
        if recording.time is None or not len(recording.time[rows]):
            return
        self._end = float(recording.time[rows][-1])
        for signal in SIGNALS:
            if (values := recording.signals.get(signal.name)) is not None:
                columns = self._columns.setdefault(signal.name, _ColumnActivity(values.shape[1]))
                columns.update(values[rows], recording.time[rows])
                names = (_column_name(recording, signal, k) for k in range(values.shape[1]))
                self._names.setdefault(signal.name, tuple(names))

    def dead(self, log: LogSummary) -> tuple[Span, ...]:
        """Columns that stand still, from the first row or from some time on, while others do not.

        Either the others of the sensor have noise of far more than their last digit, so that no
        channel at rest would keep its value, or the body that explains the rest of the wrench
        says that this channel should have moved.

        Args:
            log: summary of the same rows.
        """
        found = []
        for name, columns in self._columns.items():
            for k in np.flatnonzero(columns.since >= _FEWEST_STANDING).tolist():
                longer = columns.since[k] / columns.longest[k]
                start, value = float(columns.start[k]), float(columns.last[k])
                noisy = longer >= _LONGER_STANDING and np.delete(columns.noisy, k).sum() >= 2
                if noisy or (
                    name in ("force", "torque")
                    and longer >= _LONGER_STANDING_OF_WRENCH
                    and _should_move(log, k + 3 * (name == "torque"), start, columns.digit[k])
                ):
                    rows, column = int(columns.since[k]), self._names[name][k]
                    found.append(Span("dead_channel", start, self._end, rows, value, column))
        return tuple(found)


class _ColumnActivity:
    """Times that each column of a signal has stood still, and whether it has noise of many digits.

    A sample is a row of which any column differs from the row before.

    Attributes:
        since: samples for which it has stood.
        longest: for which it stood before, at the most, or 1.
        start: time of the first sample that it stands at [s].
        last: its value.
        digit: its least step.
    """

    def __init__(self, width: int) -> None:
        self.since, self.longest = np.zeros(width), np.ones(width)
        self.start, self.last = np.zeros(width), np.zeros(width)
        self.digit = np.full(width, np.inf)
        self._row, self._samples = np.zeros((0, width)), np.zeros((0, width))
        self._reversals, self._large, self._count = np.zeros(width), np.zeros(width), 0

    def update(self, values: Array, time: Array) -> None:
        """Look at some rows, at one or more, behind those before."""
        changed = (np.diff(np.concatenate((self._row, values)), axis=0) != 0.0).any(axis=1)
        fresh = np.flatnonzero(changed) + 1 - len(self._row)
        samples = np.concatenate((self._samples, values[fresh]))
        if not len(self._samples) and len(fresh):
            self.start[:] = time[fresh[0]]
        steps = np.diff(samples, axis=0)
        self._move(steps[max(len(self._samples) - 1, 0) :], time[fresh])
        if (self.since >= _FEWEST_STANDING).any():  # for which alone noise is asked
            third = np.diff(steps, n=2, axis=0)
            new = third[max(len(self._samples) - 3, 0) :]
            self._reversals += np.sum(third[1:] * third[:-1] < 0.0, axis=0)
            self._large += np.sum(np.abs(new) > NOISE_DIGITS * self.digit, axis=0)
            self._count += len(new)
        self._row, self._samples, self.last = values[-1:], samples[-_CARRIED_SAMPLES:], values[-1]

    @property
    def noisy(self) -> Flags:
        """Which of them have noise of far more than their last digit."""
        return (self._reversals > _MIN_REVERSAL_SHARE * self._count) & (
            self._large > 0.5 * self._count
        )

    def _move(self, steps: Array, time: Array) -> None:
        """Count for how long each column stands.

        Args:
            steps: to samples, shape (n, width).
            time: of the samples, the last n of which the steps lead to [s].
        """
        time = time[len(time) - len(steps) :]
        for k, moved in enumerate(steps.T != 0.0):
            at: Indices = np.flatnonzero(moved)
            if len(at):
                stands = np.diff(at, prepend=-1 - int(self.since[k]))
                self.longest[k] = max(self.longest[k], stands.max())
                self.since[k], self.start[k] = len(moved) - 1 - at[-1], time[at[-1]]
                self.digit[k] = min(self.digit[k], float(np.abs(steps[at, k]).min()))
            else:
                self.since[k] += len(moved)


def _should_move(log: LogSummary, channel: int, start: float, digit: float) -> bool:
    """Tell whether a channel has to move, by the body that explains the rest of a wrench.

    Args:
        log: its summary, whose series serves.
        channel: of the wrench in the sensor's axes.
        start: time from which it stands [s].
        digit: its least step before, infinite without one.
    """
    recording, own = log.recording, slice(3 * (channel // 3), 3 * (channel // 3) + 3)
    if recording.frames["wrench"] == "world" or recording.compensated:
        return False  # it is no channel of the sensor, or not what that read
    A, y, spread = wrench_equations(log.rows)
    if recording.X_BS is not None:
        to_sensor = coadjoint(recording.X_BS.inverse()) * spread / spread[:, None]
        A, y = to_sensor @ A, y @ to_sensor.T
    counts = np.ones(y.shape, dtype=np.bool_)
    counts[log.time >= start, channel] = False
    if counts.all():
        return False
    _, sizes, Vt = np.linalg.svd(A[counts], full_matrices=False)
    root = Vt.T / np.maximum(sizes, 1e-9 * sizes[0])  # of the covariance of x at unit noise
    x = root @ (root.T @ (A[counts].T @ y[counts]))
    standing, left = A[~counts[:, channel], channel], (y - A @ x)[:, own][counts[:, own]]
    errors = np.sqrt(1.0 + np.mean((standing @ root) ** 2, axis=0).sum()) * np.std(left)
    digit = NOISE_DIGITS * digit / spread[channel] if np.isfinite(digit) else 0.0
    return bool(np.std(standing @ x) > max(DEAD_CHANNEL_SIGMA * errors, digit))


def dead_columns(recording: Recording, rows: Array) -> tuple[Span, ...]:
    """Columns of the wrench that have one value in all still poses, and are not at rest.

    The others of the force, or of the torque, are left with more than their last digit by the body
    that fits best, so that a channel which worked would not keep its value.

    Args:
        recording: of still poses.
        rows: z = [1, ψ, w, …] of the poses, shape (n, K).
    """
    n = len(rows)
    wrench = np.hstack((recording.signals["force"], recording.signals["torque"]))
    same = np.ptp(wrench, axis=0) == 0.0
    if n < FEWEST_POSES or not same.any():
        return ()
    A, y, spread = wrench_equations(rows)
    A = A.reshape(6 * n, -1)
    left = (y.reshape(-1) - A @ (np.linalg.pinv(A, rcond=1e-9) @ y.reshape(-1))).reshape(n, 6)
    sizes = np.sqrt(np.mean(left**2, axis=0)) * spread
    digits = [np.diff(np.unique(channel)).min(initial=np.inf) for channel in wrench.T]
    noisy = sizes > NOISE_DIGITS * np.array(digits)
    found = []
    for number, signal in enumerate(signal for signal in SIGNALS if signal.table == "wrench"):
        own = slice(3 * number, 3 * number + 3)
        if noisy[own].sum() == 2 and same[own].sum() == 1:
            k = int(np.argmax(same[own]))
            name = _column_name(recording, signal, k)
            found.append(Span("dead_channel", 0.0, n - 1.0, n, float(wrench[0, own][k]), name))
    return tuple(found)


def _column_name(recording: Recording, signal: Signal, k: int) -> str:
    """Name of a column of a signal in the log, or that of the signal where no schema has one."""
    table = recording.schema.get(signal.table)
    given = table.get(signal.key) if isinstance(table, dict) else None
    return str((given or signal.columns)[k])
