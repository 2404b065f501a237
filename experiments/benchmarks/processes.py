"""Commands in a new process: exit status, last message, time and peak memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.benchmarks.measure import ReportLine

PEAK_MEMORY = Path(__file__).with_name("peak_memory.py")


@dataclass(frozen=True, slots=True)
class ResourceUsage:
    """Time, memory and exit status of a command.

    Attributes:
        status: exit status.
        last_line: last line on standard error.
        seconds: wall time [s].
        processor_seconds: user and system time [s].
        megabytes: peak memory [MB].
    """

    status: int
    last_line: str
    seconds: float
    processor_seconds: float
    megabytes: float

    def report_line(self, description: str, max_megabytes: float) -> ReportLine:
        """Return the line of the report with time and memory, and the limit of memory."""
        return ReportLine(
            f"{description}: seconds, peak memory",
            f"{self.seconds:.1f} s ({self.processor_seconds:.1f} s of the processor), "
            f"{self.megabytes:.0f} MB",
            f"≤ {max_megabytes:g} MB",
            self.megabytes <= max_megabytes,
        )


def with_bytecode(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return an environment in which modules are compiled once, as an installed package's are."""
    return {k: v for k, v in environment.items() if k != "PYTHONDONTWRITEBYTECODE"}


def run_identify(*arguments: object) -> ResourceUsage:
    """Run `identify` with arguments and wait for it."""
    return _run("-m", "identify", *arguments)


def run_python(code: str, *arguments: object) -> ResourceUsage:
    """Run Python code with arguments and wait for it."""
    return _run("-c", code, *arguments)


def _run(*arguments: object) -> ResourceUsage:
    command = [sys.executable, str(PEAK_MEMORY), sys.executable]
    done = subprocess.run(
        [*command, *map(str, arguments)],
        check=True,
        capture_output=True,
        text=True,
        env=with_bytecode(),
    )
    taken = json.loads(done.stdout.splitlines()[-1])
    messages = done.stderr.strip().splitlines()
    return ResourceUsage(
        status=taken["exit"],
        last_line=messages[-1] if messages else "no message",
        seconds=taken["seconds"],
        processor_seconds=taken["processor_seconds"],
        megabytes=1e-6 * taken["peak_bytes"],
    )
