"""Estimator that is any program: it reads a folder and writes ten numbers."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from dataclasses import replace
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

_EXPECTED = (
    f'expected {{"phi": [ten numbers {", ".join(PHI)}]}}, if any with ten "intervals", or '
    '{"refused": "the reason"}'
)

_EXCEPTION = re.compile(r"[\w.]*(Error|Exception|Warning|Interrupt|Exit)\b")
"""Pattern of the line that ends a traceback."""

_SHOWN_LINES = 3
"""Number of lines of a program's output in the message of its failure."""


class CommandEstimator(Estimator):
    """Program that is called with a folder: log.csv, rows.npz and task.json.

    It writes `estimate.json` there: `{"phi": [ten numbers], "intervals": [[low, high], …]}`, the
    intervals (95 %) only if it has some. `"refused"`, true or the reason as a text or a list of
    texts, says that its estimate is not to be used; then it may leave out the numbers.

    Attributes:
        command: words of the command, before the folder.
        seconds: longest time [s]; a program that takes longer is stopped.
        missing: why the program cannot be run, if it cannot: the error of each of its trials.
    """

    kind: ClassVar[str] = "command"

    command: tuple[StrictStr, ...]
    seconds: Positive = 60.0
    missing: StrictStr = ""

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """Run the program, and read its answer.

        Raises `StudyError`: it fails, takes too long, or its answer is not as expected.
        """
        if self.missing:
            raise StudyError(f"not installed: {self.missing}")
        with TemporaryDirectory() as name:
            folder = Path(name)
            write_task(data, folder)
            with (folder / "output.txt").open("wb") as output:
                try:
                    process = subprocess.Popen(
                        [*self.command, name],
                        stdout=output,
                        stderr=subprocess.STDOUT,
                        start_new_session=True,  # its children end with it
                    )
                except OSError as error:
                    reason = f"{self.command[0]}: {error.strerror}"
                    raise StudyError(f"not installed: {reason}") from error
                timer = Timer(self.seconds, os.killpg, (process.pid, signal.SIGKILL))
                timer.start()
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                in_time = timer.is_alive()
                timer.cancel()
            if not in_time:
                raise StudyError(f"stopped after {self.seconds:g} s")
            if code := process.returncode:
                ended = f"exit status {code}" if code > 0 else signal.Signals(-code).name
                output = (folder / "output.txt").read_text(errors="replace")
                raise StudyError(f"{self.command[0]} ended by {ended}: {_last_message(output)}")
            answer = _read_answer(folder / ANSWER)
        return replace(
            answer,
            refused_phi=data.rows.least_squares() if answer.phi is None else None,
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            memory_mb=usage.ru_maxrss / 1024.0,
        )


def write_task(data: TrialData, folder: Path) -> None:
    """Write the files of a task: its rows; of a wrench, the log in SI as CSV and what is known."""
    np.savez(folder / "rows.npz", **data.rows._asdict())
    known: dict[str, object] = {}
    if data.log.sensor == "wrench":
        recording = data.recording
        recording.to_dataframe().to_csv(folder / "log.csv")
        known = {"gravity": recording.gravity.tolist(), "frames": dict(recording.frames)}
    write_text(folder / "task.json", json.dumps(known))


def _last_message(output: str) -> str:
    """Return the exception of a traceback, or else the last lines."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    raised = [k for k, line in enumerate(lines) if _EXCEPTION.match(line)]
    return " ".join(lines[raised[-1] if raised else -_SHOWN_LINES :]) or "it wrote no message"


def _read_answer(path: Path) -> EstimatorOutput:
    if not path.exists():
        raise StudyError(f"the program ended without an error, and wrote no {ANSWER}")
    try:
        answer = json.loads(path.read_text(encoding="utf-8"))
        refused = answer.get("refused")
        reasons = _reasons(refused)
        if refused and answer.get("phi") is None:
            return EstimatorOutput(None, refused=True, reasons=reasons)
        phi = np.array(answer["phi"], dtype=np.float64)
        bounds = np.array(answer.get("intervals") or np.empty((0, 2)), dtype=np.float64)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        got = path.read_text(encoding="utf-8", errors="replace")
        raise StudyError(f"{ANSWER}: {_EXPECTED}, got {got:.60} ({error})") from error
    for name, got, known in (("phi", phi, ((10,),)), ("intervals", bounds, ((0, 2), (10, 2)))):
        if got.shape not in known:
            raise StudyError(f'{ANSWER}: {_EXPECTED}, got "{name}" of shape {got.shape}')
    pairs = {n: (float(a), float(b)) for n, (a, b) in zip(PHI, bounds, strict=False) if a == a}
    refuses = None if refused is None else bool(refused)
    return EstimatorOutput(phi, intervals=pairs, refused=refuses, reasons=reasons)


def _reasons(refused: object) -> tuple[str, ...]:
    """Return the reasons of a refusal, each without the comma that separates reasons."""
    texts = [refused] if isinstance(refused, str) else refused
    if not isinstance(texts, list):
        return ()
    return tuple(" ".join(str(text).replace(",", ";").split()) for text in texts)
