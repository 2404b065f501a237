"""Detection of sensor columns that stay constant while others change, as a log is read."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.diagnosis.contacts import MIN_POSES, wrench_equations
from identify.diagnosis.spans import Span
from identify.logs import Recording
from identify.logs.signal_table import SIGNALS, Signal
from identify.regressors import LogSummary
from identify.significance import DEAD_CHANNEL_SIGMA
from identify.spatial import coadjoint

NOISE_DIGITS = 2.5
"""Noise of a channel, in units of its last digit, above which no value repeats by chance."""

_MIN_SIGN_CHANGE_FRACTION = 0.6
"""Smallest fraction of a channel's third differences that change sign from one to the next, if it
has noise."""

_MIN_CONSTANT_SAMPLES = 50
"""Fewest samples at the end of a log for which a dead channel is constant."""

_MIN_CONSTANT_RATIO = 8.0
"""Smallest ratio of the time for which a dead channel is constant to the longest such time before,
if noise of the other channels is the only evidence."""

_MIN_CONSTANT_RATIO_OF_WRENCH = 2.0
"""Smallest ratio of the constant time of a dead channel to the longest before, if the fitted body
predicts that the channel changes."""

_OVERLAP_SAMPLES = 4
"""Number of samples before a part of the log that third differences and sign changes need."""


class ChannelMonitor:
    """Monitor of a log's columns as it is read in parts of any size; stores no rows."""

    def __init__(self) -> None:
        self._columns: dict[str, _ColumnActivity] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._end = 0.0

    def update(self, recording: Recording, rows: slice = slice(None)) -> None:
        """Process the next rows of a log; rows of static poses are ignored."""
        if recording.time is None or not len(recording.time[rows]):
            return
        self._end = float(recording.time[rows][-1])
        for signal in SIGNALS:
            if (values := recording.signals.get(signal.name)) is not None:
                columns = self._columns.setdefault(signal.name, _ColumnActivity(values.shape[1]))
                columns.update(values[rows], recording.time[rows])
                names = (_column_name(recording, signal, k) for k in range(values.shape[1]))
                self._names.setdefault(signal.name, tuple(names))

    def dead_channels(self, log: LogSummary) -> tuple[Span, ...]:
        """Return the columns that are constant to the end of the log while others change.

        Either the sensor's other columns have noise far above their last digit, so that no working
        channel would keep its value, or the body that explains the rest of the wrench predicts that
        this channel changes.
        """
        spans = []
        for name, columns in self._columns.items():
            for k in np.flatnonzero(columns.constant >= _MIN_CONSTANT_SAMPLES).tolist():
                ratio = columns.constant[k] / columns.longest[k]
                start, value = float(columns.start[k]), float(columns.last[k])
                noisy_others = np.delete(columns.noisy, k).sum()
                if (ratio >= _MIN_CONSTANT_RATIO and noisy_others >= 2) or (
                    name in ("force", "torque")
                    and ratio >= _MIN_CONSTANT_RATIO_OF_WRENCH
                    and _should_change(log, k + 3 * (name == "torque"), start, columns.digit[k])
                ):
                    rows, column = int(columns.constant[k]), self._names[name][k]
                    spans.append(Span("dead_channel", start, self._end, rows, value, column))
        return tuple(spans)


class _ColumnActivity:
    """Time for which each column of a signal is constant, and its noise in units of the last digit.

    A sample is a row in which any column differs from the row before.

    Attributes:
        constant: number of samples for which a column has been constant, shape (width,).
        longest: largest such number before, at least 1, shape (width,).
        start: time of the first sample with the present value [s], shape (width,).
        last: present value, shape (width,).
        digit: smallest step between samples, shape (width,).
    """

    def __init__(self, width: int) -> None:
        self.constant, self.longest = np.zeros(width), np.ones(width)
        self.start, self.last = np.zeros(width), np.zeros(width)
        self.digit = np.full(width, np.inf)
        self._row, self._samples = np.zeros((0, width)), np.zeros((0, width))
        self._reversals, self._large, self._count = np.zeros(width), np.zeros(width), 0

    def update(self, values: Array, time: Array) -> None:
        """Process the next rows, at least one."""
        changed = (np.diff(np.concatenate((self._row, values)), axis=0) != 0.0).any(axis=1)
        fresh = np.flatnonzero(changed) + 1 - len(self._row)
        samples = np.concatenate((self._samples, values[fresh]))
        if not len(self._samples) and len(fresh):
            self.start[:] = time[fresh[0]]
        steps = np.diff(samples, axis=0)
        self._count_constant(steps[max(len(self._samples) - 1, 0) :], time[fresh])
        if (self.constant >= _MIN_CONSTANT_SAMPLES).any():  # otherwise noise is not needed
            third = np.diff(steps, n=2, axis=0)
            new = third[max(len(self._samples) - 3, 0) :]
            self._reversals += np.sum(third[1:] * third[:-1] < 0.0, axis=0)
            self._large += np.sum(np.abs(new) > NOISE_DIGITS * self.digit, axis=0)
            self._count += len(new)
        self._row, self._samples, self.last = values[-1:], samples[-_OVERLAP_SAMPLES:], values[-1]

    @property
    def noisy(self) -> Flags:
        """Flags of columns with noise far above their last digit, shape (width,)."""
        return (self._reversals > _MIN_SIGN_CHANGE_FRACTION * self._count) & (
            self._large > 0.5 * self._count
        )

    def _count_constant(self, steps: Array, time: Array) -> None:
        """Count the samples for which each column is constant; `steps` has shape (n, width)."""
        time = time[len(time) - len(steps) :]
        for k, changed in enumerate(steps.T != 0.0):
            at: Indices = np.flatnonzero(changed)
            if len(at):
                lengths = np.diff(at, prepend=-1 - int(self.constant[k]))
                self.longest[k] = max(self.longest[k], lengths.max())
                self.constant[k], self.start[k] = len(changed) - 1 - at[-1], time[at[-1]]
                self.digit[k] = min(self.digit[k], float(np.abs(steps[at, k]).min()))
            else:
                self.constant[k] += len(changed)


