"""`identify study check`: what a study file asks for, before anything runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.command import Command, Repeated, UsageError, option
from identify.commands.terminal import printable
from identify.errors import StudyError

if TYPE_CHECKING:
    from identify.experiments import Cell, Study, TimeEstimate

_MOST_LINES = 25
"""Of one list: the rest is counted."""

_MOST_CELLS = 1_000_000
"""Cells that are gone through: more takes minutes, and is most likely a slip."""


@dataclass(frozen=True, slots=True)
class StudyCheck(Command):
    """Check a study file: list its cells, count them, and estimate the time they will take.

    Nothing is written. A few cells are run to see how long one takes. Exit status: 2 for a file
    that is not a study, or that names what is not there.
    """

    file: Annotated[Path, Positional, option("FILE", "(required)")]
    """The study file (TOML)."""

    workers: Annotated[int | None, option("N", "(default: the cores there are)")] = None
    """Processes that will share the work."""

    only: Annotated[Repeated, option("WHAT=NAME", "(may be repeated)")] = ()
    """Only these cells: log=, perturbation= or estimator= and a name, * in it for anything."""

    def run(self, invocation: str) -> int:
        """Print the cells and the time."""
        require_workers(self.workers, "study check")
        from identify.experiments import default_workers, estimate_time, load_study

        study = load_study(self.file)
        _require_countable(study, self.file)
        cells = list(filter(study.selected(self.only), study.cells()))
        _print(_counts(study, cells))
        workers = default_workers() if self.workers is None else max(1, self.workers)
        _print(_time(estimate_time(study, workers=workers, only=self.only)))
        return 0


def require_workers(workers: int | None, command: str) -> None:
    """Refuse a number of workers below zero.

    Raises:
        UsageError: it is.
    """
    if workers is not None and workers < 0:
        raise UsageError(f"{command}: --workers N: expected 0 or more, got {workers}")


def _require_countable(study: Study, file: Path) -> None:
    """Refuse a study of so many cells that listing them takes minutes.

    Raises:
        StudyError: it has.
    """
    if len(study) > _MOST_CELLS:
        raise StudyError(
            f"{file}: {len(study)} cells: {len(study.logs)} logs × {len(study.perturbations)} "
            f"perturbations with {len(study.seeds)} seeds × {len(study.estimators)} estimators; at "
            f"most {_MOST_CELLS} are checked: shorten the lists, or the seeds"
        )


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        print(printable(line), flush=True)


def _counts(study: Study, cells: list[Cell]) -> Iterator[str]:
    """How many cells each log, perturbation and estimator has."""
    logs = Counter(cell.noisy.log.name for cell in cells)
    noisy = dict.fromkeys(
        (c.noisy.log.name, c.noisy.perturbation.label, c.noisy.seed_index) for c in cells
    )
    estimators = Counter(cell.estimator.label for cell in cells)
    yield f"{study.name}: {len(cells)} cells"
    yield f"  {len(noisy)} noisy logs ({len(logs)} logs) × {len(estimators)} estimators"
    yield from _listed("logs", Counter(name.rpartition("/")[0] or name for name in logs))
    seeds = Counter(perturbation for _, perturbation, _ in noisy)
    each = {label: count // len(logs) for label, count in seeds.items()}
    yield from _listed("perturbations: seeds of each log", each)
    yield from _listed("estimators: cells", estimators)
    yield from wrap(f"metrics: {', '.join(study.metrics)}", 80, subsequent_indent="  ")


def _listed(title: str, counts: Counter[str] | dict[str, int]) -> Iterator[str]:
    yield title
    for name, count in list(counts.items())[:_MOST_LINES]:
        yield f"  {count:>6}  {name}"
    if len(counts) > _MOST_LINES:
        yield f"  … and {len(counts) - _MOST_LINES} more"


def _time(estimate: TimeEstimate) -> Iterator[str]:
    from identify.experiments.progress import duration

    yield (
        f"time: about {duration(estimate.seconds)} with {estimate.workers} workers "
        f"({duration(estimate.cpu_seconds)} of processor time), were nothing of it there"
    )
    yield f"  {1e3 * estimate.prepare_seconds:>9.2f} ms to prepare a noisy log"
    for label, seconds in estimate.estimator_seconds.items():
        yield f"  {1e3 * seconds:>9.2f} ms {label}"
    for failure in dict.fromkeys(estimate.failed):
        yield f"note: a cell that was tried failed: {failure}"
