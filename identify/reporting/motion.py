"""What motion there was, beside its noise, and what motion would tell more."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array
from identify.findings import NOT_IDENTIFIED
from identify.inertia import InertialParameters
from identify.reporting.canvas import (
    ESTIMATE,
    GRID,
    OTHER,
    Column,
    Panel,
    PlaceT,
    compose,
    decades,
    name_rows,
)
from identify.reporting.content import (
    Block,
    BulletList,
    Pictures,
    ReportTable,
    Section,
    Text,
    row,
    table_of,
)
from identify.reporting.parameter_table import ABOUT_COM, parameter_rows
from identify.reporting.precision import SOURCE_NAMES, body_scales
from identify.reporting.rounding import significant, typeset
from identify.reporting.timeline import require_logs
from identify.spatial.columns import ANGULAR_ACCELERATION, PROPER_ACCELERATION, RATE_PRODUCTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from identify.pipeline import FitResult

_ADVICE = {
    "wrench": "A longer log or faster motion reduces it.",
    "motion": "A better pose signal, or slower and larger motion, reduces it.",
    "rest": "A warm or freshly zeroed sensor reduces it, or what the findings advise.",
    "prior": "A longer log or faster motion reduces it, or a prior that is known better.",
    "completion": "Motion that tells what the logs do not reduces it.",
    "calibration": "No longer log reduces it: a better calibration of the sensor does.",
    "fault": "What the findings advise reduces it.",
}
"""What reduces each source of variance."""


def motion_section(result: FitResult, truth: InertialParameters | None) -> Section:
    """What motion would tell more, and what there was, beside its noise."""
    advice = result.checks.advice
    said: Block = BulletList(advice) if advice else Text(_next(result))
    caption = (
        "Motion: the quantities that the equations of motion are linear in, after the low-pass; "
        "only their change within a log counts where a sensor offset is fitted, and beside it "
        "stands how far it is above the noise. Mass and centre of mass need turns against gravity "
        "(a′), the inertia needs angular acceleration (α) and speed (ω ω)."
    )
    if all(log.recording.still for log in result.logs):
        caption = (
            "Still poses: nothing turns, so only the direction of gravity changes (a′): mass and "
            "centre of mass are identifiable, the inertia is not."
        )
    columns = excitation_columns(result)
    blocks = (said, Pictures(columns, caption, _feature_table(result))) if columns else (said,)
    return Section("motion", "What motion would help next", blocks)


def _next(result: FitResult) -> str:
    """What would narrow the widest interval, of logs that identify all there is."""
    if result.verdict.usable == "no":
        return "None before what is wrong is put right: see the verdict."
    estimate, scales = result.estimate, body_scales(result.estimate)
    known = [
        (one.half_width / scales[one.group], one.name)
        for one in parameter_rows(estimate, None, ABOUT_COM)
        if one.half_width is not None and one.decided_by not in (*NOT_IDENTIFIED, "given")
    ]
    if not known:
        return "The logs tell nothing of the body by themselves."
    width, name = max(known)
    unmet = [need for need, met in result.verdict.needs.items() if not met]
    said = (
        f"{''.join(f'The need {need} is not met. ' for need in unmet)}The widest interval, beside "
        f"the body's own scale, is that of {name} (± {typeset(significant(100.0 * width, 2))} %)."
    )
    shares = estimate.variance_shares.get(name)
    if not shares:
        return said
    source = max(shares, key=shares.__getitem__)
    return f"{said} Most of it is {SOURCE_NAMES[source]}. {_ADVICE.get(source, '')}"


def _feature_table(result: FitResult) -> ReportTable:
    motion, noise = excited(result)
    names = [(name, label) for label, names, _ in GROUPS for name in names]
    rows = (
        row(
            name,
            label.partition("[")[2].rstrip("]"),
            significant(rms),
            significant(of),
            _above(rms, of),
        )
        for (name, label), rms, of in zip(names, motion.tolist(), noise.tolist(), strict=True)
    )
    heads = ("Quantity", "Unit", "motion, RMS", "noise, 1 σ", "motion : noise")
    return table_of(heads, rows, words=2)


GROUPS = (
    ("acceleration less gravity, a′ [m/s²]", ("a′x", "a′y", "a′z"), PROPER_ACCELERATION),
    ("angular acceleration, α [rad/s²]", ("αx", "αy", "αz"), ANGULAR_ACCELERATION),
    (
        "products of the angular velocity, ω ω [rad²/s²]",
        ("ωx²", "ωy²", "ωz²", "ωx ωy", "ωx ωz", "ωy ωz"),
        RATE_PRODUCTS,
    ),
)
"""The twelve features: axis label, names and columns."""

_DECADES = 1e-6
"""Least share of a group's largest feature that is drawn."""


def excitation(result: FitResult, *, ax: PlaceT | None = None) -> Figure | PlaceT:
    """Root mean square of the twelve features of the motion, and the noise left in each.

    With a sensor offset only changes within a log are informative, so the mean is subtracted.

    Args:
        result: of a fit.
        ax: axes to draw on in place of a figure of its own, see `identify.plot`.
    """
    return compose(excitation_columns(require_logs(result, "excitation")), ax=ax)


def excitation_columns(result: FitResult) -> tuple[Column, ...]:
    """The column of `excitation`; groups that do not move at all are left out."""
    motion, noise = excited(result)
    panels = tuple(
        Panel(
            partial(_draw_features, names=names, motion=motion[columns], noise=noise[columns]),
            xlabel=label,
            height=0.12 + 0.19 * len(names),
        )
        for label, names, columns in GROUPS
        if motion[columns].any()
    )
    return (Column("Motion", "", panels, shared=False),) if panels else ()


def excited(result: FitResult) -> tuple[Array, Array]:
    """RMS of the twelve features over all logs, less their mean beside a sensor offset, and noise.

    Returns:
        Two arrays of shape (12,): the motion, and the standard deviation of the noise left in it.
    """
    features = [log.features for log in result.logs]
    rows = np.array([len(one) for one in features], dtype=np.float64)
    if result.settings.bias == "per_log":
        features = [one - one.mean(axis=0) for one in features]
    together = np.concatenate(features)
    if result.settings.bias == "shared":
        together = together - together.mean(axis=0)
    noise = rows @ np.array([log.noise[:12] for log in result.logs]) / rows.sum()
    return np.sqrt(np.mean(together**2, axis=0)), np.sqrt(noise)


def _draw_features(axes: Axes, names: tuple[str, ...], motion: Array, noise: Array) -> None:
    least = _DECADES * motion.max()
    shown, noisy = np.maximum(motion, least), noise > least
    floor = np.maximum(noise, least)
    low = min(float(shown.min()), float(noise[noise > least].min(initial=np.inf)))
    axes.set_xlim(low / 2.5, float(shown.max()) * 2.5)
    decades(axes)
    places = name_rows(axes, names, [_above(*pair) for pair in zip(motion, noise, strict=True)])
    axes.hlines(places, floor, shown, color=GRID, lw=5.0)
    axes.plot(shown, places, "o", color=ESTIMATE, ms=5.5, mew=0.0, label="motion, RMS")
    if noisy.any():
        look = {"color": OTHER, "ms": 9.0, "mew": 2.0}
        axes.plot(floor[noisy], places[noisy], "|", label="noise, 1 σ", **look)


def _above(motion: float, noise: float) -> str:
    """How far a motion is above its noise; nothing where no noise is known."""
    if noise <= 0.0:
        return ""
    if motion > noise / _DECADES:
        return "> 10⁶ : 1"
    return f"{significant(motion / noise)} : 1"