def _should_change(log: LogSummary, channel: int, start: float, digit: float) -> bool:
    """Return whether the body fitted to the rest of the wrench predicts a change of a channel.

    The channel is constant from `start` [s]; `digit` is its smallest step before, infinite if none.
    """
    recording, vector = log.recording, slice(3 * (channel // 3), 3 * (channel // 3) + 3)
    if recording.frames["wrench"] == "world" or recording.compensated:
        return False  # the column is not a channel of the sensor, or not its reading
    A, y, spread = wrench_equations(log.rows)
    if recording.X_BS is not None:
        to_sensor = coadjoint(recording.X_BS.inverse()) * spread / spread[:, None]
        A, y = to_sensor @ A, y @ to_sensor.T
    used = np.ones(y.shape, dtype=np.bool_)
    used[log.time >= start, channel] = False
    if used.all():
        return False
    _, sizes, Vt = np.linalg.svd(A[used], full_matrices=False)
    root = Vt.T / np.maximum(sizes, 1e-9 * sizes[0])  # of the covariance of x at unit noise
    x = root @ (root.T @ (A[used].T @ y[used]))
    A_constant, residual = A[~used[:, channel], channel], (y - A @ x)[:, vector][used[:, vector]]
    errors = np.sqrt(1.0 + np.mean((A_constant @ root) ** 2, axis=0).sum()) * np.std(residual)
    digit = NOISE_DIGITS * digit / spread[channel] if np.isfinite(digit) else 0.0
    return bool(np.std(A_constant @ x) > max(DEAD_CHANNEL_SIGMA * errors, digit))


def dead_columns(recording: Recording, rows: Array) -> tuple[Span, ...]:
    """Return columns of the wrench that are constant in all static poses although others change.

    The residuals of the other two columns of the force, or of the torque, exceed their last digit,
    so that a working channel would not keep its value.

    `rows`: z = [1, ψ, w, …] of the poses, shape (n, K).
    """
    n = len(rows)
    wrench = np.hstack((recording.signals["force"], recording.signals["torque"]))
    same = np.ptp(wrench, axis=0) == 0.0
    if n < MIN_POSES or not same.any():
        return ()
    A, y, spread = wrench_equations(rows)
    A = A.reshape(6 * n, -1)
    residual = (y.reshape(-1) - A @ (np.linalg.pinv(A, rcond=1e-9) @ y.reshape(-1))).reshape(n, 6)
    sizes = np.sqrt(np.mean(residual**2, axis=0)) * spread
    digits = [np.diff(np.unique(channel)).min(initial=np.inf) for channel in wrench.T]
    noisy = sizes > NOISE_DIGITS * np.array(digits)
    spans = []
    for number, signal in enumerate(signal for signal in SIGNALS if signal.table == "wrench"):
        vector = slice(3 * number, 3 * number + 3)
        if noisy[vector].sum() == 2 and same[vector].sum() == 1:
            k = int(np.argmax(same[vector]))
            name = _column_name(recording, signal, k)
            spans.append(Span("dead_channel", 0.0, n - 1.0, n, float(wrench[0, vector][k]), name))
    return tuple(spans)


def _column_name(recording: Recording, signal: Signal, k: int) -> str:
    """Return the name of a signal's column in the log, or the signal's if no schema has one."""
    table = recording.schema.get(signal.table)
    given = table.get(signal.key) if isinstance(table, dict) else None
    return str((given or signal.columns)[k])
