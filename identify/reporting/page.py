"""The report of a fit: one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from identify.exchange.estimate_json import estimate_digest
from identify.files import write_text
from identify.reporting.body import body_section
from identify.reporting.content import Section, SectionBuilder, render_page
from identify.reporting.diagnosis import checks_section
from identify.reporting.logs import data_section, offset_section, provenance_section
from identify.reporting.motion import motion_section
from identify.reporting.precision import precision_section
from identify.reporting.replays import replay_section
from identify.reporting.result import export_section, verdict_section
from identify.reporting.wrenches import wrench_section

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import Result


def _section_for_carrier(build: SectionBuilder) -> SectionBuilder:
    """Return a function that makes the same report section for the carrier of a payload."""

    def build_for_carrier(result: Result, truth: InertialParameters | None) -> Section | None:
        carrier = result.carrier
        section = None if carrier is None else build(carrier, None)
        return None if section is None else replace(section, key=f"carrier-{section.key}")

    return build_for_carrier


SECTIONS: tuple[SectionBuilder, ...] = (
    verdict_section,
    _section_for_carrier(verdict_section),
    body_section,
    _section_for_carrier(body_section),
    export_section,
    _section_for_carrier(export_section),
    wrench_section,
    checks_section,
    precision_section,
    motion_section,
    replay_section,
    offset_section,
    data_section,
    provenance_section,
)
"""Functions that make the sections of the report of a fit, in their order."""


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
    sections = [section for build in SECTIONS if (section := build(result, truth)) is not None]
    names = [log.name for log in result.logs]
    carrier = result.carrier
    return render_page(
        "report.html",
        sections,
        heading=f"Inertia of {'a payload and its carrier' if carrier else 'a rigid body'}",
        title=names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more",
        names=names,
        digest=estimate_digest(result.estimate),
        carrier=None if carrier is None else estimate_digest(carrier.estimate),
        frame=result.estimate.frame_description,
        written=written or datetime.now().astimezone(),
        version=toolkit_version(result.estimate.provenance),
    )


def toolkit_version(provenance: Mapping[str, object]) -> str:
    """Return the version of this package in an estimate's provenance; empty if unknown."""
    versions = provenance.get("versions")
    version = versions.get("inertia-identify") if isinstance(versions, Mapping) else None
    return "" if version in (None, "missing") else str(version)
