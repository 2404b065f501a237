"""The report of a load on an arm from joint torques: one self-contained HTML file."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from identify.exchange.estimate_json import estimate_digest
from identify.pipeline.payload import PayloadResult
from identify.reporting.arm_sections import (
    error_table,
    error_tiles,
    friction_section,
    log_section,
    pooled_errors,
    scale_section,
    torque_figures,
)
from identify.reporting.arm_torques import JointTorques
from identify.reporting.body import body_section_of, repeatability_in_words
from identify.reporting.content import Section, render_page
from identify.reporting.logs import provenance_section_of
from identify.reporting.page import version_of
from identify.reporting.precision import decided_section
from identify.reporting.result import use_section, verdict_in_words, verdict_section_of
from identify.reporting.rounding import significant

if TYPE_CHECKING:
    from identify.inertia import InertialParameters


def payload_report_html(
    result: PayloadResult,
    truth: InertialParameters | None = None,
    *,
    written: datetime | None = None,
) -> str:
    """Return the report of a load on an arm as HTML.

    Args:
        result: of the fit.
        truth: the reference body about the frame to compare with, if there is one.
        written: date of the report; by default the present time.
    """
    fit = result.fit
    titles = [
        log.name if number < fit.loaded else f"{log.name} (unloaded)"
        for number, log in enumerate(fit.logs)
    ]
    torques = JointTorques.of(fit.logs, fit.solution, titles)
    points = repeatability_in_words(result.estimate, "the torque scale")
    use = use_section(result, truth)
    sections = [
        verdict_section_of(result, verdict_in_words(result, torque_answer(result))),
        body_section_of(result, truth, points),
        *([] if use is None else [use]),
        _torque_section(result, torques),
        friction_section(torques),
        scale_section(fit.scale, torques.joints),
        decided_section(result, truth),
        log_section(result.recordings, fit.logs, titles),
        provenance_section_of(result.estimate),
    ]
    return render_page(
        "report.html",
        sections,
        heading="Inertia of the load of an arm",
        title=titles[0] if len(titles) == 1 else f"{titles[0]} and {len(titles) - 1} more",
        names=titles,
        digest=estimate_digest(result.estimate),
        carrier=None,
        frame=result.estimate.frame_description,
        written=written or datetime.now().astimezone(),
        version=version_of(result.estimate.provenance),
    )


def torque_answer(result: PayloadResult) -> str:
    """Return whether the model explains the torques, with its errors."""
    fit = result.fit
    answer = "yes" if result.verdict.explains_data else "no, the residual is not noise"
    parts = [f"{significant(100.0 * fit.errors.total, 2)} % of the torques remain"]
    if fit.held_out:
        held_out = pooled_errors([errors for _, errors in fit.held_out]).total
        parts.append(f"{significant(100.0 * held_out, 2)} % held out")
    return f"{answer} ({', '.join(parts)})"


def _torque_section(result: PayloadResult, torques: JointTorques) -> Section:
    fit = result.fit
    errors = {"fitted": fit.errors}
    if fit.held_out:
        errors["held out"] = pooled_errors([each for _, each in fit.held_out])
    table = error_table(torques.joints, errors)
    blocks = (error_tiles(errors), table, torque_figures(torques))
    return Section("fit", "How well it explains the torques", blocks)
