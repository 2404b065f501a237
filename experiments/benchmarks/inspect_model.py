"""Time of `identify inspect` on a URDF of many links, as a command and in process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from experiments.benchmarks.change_of_frame import bodies
from experiments.benchmarks.measure import Effort, ReportLine, Spread, race
from identify.exchange import inertial_snippet, read_model

LINKS = 500
_PROCESSES = 5


def run(effort: Effort) -> list[ReportLine]:
    """Measure reading and checking the links, and the command including Python's start."""
    count = effort.scaled(LINKS, minimum=3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(urdf(count), encoding="utf-8")
        inside = race({"inspect": lambda: _count_impossible(path)}, effort)["inspect"]
        whole = np.array(
            [_time_inspection(path) for _ in range(min(effort.repetitions, _PROCESSES))]
        )
    return [
        ReportLine(f"reading and checking a URDF of {count} links", Spread.of(inside).text("s")),
        ReportLine(
            "`identify inspect` of it, including the start of Python", Spread.of(whole).text("s")
        ),
    ]


def urdf(count: int) -> str:
    """Return a URDF chain of `count` links with physically consistent inertias."""
    parts = ['<robot name="chain">']
    for index, phi in enumerate(bodies(np.random.default_rng(0), count)):
        parts.append(f'<link name="link{index}">\n{inertial_snippet(phi, "urdf").text}</link>')
        if index:
            parts.append(
                f'<joint name="joint{index}" type="fixed"><parent link="link{index - 1}"/>'
                f'<child link="link{index}"/></joint>'
            )
    return "\n".join([*parts, "</robot>\n"])


def _count_impossible(path: Path) -> int:
    """Return the number of links that are not physically consistent, which is zero."""
    verdicts = [link.verdict for link in read_model(path).links]
    return sum(verdict is None or verdict.impossible for verdict in verdicts)


def _time_inspection(path: Path) -> float:
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "identify", "inspect", str(path)], check=True, capture_output=True
    )
    return time.perf_counter() - started
