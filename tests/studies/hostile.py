"""Estimators that misbehave: importable by workers, in no registry."""

import builtins
import os
import signal
import time
import warnings
from typing import ClassVar

import numpy as np

from identify.errors import ProblemError
from identify.studies.estimator import Estimator, EstimatorOutput, TrialData


class Raises(Estimator):
    """Fails on every log."""

    kind: ClassVar[str] = "raises"

    def estimate(self, data: TrialData) -> EstimatorOutput:
        raise ProblemError("there is no estimate")


class Leaves(Estimator):
    """Raises what is no `Exception`: SystemExit, GeneratorExit, KeyboardInterrupt."""

    kind: ClassVar[str] = "leaves"

    by: str

    def estimate(self, data: TrialData) -> EstimatorOutput:
        raise getattr(builtins, self.by)("bye")


class Hangs(Estimator):
    """Sleeps for an hour, once for each line that a file lacks of `times`."""

    kind: ClassVar[str] = "hangs"

    tally: str
    times: int = 1000

    def estimate(self, data: TrialData) -> EstimatorOutput:
        with open(self.tally, "a+", encoding="utf-8") as file:
            file.seek(0)
            slept = len(file.read().splitlines())
            file.write("slept\n")
        if slept < self.times:
            time.sleep(3600.0)
        return EstimatorOutput(np.ones(10))


class KillsItsWorker(Estimator):
    """Kills the process it runs in: always, or until a file has as many lines as `times`."""

    kind: ClassVar[str] = "kills"

    tally: str
    times: int = 1000

    def estimate(self, data: TrialData) -> EstimatorOutput:
        with open(self.tally, "a+", encoding="utf-8") as file:
            file.seek(0)
            died = len(file.read().splitlines())
            if died < self.times:
                file.write("died\n")
        if died < self.times:
            os.kill(os.getpid(), signal.SIGKILL)
        return EstimatorOutput(np.ones(10))


class Sleeps(Estimator):
    """Takes its time, and appends a byte to a file each time it has run."""

    kind: ClassVar[str] = "sleeps"

    seconds: float
    tally: str

    def estimate(self, data: TrialData) -> EstimatorOutput:
        time.sleep(self.seconds)
        with open(self.tally, "ab") as file:
            file.write(b".")
        return EstimatorOutput(np.ones(10))


class Warns(Estimator):
    """Warns twice of the same."""

    kind: ClassVar[str] = "warns"

    def estimate(self, data: TrialData) -> EstimatorOutput:
        for _ in range(2):
            warnings.warn("nearly singular", RuntimeWarning, stacklevel=2)
        return EstimatorOutput(np.ones(10))


class GivesNoNumber(Estimator):
    """Gives ten numbers that are NaN."""

    kind: ClassVar[str] = "nothing"

    def estimate(self, data: TrialData) -> EstimatorOutput:
        return EstimatorOutput(np.full(10, np.nan))


def sleep_all(seconds: tuple[float, ...]) -> float:
    time.sleep(sum(seconds))
    return sum(seconds)
