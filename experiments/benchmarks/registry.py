"""Registry of the benchmarks: each is a file with `run(effort)` and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from experiments.benchmarks import (
    arm_fits,
    change_of_frame,
    checks,
    control_loop,
    fit_command,
    forward_simulation,
    groups_and_logs,
    import_time,
    inspect_model,
    long_logs,
    motion_noise,
    psd_fit,
    readers,
    refusals,
    report_page,
    rows_throughput,
    shape_prior,
    single_shot_replay,
    statistics_throughput,
)
from experiments.benchmarks.measure import Effort, ReportLine

BENCHMARKS: Mapping[str, Callable[[Effort], list[ReportLine]]] = {
    "statistics": statistics_throughput.run,
    "rows": rows_throughput.run,
    "psd-fit": psd_fit.run,
    "shape-prior": shape_prior.run,
    "groups-and-logs": groups_and_logs.run,
    "arms": arm_fits.run,
    "motion-noise": motion_noise.run,
    "change-of-frame": change_of_frame.run,
    "inspect": inspect_model.run,
    "forward-simulation": forward_simulation.run,
    "single-shot": single_shot_replay.run,
    "import": import_time.run,
    "fit-command": fit_command.run,
    "report": report_page.run,
    "long-logs": long_logs.run,
    "checks": checks.run,
    "control-loop": control_loop.run,
    "readers": readers.run,
    "refusals": refusals.run,
}
"""Benchmarks by name, in the order of the report."""
