"""Logs of an arm's joints to statistics, with the memory that takes, and the fit of seven links."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from experiments.benchmarks.measure import Effort, ReportLine, Spread, race
from identify.arms import ArmColumns, TorqueScale, scan_arm
from identify.arms.fitting import solve_arm
from identify.arms.model import arm_system
from identify.logs import Recording, read_log
from identify.robots import RobotModel, read_robot

SAMPLES, RATE_HZ = 300_000, 1000.0
MOST_MEGABYTES = 200.0

_ARMS = Path(__file__).parents[2] / "datasets" / "arms"


def run(effort: Effort) -> list[ReportLine]:
    """Measure the scan of a long log of six axes, and a fit of seven links by formula."""
    if find_spec("pinocchio") is None:
        missing = "not measured: Pinocchio is not installed"
        return [ReportLine("log of six joints to statistics", missing)]
    robot, log = _read_arm("six_axes")
    columns, count = ArmColumns.of(robot), effort.scaled(SAMPLES, minimum=3000)
    long_log = _with_random_motion(log, count)
    seven, empty = _read_arm("seven_axes")
    seven_columns = ArmColumns.of(seven)
    statistics = scan_arm(empty, seven_columns).statistics
    scale = TorqueScale.known(0.02, 7)
    seconds = race(
        {
            "scan": lambda: scan_arm(long_log, columns).moving,
            "fit": lambda: (
                solve_arm(
                    lambda scatter: arm_system(statistics, seven_columns, scatter, runs=(0,)),
                    scale,
                    "formula",
                ).x
            ),
        },
        effort,
    )
    rate, fit = Spread.of(count / seconds["scan"]), Spread.of(seconds["fit"])
    tracemalloc.start()
    scan_arm(long_log, columns)
    megabytes = 1e-6 * tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return [
        ReportLine(
            f"log of six joints to statistics, {count} samples at 1 kHz",
            rate.text("samples/s"),
        ),
        ReportLine(
            "memory of that beside the log",
            f"{megabytes:.0f} MB",
            f"≤ {MOST_MEGABYTES:g} MB",
            megabytes <= MOST_MEGABYTES,
        ),
        ReportLine(
            "seven consistent links with intervals by formula",
            fit.text("s"),
        ),
    ]


def _read_arm(arm: str) -> tuple[RobotModel, Recording]:
    log = read_log(_ARMS / arm / "empty.parquet", _ARMS / arm / "schema.toml")
    return read_robot(_ARMS / arm / "arm.urdf", log.joints.names, gravity=log.gravity), log


def _with_random_motion(log: Recording, count: int) -> Recording:
    """Replace the rows of a log by a random Fourier series of `count` samples at 1 kHz."""
    rng, n, time = np.random.default_rng(0), len(log.joints.names), np.arange(count) / RATE_HZ
    frequencies, sizes = rng.uniform(0.05, 0.6, (5, n)), 0.3 * rng.normal(size=(5, n))
    q = np.zeros((count, n))
    for frequency, size in zip(frequencies, sizes, strict=True):
        q += size * np.sin(2.0 * np.pi * np.outer(time, frequency))
    signals = {"joint_position": q, "effort": 10.0 * rng.normal(size=(count, n))}
    return replace(log, time=time, signals=signals, rows=count)
