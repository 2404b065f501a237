"""Lines and the record of `--json` that describe a designed motion."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from identify.design import MotionDesign, PredictedPrecision


def width_lines(widths: Mapping[str, float], hidden: Sequence[str] = ()) -> Iterator[str]:
    """Format the widest predicted half-width of mass, centre of mass and inertia.

    `hidden`: names of parameters that no motion shows.
    """
    from identify.design.prediction import DISPLAY_UNITS
    from identify.pipeline.required_precision import INTERVAL_NAMES, QUANTITY_NAMES
    from identify.reporting.rounding import format_significant

    for quantity, (unit, factor) in DISPLAY_UNITS.items():
        names = INTERVAL_NAMES[quantity]
        shown = [name for name in names if name not in hidden]
        widest = factor * max((widths[name] for name in shown), default=math.inf)
        only = "" if len(shown) == len(names) else f", of {', '.join(shown)} alone"
        width = f"± {format_significant(widest, 2)} {unit} (95 %){only}"
        if not math.isfinite(widest):
            width = "not identified" if shown else "no motion of these joints shows it"
        yield f"Predicted {QUANTITY_NAMES[quantity]}: {width}."


def design_lines(design: MotionDesign) -> Iterator[str]:
    """Describe a design as lines of text."""
    seconds, periods = design.seconds, design.periods
    repeated = f", {periods} times a period of {design.period:g} s" if periods > 1 else ""
    yield f"Motion of {seconds:g} s{repeated}, from rest to rest."
    if (prediction := design.prediction) is not None:
        widths = prediction.half_widths(seconds, total=True)
        yield from width_lines(widths, prediction.hidden)
        if "m" in prediction.hidden:
            shown = ", ".join(prediction.combinations(seconds))
            yield f"Predicted of the payload [SI]: {shown} (95 %)."
    yield (
        f"Standard errors are {design.relative_to_unplanned:.2f} times those of an unplanned "
        "motion within the same limits and time (geometric mean)."
    )
    name, share = design.most_used_limit
    yield f"Most used limit: {name}, {100.0 * share:.1f} %."
    if prediction is not None:
        yield from _need_lines(design, prediction)
    yield from design.remarks


def _need_lines(design: MotionDesign, prediction: PredictedPrecision) -> Iterator[str]:
    unmet = design.unmet
    for need in design.needs:
        reached = prediction.widest_half_width(need, design.seconds)
        whole = prediction.widest_half_width(replace(need, total=True), design.seconds)
        met, has, scale = "not met" if need in unmet else "met", "has no interval", ""
        if reached is not None:
            width = need.format_beyond(reached) if need in unmet else f"{reached:.2g} {need.unit}"
            has = f"± {width} is predicted"
        if reached is not None and whole is not None and whole > max(need.limit, 1.01 * reached):
            scale = f"; the sensor's scale limits it to ± {need.format_beyond(whole)}"
        yield f"Need {need.text}: {met}, {has}{scale}."
    if unmet:
        needed = prediction.seconds_for(design.needs, design.period)
        calibrate = "calibrate the sensor, " * any(need.total for need in unmet)
        yield (
            "No such motion within an hour meets all needs: widen the limits, "
            f"{calibrate}or relax the needs."
            if needed is None
            else f"All needs are met after {needed:g} s of such a motion (--time {needed:g})."
        )


def design_record(design: MotionDesign) -> dict[str, object]:
    """Return a design as the document of `--json`."""
    prediction = design.prediction
    widths = {} if prediction is None else prediction.half_widths(design.seconds, total=True)
    return {
        "seconds": design.seconds,
        "period": design.period,
        "axes": list(design.problem.axes),
        "shares": dict(design.shares),
        "half_widths": {k: v if math.isfinite(v) else None for k, v in widths.items()},
        "relative_to_unplanned": design.relative_to_unplanned,
        "needs": {need.text: need not in design.unmet for need in design.needs},
        "remarks": list(design.remarks),
    }
