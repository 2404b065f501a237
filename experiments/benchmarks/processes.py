"""The command line as a process of its own: exit status, what it said, seconds and peak memory."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from experiments.benchmarks.measure import Line

PEAK_MEMORY = Path(__file__).with_name("peak_memory.py")


@dataclass(frozen=True, slots=True)
class Taken:
    """Time, memory and exit status of a command.

    Attributes:
        status: it ended with.
        last_words: the last line on standard error.
        seconds: wall time.
        processor_seconds: of user and system.
        megabytes: of memory at its peak.
    """

    status: int
    last_words: str
    seconds: float
    processor_seconds: float
    megabytes: float

    def line(self, description: str, most_seconds: float, most_megabytes: float) -> Line:
        """The report's line of what it took, and may take."""
        return Line(
            f"{description}: seconds, peak memory",
            f"{self.seconds:.1f} s ({self.processor_seconds:.1f} s of the processor), "
            f"{self.megabytes:.0f} MB",
            f"≤ {most_seconds:g} s, ≤ {most_megabytes:g} MB",
            self.seconds <= most_seconds and self.megabytes <= most_megabytes,
        )


def run_identify(*words: object) -> Taken:
    """Run `identify` with some words and wait for it."""
    return _run("-m", "identify", *words)


def run_python(code: str, *words: object) -> Taken:
    """Run Python code with some words and wait for it."""
    return _run("-c", code, *words)


def _run(*words: object) -> Taken:
    command = [sys.executable, str(PEAK_MEMORY), sys.executable]
    done = subprocess.run([*command, *map(str, words)], check=True, capture_output=True, text=True)
    taken = json.loads(done.stdout.splitlines()[-1])
    messages = done.stderr.strip().splitlines()
    return Taken(
        status=taken["exit"],
        last_words=messages[-1] if messages else "it said nothing",
        seconds=taken["seconds"],
        processor_seconds=taken["processor_seconds"],
        megabytes=1e-6 * taken["peak_bytes"],
    )
