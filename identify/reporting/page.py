"""The report of a fit of logs of any sensor: one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from identify.exchange.estimate_json import estimate_digest
from identify.files import write_text
from identify.pipeline.saved_result import result_digest
from identify.reporting.content import render_page

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import Result


def report(
    result: Result,
    path: Path | str,
    truth: InertialParameters | None = None,
    *,
    written: datetime | None = None,
) -> Path:
    """Write the report of a fit as one self-contained HTML file, atomically.

    Args:
        result: of a fit.
        path: the file; its folder is created if it does not exist.
        truth: the reference body about Bo in B to compare with, if there is one.
        written: date of the report; by default the present time.

    Returns:
        The path written.
    """
    path = Path(path)
    write_text(path, report_html(result, truth, written=written))
    return path


def report_html(
    result: Result, truth: InertialParameters | None = None, *, written: datetime | None = None
) -> str:
    """Return the report of a fit as HTML; equal results and times give equal text.

    Its head and its provenance name the sha256 of the estimate.json that the estimate is saved as,
    and of the carrier.json where there is a carrier.
    """
    builders = result.sensor.load("sections")(result)
    names = [log.name for log in result.logs]
    carrier, estimate = result.carrier, result.estimate
    bodies = {
        "template": "report.html",
        "heading": f"Inertia of {_subject(result)}",
        "digest": result_digest(result),
        "carrier": None if carrier is None else estimate_digest(carrier.estimate),
        "frame": estimate.frame_description,
    }
    if not result.body_fitted:
        bodies = {"template": "arm.html"}
    return render_page(
        bodies.pop("template"),
        (build(result, truth) for build in builders),
        title=names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more",
        names=names,
        written=written,
        version=toolkit_version(estimate.provenance),
        **bodies,
    )


def _subject(result: Result) -> str:
    """Return what was identified, for the heading of the page."""
    if result.arm is not None:
        return "the load of an arm"
    return "a rigid body" if result.carrier is None else "a payload and its carrier"


def toolkit_version(provenance: Mapping[str, object]) -> str:
    """Return the version of this package in an estimate's provenance; empty if unknown."""
    versions = provenance.get("versions")
    version = versions.get("inertia-identify") if isinstance(versions, Mapping) else None
    return "" if version in (None, "missing") else str(version)
