"""Provenance of an estimate: its logs, schemas, options, package versions and command."""

from __future__ import annotations

import platform
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING

from identify.lazy import installed_version
from identify.logs.schema import schema_as_written

if TYPE_CHECKING:
    from identify.pipeline.result import LogRecord, Result

_RECORDED_PACKAGES = (
    "inertia-identify",
    "numpy",
    "scipy",
    "cvxpy",
    "clarabel",
    "pandas",
    "pyarrow",
)


def fit_provenance(result: Result, command: str | None) -> dict[str, object]:
    """Return the provenance of a fit as plain dictionaries, lists and numbers.

    What only the sensor of the logs knows is in the provenance of the result's estimate already.

    `command`: the command line, if known.
    """
    options = result.settings.record(result.sensor)
    if prior := result.estimate.prior:
        options["prior"] = dict(prior)
    return {
        "command": command,
        "options": options,
        "logs": [
            {**log_record(log), **result.moved_in_log(number)}
            for number, log in enumerate(result.logs)
        ],
        "versions": versions(),
        **result.estimate.provenance,
    }


def versions() -> dict[str, str]:
    """Return versions of Python and of the packages of a fit; "missing" where not installed."""
    return {"python": platform.python_version(), **_package_versions()}


@cache
def _package_versions() -> dict[str, str]:
    return {name: installed_version(name) or "missing" for name in _RECORDED_PACKAGES}


def log_record(log: LogRecord) -> dict[str, object]:
    """Return the provenance of a log: its files, rows, rate, schema and what its sensor adds."""
    recording = log.recording
    return {
        "name": recording.name,
        "sha256": recording.sha256,
        "files": [
            {"name": source.path.name, "sha256": source.sha256} for source in recording.sources
        ],
        "rows": recording.rows,
        "dropped_rows": asdict(recording.dropped),
        "rate_hz": log.rate_hz,
        "cutoff_hz": log.cutoff_hz,
        "gravity": recording.gravity.tolist(),
        **log.details(),
        "schema": schema_as_written(recording.schema),
    }
