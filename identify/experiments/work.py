"""What a worker does: a task of cells in, their rows out."""

from __future__ import annotations

import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

import numpy as np

from identify.errors import LogError, StudyError
from identify.experiments.backends.threads import hold_threads
from identify.experiments.cell import NamedEstimator, NoisyLog
from identify.experiments.code_mark import code_mark
from identify.experiments.estimators import Answer, Evidence
from identify.experiments.metrics import METRICS
from identify.experiments.sources import LoadedLog, LogItem, Truth

Row: TypeAlias = dict[str, str | int | float | bool | None]
"""Columns of the results and their values; None where there is nothing."""

_LOGS_KEPT = 4
"""Logs a worker keeps in memory: cells of one log come together."""

_ONE_AT_A_TIME = threading.Lock()
"""Compiled solvers are a process's own: threads of one worker take turns."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Cells of one noisy log, which share its statistics.

    Attributes:
        noisy: the log.
        estimators: each with the key of its cell.
    """

    noisy: NoisyLog
    estimators: tuple[tuple[str, NamedEstimator], ...]

    def __len__(self) -> int:
        return len(self.estimators)


@dataclass(frozen=True, slots=True)
class Task:
    """Units that are sent to a worker together.

    Attributes:
        units: in order.
        study: name of the study.
        metrics: names.
        code: mark of the code that made the keys.
    """

    units: tuple[Unit, ...]
    study: str
    metrics: tuple[str, ...]
    code: str

    def __len__(self) -> int:
        return sum(map(len, self.units))


@dataclass(frozen=True, slots=True)
class TaskResult:
    """Rows of a task, in its order, and the processor time they took [s]."""

    rows: list[Row]
    cpu_seconds: float


def run_task(task: Task) -> TaskResult:
    """Run the cells of a task; whatever a cell raises becomes part of its row.

    Raises:
        StudyError: this worker has other code than the runner.
    """
    with _ONE_AT_A_TIME:
        hold_threads()
        began = time.thread_time()
        if code_mark().short != task.code:
            raise StudyError(
                f"a worker has code {code_mark().short} and the runner {task.code}: install the "
                f"same package and solvers ({dict(code_mark().versions)}) everywhere"
            )
        rows = [row for unit in task.units for row in _run_unit(unit, task)]
        return TaskResult(rows, time.thread_time() - began)


def _run_unit(unit: Unit, task: Task) -> list[Row]:
    shared: Row = {"study": task.study, "code": task.code, **unit.noisy.columns()}
    began = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True):  # each estimator meets, and tells, its own
            warnings.simplefilter("always")
            loaded = _load(unit.noisy.log)
            evidence = _evidence(unit.noisy, loaded)
    except Exception as error:  # noqa: BLE001 - what a log raises is a finding of the study
        failed = {"prepare_seconds": time.perf_counter() - began, **_failure(error)}
        return [shared | _name(cell) | failed for cell in unit.estimators]
    shared["prepare_seconds"] = time.perf_counter() - began
    return [
        shared | _name(cell) | _run_cell(cell[1], evidence, loaded.truth, task.metrics)
        for cell in unit.estimators
    ]


def _name(cell: tuple[str, NamedEstimator]) -> Row:
    key, named = cell
    columns = named.estimator.columns("estimator")
    return {"key": key, "estimator": named.label, "estimator_kind": named.estimator.kind, **columns}


def _evidence(noisy: NoisyLog, loaded: LoadedLog) -> Evidence:
    recording = noisy.corruption.apply(loaded.recording, noisy.noise_seed)
    evidence = Evidence(recording, loaded.known, noisy.cutoff_hz)
    with suppress(Exception):  # an estimator that needs them meets the error itself
        _ = evidence.blocks  # made once, before any estimator's time is taken
    return evidence


def _run_cell(
    named: NamedEstimator, evidence: Evidence, truth: Truth | None, metrics: tuple[str, ...]
) -> Row:
    """The part of a row that estimation makes."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = named.estimator.estimate(evidence)
            seconds = time.perf_counter() - began
            _require_finite(answer)
            outcome: Row = {**_outcome(answer), **_scores(answer, truth, metrics)}
        except Exception as error:  # noqa: BLE001 - any failure is a finding of the study
            seconds, outcome = time.perf_counter() - began, _failure(error)
    said = "; ".join(dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught))
    return outcome | {"seconds": seconds, "warnings": said or None, "finished": _now()}


def _require_finite(answer: Answer) -> None:
    if not np.isfinite(answer.phi).all():
        raise StudyError(f"the estimator answered {np.asarray(answer.phi).tolist()}: not a number")


def _outcome(answer: Answer) -> Row:
    return {"solver": answer.solver, "status": answer.status}


def _scores(answer: Answer, truth: Truth | None, metrics: tuple[str, ...]) -> Row:
    values: Row = {}
    for name in metrics:
        scored: Mapping[str, float | None] = METRICS[name].score(answer, truth)
        values |= {key: None if value != value else value for key, value in scored.items()}
    return values


def _failure(error: BaseException) -> Row:
    return failure(type(error).__name__, str(error))


def failure(kind: str, message: str) -> Row:
    """The columns of a cell without an answer."""
    return {"status": "failed", "error_type": kind, "error": message, "finished": _now()}


def failed_rows(task: Task, kind: str, message: str) -> list[Row]:
    """Rows for cells that no worker could finish."""
    return [
        {"study": task.study, "code": task.code, **unit.noisy.columns()}
        | _name(cell)
        | failure(kind, message)
        for unit in task.units
        for cell in unit.estimators
    ]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


_LOADED: OrderedDict[str, LoadedLog] = OrderedDict()
"""Logs in this process's memory by identity, the latest used last."""


def _load(log: LogItem) -> LoadedLog:
    """The log, from memory where this process had it lately.

    Raises:
        LogError: the file changed since the study looked at it.
    """
    loaded = _LOADED.pop(log.identity, None) or log.load()
    if loaded.recording.sources and loaded.recording.sha256 != log.data:
        raise LogError(f"{log.name}: the file changed since the study looked at it; run it again")
    _LOADED[log.identity] = loaded
    while len(_LOADED) > _LOGS_KEPT:
        _LOADED.popitem(last=False)
    return loaded
