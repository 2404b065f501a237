"""Spans of time in which something is wrong with a log, over what the fit leaves there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array
from identify.reporting.canvas import BAND, ESTIMATE, OTHER, Column, Panel
from identify.reporting.figures.wrench import predict
from identify.reporting.rounding import prefixed
from identify.reporting.timeline import Timeline, mark_logs, timelines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from identify.diagnosis import Span
    from identify.pipeline import FitResult

_KINDS = (("force", "N", slice(0, 3)), ("torque", "N m", slice(3, 6)))


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
                for k, (_, _, axes) in enumerate(_KINDS)
            ),
        )
        for timeline in timelines(result.logs)
        if not timeline.still
    )


def _sized(
    sizes: Sequence[Array], spans: Sequence[Sequence[Span]], timeline: Timeline, kind: int
) -> Panel:
    name, unit, _ = _KINDS[kind]
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
