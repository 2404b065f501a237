"""What a worker does: trials in, their rows out; logs in, their statistics out."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby

import numpy as np

from identify.errors import LogError, StudyError
from identify.logs import Recording
from identify.regressors import Statistics, block_statistics, join_logs
from identify.signals import prepare
from identify.studies.estimators import EstimatorOutput, TrialData
from identify.studies.executor import hold_threads
from identify.studies.keys import code_fingerprint
from identify.studies.metrics import METRICS
from identify.studies.rows import Row, failure, now
from identify.studies.study import LogItem, Trial, Truth

BATCH_SECONDS = 0.25
"""What a batch is to take: long beside what sending costs, short beside what a crash may cost."""

_INITIAL = 0.05
"""Seconds that a preparation, or an estimator, is taken for until one was seen."""

_NEWEST = 0.3
"""Weight of the newest time in the running means."""


class Pace:
    """Running means of what a log's preparation and each estimator take [s]."""

    def __init__(self, initial: float = _INITIAL) -> None:
        """Nothing is known yet: a preparation or an estimator is taken for `initial` seconds."""
        self._initial = initial
        self._means: dict[str | None, float] = {}

    def learn(self, rows: Iterable[Row]) -> None:
        """Take in the times of rows."""
        for row in rows:
            taken = {None: row.get("prepare_seconds"), str(row["estimator"]): row.get("seconds")}
            for label, seconds in taken.items():
                if isinstance(seconds, float):
                    old = self._means.get(label, seconds)
                    self._means[label] = old + _NEWEST * (seconds - old)

    def seconds(self, trials: Sequence[Trial]) -> float:
        """What trials of one noisy log take together."""
        labels = (None, *(trial.estimator.label for trial in trials))
        return sum(self._means.get(label, self._initial) for label in labels)


def batches(groups: Iterable[tuple[Trial, ...]], pace: Pace) -> Iterator[tuple[Trial, ...]]:
    """Groups of trials, each of one noisy log, put together to about `BATCH_SECONDS`.

    A group whose estimators are slow is taken apart: each then prepares its log for itself.
    Nothing is taken of the groups before it is asked for: `pace` may learn on the way.
    """
    batch: list[Trial] = []
    seconds = 0.0
    for group in groups:
        slow = pace.seconds(group) > 2.0 * BATCH_SECONDS
        for part in [(trial,) for trial in group] if slow else [group]:
            batch += part
            seconds += pace.seconds(part)
            if seconds >= BATCH_SECONDS:
                yield tuple(batch)
                batch, seconds = [], 0.0
    if batch:
        yield tuple(batch)


_LOGS_KEPT = 4
"""Logs a worker keeps in memory: trials of one log come together."""

_ONE_AT_A_TIME = threading.Lock()
"""Compiled solvers are a process's own: threads of one worker take turns."""


def by_noisy_log(trials: Iterator[Trial] | Sequence[Trial]) -> Iterator[tuple[Trial, ...]]:
    """Trials that stand together and share a noisy log, and so its statistics."""
    for _, group in groupby(trials, key=lambda trial: id(trial.noisy)):
        yield tuple(group)


def run_trials(
    trials: Sequence[Trial], *, study: str, metrics: tuple[str, ...], code: str
) -> tuple[list[Row], float]:
    """Run trials; whatever one raises becomes part of its row.

    Trials of one noisy log stand together; `code` is the fingerprint that made their keys.

    Returns:
        Rows in the order of the trials, and the processor time they took [s].

    Raises:
        StudyError: this worker has other code than the runner.
    """
    with _ONE_AT_A_TIME:
        hold_threads()
        began = time.thread_time()
        if code_fingerprint().short != code:
            raise StudyError(
                f"a worker has code {code_fingerprint().short} and the runner {code}: install the "
                f"same package and solvers ({dict(code_fingerprint().versions)}) everywhere"
            )
        rows = [
            {"study": study, **row}
            for group in by_noisy_log(trials)
            for row in _run(group, metrics)
        ]
        return rows, time.thread_time() - began


def failed_rows(trials: Sequence[Trial], study: str, kind: str, message: str) -> list[Row]:
    """Rows of trials that no worker could finish."""
    return [{"study": study, **_name(trial), **failure(kind, message)} for trial in trials]


