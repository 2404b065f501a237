"""Report section of the checks of the logs: interpretations, small faults, faulty time spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array
from identify.inertia import InertialParameters
from identify.reporting import colors
from identify.reporting.body import certificate_blocks
from identify.reporting.canvas import Column, Panel, PanelAxes
from identify.reporting.content import (
    Block,
    BulletList,
    Folded,
    Head,
    Pictures,
    ReportTable,
    Section,
    Text,
    make_row,
    make_table,
)
from identify.reporting.parameter_table import parameter_rows
from identify.reporting.rounding import (
    decimals_for,
    format_fixed,
    with_half_width,
    with_power_of_ten,
    with_si_prefix,
)
from identify.reporting.timeline import Timeline, mark_logs, timelines
from identify.reporting.wrenches import FORCE_AND_TORQUE, predict_wrenches

if TYPE_CHECKING:
    from identify.diagnosis import Span
    from identify.pipeline import Result
    from identify.pipeline.result import CheckSummary, SmallFault

_MAX_INTERPRETATIONS = 6
"""Maximum number of interpretations and faults of the logs in the report's table."""


def checks_section(result: Result, truth: InertialParameters | None) -> Section:
    """Return the report section of the checks of the logs: findings, and folded details."""
    return Section("checks", "What was checked", tuple(_check_blocks(result)))


def _check_blocks(result: Result) -> Iterator[Block]:
    checks = result.checks
    if result.corrected:
        yield Text("Corrections made before the fit, as requested:")
        yield BulletList(result.corrected)
    yield BulletList(tuple(_check_sentences(result, checks)))
    misread = any(reading.code for reading in checks.interpretations[:1])
    readings = _interpretation_table(result)
    if misread:
        yield readings
    columns = span_columns(result)
    if columns:
        yield Pictures(
            columns, "Magnitude of the residual over time; the shaded spans of the log are faulty."
        )
    if checks.interpretations and not misread:
        yield Folded("Other interpretations of the logs", (readings,))
    yield from _small_fault_tables(checks.small_faults)
    yield Folded("Physical consistency and optimality", certificate_blocks(result.estimate))


def _check_sentences(result: Result, checks: CheckSummary) -> Iterator[str]:
    if any(not log.recording.still for log in result.wrench_logs):
        spans = sum(map(len, checks.spans))
        times = f"{spans} span{'s' * (spans != 1)} of time" if spans else "none found"
        yield f"Contacts, spikes, readings at the end of their range and frozen signals: {times}."
    if not checks.interpretations:
        yield (
            "Other interpretations of the logs (units, orders, signs, frames) were not tried, as "
            "nothing in the fit suggested one; the command identify check tries them all."
        )
    elif not checks.interpretations[0].code:
        yield (
            f"{len(checks.interpretations)} interpretations and faults of the logs were compared; "
            "none explains them better than the schema."
        )


def _interpretation_table(result: Result) -> ReportTable:
    interpretations = result.checks.interpretations
    (mass,) = parameter_rows(result.estimate, None, ("mass",))
    decimals = decimals_for(mass.half_width, mass.value)
    shown = list(interpretations[:_MAX_INTERPRETATIONS])
    if all(reading.code for reading in shown):
        shown += [reading for reading in interpretations if not reading.code]
    return make_table(
        (Head("Interpretation or fault", "prose"), "2 Δ log L", "Mass [kg]"),
        (
            make_row(
                reading.description,
                f"{reading.log_likelihood_ratio:.1f}",
                format_fixed(reading.mass, decimals),
                muted=not reading.code,
            )
            for reading in shown
        ),
        f"The most likely of {len(interpretations)} interpretations and faults of the logs. "
        "2 Δ log L: twice the log-likelihood ratio relative to the schema, minus a penalty for the "
        "added unknowns. Mass: the mass of the body under this interpretation.",
    )


