"""Estimator that is any program: it reads a folder and writes ten numbers."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import ClassVar

import numpy as np
from pydantic import StrictStr

from identify.errors import StudyError
from identify.files import write_text
from identify.inertia import PHI
from identify.studies.estimator import Estimator, EstimatorOutput, TrialData
from identify.studies.options import Positive

ANSWER = "estimate.json"
"""File that the program writes."""


class CommandEstimator(Estimator):
    """Program that is called with a folder: log.csv, rows.npz and task.json.

    It writes `estimate.json` there: `{"phi": [ten numbers], "intervals": [[low, high], …]}`, the
    intervals (95 %) only if it has some, and `"refused": true` if its estimate is not to be used.

    Attributes:
        command: words of the command, before the folder.
        seconds: longest time [s]; a program that takes longer is stopped.
    """

    kind: ClassVar[str] = "command"

    command: tuple[StrictStr, ...]
    seconds: Positive = 60.0

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """Run the program, and read its answer.

        Raises `StudyError`: it fails, takes too long, or its answer is not as expected.
        """
        with TemporaryDirectory() as name:
            folder = Path(name)
            write_task(data, folder)
            with (folder / "output.txt").open("wb") as output:
                try:
                    process = subprocess.Popen(
                        [*self.command, name], stdout=output, stderr=subprocess.STDOUT
                    )
                except OSError as error:
                    reason = f"{self.command[0]}: {error.strerror}"
                    raise StudyError(f"not installed: {reason}") from error
                timer = Timer(self.seconds, process.kill)
                timer.start()
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                in_time = timer.is_alive()
                timer.cancel()
            if not in_time:
                raise StudyError(f"stopped after {self.seconds:g} s")
            if process.returncode:
                lines = (folder / "output.txt").read_text(errors="replace").split("\n")
                last = next(filter(str.strip, reversed(lines)), "no message")
                raise StudyError(f"exit status {process.returncode}: {last.strip()}")
            phi, intervals, refused = _read_answer(folder / ANSWER)
        return EstimatorOutput(
            phi,
            intervals=intervals,
            refused=refused,
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            memory_mb=usage.ru_maxrss / 1024.0,
        )


def write_task(data: TrialData, folder: Path) -> None:
    """Write the files of a task: the log in SI as CSV, its rows, and what is known beforehand."""
    recording = data.recording
    recording.to_dataframe().to_csv(folder / "log.csv")
    np.savez(folder / "rows.npz", **data.rows._asdict())
    known = {"gravity": recording.gravity.tolist(), "frames": dict(recording.frames)}
    write_text(folder / "task.json", json.dumps(known))


def _read_answer(
    path: Path,
) -> tuple[np.ndarray, dict[str, tuple[float, float] | None], bool | None]:
    try:
        answer = json.loads(path.read_text(encoding="utf-8"))
        phi = np.array(answer["phi"], dtype=np.float64)
        bounds = np.array(answer.get("intervals") or np.empty((0, 2)), dtype=np.float64)
        refused = None if answer.get("refused") is None else bool(answer["refused"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise StudyError(f"no answer: {type(error).__name__}: {error}") from error
    if phi.shape != (10,) or bounds.shape not in ((0, 2), (10, 2)):
        raise StudyError(
            f"expected ten numbers, and no or ten intervals; got {phi.shape}, {bounds.shape}"
        )
    pairs = {n: (float(a), float(b)) for n, (a, b) in zip(PHI, bounds, strict=False) if a == a}
    return phi, {**pairs}, refused