def _run(trials: Sequence[Trial], metrics: tuple[str, ...]) -> Iterator[Row]:
    """Rows of trials of one noisy log."""
    noisy = trials[0].noisy
    began = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True):  # each estimator meets, and tells, its own
            warnings.simplefilter("always")
            recording, truth = _load(noisy.log)
            mass = None if truth is None else float(truth.phi[0])
            perturbed = noisy.perturbation.apply(recording, noisy.noise_seed)
            shape = None if truth is None else truth.shape
            data = TrialData(perturbed, mass, noisy.cutoff_hz, shape)
            with suppress(Exception):  # an estimator that needs them meets the error itself
                _ = data.blocks  # made once, before any estimator's time is taken
    except BaseException as error:  # noqa: BLE001 - what a log raises is a finding of the study
        raise_if_interrupted(error)
        outcome = failure(type(error).__name__, str(error))
        shared: Row = {"prepare_seconds": time.perf_counter() - began}
        yield from (_name(trial) | shared | outcome for trial in trials)
        return
    shared = {"prepare_seconds": time.perf_counter() - began}
    for trial in trials:
        yield _name(trial) | shared | _estimate(trial, data, truth, metrics)


def _name(trial: Trial) -> Row:
    """The columns that say which trial it is."""
    noisy, estimator = trial.noisy, trial.estimator.estimator
    return {
        "key": trial.key,
        "code": code_fingerprint().short,
        **noisy.columns(),
        "estimator": trial.estimator.label,
        "estimator_kind": estimator.kind,
        **estimator.columns("estimator"),
    }


def _estimate(trial: Trial, data: TrialData, truth: Truth | None, metrics: tuple[str, ...]) -> Row:
    """The part of a row that estimation makes."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            output = trial.estimator.estimator.estimate(data)
            seconds = time.perf_counter() - began
            outcome = _outcome(output, truth, metrics)
        except BaseException as error:  # noqa: BLE001 - any failure is a finding of the study
            raise_if_interrupted(error)
            seconds = time.perf_counter() - began
            outcome = failure(type(error).__name__, str(error))
    said = "; ".join(dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught))
    return outcome | {"seconds": seconds, "warnings": said or None, "finished": now()}


def raise_if_interrupted(error: BaseException) -> None:
    """Raise what may be the keyboard's: that goes to the runner, and reaches its main thread."""
    if isinstance(error, KeyboardInterrupt) and (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    ):
        raise error


def _outcome(output: EstimatorOutput, truth: Truth | None, metrics: tuple[str, ...]) -> Row:
    if not np.isfinite(output.phi).all():
        raise StudyError(f"the estimator gave {np.asarray(output.phi).tolist()}: not a number")
    values: Row = {"solver": output.solver, "status": output.status}
    for name in metrics:
        scored = METRICS[name].score(output, truth)
        values |= {key: None if value != value else value for key, value in scored.items()}
    return values


_LOADED: OrderedDict[str, tuple[Recording, Truth | None]] = OrderedDict()
"""Logs in this process's memory by identity, the latest used last."""


def _load(log: LogItem) -> tuple[Recording, Truth | None]:
    """The log, from memory where this process had it lately.

    Raises:
        LogError: the file changed since the study looked at it.
    """
    recording, truth = loaded = _LOADED.pop(log.identity, None) or log.load()
    if recording.sources and recording.sha256 != log.data:
        raise LogError(f"{log.name}: the file changed since the study looked at it; run it again")
    _LOADED[log.identity] = loaded
    while len(_LOADED) > _LOGS_KEPT:
        _LOADED.popitem(last=False)
    return recording, truth


def log_statistics(log: LogItem) -> Statistics:
    """One-pass statistics of one log, as a worker makes them.

    Raises:
        LogError: the log cannot be read or prepared.
    """
    recording, _ = log.load()
    return block_statistics(prepare(recording)).merged()


def merge_two_logs(first: Statistics, second: Statistics) -> Statistics:
    """Statistics of the logs of both, each log with a sensor offset of its own."""
    return join_logs([first, second])
