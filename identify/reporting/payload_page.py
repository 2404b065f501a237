"""The report of a load on an arm from joint torques: one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from identify.arms import ArmLog, TorqueScale
from identify.exchange.estimate_json import estimate_digest
from identify.pipeline.payload import PayloadResult
from identify.reporting.arm_torques import (
    JointTorques,
    error_table,
    friction_columns,
    friction_table,
    torque_columns,
)
from identify.reporting.body import body_section_of, repeatability_in_words
from identify.reporting.content import (
    Cell,
    Head,
    Pictures,
    ReportTable,
    Section,
    Text,
    Tile,
    Tiles,
    number_heads,
    render_page,
    row,
)
from identify.reporting.logs import provenance_section_of
from identify.reporting.page import version_of
from identify.reporting.precision import decided_section
from identify.reporting.result import use_section, verdict_in_words, verdict_section_of
from identify.reporting.rounding import fixed, significant
from identify.significance import HALF_WIDTH_SIGMA

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.logs import JointRecording

_TORQUE_CAPTION = (
    "Torques of the joints: measured, and predicted from the motion with load, links, rotors and "
    "friction. At rest, friction may have any value within the Coulomb friction, so that the "
    "prediction is of no meaning there; the fit leaves such samples out."
)
_FRICTION_CAPTION = (
    "Friction: measured torque less that of links and rotors, of samples in motion, and the fitted "
    "friction. Points that follow a curve of another shape, or a loop, hint at friction that "
    "depends on load or temperature, and at a wrong sign or delay."
)


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
        data_section(result.recordings, fit.logs, titles),
        provenance_section_of(result.estimate, [log.schema for log in result.recordings]),
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
        worst = max(errors.total for _, errors in fit.held_out)
        parts.append(f"{significant(100.0 * worst, 2)} % held out")
    return f"{answer} ({', '.join(parts)})"


def _torque_section(result: PayloadResult, torques: JointTorques) -> Section:
    fit = result.fit
    halves = {f"held out, {name}": errors for name, errors in fit.held_out}
    errors = {"fitted": fit.errors, **halves}
    tiles = Tiles(
        tuple(
            Tile(f"Torque error, {name}", f"{significant(100.0 * each.total, 2)} %")
            for name, each in errors.items()
        )
    )
    figures = Pictures(torque_columns(torques), _TORQUE_CAPTION)
    blocks = (tiles, error_table(torques.joints, errors), figures)
    return Section("fit", "How well it explains the torques", blocks)


def friction_section(torques: JointTorques) -> Section:
    """Return the section of friction by joint: curves and table."""
    blocks = (Pictures(friction_columns(torques), _FRICTION_CAPTION), friction_table(torques))
    return Section("friction", "Friction and rotors of the joints", blocks)


def scale_section(scale: TorqueScale, joints: Sequence[str]) -> Section:
    """Return the section of the torque scale that the intervals count with."""
    errors = [HALF_WIDTH_SIGMA * float(variance) ** 0.5 for variance in scale.covariance.diagonal()]
    table = ReportTable(
        (Head("Joint"), *number_heads("Gain", "95 %")),
        tuple(
            row(name, fixed(float(gain), 4), f"± {significant(error, 2)}")
            for name, gain, error in zip(joints, scale.gains, errors, strict=True)
        ),
        "Torque scale: logged torque = gain × true torque. Logs of the arm alone do not show it: "
        "torques that are all 2 % too large are those of an arm that is 2 % heavier.",
    )
    return Section("scale", "Torque scale", (Text(f"Intervals count with: {scale.kind}."), table))


def data_section(
    recordings: Sequence[JointRecording], logs: Sequence[ArmLog], titles: Sequence[str]
) -> Section:
    """Return the section of the rows, rates, filters and digests of logs of joints."""
    heads = ("Rows", "Dropped", "Rate [Hz]", "Cut-off [Hz]", "Span [s]", "Used", "Moving [%]")
    rows = tuple(
        row(
            f"{number}: {title}",
            f"{recording.rows}",
            f"{recording.dropped.total}",
            f"{log.rate_hz:.4g}",
            f"{log.cutoff_hz:.3g}",
            f"{recording.time[-1]:.4g}",
            f"{log.samples}",
            ", ".join(f"{100.0 * share:.0f}" for share in log.moving),
            Cell(log.sha256[:12], tooltip=log.sha256),
        )
        for number, (recording, log, title) in enumerate(
            zip(recordings, logs, titles, strict=True), start=1
        )
    )
    table = ReportTable(
        (Head("Log"), *number_heads(*heads), Head("sha256")),
        rows,
        "Rows, filters and digests of the logs. Moving: share of the samples in which each joint "
        "moves, by joint; the others do not count in its equation.",
    )
    return Section("data", "Data", (table,))
