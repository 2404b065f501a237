"""Trials, as workers of a study run them."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby

import numpy as np

from identify.errors import StudyError
from identify.studies.estimator import EstimatorOutput, TrialData
from identify.studies.executor import limit_blas_threads
from identify.studies.keys import code_fingerprint
from identify.studies.metrics import METRICS
from identify.studies.rows import Row, current_time_text, failure_columns
from identify.studies.study import LogItem, Trial, Truth
from identify.studies.study_log import StudyLog

BATCH_SECONDS = 0.25
"""Target duration of a batch of trials [s]: long compared with dispatch, but short enough that a
crash loses little."""

_INITIAL_DURATION = 0.05
"""Assumed duration of a preparation or of an estimator before one has been measured [s]."""

_NEW_DURATION_WEIGHT = 0.3
"""Weight of a new duration in the running mean of durations."""


class DurationModel:
    """Running means of the durations of preparations and of each estimator [s]."""

    def __init__(self, initial: float = _INITIAL_DURATION) -> None:
        """Assume `initial` seconds for a preparation and for each estimator."""
        self._initial = initial
        self._means: dict[str | None, float] = {}

    def update(self, rows: Iterable[Row]) -> None:
        """Update the mean durations from the durations in rows."""
        for row in rows:
            times = {None: row.get("prepare_seconds"), str(row["estimator"]): row.get("seconds")}
            for label, seconds in times.items():
                if isinstance(seconds, float):
                    mean = self._means.get(label, seconds)
                    self._means[label] = mean + _NEW_DURATION_WEIGHT * (seconds - mean)

    def seconds(self, trials: Sequence[Trial]) -> float:
        """Return the expected duration of trials of one noisy log [s]."""
        labels = (None, *(trial.estimator.label for trial in trials))
        return sum(self._means.get(label, self._initial) for label in labels)


def make_batches(
    trials_by_noisy_log: Iterable[tuple[Trial, ...]], durations: DurationModel
) -> Iterator[tuple[Trial, ...]]:
    """Join the trials of several noisy logs to batches of about `BATCH_SECONDS`.

    A group of slow estimators is split into trials, each of which prepares its log again. Groups
    are consumed lazily, so that `durations` may be updated meanwhile.
    """
    batch: list[Trial] = []
    seconds = 0.0
    for group in trials_by_noisy_log:
        slow = durations.seconds(group) > 2.0 * BATCH_SECONDS
        for part in [(trial,) for trial in group] if slow else [group]:
            batch += part
            seconds += durations.seconds(part)
            if seconds >= BATCH_SECONDS:
                yield tuple(batch)
                batch, seconds = [], 0.0
    if batch:
        yield tuple(batch)


_MAX_CACHED_LOGS = 4
"""Maximum number of logs that a worker keeps in memory; trials are grouped by log."""

_SOLVER_LOCK = threading.Lock()
"""Lock for the threads of a worker, because compiled solvers are shared in a process."""


def group_by_noisy_log(trials: Iterator[Trial] | Sequence[Trial]) -> Iterator[tuple[Trial, ...]]:
    """Group consecutive trials by the noisy log on which they run."""
    for _, group in groupby(trials, key=lambda trial: id(trial.noisy)):
        yield tuple(group)


def run_trials(
    trials: Sequence[Trial], *, study: str, metrics: tuple[str, ...], code: str
) -> tuple[list[Row], float]:
    """Run trials, and store the error of a failed trial in its row.

    Trials of one noisy log are consecutive; `code` is the fingerprint in their keys.

    Returns rows in the order of the trials, and their processor time [s].
    Raises `StudyError`: this worker has other code than the runner.
    """
    with _SOLVER_LOCK:
        limit_blas_threads()
        began = time.thread_time()
        if code_fingerprint().short != code:
            raise StudyError(
                f"a worker has code {code_fingerprint().short} and the runner {code}: install the "
                f"same package and solvers ({dict(code_fingerprint().versions)}) everywhere"
            )
        rows = [
            {"study": study, **row}
            for group in group_by_noisy_log(trials)
            for row in _run_on_noisy_log(group, metrics)
        ]
        return rows, time.thread_time() - began


def failed_rows(trials: Sequence[Trial], study: str, kind: str, message: str) -> list[Row]:
    """Return rows of trials that no worker could finish."""
    failure = failure_columns(kind, message)
    return [{"study": study, **_trial_columns(trial), **failure} for trial in trials]


def _run_on_noisy_log(trials: Sequence[Trial], metrics: tuple[str, ...]) -> Iterator[Row]:
    """Yield the rows of trials of one noisy log."""
    noisy = trials[0].noisy
    began = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True):  # estimators record the warnings that matter
            warnings.simplefilter("always")
            log, truth = _load_cached(noisy.log)
            mass = None if truth is None else float(truth.phi[0])
            perturbed = noisy.perturbation.apply(log, noisy.noise_seed)
            shape = None if truth is None else truth.shape
            data = TrialData(perturbed, mass, noisy.cutoff_hz, shape)
            with suppress(Exception):  # an estimator that needs them raises the error again
                _ = data.blocks  # computed once, before the estimators are timed
    except BaseException as error:  # noqa: BLE001 - what a log raises is a finding of the study
        raise_if_interrupted(error)
        outcome = failure_columns(type(error).__name__, str(error))
        shared: Row = {"prepare_seconds": time.perf_counter() - began}
        yield from (_trial_columns(trial) | shared | outcome for trial in trials)
        return
    shared = {"prepare_seconds": time.perf_counter() - began}
    for trial in trials:
        yield _trial_columns(trial) | shared | _run_estimator(trial, data, truth, metrics)


def _trial_columns(trial: Trial) -> Row:
    noisy, estimator = trial.noisy, trial.estimator.estimator
    return {
        "key": trial.key,
        "code": code_fingerprint().short,
        **noisy.columns(),
        "estimator": trial.estimator.label,
        "estimator_kind": estimator.kind,
        **estimator.columns("estimator"),
    }


def _run_estimator(
    trial: Trial, data: TrialData, truth: Truth | None, metrics: tuple[str, ...]
) -> Row:
    """Run a trial's estimator, and return the result columns with its outcome."""
    began, cpu_began = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            output = trial.estimator.estimator.estimate(data)
            seconds = time.perf_counter() - began
            if output.cpu_seconds is None:
                output = replace(output, cpu_seconds=time.process_time() - cpu_began)
            outcome = _output_columns(output, truth, metrics)
        except BaseException as error:  # noqa: BLE001 - any failure is a finding of the study
            raise_if_interrupted(error)
            seconds = time.perf_counter() - began
            outcome = failure_columns(type(error).__name__, str(error))
    texts = "; ".join(dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught))
    return outcome | {
        "seconds": seconds,
        "warnings": texts or None,
        "finished": current_time_text(),
    }


