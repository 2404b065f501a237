"""The report: one HTML file that needs nothing else, not even a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from identify.exchange.estimate_json import estimate_digest
from identify.files import write_text
from identify.reporting.body import certificate_section, parameters_section, principal_section
from identify.reporting.content import Builder, Section, template
from identify.reporting.diagnosis import diagnosis_section
from identify.reporting.drawing import svg
from identify.reporting.logs import data_section, offset_section, provenance_section
from identify.reporting.precision import excitation_section, uncertainty_section
from identify.reporting.replays import replay_section
from identify.reporting.result import findings_section, headline_section, verdict_section
from identify.reporting.wrenches import residuals_section, scores_section, wrench_section

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
    headline_section,
    verdict_section,
    _of_carrier(verdict_section),
    findings_section,
    diagnosis_section,
    parameters_section,
    principal_section,
    _of_carrier(parameters_section),
    _of_carrier(principal_section),
    uncertainty_section,
    certificate_section,
    scores_section,
    wrench_section,
    residuals_section,
    replay_section,
    excitation_section,
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
    from markupsafe import Markup

    sections = [section for build in SECTIONS if (section := build(result, truth)) is not None]
    names = [log.name for log in result.logs]
    carrier = result.carrier
    return template("report.html").render(
        title=names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more",
        names=names,
        digest=estimate_digest(result.estimate),
        carrier=None if carrier is None else estimate_digest(carrier.estimate),
        samples=result.estimate.samples,
        effective=round(result.estimate.effective_samples),
        written=written or datetime.now().astimezone(),
        version=_version(result),
        sections=sections,
        draw=lambda column, key: Markup(svg(column, key)),
    )


def _version(result: FitResult) -> str:
    versions = result.estimate.provenance.get("versions")
    found = versions.get("inertia-identify") if isinstance(versions, Mapping) else None
    return "" if found in (None, "missing") else str(found)
