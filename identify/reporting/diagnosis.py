"""What may be wrong with the logs: what was compared, sized and corrected, and when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array
from identify.inertia import InertialParameters
from identify.reporting.canvas import BAND, ESTIMATE, OTHER, Column, Panel
from identify.reporting.content import (
    Block,
    Head,
    Pictures,
    Points,
    Section,
    Table,
    Text,
    numbers,
    row,
    table_of,
)
from identify.reporting.rounding import prefixed
from identify.reporting.timeline import Timeline, mark_logs, timelines
from identify.reporting.wrenches import predict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from identify.diagnosis import Diagnosis, Ranking, Span
    from identify.pipeline import FitResult

_MOST = 6
"""Explanations that are shown."""


def diagnosis_section(result: FitResult, truth: InertialParameters | None) -> Section | None:
    """The ranking, the faults, the spans, and what the estimate is with the faults corrected."""
    blocks = tuple(_blocks(result))
    return Section("checks", "What was checked", blocks) if blocks else None


def _blocks(result: FitResult) -> Iterator[Block]:
    found = result.checks
    if result.corrected:
        yield Text("Corrections that were asked for, and made before the fit:")
        yield Points(result.corrected)
    if found.diagnosis is None and found.ranking is None:
        return
    if found.ranking is not None:
        yield _ranked(found.ranking)
    else:
        yield Text(
            "Other readings of the logs were not tried, as nothing in the fit pointed to one. The "
            "command identify check tries them all.",
            "muted",
        )
    if found.diagnosis is not None:
        if found.diagnosis.tests:
            yield _tested(found.diagnosis)
        if found.diagnosis.found:
            yield _before_and_after(result)
    columns = span_columns(result)
    if columns:
        yield Pictures(
            columns,
            "Size of the residual over time. In the shaded spans something is wrong with the log.",
        )
    if found.advice:
        yield Points(found.advice, "muted")


def _ranked(ranking: Ranking) -> Table:
    shown = list(ranking.explanations[:_MOST])
    if all(each.code for each in shown):
        shown += [each for each in ranking.explanations if not each.code]
    return Table(
        (Head("Reading or fault of the log", "prose"), *numbers("2 Δ log L", "Mass [kg]")),
        tuple(
            row(each.text, f"{each.gain:.1f}", f"{each.mass:.5g}", muted=not each.code)
            for each in shown
        ),
        f"The most likely of {len(ranking.explanations)} readings and faults. 2 Δ log L: twice the "
        "log-likelihood ratio to the log as read, less a penalty for the unknowns that are added. "
        "Mass: that of the body if the log is read so.",
    )


def _tested(diagnosis: Diagnosis) -> Table:
    rows = []
    found_by_name = {each.faults[0].name: each for each in diagnosis.found}
    for test in diagnosis.tests:
        fault, scale = test.fault, test.fault.sizes
        assert scale is not None
        per = scale.per_unit
        found = found_by_name.get(fault.name)
        size, half, p_value = (
            (test.size, 1.96 * test.errors, test.p_value)
            if found is None
            else (found.size, found.half_width, found.p_value)
        )
        sizes = ", ".join(f"{s / per:.2g} ± {h / per:.2g}" for s, h in zip(size, half, strict=True))
        observable = test.observable or found is not None
        rows.append(
            row(
                fault.name.replace("_", " "),
                f"{sizes} {scale.unit}" if np.isfinite(half).all() else "unobservable",
                f"{p_value:.2g}",
                "found" if found is not None else "yes" if observable else "no",
                muted=not observable,
            )
        )
    return Table(
        (Head("Fault"), Head("Size"), *numbers("p"), Head("Observable")),
        tuple(rows),
        "Log faults that have a size, with its 95 % interval: the fitted size of those that were "
        "found; of the others, the estimate by one step of least squares from zero. p: probability "
        "of a size as large by chance.",
    )


def _before_and_after(result: FitResult) -> Table:
    assert result.checks.diagnosis is not None
    before = result.estimate.parameters
    after = InertialParameters(np.array(result.checks.diagnosis.fit.x[:10]))
    pairs = [("mass", "kg", before.mass, after.mass)]
    pairs += [
        (f"centre of mass {axis}", "m", float(one), float(other))
        for axis, one, other in zip("xyz", before.com, after.com, strict=True)
    ]
    inertias = (np.diag(body.inertia_about_com) for body in (before, after))
    pairs += [
        (f"I{axis}{axis} about it", "kg m²", float(one), float(other))
        for axis, one, other in zip("xyz", *inertias, strict=True)
    ]
    names = ", ".join(each.code.replace("_", " ") for each in result.checks.diagnosis.found)
    return table_of(
        ("Parameter", "Unit", "As read", "Corrected"),
        ((name, unit, f"{a:.5g}", f"{b:.5g}") for name, unit, a, b in pairs),
        f"The least-squares body of the logs as they were read, and with {names} corrected. "
        "A fault is corrected only if that is asked for (fit --apply).",
        words=2,
    )


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
