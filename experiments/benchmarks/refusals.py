"""Time and memory until commands with absurd durations are rejected."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.benchmarks.fit_command import write_csv
from experiments.benchmarks.measure import Effort, ReportLine, Spread
from experiments.benchmarks.processes import ResourceUsage, run_identify

ROWS = 800
TARGET_MB = 500.0

_TURNS = 3
_CLOCK = 'time = "t"'

ABSURD_CUTOFFS_HZ = ("1e-6", "1e-300")
"""Values of `--cutoff` [Hz] whose filters would exceed the memory, for a log of 1.6 s."""

ABSURD_CLOCKS = (f'{_CLOCK}\ntime_unit = "ns"', "rate_hz = 1e300", "rate_hz = 1e-300")
"""Clocks in place of the schema's time, of rows that would last almost no time or for ever."""

ABSURD_MOTIONS = (("1e12", "1e-3"), ("1", "1e-12"))
"""Duration and step [s] of simulations with more steps than memory can hold."""


@dataclass(frozen=True, slots=True)
class AbsurdCommand:
    """A command with a duration that no log or motion has.

    Attributes:
        label: command and option, for the report.
        arguments: arguments of `identify`.
        reason: part of the expected error message.
    """

    label: str
    arguments: tuple[object, ...]
    reason: str


def run(effort: Effort) -> list[ReportLine]:
    """Measure seconds and peak memory of every rejection, each in a new process."""
    turns = max(1, min(effort.repetitions // 3, _TURNS))
    with tempfile.TemporaryDirectory() as folder:
        cases = absurd_commands(Path(folder))
        taken = effort.scaled(len(cases), minimum=2)
        return [
            _line(case, [measure_rejection(case) for _ in range(turns)]) for case in cases[:taken]
        ]


def absurd_commands(folder: Path) -> list[AbsurdCommand]:
    """Write the files of the commands and return the commands."""
    log, schema = write_csv(folder, ROWS)
    body = folder / "body.json"
    body.write_text('{"phi": [1.0, 0, 0, 0, 0.01, 0, 0, 0.01, 0, 0.01]}', encoding="utf-8")
    output = ("-o", folder / "out", "--quiet")
    cases = [
        AbsurdCommand(
            f"simulate --duration {duration} --dt {step}",
            ("simulate", body, "--duration", duration, "--dt", step, *output),
            "increase --dt",
        )
        for duration, step in ABSURD_MOTIONS
    ]
    fit = ("fit", log, *output, "--schema")
    for cutoff in ABSURD_CUTOFFS_HZ:
        arguments = (*fit, schema, "--cutoff", cutoff)
        reason = f"long enough for a cut-off of {float(cutoff):g} Hz"
        cases.append(AbsurdCommand(f"fit --cutoff {cutoff}", arguments, reason))
    for number, clock in enumerate(ABSURD_CLOCKS):
        other = folder / f"clock{number}.toml"
        other.write_text(schema.read_text("utf-8").replace(_CLOCK, clock), encoding="utf-8")
        reason = f"{ROWS} rows would"
        label = f"fit with {clock.splitlines()[-1]}"
        cases.append(AbsurdCommand(label, (*fit, other), reason))
    return cases


def measure_rejection(case: AbsurdCommand) -> ResourceUsage:
    """Measure the time until a command is rejected.

    Raises:
        RuntimeError: it does not end with status 2 and the expected message.
    """
    usage = run_identify(*case.arguments)
    if usage.status != 2 or case.reason not in usage.last_line:
        raise RuntimeError(f"{case.label}: status {usage.status}: {usage.last_line}")
    return usage


def _line(case: AbsurdCommand, runs: list[ResourceUsage]) -> ReportLine:
    seconds = Spread.of(np.array([run.seconds for run in runs]))
    peak = Spread.of(np.array([run.megabytes for run in runs]))
    return ReportLine(
        f"`identify {case.label}` rejected",
        f"{seconds.text('s')}, {peak.text('MB')}",
        f"≤ {TARGET_MB:g} MB",
        peak.highest <= TARGET_MB,
    )
