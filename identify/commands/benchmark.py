"""`identify benchmark`: estimators of a body compared on the same tasks; and a folder's check."""

from __future__ import annotations

import json
import secrets
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional

from identify.commands.command import (
    Command,
    Flag,
    Number,
    Outcome,
    Repeated,
    UsageError,
    option,
    progress_of_run,
    require_time_limit,
    require_workers,
)
from identify.errors import IdentifyError, StudyError

_FOLDER = Path(__file__).resolve().parents[1] / "studies" / "benchmark"
_QUICK_NUMBER, _TIME_LIMIT = 2, 120.0
"""Number of bodies with --quick; time limit of a trial [s]."""


@dataclass(frozen=True, slots=True)
class Benchmark(Command):
    """Compare estimators of a body on generated tasks, and on others by study files.

    Bodies, motions and noise of half of the generated tasks are drawn at the run; their seed is in
    OUT/run.json. Writes OUT/benchmark.html, .md, .csv and .tex. The same command resumes a run. A
    method that fails, hangs or answers wrongly has rows that say so. Exit status: 0 even if methods
    failed, 2 for bad input, 130 when interrupted.
    """

    output: Annotated[Path, option("OUT", "(required)", short="-o")]
    """Result folder, created if it does not exist."""

    quick: Flag = False
    """A few bodies only: about two minutes on two cores."""

    method: Annotated[Repeated, option("NAME=COMMAND", "(may be repeated)")] = ()
    """Program that reads a folder and writes ten numbers, or FILE.py:FUNCTION."""

    tasks: Annotated[Repeated, option("FILE.toml", "(may be repeated)")] = ()
    """Study file (seed = "drawn" is that of the run), also with estimators besides the methods."""

    workers: Annotated[int | None, option("N", "(default: number of cores)")] = None
    """Number of local processes."""

    scheduler: Annotated[str | None, option("ADDRESS")] = None
    """Dask scheduler (tcp://HOST:PORT) to use instead of local processes."""

    timeout: Annotated[Number, option("S", "(default: 120)")] = None
    """Time limit of a trial [s]."""

    def run(self, invocation: str) -> Outcome:
        """Run what is missing, and write the page."""
        require_workers(self.workers, "benchmark")
        require_time_limit(self.timeout, "benchmark")
        from identify.documents import read_toml
        from identify.reporting.study.benchmark import write_benchmark
        from identify.studies import Results, open_results, parse_study, run_study
        from identify.studies.study_log import NotForTask

        limit = self.timeout or _TIME_LIMIT
        methods = [_method(text, 0.5 * limit) for text in self.method]
        generated, drawn = self._generated()
        estimators = generated["estimators"]
        contents = {"generated": (generated, Path.cwd())}
        for file in map(Path, self.tasks):
            contents[file.stem] = dict(read_toml(file, StudyError)), file.parent
        for content, _ in contents.values():
            content["estimators"] = [*content.get("estimators", estimators), *methods]
            if content.get("seed") == "drawn":
                content["seed"] = drawn
            if self.quick:
                few = {"number": _QUICK_NUMBER}
                content["logs"] = [
                    {**log, **(few if "number" in log else {})} for log in content.get("logs", ())
                ]
        parts: dict[str, Results] = {}
        not_run: dict[str, str] = {}
        for name, (content, folder) in contents.items():
            try:
                study = parse_study(content, folder)
            except IdentifyError as error:  # such as a data set that is not at hand
                if name == "generated":
                    raise
                not_run[name] = str(error)
                continue
            with progress_of_run(self.output, quiet=self.json) as progress:
                run_study(
                    study,
                    self.output / name,
                    workers=self.workers,
                    scheduler=self.scheduler,
                    timeout=None if self.workers == 0 else limit,
                    progress=progress,
                )
            parts[name] = open_results(self.output / name)
        note = (
            f"Tasks of version {generated['name']}; seeds {generated['seed']}, and {drawn} drawn."
        )
        described = [_FOLDER / "tasks.toml", *map(Path, self.tasks)]
        files = write_benchmark(parts, not_run, self.output, note, described)
        errors = {name: each.frame["error_type"].dropna() for name, each in parts.items()}
        unfit = {name: int((kinds == NotForTask.__name__).sum()) for name, kinds in errors.items()}
        failed = {name: len(kinds) - unfit[name] for name, kinds in errors.items()}
        lines = [
            f"{name}: {len(parts[name].frame)} trials, {n} failed, {unfit[name]} not for the task"
            for name, n in failed.items()
        ]
        lines += [f"{name}: not run: {why}" for name, why in not_run.items()]
        record = {"drawn": drawn, "failed": failed, "not_for_task": unfit, "not_run": not_run}
        return Outcome(lines=lines, document=lambda: record, files=files)

    def _generated(self) -> tuple[dict[str, Any], int]:
        """Return the study of generated tasks, and the drawn seed."""
        from identify.documents import read_toml
        from identify.files import write_text

        content = dict(read_toml(_FOLDER / "tasks.toml", StudyError))
        version = content.pop("version")
        run = self.output / "run.json"
        if not run.exists():
            self.output.mkdir(parents=True, exist_ok=True)
            record = {"drawn": secrets.randbelow(2**31) + 1, "tasks": version}
            write_text(run, json.dumps(record))
        drawn = json.loads(run.read_text(encoding="utf-8"))["drawn"]
        content["logs"] = [
            {**log, **seed} for seed in ({}, {"draw": drawn}) for log in content["logs"]
        ]
        content["estimators"] = [
            {**each, "kind": f"{_FOLDER}/{each['kind']}"} if ".py:" in each["kind"] else each
            for each in content["estimators"]
        ]
        return {**content, "name": f"benchmark {version}"}, drawn


