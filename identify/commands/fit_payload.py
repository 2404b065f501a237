"""`identify fit --robot`: the load of an arm from joint torques."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from identify.commands.arm_options import (
    make_scale,
    parse_scale,
    read_joint_logs,
    read_robot_of,
    require_unused,
)
from identify.commands.bodies import exit_status
from identify.commands.command import Outcome, UsageError
from identify.commands.fit_options import MISSING_LOG, FitArguments
from identify.commands.output import (
    CARRIER,
    ESTIMATE,
    REPORT,
    RESULT,
    report_matches,
    require_writable,
    stages_on_terminal,
    write_folder,
)
from identify.findings import format_findings

if TYPE_CHECKING:
    from rich.table import Table

    from identify.arms import ArmLog
    from identify.inertia import InertialParameters
    from identify.logs import Recording
    from identify.pipeline.payload import PayloadResult
    from identify.robots import RobotModel

_LOGGER = logging.getLogger(__name__)

_APPLICABLE_OPTIONS = frozenset(
    (
        *("mass", "mass_between", "com", "com_box", "bounding_box"),
        *("cutoff", "gravity", "need", "interval"),
    )
)
"""Options besides those of logs, arm and output that apply to a load on an arm."""


def fit_payload_to_folder(
    options: FitArguments, truth: InertialParameters | None, invocation: str
) -> Outcome:
    """Fit the load of an arm, and write estimate.json and report.html.

    Raises:
        UsageError: options are missing, or do not apply to an arm.
    """
    _require_compatible(options)
    output = options.output
    names = (ESTIMATE, *(REPORT,) * (not output.no_report))
    require_writable(output.output, names)
    with stages_on_terminal(shown=not output.quiet):
        result = _fit(options, invocation)
        _write(options, result, truth)
    status, messages = exit_status(result.verdict), []
    if status:
        codes = ", ".join(result.verdict.reasons)
        messages = [f"error: this estimate must not be used ({codes})"]
        messages += format_findings(result.findings) * output.quiet
    return Outcome(
        lines=_lines(result, truth),
        messages=messages,
        document=result.to_dict,
        files=[output.output / name for name in names],
        status=status,
        quiet=output.quiet,
    )


def _require_compatible(options: FitArguments) -> None:
    """Raise `UsageError` if options are missing, or do not apply to an arm."""
    if not options.input.logs:
        raise UsageError(MISSING_LOG)
    groups = (options.known_body, options.signals, options.intervals, options.many_logs)
    require_unused(groups, _APPLICABLE_OPTIONS, "--robot")
    if options.arm.known_load is not None:
        weighed = frozenset(("com", "com_box", "bounding_box"))
        require_unused((options.known_body,), weighed, "--known-load")
    options.arm.require_complete(options.input.unloaded)


def _fit(options: FitArguments, invocation: str) -> PayloadResult:
    from identify.arms import fit_payload, read_arm
    from identify.estimation.terms import KnownMass
    from identify.pipeline.arm_failures import raise_likeliest_fault
    from identify.pipeline.payload import payload_result
    from identify.pipeline.required_precision import parse_required_precision

    arm, signals, known = options.arm, options.signals, options.known_body
    needs = options.intervals.need
    parse_required_precision(needs)  # before the logs are read
    terms = (*known.terms(), *(() if known.mass is None else (KnownMass(known.mass),)))
    saved = None if arm.arm is None else read_arm(arm.arm)
    loaded = read_joint_logs(options.input.logs, options.input.schema)
    unloaded = read_joint_logs(options.input.unloaded, options.input.schema)
    assert arm.robot is not None
    robot = read_robot_of(arm.robot, loaded[0], signals.gravity)
    _LOGGER.info("estimating")
    logs, frame = [*loaded, *unloaded], str(arm.frame)
    with raise_likeliest_fault(
        logs, robot, loaded=len(loaded), frame=frame, cutoff_hz=signals.cutoff
    ):
        fit = fit_payload(
            loaded,
            unloaded,
            robot=robot,
            frame=frame,
            arm=saved,
            cutoff_hz=signals.cutoff,
            friction=arm.friction or "own",
            interval=options.intervals.interval,
            scale=make_scale(parse_scale(arm.torque_scale, "fit"), len(robot.joints)),
            known_load=arm.known_load,
            terms=terms,
        )
    record = {
        "arm": None if arm.arm is None else arm.arm.name,
        "friction": arm.friction or "own",
        "known_load": arm.known_load,
        "cutoff_hz": signals.cutoff,
        "gravity": signals.gravity,
        "interval": options.intervals.interval,
        "needs": needs,
        "terms": [term.record() for term in terms],
    }
    return payload_result(fit, logs, needs=needs, options=record, command=invocation)


def _write(options: FitArguments, result: PayloadResult, truth: InertialParameters | None) -> None:
    from identify.exchange.estimate_json import estimate_text

    folder, files = options.output.output, {}
    stale = [folder / RESULT]  # of an earlier fit of a wrench
    stale += [folder / CARRIER] * report_matches(folder / CARRIER)
    if options.output.no_report:
        stale.append(folder / REPORT)
    else:
        from identify.reporting.arm_page import payload_report_html

        _LOGGER.info("writing the report")
        text = payload_report_html(result, truth)
        files[folder / REPORT] = text.encode("utf-8", errors="backslashreplace")
    files[folder / ESTIMATE] = estimate_text(result.estimate).encode()
    write_folder(folder, files, stale)


def _lines(result: PayloadResult, truth: InertialParameters | None) -> Iterator[str | Table]:
    from identify.commands.summary import finding_lines, parameter_table, verdict_lines
    from identify.reporting.arm_page import torque_answer

    fit = result.fit
    yield parameter_table(result.estimate, truth, "Payload")
    yield from log_lines(result.recordings, fit.logs, fit.robot, fit.loaded)
    gains = dict(zip(fit.robot.joints, fit.scale.gains.tolist(), strict=True))
    listed = ", ".join(f"{name} {gain:.3g}" for name, gain in gains.items())
    shown = "" if set(gains.values()) == {1.0} else f": {listed}"
    yield f"Torque scale: {fit.scale.interval_kind}{shown}."
    yield from verdict_lines(result, torque_answer(result))
    yield from finding_lines(result.findings)
    proof = result.estimate.certificate
    yield (
        f"Optimal for {proof.optimal_for}: at most {proof.distance_to_optimum:.1g} standard errors "
        "from the optimum."
    )


def log_lines(
    recordings: Sequence[Recording],
    logs: Sequence[ArmLog],
    robot: RobotModel,
    loaded: int | None = None,
) -> Iterator[str]:
    """Format rows, rate and cut-off of each log of joints, and the joints that are locked."""
    for number, (recording, log) in enumerate(zip(recordings, logs, strict=True)):
        kind = "" if loaded is None or number < loaded else " (unloaded)"
        yield (
            f"Read: {log.name}{kind}, {recording.rows} rows, {recording.end_time:.3g} s at "
            f"{log.rate_hz:.4g} Hz; {len(robot.joints)} joints, cut-off {log.cutoff_hz:.3g} Hz."
        )
    if robot.locked:
        positions = ", ".join(f"{name} at {value:g}" for name, value in robot.locked.items())
        yield f"Locked, as the log lacks these joints: {positions}."
