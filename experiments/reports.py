"""Registry of the reports in `reports/`: command, code that decides their numbers, age."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from experiments.external_data import PUBLIC_LOG, models_in, public_log, robots
from identify.documents import lookup
from identify.files import write_text
from identify.reporting.study.benchmark import BENCHMARK_PACKAGES
from identify.reporting.study.summary import STUDY_PACKAGES, numerics_fingerprint_line

ROOT = Path(__file__).resolve().parents[1]

LEVELS = ("significance", "relevance")
FIT = (*LEVELS, "spatial", "inertia", "logs", "signals", "regressors", "estimation")
PIPELINE = (*FIT, "simulation", "diagnosis", "validation", "pipeline")
"""Packages with thresholds of decisions, of a fit, and of a fit with all checks."""

SHIPPED_LOG = tuple(
    f"datasets/payload_arm/{name}" for name in ("payload_arm.parquet", "schema.toml", "truth.json")
)

EXTERNAL_DATA = "experiments/external_data.py"


@dataclass(frozen=True, slots=True)
class Report:
    """A report, written by a script or from a study file.

    Attributes:
        file: path of the report; all paths are relative to the root of the project.
        study: files, and folders of Python files, that define the measurement.
        packages: packages of `identify` whose numbers it shows.
        minutes: time to write it, on two cores.
        command: arguments of `python`.
        missing_requirement: describes a missing requirement; empty if nothing is missing.
    """

    file: str
    study: tuple[str, ...]
    packages: tuple[str, ...]
    minutes: float
    command: tuple[str, ...]
    missing_requirement: Callable[[], str] = lambda: ""

    @property
    def fingerprint_line(self) -> str:
        """Fingerprint line of the current code."""
        return numerics_fingerprint_line(self.packages, list(self.files()))

    @property
    def is_outdated(self) -> bool:
        """Whether the report is missing, or was written by other code."""
        path = ROOT / self.file
        return not path.is_file() or self.fingerprint_line not in path.read_text(encoding="utf-8")

    def files(self) -> Iterator[Path]:
        """Yield the files that define the measurement."""
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
    """Return the last line of a report; call it before the study runs, since code may change.

    Args:
        name: name of the report.
        parser: parser of its script.
        options: parsed options.
        deciding: names of options that decide the measurement. The report counts as one of this
            code only if they have their default values and nothing is missing.
        missing: description of missing requirements; by default, from `Report.missing_requirement`.
    """
    changed = [key for key in deciding if getattr(options, key) != parser.get_default(key)]
    missing = REPORTS[name].missing_requirement() if missing is None else missing
    if not changed and not missing:
        return f"Numerics: {REPORTS[name].fingerprint_line}."
    why = f"with other {', '.join(changed)}" if changed else f"without {missing}"
    return f"Not the whole study: {why}. `make reports` writes that."


def write_report(path: Path, text: str, line: str) -> None:
    """Write a report with its `numerics_line`, and print it."""
    text = f"{text.rstrip()}\n\n{line}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text)
    print(text)


def outdated_reports(names: Sequence[str] = ()) -> dict[str, Report]:
    """Return the outdated reports, all or only those named, the quickest first.

    Raises:
        SchemaError: no report has one of the names.
    """
    chosen = {name: lookup(REPORTS, name, "report") for name in names or REPORTS}
    old = {name: report for name, report in chosen.items() if report.is_outdated}
    return dict(sorted(old.items(), key=lambda item: item[1].minutes))


def lacks_stars() -> str:
    """Return the name of the STARS data set if its logs are missing."""
    from identify.catalog import dataset_logs
    from identify.errors import DatasetError

    try:
        return "" if dataset_logs("stars") else "the STARS tools"
    except DatasetError:
        return "the STARS tools (IDENTIFY_DATA: see docs/datasets.md)"


def _lacks_public_log() -> str:
    return f"{PUBLIC_LOG[0]} (IDENTIFY_DATA: see docs/datasets.md)" if public_log() is None else ""


def _lacks_mujoco() -> str:
    return "" if find_spec("mujoco") else "MuJoCo"


def _lacks_tx40() -> str:
    from identify.catalog import dataset_logs
    from identify.errors import DatasetError

    try:
        return "" if dataset_logs("tx40") else "the TX40"
    except DatasetError:
        return "the TX40 (IDENTIFY_DATA: see docs/datasets.md)"


def _lacks_robots() -> str:
    return "" if any(models_in(robots())) else "the robot models (see experiments/models.py)"


def _of_study_file(name: str, minutes: float, lacks: Callable[[], str] = lacks_stars) -> Report:
    file, folder = f"experiments/{name}.toml", f"reports/{name}"
    command = ("-m", "identify", "study", "run", file, "-o", folder)
    return Report(f"{folder}/summary.md", (file,), STUDY_PACKAGES, minutes, command, lacks)


REPORTS: Mapping[str, Report] = {
    "integrators": Report(
        file="reports/integrators.md",
        study=("experiments/integrators.py", "experiments/integrators_study"),
        packages=(*LEVELS, "spatial", "inertia", "simulation"),
        minutes=2,
        command=("experiments/integrators.py",),
    ),
    "models": Report(
        file="reports/models.md",
        study=("experiments/models.py", "experiments/models_study", EXTERNAL_DATA),
        packages=(*LEVELS, "spatial", "inertia", "exchange"),
        minutes=3,
        command=("experiments/models.py",),
        missing_requirement=_lacks_robots,
    ),
    "arms": _of_study_file("arms", 8, _lacks_mujoco),
    "arms_measured": _of_study_file("arms_measured", 1, _lacks_tx40),
    "design": Report(
        file="reports/design.md",
        study=("experiments/design.py", "datasets/arms/generate.py"),
        packages=(*PIPELINE, "robots", "arms", "design"),
        minutes=8,
        command=("experiments/design.py",),
    ),
    "cheap_arms": Report(
        file="reports/cheap_arms.md",
        study=(
            "experiments/cheap_arms.py",
            "experiments/cheap_arms_study",
            "datasets/arms/generate.py",
        ),
        packages=(*PIPELINE, "robots", "arms"),
        minutes=10,
        command=("experiments/cheap_arms.py",),
        missing_requirement=_lacks_mujoco,
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
        file="reports/benchmark/benchmark.md",
        study=(
            "identify/studies/benchmark/tasks.toml",
            "experiments/peers/measured.toml",
            "experiments/arms.toml",
        ),
        packages=BENCHMARK_PACKAGES,
        minutes=70,
        command=("-c", "import subprocess; subprocess.run(['make', 'peers'], check=True)"),
    ),
    "parts": Report(
        file="reports/parts.md",
        study=("experiments/parts.py", EXTERNAL_DATA, *SHIPPED_LOG),
        packages=PIPELINE,
        minutes=1,
        command=("experiments/parts.py",),
        missing_requirement=_lacks_public_log,
    ),
    "stars": _of_study_file("stars", 2),
    "stars_shape": _of_study_file("stars_shape", 5),
    "coverage": _of_study_file("coverage", 7),
    "effects": Report(
        file="reports/effects.md",
        study=("experiments/effects.py", "experiments/effects_study"),
        packages=(*PIPELINE, "exchange"),
        minutes=17,
        command=("experiments/effects.py",),
    ),
    "verdicts": Report(
        file="reports/verdicts.md",
        study=("experiments/verdicts.py", "experiments/verdicts_study"),
        packages=(*PIPELINE, "exchange"),
        minutes=3,
        command=("experiments/verdicts.py",),
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
        minutes=45,
        command=("experiments/silent.py",),
        missing_requirement=lacks_stars,
    ),
}
"""Reports by the name for `make study NAME=…`; `benchmarks` is written by `make bench`."""
