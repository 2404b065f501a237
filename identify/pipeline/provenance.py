"""Provenance of an estimate: its logs, schemas, options, package versions and command."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from identify.estimation import Estimate
from identify.estimation.priors.prior import BALL
from identify.logs import Recording
from identify.logs.schema import schema_as_written
from identify.pipeline.settings import FitSettings
from identify.regressors import LogSummary
from identify.signals.prepared_log import acceleration_sources

_RECORDED_PACKAGES = (
    "inertia-identify",
    "numpy",
    "scipy",
    "cvxpy",
    "clarabel",
    "pandas",
    "pyarrow",
)


def fit_provenance(
    logs: Sequence[LogSummary],
    settings: FitSettings,
    command: str | None,
    estimate: Estimate,
    corrections: Sequence[Mapping[str, object]] = (),
) -> dict[str, object]:
    """Return the provenance of a fit as plain dictionaries, lists and numbers.

    For a payload and its carrier it contains the bodies that moved in each log.

    Args:
        logs: of the fit.
        settings: of the fit.
        command: the command line, if known.
        estimate: of all bodies.
        corrections: records of what was corrected before the fit.
    """
    moved = [list(estimate.moving_assembly(number).bodies) for number in range(len(logs))]
    options = asdict(replace(settings, terms=(), prior=BALL))
    del options["unloaded"]  # the logs have it
    return {
        "command": command,
        "options": options
        | {
            "terms": [term.record() for term in settings.terms],
            "prior": dict(estimate.prior) or settings.prior.record(),
        },
        "logs": [
            _log_record(log) | ({"bodies": bodies} if estimate.others else {})
            for log, bodies in zip(logs, moved, strict=True)
        ],
        "versions": versions(),
        **({"applied": list(corrections)} if corrections else {}),
    }


def versions() -> dict[str, str]:
    """Return versions of Python and of the packages of a fit; "missing" where not installed."""
    by_package = {"python": platform.python_version()}
    for package in _RECORDED_PACKAGES:
        try:
            by_package[package] = version(package)
        except PackageNotFoundError:
            by_package[package] = "missing"
    return by_package


def _log_record(log: LogSummary) -> dict[str, object]:
    recording: Recording = log.recording
    return {
        "name": recording.name,
        "sha256": recording.sha256,
        "files": [
            {"name": source.path.name, "sha256": source.sha256} for source in recording.sources
        ],
        "rows": recording.rows,
        "dropped_rows": asdict(recording.dropped),
        "repeated_rows": log.repeated_rows,
        "unused_rows": log.unused_rows,
        "rate_hz": log.rate_hz,
        "cutoff_hz": log.cutoff_hz,
        "gravity": recording.gravity.tolist(),
        "noise": _noise_record(log),
        "accelerations": {
            name: route._asdict() for name, route in acceleration_sources(log).items()
        },
        "reading": log.reading.digest,
        "schema": schema_as_written(recording.schema),
    }


def _noise_record(log: LogSummary) -> dict[str, object]:
    """Return the noise (one sigma) of each signal's axes in SI, and whether the schema gave it."""
    noise = log.signal_noise
    if noise is None:
        return {}
    sigma = np.sqrt(np.diag(noise.covariance)).reshape(-1, 3)
    return {
        name: {"sigma": of_axes.tolist(), "given": name in log.recording.noise}
        for name, of_axes in zip(noise.names, sigma, strict=True)
    }
