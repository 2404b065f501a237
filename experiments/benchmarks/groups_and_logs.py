"""Time of fits of many groups and logs, relative to Clarabel; many logs with all checks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import identify
from experiments.benchmarks.measure import Effort, ReportLine, Spread, race
from experiments.benchmarks.processes import run_python
from experiments.benchmarks.psd_fit import clarabel_alone, noisy_log
from identify.estimation import estimate_body
from identify.logs import Recording
from identify.logs.synthetic import Noise, synthetic_recording
from identify.regressors import Statistics, block_statistics
from identify.signals import prepare

ROOT = Path(__file__).parents[2]
LOG = ROOT / "datasets" / "payload_arm"
LOGS, SECONDS, ROWS = 64, 10.0, 1000
"""Fit of many logs: number of logs, duration [s] and rows of each."""

_NOISE = Noise(force=0.2, torque=0.02)

_MOST = {"the shipped log": 15.0, "its bands split": 17.0, "ten logs": 20.0}
_MOST_OF_PARTS, _MOST_MB = 5.0, 320.0

_FIT = """
import sys, time
sys.path.insert(0, sys.argv[1])
from experiments.benchmarks.groups_and_logs import log_of
import identify
from identify.estimation import estimate_body
from identify.regressors import block_statistics
from identify.signals import prepare

logs = [log_of(seed) for seed in range(int(sys.argv[2]))]
identify.fit(logs[:1])
start = time.process_time()
identify.fit(logs)
whole = time.process_time() - start
estimate_body([block_statistics(prepare(logs[0]))])
start = time.process_time()
estimate_body([block_statistics(prepare(log)) for log in logs])
print(whole, time.process_time() - start, file=sys.stderr)
"""


def run(effort: Effort) -> list[ReportLine]:
    """Measure times relative to Clarabel, and seconds of a fit of many logs."""
    log = noisy_log(effort.scaled(1000, minimum=300))
    shipped = identify.read_log(LOG / "payload_arm.parquet", LOG / "schema.toml")
    whole = block_statistics(prepare(shipped))
    split = _split(whole)
    fits = {
        "the shipped log": [whole],
        "its bands split": [split],
        "ten logs": [whole] * 10,
    }
    contenders = {"clarabel": clarabel_alone(log.blocks)}
    for name, logs in fits.items():
        contenders[name] = lambda logs=logs: estimate_body(logs).parameters.phi
    seconds = race(contenders, effort)
    groups = {name: sum(map(_groups, logs[:1])) for name, logs in fits.items()}
    lines = []
    for name in fits:
        milliseconds = Spread.of(1e3 * seconds[name]).text("ms")
        lines.append(
            ReportLine.of_ratio(
                f"estimate_body of {name}, {groups[name]} groups: {milliseconds}, times Clarabel",
                seconds[name] / seconds["clarabel"],
                at_most=_MOST[name],
            )
        )
    return [*lines, *_many_logs(effort)]


def _many_logs(effort: Effort) -> list[ReportLine]:
    """Measure a fit of many short logs with all checks in a new process, and its scaling."""
    counts = [effort.scaled(count, minimum=4) for count in (LOGS // 4, LOGS)]
    taken = [run_python(_FIT, ROOT, count) for count in counts]
    for usage in taken:
        if usage.status != 0:
            raise RuntimeError(f"the fit of many logs failed: {usage.last_line}")
    spent, parts = np.transpose([[*map(float, usage.last_line.split())] for usage in taken])
    exponent = float(np.log(spent[1] / spent[0]) / np.log(max(counts[1] / counts[0], 1.0001)))
    peak = taken[1].megabytes
    return [
        ReportLine(
            f"fit of {counts[1]} logs of {SECONDS:g} s, {ROWS} rows each, with checks",
            f"{spent[1]:.3g} s of processor time, {peak:.0f} MB",
            f"≤ {_MOST_MB:g} MB",
            peak <= _MOST_MB,
        ),
        ReportLine.of_ratio(
            "… relative to their preparation and estimate_body",
            spent[1:] / parts[1:],
            at_most=_MOST_OF_PARTS,
        ),
        ReportLine(
            f"exponent of its time in the number of logs, from {counts[0]}",
            f"{exponent:.2f}",
            "≤ 1.1",
            exponent <= 1.1,
        ),
    ]


def log_of(seed: int) -> Recording:
    """Return a short log of the body, with independent noise."""
    rng = np.random.default_rng(seed)
    body = identify.InertialParameters.from_com(1.2, [0.01, 0.0, 0.1], np.diag([4e-3, 5e-3, 2e-3]))
    return replace(
        synthetic_recording(
            body,
            rng=rng,
            duration=SECONDS,
            rate_hz=ROWS / SECONDS,
            noise=_NOISE,
        ),
        name=f"log {seed}",
    )


def _groups(statistics: Statistics) -> int:
    return len(np.unique(statistics.group))


def _split(statistics: Statistics) -> Statistics:
    """Split each band into three parts of time, to get more groups from the same rows."""
    layout, K = statistics.layout, statistics.noise.shape[-1]
    groups, noise, number = [], [], np.zeros(len(statistics), dtype=np.intp)
    for g in np.unique(statistics.group).tolist():
        cells = np.flatnonzero(statistics.group == g)
        for part, part_cells in enumerate(np.array_split(cells, 1 if g == 0 else 3)):
            number[part_cells] = len(groups)
            groups.append(replace(layout.groups[g], name=f"{layout.groups[g].name}, {part}"))
            noise.append(statistics.noise[:, g])
    return replace(
        statistics,
        layout=replace(layout, groups=tuple(groups)),
        group=number,
        noise=np.stack(noise, axis=1).reshape(1, -1, K, K),
    )
