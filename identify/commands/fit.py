"""`identify fit`: fit a body to logs, and write estimate.json and report.html."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from identify.commands.arm_options import require_joints, require_unused, sensor_of_logs
from identify.commands.bodies import exit_status, read_bodies
from identify.commands.command import Outcome, UsageError, defer_unused_numpy_modules, error_record
from identify.commands.drafting import schema_path
from identify.commands.fit_options import MISSING_LOG, FitArguments, merge_box_argument
from identify.commands.output import (
    CARRIER,
    ESTIMATE,
    REPORT,
    RESULT,
    print_text,
    require_writable,
    stages_on_terminal,
    write_results,
)
from identify.errors import ProblemError
from identify.findings import format_findings

if TYPE_CHECKING:
    from rich.table import Table

    from identify.inertia import InertialParameters
    from identify.logs import LogFile, Recording, Schema
    from identify.pipeline import FitSettings, Result

_LOGGER = logging.getLogger(__name__)

_OPTIONS_OF_LOADS = frozenset(
    (
        *("mass", "mass_between", "com", "com_box", "bounding_box"),
        *("cutoff", "gravity", "need", "interval", "each", "workers", "timeout", "retry_failed"),
    )
)
"""Options besides those of logs, arm and output that apply to a load on an arm."""


@dataclass(frozen=True, slots=True)
class Fit(FitArguments):
    """Fit mass, centre of mass and inertia of one body to one or more of its logs.

    Prints the ten parameters and writes OUT/estimate.json, OUT/report.html and OUT/result.npz, from
    which `identify report` rebuilds the report. With --unloaded the logs are of a payload on a
    carrier, such as a gripper: OUT/estimate.json is then the payload's, and OUT/carrier.json the
    carrier's. With --robot the logs are of the joints of an arm without a force sensor: OUT then
    has the estimate.json and report.html of its load.

    Exit status: 0 only if the estimate is proved physically consistent and optimal, and no finding
    forbids its use; 2 for bad use or bad input; 3 if mass or centre of mass is not identifiable or
    the problem cannot be solved; 4 if the estimate must not be used (all files are written). With
    --each: the lowest non-zero status of all logs.
    """

    @classmethod
    def preprocess_argv(cls, argv: Sequence[str]) -> Sequence[str]:
        """Join the sides of `--shape box X Y Z` to one argument."""
        return merge_box_argument(argv)

    def with_extra_positionals(self, words: Sequence[str]) -> Fit:
        """Add logs that follow an option."""
        return replace(self, input=replace(self.input, logs=(*self.input.logs, *map(Path, words))))

    def run(self, invocation: str) -> Outcome:
        """Fit, and write all files."""
        defer_unused_numpy_modules()
        from identify.logs import load_schema
        from identify.pipeline import fit

        self._require_compatible()
        settings = self._settings()
        schema_file = schema_path(
            self.input.schema,
            self.input.logs,
            "fit",
            self.output.output,
            self.arm.robot,
            asks=not self.json,
            quiet=self.output.quiet,
        )
        schema = load_schema(schema_file)
        sensor = sensor_of_logs(schema.sensor, self.arm.robot, "fit")
        if self.many_logs.each:
            return self._fit_each(settings, schema, schema_file, sensor, invocation)
        folder, report = self.output.output, not self.output.no_report
        with_carrier = bool(self.input.unloaded) and sensor == "wrench"
        require_writable(folder, (ESTIMATE, *(CARRIER,) * with_carrier, *(RESULT, REPORT) * report))
        truth = _read_truth(self.output.truth)
        if self.many_logs.follow:
            from identify.commands.follow import follow

            shown = (lambda line: None) if self.output.quiet or self.json else print_text
            follow(self.input.logs[0], schema, settings, shown)
        with stages_on_terminal(shown=not self.output.quiet):
            result = fit(
                read_logs(self.input.logs, schema, sensor),
                settings,
                unloaded=read_logs(self.input.unloaded, schema, sensor),
                command=invocation,
                truth=truth,
            )
            _LOGGER.info("writing the report")
            files = write_results(folder, result, truth, report=report)
        return self._outcome(result, truth, files)

    def _outcome(
        self, result: Result, truth: InertialParameters | None, files: Sequence[Path]
    ) -> Outcome:
        """Return the outcome of a fit, with the force gain if a known mass was given."""
        status, known = exit_status(result.verdict), self.signals.known_mass_check
        messages, document = list(_uncorrectable_code_messages(result)), result.to_dict()
        if status:
            codes = ", ".join(result.verdict.reasons)
            messages.append(f"error: this estimate must not be used ({codes})")
            if self.output.quiet:  # the summary, which has them, is not shown
                messages += format_findings(result.all_findings)
        elif known is not None:
            from identify.pipeline.known_mass import force_gain

            try:
                document["force_gain"] = force_gain(result, known)._asdict()
            except ProblemError as error:
                document["error"] = error_record(error)
                messages.append(f"error: {error}")
                status = error.exit_code
        return Outcome(
            lines=_summary_lines(
                result, truth, None if status else known, verbose=self.output.verbose
            ),
            messages=messages,
            document=lambda: document,
            files=files,
            status=status,
            quiet=self.output.quiet,
        )

    def _fit_each(
        self, settings: FitSettings, schema: Schema, schema_file: Path, sensor: str, invocation: str
    ) -> Outcome:
        from identify.commands.fit_each import BatchFitSettings, fit_each

        batch = BatchFitSettings(
            schema=schema,
            sensor=sensor,
            settings=settings,
            truth=_read_truth(self.output.truth),
            output=self.output.output,
            report=not self.output.no_report,
            invocation=invocation,
        )
        return fit_each(
            self.input.logs,
            schema_file,
            batch,
            workers=self.many_logs.workers,
            timeout=self.many_logs.timeout,
            retry_failed=self.many_logs.retry_failed,
            quiet=self.output.quiet,
        )

    def _require_compatible(self) -> None:
        from identify.logs import load_schema

        data = self.input
        signals = self.signals
        many = self.many_logs
        if not data.logs:
            raise UsageError(MISSING_LOG)
        self.arm.require_robot()
        if self.arm.robot is not None:
            if data.schema is not None:
                require_joints(load_schema(data.schema))
            groups = (self.known_body, signals, self.intervals, many)
            require_unused(groups, _OPTIONS_OF_LOADS, "--robot")
            if self.arm.known_load is not None:
                weighed = frozenset(("com", "com_box", "bounding_box"))
                require_unused((self.known_body,), weighed, "--known-load")
            self.arm.require_complete(data.unloaded)
        many.require_compatible()
        if (weighed := signals.known_mass_check) is not None:
            if many.each or self.known_body.mass is not None:
                other = "--each" if many.each else "--mass"
                raise UsageError(f"fit: --known-mass-check cannot be combined with {other}")
            if not weighed > 0.0:
                raise UsageError(f"fit: --known-mass-check {weighed:g}: expected a mass above 0 kg")
        if signals.no_bias and signals.shared_bias:
            raise UsageError("fit: --no-bias cannot be combined with --shared-bias")
        unneeded = data.unloaded or signals.apply or not self.intervals.need
        if many.follow and (len(data.logs) != 1 or unneeded):
            raise UsageError(
                "fit: --follow watches one log until --need is met: give one LOG, --need, and no "
                "--unloaded or --apply"
            )
        joined = {"unloaded": data.unloaded, "shared-bias": signals.shared_bias}
        for name in [name for name, given in joined.items() if many.each and given]:
            raise UsageError(f"fit: --{name} fits logs jointly and cannot be combined with --each")
        if many.each and self.known_body.prior == "none":
            raise UsageError(
                "fit: --each needs a value for every parameter and cannot be combined with --prior "
                "none, which gives none for unidentifiable parameters"
            )

    def _settings(self) -> FitSettings:
        from identify.pipeline import FitSettings

        known = self.known_body
        signals = self.signals
        intervals = self.intervals
        return FitSettings(
            bias="none" if signals.no_bias else "shared" if signals.shared_bias else "per_log",
            mass=known.mass,
            cutoff_hz=signals.cutoff,
            gravity=signals.gravity,
            terms=known.terms(),
            prior=known.make_prior(),
            needs=intervals.need,
            interval=intervals.interval,
            simultaneous=intervals.simultaneous,
            apply=tuple(code.strip() for code in signals.apply.split(",") if code.strip()),
            check=signals.check,
            bounds=intervals.bounds,
            joints=self.arm.settings(),
        )


def read_logs(
    logs: Sequence[Path], schema: Schema, sensor: str | None = None
) -> list[Recording | LogFile]:
    """Open logs by a schema, each a stage on the terminal."""
    from identify.logs.log_file import open_runs

    opened = []
    for log in logs:
        _LOGGER.info("reading %s", log)
        opened += open_runs(log, schema, sensor)
    return opened


def _read_truth(path: Path | None) -> InertialParameters | None:
    """Read the reference body, if one is given; it must be physically consistent."""
    if path is None:
        return None
    from identify.exchange import require_unedited
    from identify.inertia import check_consistency

    (saved,) = read_bodies(path)
    require_unedited(saved, path)
    truth = saved.parameters
    verdict = check_consistency(truth.phi)
    if verdict.impossible or not truth.phi[0] > 0.0:
        raise UsageError(f"fit: --truth {path}: {verdict}")
    return truth


def _summary_lines(
    result: Result, truth: InertialParameters | None, known_mass: float | None, *, verbose: bool
) -> Iterator[str | Table]:
    from identify.commands.summary import force_gain_lines, summary

    yield from summary(result, truth, verbose=verbose)
    if known_mass is not None:
        yield from force_gain_lines(result, known_mass)


def _uncorrectable_code_messages(result: Result) -> Iterator[str]:
    """Return a message for each code of `--apply` that was not applied."""
    for code in result.not_applied:
        detected = any(finding.code == code for finding in result.findings)
        size = "the finding states its size" if detected else "it was not detected in these logs"
        yield f"--apply {code}: not applied, because every fit estimates it; {size}"