_KIT_KEYS = ("body", "robot", "sensor", "temperature_c", "licence", "citation")
_MIN_REPEATS = 3
"""Keys of a measurement of the kit, and fewest repeats of its loaded run."""


@dataclass(frozen=True, slots=True)
class BenchmarkCheck(Command):
    """Check a folder with measurements of a body of the kit (docs/benchmark.md).

    Exit status: 0 if it is complete and its logs can be read, 2 if anything is missing.
    """

    folder: Annotated[Path, Positional, option("FOLDER", "(required)")]
    """Folder with measurement.toml, truth.json, schema.toml, loaded/ and empty/."""

    def run(self, invocation: str) -> Outcome:
        """List what is missing or wrong."""
        problems = list(self._problems())
        lines = [f"missing or wrong: {problem}" for problem in problems]
        return Outcome(
            lines=lines or [f"{self.folder} is complete"],
            document=lambda: {"problems": problems},
            status=UsageError.exit_code if problems else 0,
        )

    def _problems(self) -> Iterator[str]:
        from identify.documents import read_toml
        from identify.exchange import read_parameters
        from identify.inertia import check_consistency
        from identify.logs import load_schema, read_log

        try:
            known = read_toml(self.folder / "measurement.toml", StudyError)
            yield from (f"measurement.toml: {key}" for key in _KIT_KEYS if key not in known)
        except IdentifyError as error:
            yield str(error)
        try:
            verdict = check_consistency(read_parameters(self.folder / "truth.json").phi)
            yield from [f"truth.json: {verdict}"] * verdict.impossible
        except IdentifyError as error:
            yield str(error)
        for kind, least in (("loaded", _MIN_REPEATS), ("empty", 1)):
            logs = sorted(path for path in self.folder.glob(f"{kind}/*") if path.is_file())
            if len(logs) < least:
                yield f"{kind}/: {len(logs)} logs, expected {least} or more"
            for log in logs:
                try:
                    read_log(log, load_schema(self.folder / "schema.toml"))
                except IdentifyError as error:
                    yield str(error)


def _method(text: str, seconds: float) -> Mapping[str, object]:
    """Return the estimator's table of a method on the command line.

    A program is stopped after so many seconds, before the limit of its trial ends its worker alone.
    """
    name, _, command = text.partition("=")
    if not name or not command:
        raise UsageError(
            f'benchmark: --method {text!r}: expected NAME=COMMAND, as in rigeo="python rigeo.py"'
        )
    try:
        program = {"kind": "command", "label": name, "command": shlex.split(command)}
    except ValueError as error:
        raise UsageError(f"benchmark: --method {text!r}: {error}") from error
    if ".py:" not in command or " " in command:
        return {**program, "seconds": seconds}
    from identify.studies.estimators import FunctionEstimator

    kind = str(Path(command).absolute())
    try:
        FunctionEstimator.read(kind, {}, Path())
    except StudyError as error:
        return {**program, "missing": str(error)}
    return {"kind": kind, "label": name}