def _small_fault_tables(small_faults: Sequence[SmallFault]) -> Iterator[Block]:
    """Return the table of the significant small faults, and that of the others, folded."""
    significant = [fault for fault in small_faults if fault.significant]
    others = [fault for fault in small_faults if not fault.significant and fault.half_width > 0.0]
    if significant:
        yield _small_fault_table(significant, f"Significant small faults of the sensor.{_COUNTED}")
    if others:
        title = f"{len(others)} small faults of the sensor that are not significant"
        yield Folded(title, (_small_fault_table(others, f"Sizes of small faults.{_COUNTED}"),))


_COUNTED = (
    " Every fit estimates and corrects them; sizes have 95 % intervals, and the intervals of the "
    "body include their errors."
)


def _small_fault_table(small_faults: Sequence[SmallFault], caption: str) -> ReportTable:
    rows = ((_name_in_words(fault), _size_in_words(fault)) for fault in small_faults)
    return make_table(("Small fault", "Size"), rows, caption)


def _name_in_words(fault: SmallFault) -> str:
    """Return the group and the entry of a small fault, once if they have the same name."""
    group, _, entry = fault.name.partition(", ")
    return group if group == entry else fault.name


def _size_in_words(fault: SmallFault) -> str:
    """Format the size of a small fault with its interval, with a power of ten if it is tiny."""
    largest = max(abs(fault.size), fault.half_width)
    if largest >= _MIN_PLAIN_SIZE:
        return f"{with_half_width(fault.size, fault.half_width)} {fault.unit}".rstrip()
    unit = with_power_of_ten(fault.unit, largest)
    size = with_half_width(unit.of(fault.size), unit.of(fault.half_width))
    return f"({size})·{unit.name}".rstrip()


_MIN_PLAIN_SIZE = 1e-3
"""Smallest size of a small fault that is written without a power of ten."""


def span_columns(result: Result) -> tuple[Column, ...]:
    """Return plots of the residual wrench over time with faulty time spans shaded, if any."""
    spans = result.checks.spans
    if not any(spans):
        return ()
    values = [prediction.residual for prediction in predict_wrenches(result)]
    return tuple(
        Column(
            timeline.title_with_motion("Spans of time"),
            timeline.label,
            tuple(
                _magnitude_panel(
                    [np.linalg.norm(residual[:, axes], axis=1) for residual in values],
                    spans,
                    timeline,
                    k,
                )
                for k, (_, _, axes) in enumerate(FORCE_AND_TORQUE)
            ),
            zoom_group=timeline.zoom_group,
        )
        for timeline in timelines(result.wrench_logs)
        if not timeline.static_poses
    )


def _magnitude_panel(
    magnitudes: Sequence[Array],
    spans: Sequence[Sequence[Span]],
    timeline: Timeline,
    wrench_half: int,
) -> Panel:
    title, unit, _ = FORCE_AND_TORQUE[wrench_half]
    scale = with_si_prefix(
        unit, max(float(magnitudes[index].max()) for index, _, _ in timeline.spans)
    )

    def draw(axes: PanelAxes) -> None:
        codes: dict[str, str] = {}
        for index, begin, _ in timeline.spans:
            first = 0.0 if index == timeline.spans[0][0] else begin
            for span in spans[index]:
                start = span.start + first
                color = codes.setdefault(
                    span.code, (colors.OTHER_BODY, colors.BAND)[len(codes) % 2]
                )
                label = span.code.replace("_", " ") if codes[span.code] == color else None
                present = axes.get_legend_handles_labels()[1]
                axes.axvspan(
                    start,
                    max(span.stop + first, start),
                    color=color,
                    alpha=0.35,
                    lw=0.5,
                    label=None if label in present else label,
                )
        axes.plot(
            *timeline.trace([magnitude / scale.factor for magnitude in magnitudes]),
            color=colors.ESTIMATE,
            lw=0.8,
            label="residual",
        )
        axes.set_ylim(bottom=0.0)
        mark_logs(axes, timeline, numbered=wrench_half == 0)

    return Panel(draw, f"{title.lower()} [{scale.name}]")
