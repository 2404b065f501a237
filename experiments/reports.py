"""The reports of `reports/`: what writes each, the code whose numbers it shows, which are old."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from identify.documents import lookup
from identify.files import write_text
from identify.reporting.study.summary import STUDY_PACKAGES, numerics_mark

ROOT = Path(__file__).resolve().parents[1]

LEVELS = ("significance", "relevance")
FIT = (*LEVELS, "spatial", "inertia", "logs", "signals", "regressors", "estimation")
PIPELINE = (*FIT, "simulation", "diagnosis", "validation", "pipeline")
"""Packages with the thresholds of decisions, of a fit, and with all that is checked besides."""

SHIPPED_LOG = tuple(
    f"datasets/payload_arm/{name}" for name in ("payload_arm.parquet", "schema.toml", "truth.json")
)


@dataclass(frozen=True, slots=True)
class Report:
    """A report, written by a script or from a study file.

    Attributes:
        file: that is written; this and other paths are from the root of the project.
        study: files, and folders of Python files, that say what is measured.
        packages: of `identify`, whose numbers it shows.
        minutes: that writing it takes, on two cores.
        command: words after `python`.
        lacks: what it needs and is not here, in words; empty where nothing is missing.
    """

    file: str
    study: tuple[str, ...]
    packages: tuple[str, ...]
    minutes: float
    command: tuple[str, ...]
    lacks: Callable[[], str] = lambda: ""

    @property
    def mark(self) -> str:
        """Line on the code of the report as it would be written now."""
        return numerics_mark(self.packages, list(self.files()))

    @property
    def old(self) -> bool:
        """Whether it is not there, or shows numbers of other code."""
        path = ROOT / self.file
        return not path.is_file() or self.mark not in path.read_text(encoding="utf-8")

    def files(self) -> Iterator[Path]:
        """Those that say what is measured."""
        for name in self.study:
            path = ROOT / name
            yield from path.rglob("*.py") if path.is_dir() else (path,)


def numerics_line(
    name: str,
    parser: argparse.ArgumentParser,
    options: argparse.Namespace,
    *deciding: str,
    missing: str | None = None,
) -> str:
    """The last line of a report, to be taken before its study runs: code may change while it does.

    Args:
        name: of the report.
        parser: of its script.
        options: that were given.
        deciding: options that say what is measured. Only where they are as they are by default,
            and nothing is missing, is it the report that counts as one of this code.
        missing: what is, in words; what the report `lacks` where not given.
    """
    changed = [one for one in deciding if getattr(options, one) != parser.get_default(one)]
    missing = REPORTS[name].lacks() if missing is None else missing
    if not changed and not missing:
        return f"Numerics: {REPORTS[name].mark}."
    why = f"with other {', '.join(changed)}" if changed else f"without {missing}"
    return f"Not the whole study: {why}. `make reports` writes that."


def write_report(path: Path, text: str, line: str) -> None:
    """Write a report with its `numerics_line`, and print it."""
    text = f"{text.rstrip()}\n\n{line}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text)
    print(text)


def old_reports(names: Sequence[str] = ()) -> dict[str, Report]:
    """Return the outdated reports, of all or of those named; the quickest first.

    Raises:
        SchemaError: there is no report of a name.
    """
    asked = {name: lookup(REPORTS, name, "report") for name in names or REPORTS}
    old = {name: report for name, report in asked.items() if report.old}
    return dict(sorted(old.items(), key=lambda item: item[1].minutes))


def lacks_stars() -> str:
    """Return the name of the STARS data set if its logs are missing."""
    from identify.catalog import dataset_logs
    from identify.errors import DatasetError

    try:
        return "" if dataset_logs("stars") else "the STARS tools"
    except DatasetError:
        return "the STARS tools (IDENTIFY_DATA: see docs/datasets.md)"


def _lacks_log_of_others() -> str:
    from experiments.parts import FOREIGN, foreign_log

    return f"{FOREIGN[0]} (IDENTIFY_DATA: see docs/datasets.md)" if foreign_log() is None else ""


def _lacks_robots() -> str:
    from experiments.models import models_in, robots

    return "" if any(models_in(robots())) else "the robot models (see experiments/models.py)"


def _of_study_file(name: str, minutes: float) -> Report:
    file, folder = f"experiments/{name}.toml", f"reports/{name}"
    command = ("-m", "identify", "study", "run", file, "-o", folder)
    return Report(f"{folder}/summary.md", (file,), STUDY_PACKAGES, minutes, command, lacks_stars)


REPORTS: Mapping[str, Report] = {
    "integrators": Report(
        file="reports/integrators.md",
        study=("experiments/integrators.py", "experiments/integrators_study"),
        packages=(*LEVELS, "spatial", "inertia", "simulation"),
        minutes=2,
        command=("experiments/integrators.py", "--docs", "docs/simulation.md"),
    ),
    "models": Report(
        file="reports/models.md",
        study=("experiments/models.py", "experiments/models_study"),
        packages=(*LEVELS, "spatial", "inertia", "exchange"),
        minutes=3,
        command=("experiments/models.py",),
        lacks=_lacks_robots,
    ),
    "agreement": Report(
        file="reports/agreement.md",
        study=("experiments/agreement.py",),
        packages=(*FIT, "validation"),
        minutes=2,
        command=("experiments/agreement.py",),
    ),
    "solids_shape": Report(
        file="reports/solids_shape.md",
        study=("experiments/solids_shape.py",),
        packages=(*FIT, "simulation", "studies"),
        minutes=3,
        command=("experiments/solids_shape.py",),
    ),
    "peers": Report(
        file="reports/peers.md",
        study=("experiments/peers", *SHIPPED_LOG),
        packages=FIT,
        minutes=2,
        command=("experiments/peers/run.py",),
    ),
    "parts": Report(
        file="reports/parts.md",
        study=("experiments/parts.py", *SHIPPED_LOG),
        packages=PIPELINE,
        minutes=1,
        command=("experiments/parts.py",),
        lacks=_lacks_log_of_others,
    ),
    "stars": _of_study_file("stars", 2),
    "stars_shape": _of_study_file("stars_shape", 5),
    "coverage": _of_study_file("coverage", 7),
    "effects": Report(
        file="reports/effects.md",
        study=("experiments/effects.py", "experiments/effects_study"),
        packages=(*PIPELINE, "exchange"),
        minutes=8,
        command=("experiments/effects.py",),
    ),
    "benchmarks": Report(
        file="reports/benchmarks.md",
        study=("experiments/benchmarks",),
        packages=(*PIPELINE, "exchange"),
        minutes=10,
        command=("experiments/benchmarks/run.py",),
    ),
    "silent": Report(
        file="reports/silent.md",
        study=("experiments/silent.py", "experiments/silent_study", *SHIPPED_LOG),
        packages=PIPELINE,
        minutes=50,
        command=("experiments/silent.py",),
        lacks=lacks_stars,
    ),
}
"""By name, which is that of `make study NAME=…`, but for `benchmarks`: that is `make bench`."""
