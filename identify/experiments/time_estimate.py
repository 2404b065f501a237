"""What a study will take, from a few cells of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from identify.experiments.code_mark import code_mark
from identify.experiments.study import Study
from identify.experiments.work import Row, by_noisy_log, run_cells

_SAMPLED_LOGS = 3
"""Noisy logs that are tried, spread over the study."""

_START = 4.0
"""Seconds a worker takes to start and to import the solvers."""


@dataclass(frozen=True, slots=True)
class TimeEstimate:
    """What a study will take, were nothing of it there.

    Attributes:
        cells: how many.
        prepare_seconds: mean of reading and preparing a noisy log.
        estimator_seconds: mean of each estimator by label.
        cpu_seconds: of all cells.
        failed: cells of the sample that ended in an error, with the error.
        workers: that share the work.
    """

    cells: int
    prepare_seconds: float
    estimator_seconds: dict[str, float]
    cpu_seconds: float
    failed: tuple[str, ...]
    workers: int

    @property
    def seconds(self) -> float:
        """Wall time."""
        return self.cpu_seconds / self.workers + _START


def estimate_time(study: Study, *, workers: int, only: Sequence[str] = ()) -> TimeEstimate:
    """Run a few noisy logs through every estimator here, and extrapolate.

    Each is run twice and the second time counts: the first pays for imports and compilation.

    Args:
        study: what is to be run.
        workers: that will share the work.
        only: as of `run_study`.

    Raises:
        StudyError: `only` names what the study does not have.
    """
    every = list(by_noisy_log(filter(study.selected(only), study.cells())))
    subset = np.unique(np.linspace(0, len(every) - 1, _SAMPLED_LOGS).astype(int))
    run = partial(run_cells, study=study.name, metrics=study.metrics, code=code_mark().short)
    rows: list[Row] = []
    for index in subset:
        run(every[index])
        rows += run(every[index])[0]
    prepare = _mean_seconds(rows, "prepare_seconds")
    means = {
        label: _mean_seconds([row for row in rows if row["estimator"] == label], "seconds")
        for label in dict.fromkeys(str(row["estimator"]) for row in rows)
    }
    return TimeEstimate(
        cells=sum(map(len, every)),
        prepare_seconds=prepare,
        estimator_seconds=means,
        cpu_seconds=len(every) * (prepare + sum(means.values())),
        failed=tuple(
            f"{r['estimator']} on {r['log']}: {r['error']}" for r in rows if r.get("error")
        ),
        workers=workers,
    )


def _mean_seconds(rows: Sequence[Row], column: str) -> float:
    """Mean of a column; a row that failed before it was filled took none."""
    values = [row.get(column) for row in rows]
    return float(np.mean([value if isinstance(value, float) else 0.0 for value in values]))
