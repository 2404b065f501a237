"""What a worker does: cells in, their rows out."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import groupby
from typing import TypeAlias

import numpy as np

from identify.errors import LogError, StudyError
from identify.experiments.cell import Cell
from identify.experiments.code_mark import code_mark
from identify.experiments.estimators import Answer, Evidence
from identify.experiments.executor import hold_threads
from identify.experiments.metrics import METRICS
from identify.experiments.sources.source import LogItem, Truth
from identify.logs import Recording

Row: TypeAlias = dict[str, str | int | float | bool | None]
"""Columns of the results and their values; None where there is nothing."""

_LOGS_KEPT = 4
"""Logs a worker keeps in memory: cells of one log come together."""

_ONE_AT_A_TIME = threading.Lock()
"""Compiled solvers are a process's own: threads of one worker take turns."""


def by_noisy_log(cells: Iterator[Cell] | Sequence[Cell]) -> Iterator[tuple[Cell, ...]]:
    """Cells that stand together and share a noisy log, and so its statistics."""
    for _, group in groupby(cells, key=lambda cell: id(cell.noisy)):
        yield tuple(group)


def run_cells(
    cells: Sequence[Cell], *, study: str, metrics: tuple[str, ...], code: str
) -> tuple[list[Row], float]:
    """Run cells; whatever one raises becomes part of its row.

    Args:
        cells: those of one noisy log together.
        study: name of the study.
        metrics: names.
        code: mark of the code that made the keys.

    Returns:
        Rows in the order of the cells, and the processor time they took [s].

    Raises:
        StudyError: this worker has other code than the runner.
    """
    with _ONE_AT_A_TIME:
        hold_threads()
        began = time.thread_time()
        if code_mark().short != code:
            raise StudyError(
                f"a worker has code {code_mark().short} and the runner {code}: install the "
                f"same package and solvers ({dict(code_mark().versions)}) everywhere"
            )
        rows = [
            {"study": study, **row} for group in by_noisy_log(cells) for row in _run(group, metrics)
        ]
        return rows, time.thread_time() - began


def failed_rows(cells: Sequence[Cell], study: str, kind: str, message: str) -> list[Row]:
    """Rows of cells that no worker could finish."""
    return [{"study": study, **_name(cell), **failure(kind, message)} for cell in cells]


def _run(cells: Sequence[Cell], metrics: tuple[str, ...]) -> Iterator[Row]:
    """Rows of cells of one noisy log."""
    noisy = cells[0].noisy
    began = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True):  # each estimator meets, and tells, its own
            warnings.simplefilter("always")
            recording, truth = _load(noisy.log)
            mass = None if truth is None else float(truth.phi[0])
            perturbed = noisy.perturbation.apply(recording, noisy.noise_seed)
            evidence = Evidence(perturbed, mass, noisy.cutoff_hz)
            with suppress(Exception):  # an estimator that needs them meets the error itself
                _ = evidence.blocks  # made once, before any estimator's time is taken
    except BaseException as error:  # noqa: BLE001 - what a log raises is a finding of the study
        raise_if_interrupted(error)
        outcome = failure(type(error).__name__, str(error))
        shared: Row = {"prepare_seconds": time.perf_counter() - began}
        yield from (_name(cell) | shared | outcome for cell in cells)
        return
    shared = {"prepare_seconds": time.perf_counter() - began}
    for cell in cells:
        yield _name(cell) | shared | _estimate(cell, evidence, truth, metrics)


def _name(cell: Cell) -> Row:
    """The columns that say which cell it is."""
    noisy, estimator = cell.noisy, cell.estimator.estimator
    return {
        "key": cell.key,
        "code": code_mark().short,
        **noisy.columns(),
        "estimator": cell.estimator.label,
        "estimator_kind": estimator.kind,
        **estimator.columns("estimator"),
    }


def _estimate(cell: Cell, evidence: Evidence, truth: Truth | None, metrics: tuple[str, ...]) -> Row:
    """The part of a row that estimation makes."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = cell.estimator.estimator.estimate(evidence)
            seconds = time.perf_counter() - began
            outcome = _outcome(answer, truth, metrics)
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


def _outcome(answer: Answer, truth: Truth | None, metrics: tuple[str, ...]) -> Row:
    if not np.isfinite(answer.phi).all():
        raise StudyError(f"the estimator answered {np.asarray(answer.phi).tolist()}: not a number")
    values: Row = {"solver": answer.solver, "status": answer.status}
    for name in metrics:
        scored = METRICS[name].score(answer, truth)
        values |= {key: None if value != value else value for key, value in scored.items()}
    return values


def failure(kind: str, message: str) -> Row:
    """The part of a row that says why there is no estimate."""
    return {"status": "failed", "error_type": kind, "error": message, "finished": now()}


def now() -> str:
    """The time, as the column `finished` has it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


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
