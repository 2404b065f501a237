"""Lengths that no log and no motion has: how soon they are refused, and in how much memory."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.benchmarks.fit_command import write_csv
from experiments.benchmarks.measure import Effort, Line, Spread
from experiments.benchmarks.processes import Taken, run_identify

ROWS = 800
REACH_SECONDS, REACH_MB = 3.0, 500.0

_TURNS = 3
_CLOCK = 'time = "t"'

CUTOFFS = ("1e-6", "1e-300")
"""`--cutoff` [Hz] of a log of 1.6 s, whose filters would be longer than any memory."""

CLOCKS = (f'{_CLOCK}\ntime_unit = "ns"', "rate_hz = 1e300", "rate_hz = 1e-300")
"""In place of the schema's time: rows that would last no time at all, or for ever."""

MOTIONS = (("1e12", "1e-3"), ("1", "1e-12"))
"""Duration and step [s] of more steps than can be kept."""


@dataclass(frozen=True, slots=True)
class Absurd:
    """A command that asks for a length no log or motion has.

    Attributes:
        what: it asks for.
        words: of it.
        because: words of the message that refuses it.
    """

    what: str
    words: tuple[object, ...]
    because: str


def run(effort: Effort) -> list[Line]:
    """Seconds and peak memory of every refusal, each as a process."""
    turns = max(1, min(effort.repetitions // 3, _TURNS))
    with tempfile.TemporaryDirectory() as folder:
        cases = absurd_commands(Path(folder))
        taken = effort.scaled(len(cases), least=2)
        return [_line(case, [refused(case) for _ in range(turns)]) for case in cases[:taken]]


def absurd_commands(folder: Path) -> list[Absurd]:
    """The commands, with their files written."""
    log, schema = write_csv(folder, ROWS)
    body = folder / "body.json"
    body.write_text('{"phi": [1.0, 0, 0, 0, 0.01, 0, 0, 0.01, 0, 0.01]}', encoding="utf-8")
    output = ("-o", folder / "out", "--quiet")
    cases = [
        Absurd(
            f"simulate --duration {duration} --dt {step}",
            ("simulate", body, "--duration", duration, "--dt", step, *output),
            "increase --dt",
        )
        for duration, step in MOTIONS
    ]
    fit = ("fit", log, *output, "--schema")
    for cutoff in CUTOFFS:
        words = (*fit, schema, "--cutoff", cutoff)
        because = f"long enough for a cut-off of {float(cutoff):g} Hz"
        cases.append(Absurd(f"fit --cutoff {cutoff}", words, because))
    for number, clock in enumerate(CLOCKS):
        other = folder / f"clock{number}.toml"
        other.write_text(schema.read_text("utf-8").replace(_CLOCK, clock), encoding="utf-8")
        because = f"{ROWS} rows would be"
        cases.append(Absurd(f"fit with {clock.splitlines()[-1]}", (*fit, other), because))
    return cases


def refused(case: Absurd) -> Taken:
    """Measure the time to refuse a command.

    Raises:
        RuntimeError: it is not refused as the user's error, or for another reason.
    """
    taken = run_identify(*case.words)
    if taken.status != 2 or case.because not in taken.last_words:
        raise RuntimeError(f"{case.what}: status {taken.status}: {taken.last_words}")
    return taken


def _line(case: Absurd, runs: list[Taken]) -> Line:
    seconds = Spread.of(np.array([run.seconds for run in runs]))
    peak = Spread.of(np.array([run.megabytes for run in runs]))
    return Line(
        f"`identify {case.what}` refused",
        f"{seconds.written('s')}, {peak.written('MB')}",
        f"≤ {REACH_SECONDS:g} s and ≤ {REACH_MB:g} MB",
        seconds.highest <= REACH_SECONDS and peak.highest <= REACH_MB,
    )
