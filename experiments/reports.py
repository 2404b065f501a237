"""Registry of the reports in `reports/`: command, code that decides their numbers, age."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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

EXTERNAL_DATA, ARM_SIMULATOR = "experiments/external_data.py", "datasets/arms/generate.py"
DRAWS = "experiments/effects_study/subjects.py"


@dataclass(frozen=True, slots=True)
class Report:
    """A report, written by a script or from a study file.

    Attributes:
        file: path of the report; all paths are relative to the root of the project.
        study: files, and folders of Python files, that define the measurement.
        packages: packages of `identify` whose numbers it shows.
        minutes: time to write it, on two cores.
        one_process: whether it is written by one process that measures no time: two of them can be
            written side by side.
        command: arguments of `python`.
        missing_requirement: describes a missing requirement; empty if nothing is missing.
    """

    file: str
    study: tuple[str, ...]
    packages: tuple[str, ...]
    minutes: float
    command: tuple[str, ...]
    missing_requirement: Callable[[], str] = lambda: ""
    one_process: bool = False

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


def study_parser(name: str, doc: str | None) -> argparse.ArgumentParser:
    """Return the parser of a script by its docstring, with the path of its report."""
    parser = argparse.ArgumentParser(prog=name, description=(doc or "").split("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path(REPORTS[name].file))
    return parser


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


def _lacks(name: str, title: str) -> str:
    """Return the title of a public data set if its logs are missing."""
    from identify.catalog import dataset_logs
    from identify.errors import DatasetError

    try:
        return "" if dataset_logs(name) else title
    except DatasetError:
        return f"{title} (IDENTIFY_DATA: see docs/datasets.md)"


lacks_stars = partial(_lacks, "stars", "the STARS tools")


def _lacks_public_log() -> str:
    return f"{PUBLIC_LOG[0]} (IDENTIFY_DATA: see docs/datasets.md)" if public_log() is None else ""


def _lacks_mujoco() -> str:
    return "" if find_spec("mujoco") else "MuJoCo"


def _lacks_robots() -> str:
    return "" if any(models_in(robots())) else "the robot models (see experiments/models.py)"


def _of_study_file(name: str, minutes: float, lacks: Callable[[], str] = lacks_stars) -> Report:
    file, folder = f"experiments/{name}.toml", f"reports/{name}"
    command = ("-m", "identify", "study", "run", file, "-o", folder)
    return Report(f"{folder}/summary.md", (file,), STUDY_PACKAGES, minutes, command, lacks)


def _of_script(
    name: str,
    minutes: float,
    packages: tuple[str, ...],
    *study: str,
    lacks: Callable[[], str] = lambda: "",
    one_process: bool = False,
) -> Report:
    """Return the report of a script, measured by itself and by other files."""
    script, file = f"experiments/{name}.py", f"reports/{name}.md"
    return Report(file, (script, *study), packages, minutes, (script,), lacks, one_process)


REPORTS: Mapping[str, Report] = {
    "integrators": _of_script(
        "integrators",
        2,
        (*LEVELS, "spatial", "inertia", "simulation"),
        "experiments/integrators_study",
    ),
    "models": _of_script(
        "models",
        3,
        (*LEVELS, "spatial", "inertia", "exchange"),
        "experiments/models_study",
        EXTERNAL_DATA,
        lacks=_lacks_robots,
        one_process=True,
    ),
    "arms": _of_study_file("arms", 8, _lacks_mujoco),
    "arms_measured": _of_study_file("arms_measured", 1, partial(_lacks, "tx40", "the TX40")),
    "design": _of_script(
        "design", 8, (*PIPELINE, "robots", "arms", "design"), ARM_SIMULATOR, one_process=True
    ),
    "cheap_arms": _of_script(
        "cheap_arms",
        10,
        (*PIPELINE, "robots", "arms"),
        "experiments/cheap_arms_study",
        ARM_SIMULATOR,
        lacks=_lacks_mujoco,
    ),
    "agreement": _of_script("agreement", 2, (*FIT, "validation"), one_process=True),
    "solids_shape": _of_script(
        "solids_shape", 3, (*FIT, "simulation", "studies"), one_process=True
    ),
    "peers": Report(
        file="reports/benchmark/benchmark.md",
        study=(
            "identify/studies/benchmark/tasks.toml",
            "experiments/peers/measured.toml",
            "experiments/peers/arms.toml",
        ),
        packages=BENCHMARK_PACKAGES,
        minutes=28,
        command=("-c", "import subprocess; subprocess.run(['make', 'peers'], check=True)"),
    ),
    "parts": _of_script(
        "parts",
        1,
        PIPELINE,
        EXTERNAL_DATA,
        *SHIPPED_LOG,
        lacks=_lacks_public_log,
        one_process=True,
    ),
    "rows": _of_script("rows", 4, PIPELINE, one_process=True),
    "stars": _of_study_file("stars", 2),
    "stars_shape": _of_study_file("stars_shape", 5),
    "coverage": _of_study_file("coverage", 7),
    "effects": _of_script("effects", 10, (*PIPELINE, "exchange"), "experiments/effects_study"),
    "verdicts": _of_script(
        "verdicts", 4, (*PIPELINE, "exchange"), "experiments/verdicts_study", DRAWS
    ),
    "benchmarks": Report(
        file="reports/benchmarks.md",
        study=("experiments/benchmarks",),
        packages=(*PIPELINE, "exchange"),
        minutes=10,
        command=("experiments/benchmarks/run.py",),
    ),
    "silent": _of_script(
        "silent", 32, PIPELINE, "experiments/silent_study", DRAWS, *SHIPPED_LOG, lacks=lacks_stars
    ),
}
"""Reports by the name for `make study NAME=…`; `benchmarks` is written by `make bench`."""