def raise_if_interrupted(error: BaseException) -> None:
    """Raise a KeyboardInterrupt in the main thread again, so that it ends the run."""
    if isinstance(error, KeyboardInterrupt) and (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    ):
        raise error


def _output_columns(output: EstimatorOutput, truth: Truth | None, metrics: tuple[str, ...]) -> Row:
    if output.phi is not None and not np.isfinite(output.phi).all():
        raise StudyError(f"the estimator gave {np.asarray(output.phi).tolist()}: not a number")
    values: Row = {"solver": output.solver, "status": output.status}
    values["reasons"] = ", ".join(output.reasons) or None
    for name in metrics:
        scored = METRICS[name].compute(output, truth)
        values |= {key: None if value != value else value for key, value in scored.items()}
    return values


_LOG_CACHE: OrderedDict[str, tuple[StudyLog, Truth | None]] = OrderedDict()
"""Cache of loaded logs by their identity; the most recently used log is last."""


def _load_cached(log: LogItem) -> tuple[StudyLog, Truth | None]:
    """Load a log, from memory if this process used it recently."""
    loaded = _LOG_CACHE.pop(log.identity_digest, None) or log.load()
    _LOG_CACHE[log.identity_digest] = loaded
    while len(_LOG_CACHE) > _MAX_CACHED_LOGS:
        _LOG_CACHE.popitem(last=False)
    return loaded
