"""What may be wrong with the logs: what was compared, sized and corrected, and when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array
from identify.inertia import InertialParameters
from identify.reporting.body import certificate_blocks
from identify.reporting.canvas import BAND, ESTIMATE, OTHER, Column, Panel
from identify.reporting.content import (
    Block,
    BulletList,
    Folded,
    Head,
    Pictures,
    ReportTable,
    Section,
    Text,
    numbers,
    row,
)
from identify.reporting.rounding import prefixed, significant, typeset
from identify.reporting.timeline import Timeline, mark_logs, timelines
from identify.reporting.wrenches import predict
from identify.spatial.columns import FORCE_AXES, TORQUE_AXES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from identify.diagnosis import Span
    from identify.pipeline import FitResult
    from identify.pipeline.result import CheckSummary, RankedReading, SensorEffect

_MOST_EXPLANATIONS = 6
"""Explanations that are shown."""


def checks_section(result: FitResult, truth: InertialParameters | None) -> Section:
    """What was checked in plain sentences; what was found open to see, the rest folded."""
    return Section("checks", "What was checked", tuple(_blocks(result)))


def _blocks(result: FitResult) -> Iterator[Block]:
    found = result.checks
    if result.corrected:
        yield Text("Corrections that were asked for, and made before the fit:")
        yield BulletList(result.corrected)
    yield BulletList(tuple(_sentences(result, found)))
    ranked = any(each.code for each in found.readings[:1])
    readings = _ranked(found.readings)
    if ranked:
        yield readings
    columns = span_columns(result)
    if columns:
        yield Pictures(
            columns,
            "Size of the residual over time. In the shaded spans something is wrong with the log.",
        )
    if found.readings and not ranked:
        yield Folded("Other readings of the logs", (readings,))
    if found.effects:
        yield Folded("Small faults of the sensor in the fit", (_effects(found.effects),))
    yield Folded("That the body is possible, and the optimum", certificate_blocks(result.estimate))


def _sentences(result: FitResult, found: CheckSummary) -> Iterator[str]:
    estimate, scores = result.estimate, result.validation.scores
    least = significant(estimate.certificate.eigenvalues[0], 2)
    is_not = "" if result.verdict.possible else "not "
    yield (
        f"The body is {is_not}possible: the least eigenvalue of its scaled pseudo-inertia is "
        f"{typeset(least)}."
    )
    distance = typeset(f"{estimate.certificate.distance_to_optimum:.1g}")
    yield (
        f"It is the optimum of {estimate.certificate.optimal_for}: by a bound worked out from the "
        f"data, at most {distance} standard errors away from it."
    )
    if scores is not None:
        left = "is as noise is" if result.verdict.explains_data else "is more than noise"
        yield (
            f"Parts of the logs were held out ({scores.folds}) and predicted by bodies fitted to "
            f"the rest; what is left of the wrench {left}."
        )
    dropped = sum(log.recording.dropped.total for log in result.logs)
    yield f"{dropped or 'No'} row{'' if dropped == 1 else 's'} of the logs had to be dropped."
    if any(not log.recording.still for log in result.logs):
        spans = sum(map(len, found.spans))
        times = f"{spans} span{'s' * (spans != 1)} of time" if spans else "none found"
        yield f"Contacts, spikes, readings at the end of their range and frozen signals: {times}."
    if noted := [one.name for one in found.effects if one.noted]:
        yield f"Small faults of the sensor that stand out: {', '.join(noted)}."
    elif found.effects:
        yield "Small faults of the sensor are part of the fit; none stands out."
    if not found.readings:
        yield (
            "Other readings of the logs (units, orders, signs, frames) were not tried, as nothing "
            "in the fit pointed to one. The command identify check tries them all."
        )
    elif not found.readings[0].code:
        yield (
            f"{len(found.readings)} readings and faults of the logs were compared; none explains "
            "them better than the one of the schema."
        )


def _ranked(readings: Sequence[RankedReading]) -> ReportTable:
    shown = list(readings[:_MOST_EXPLANATIONS])
    if all(each.code for each in shown):
        shown += [each for each in readings if not each.code]
    return ReportTable(
        (Head("Reading or fault of the log", "prose"), *numbers("2 Δ log L", "Mass [kg]")),
        tuple(
            row(each.text, f"{each.gain:.1f}", f"{each.mass:.5g}", muted=not each.code)
            for each in shown
        ),
        f"The most likely of {len(readings)} readings and faults. 2 Δ log L: twice the "
        "log-likelihood ratio to the log as read, less a penalty for the unknowns that are added. "
        "Mass: that of the body if the log is read so.",
    )


def _effects(effects: Sequence[SensorEffect]) -> ReportTable:
    rows = (
        row(
            one.name,
            f"{one.size:.2g} ± {one.half_width:.2g} {one.unit}".rstrip(),
            "noted" if one.noted else "",
            muted=not one.noted,
        )
        for one in effects
    )
    return ReportTable(
        (Head("Small fault"), *numbers("Size"), Head("Stands out")),
        tuple(rows),
        "Small faults that every fit includes, with their 95 % intervals: they are taken off the "
        "logs, and the intervals of the body count their errors.",
    )


_HALVES_OF_WRENCH = (("force", "N", FORCE_AXES), ("torque", "N m", TORQUE_AXES))


def span_columns(result: FitResult) -> tuple[Column, ...]:
    """Size of the residual over time, spans shaded; none where there is no span."""
    spans = result.checks.spans
    if not any(spans):
        return ()
    values = [prediction.residual for prediction in predict(result)]
    return tuple(
        Column(
            timeline.titled("Spans of time"),
            timeline.label,
            tuple(
                _sized([np.linalg.norm(one[:, axes], axis=1) for one in values], spans, timeline, k)
                for k, (_, _, axes) in enumerate(_HALVES_OF_WRENCH)
            ),
            link=timeline.link,
        )
        for timeline in timelines(result.logs)
        if not timeline.still
    )


def _sized(
    sizes: Sequence[Array], spans: Sequence[Sequence[Span]], timeline: Timeline, kind: int
) -> Panel:
    name, unit, _ = _HALVES_OF_WRENCH[kind]
    scale = prefixed(unit, max(float(sizes[index].max()) for index, _, _ in timeline.spans))

    def draw(axes: Axes) -> None:
        codes: dict[str, str] = {}
        for index, begin, _ in timeline.spans:
            first = 0.0 if index == timeline.spans[0][0] else begin
            for span in spans[index]:
                start = span.start + first
                color = codes.setdefault(span.code, (OTHER, BAND)[len(codes) % 2])
                label = span.code.replace("_", " ") if codes[span.code] == color else None
                known = axes.get_legend_handles_labels()[1]
                axes.axvspan(
                    start,
                    max(span.stop + first, start),
                    color=color,
                    alpha=0.35,
                    lw=0.5,
                    label=None if label in known else label,
                )
        axes.plot(
            *timeline.trace([size / scale.factor for size in sizes]),
            color=ESTIMATE,
            lw=0.8,
            label="residual",
        )
        axes.set_ylim(bottom=0.0)
        mark_logs(axes, timeline, numbered=kind == 0)

    return Panel(draw, f"{name} [{scale.name}]")
