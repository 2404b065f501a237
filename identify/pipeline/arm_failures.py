"""Error of a failed fit of a robot arm, which names the likeliest fault of its logs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from identify.arms import arm_findings
from identify.errors import ProblemError, SolveError
from identify.estimation import NegativeMass
from identify.logs import Recording
from identify.pipeline.misread_logs import MisreadLog
from identify.robots import RobotModel


@contextmanager
def raise_likeliest_fault(
    recordings: Sequence[Recording],
    robot: RobotModel,
    *,
    loaded: int = 0,
    frame: str | None = None,
    cutoff_hz: float | None = None,
) -> Iterator[None]:
    """Replace an error of a robot arm's fit by the likeliest fault of its logs, if one is found.

    Args:
        recordings: the logs, those with the load first.
        robot: model of the arm.
        loaded: number of logs with the load.
        frame: frame of the load.
        cutoff_hz: cut-off of the fit [Hz].

    Raises:
        NegativeMass: logs with and without the load are swapped.
        MisreadLog: the fit failed, and the logs have an error.
    """
    try:
        yield
    except (ProblemError, SolveError) as error:
        swapped = isinstance(error, NegativeMass) and error.finding.code == "logs_swapped"
        if swapped:
            loaded = len(recordings)  # a log given as unloaded may be the one with the load
        faults = arm_findings(recordings, robot, loaded=loaded, frame=frame, cutoff_hz=cutoff_hz)
        likeliest = next((finding for finding in faults if finding.severity == "error"), None)
        if likeliest is None:
            raise
        as_read = str(error)
        if isinstance(error, NegativeMass):  # without the other causes
            as_read = error.finding.text.rstrip(".")
        raise MisreadLog(as_read, likeliest) from error
