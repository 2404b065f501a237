"""The report: one HTML file that needs nothing else, not even a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from identify.exchange.estimate_json import estimate_digest
from identify.files import write_text
from identify.reporting.body import body_section
from identify.reporting.content import Builder, Section, page_of
from identify.reporting.diagnosis import checks_section
from identify.reporting.logs import data_section, offset_section, provenance_section
from identify.reporting.motion import motion_section
from identify.reporting.precision import decided_section
from identify.reporting.replays import replay_section
from identify.reporting.result import use_section, verdict_section
from identify.reporting.wrenches import explained_section

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult


def _of_carrier(build: Builder) -> Builder:
    """The section of the carrier, where a fit has one; its true body is not known."""

    def section(result: FitResult, truth: InertialParameters | None) -> Section | None:
        carrier = result.carrier
        made = None if carrier is None else build(carrier, None)
        return None if made is None else replace(made, key=f"carrier-{made.key}")

    return section


SECTIONS: tuple[Builder, ...] = (
    verdict_section,
    _of_carrier(verdict_section),
    body_section,
    _of_carrier(body_section),
    use_section,
    _of_carrier(use_section),
    explained_section,
    checks_section,
    decided_section,
    motion_section,
    replay_section,
    offset_section,
    data_section,
    provenance_section,
)
"""In their order; each makes a section of a result, or None where it has nothing to say."""


def report(
    result: FitResult,
    path: Path | str,
    truth: InertialParameters | None = None,
    *,
    written: datetime | None = None,
) -> Path:
    """Write the report of a fit as one self-contained HTML file, whole or not at all.

    Args:
        result: of a fit.
        path: the file; its folder is made if need be.
        truth: the true body about Bo in B, if it is known, to compare with.
        written: the time the report gives as its own; now, where not given.

    Returns:
        The path written.
    """
    path = Path(path)
    write_text(path, report_html(result, truth, written=written))
    return path


def report_html(
    result: FitResult,
    truth: InertialParameters | None = None,
    *,
    written: datetime | None = None,
) -> str:
    """The report as text; the same result and time give the same text.

    Its head and its provenance name the sha256 of the estimate.json that the estimate is saved as,
    and of the carrier.json where there is a carrier.
    """
    sections = [section for build in SECTIONS if (section := build(result, truth)) is not None]
    names = [log.name for log in result.logs]
    carrier = result.carrier
    return page_of(
        "report.html",
        sections,
        title=names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more",
        names=names,
        digest=estimate_digest(result.estimate),
        carrier=None if carrier is None else estimate_digest(carrier.estimate),
        frame=result.estimate.frame_description,
        written=written or datetime.now().astimezone(),
        version=_version(result),
    )


def _version(result: FitResult) -> str:
    versions = result.estimate.provenance.get("versions")
    found = versions.get("inertia-identify") if isinstance(versions, Mapping) else None
    return "" if found in (None, "missing") else str(found)
