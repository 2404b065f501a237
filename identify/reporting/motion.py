"""Report section of the motion: excitation compared with noise, and advice on motion."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array
from identify.findings import UNIDENTIFIED_SOURCES
from identify.inertia import InertialParameters
from identify.reporting import colors
from identify.reporting.canvas import (
    AxesT,
    Column,
    Panel,
    PanelAxes,
    label_rows,
    make_figure,
    set_log_scale,
)
from identify.reporting.content import (
    Block,
    BulletList,
    Pictures,
    ReportTable,
    Section,
    Text,
    make_table,
)
from identify.reporting.parameter_table import GROUPS_ABOUT_COM, parameter_rows
from identify.reporting.precision import SOURCE_NAMES, body_scales
from identify.reporting.rounding import format_significant, typeset
from identify.reporting.timeline import require_logs
from identify.spatial.columns import ANGULAR_ACCELERATION, PROPER_ACCELERATION, RATE_PRODUCTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from identify.pipeline import Result

_SOURCE_ADVICE = {
    "wrench": "A longer log or faster motion reduces it.",
    "motion": "A better pose signal, or slower and larger motion, reduces it.",
    "rest": "A warmed-up or freshly zeroed sensor reduces it; see also the findings.",
    "prior": "A longer log, faster motion or a more precise prior reduces it.",
    "completion": "Motion that excites the unidentifiable parameters reduces it.",
    "calibration": "A longer log does not reduce it, but a better calibration of the sensor does.",
    "fault": "The remedies in the findings reduce it.",
}
"""Advice on how to reduce each source of an estimate's variance."""


def motion_section(result: Result, truth: InertialParameters | None) -> Section:
    """Return the report section of the excitation by the motion, with recommended motions."""
    advice = result.checks.motion_advice
    advice_block: Block = BulletList(advice) if advice else Text(_advice_on_widest_interval(result))
    caption = (
        "Motion: RMS of the quantities in which the equations of motion are linear, compared with "
        "their noise, after the low-pass. If a sensor offset is fitted, only changes within a log "
        "count. Mass and centre of mass need rotations relative to gravity (a′), the inertia needs "
        "angular acceleration (α) and speed (ω ω)."
    )
    if all(log.recording.still for log in result.wrench_logs):
        caption = (
            "Static poses change only the direction of gravity (a′): mass and centre of mass are "
            "identifiable, the inertia is not."
        )
    columns = excitation_columns(result)
    blocks: tuple[Block, ...] = (advice_block,)
    if columns:
        blocks = (advice_block, Pictures(columns, caption, _feature_table(result)))
    return Section("motion", "Which motion to record next", blocks)


def _advice_on_widest_interval(result: Result) -> str:
    """Explain how to narrow the widest interval, if all parameters are identifiable."""
    if result.verdict.usable == "no":
        return "Remove the errors listed in the verdict before you record another motion."
    estimate, scales = result.estimate, body_scales(result.estimate)
    widths = [
        (line.half_width / scales[line.group], line.name)
        for line in parameter_rows(estimate, None, GROUPS_ABOUT_COM)
        if line.half_width is not None and line.decided_by not in (*UNIDENTIFIED_SOURCES, "given")
    ]
    if not widths:
        return "The logs do not identify any parameter."
    width, name = max(widths)
    unmet = [need for need, met in result.verdict.needs.items() if not met]
    text = (
        f"{''.join(f'The need {need} is not met. ' for need in unmet)}Relative to the body's own "
        f"scale, the widest interval is that of {name} "
        f"(± {typeset(format_significant(100.0 * width, 2))} %)."
    )
    shares = estimate.variance_shares.get(name)
    if not shares:
        return text
    source = max(shares, key=shares.__getitem__)
    return f"{text} Its largest source is {SOURCE_NAMES[source]}. {_SOURCE_ADVICE.get(source, '')}"


def _feature_table(result: Result) -> ReportTable:
    motion, noise = feature_rms(result)
    names = [(name, label) for label, names, _ in FEATURE_GROUPS for name in names]
    rows = (
        (
            name,
            label.partition("[")[2].rstrip("]"),
            format_significant(rms),
            format_significant(sigma),
            _signal_to_noise(rms, sigma),
        )
        for (name, label), rms, sigma in zip(names, motion.tolist(), noise.tolist(), strict=True)
    )
    heads = ("Quantity", "Unit", "motion, RMS", "noise, 1 σ", "motion : noise")
    return make_table(heads, rows, word_columns=2)


FEATURE_GROUPS = (
    ("acceleration less gravity, a′ [m/s²]", ("a′x", "a′y", "a′z"), PROPER_ACCELERATION),
    ("angular acceleration, α [rad/s²]", ("αx", "αy", "αz"), ANGULAR_ACCELERATION),
    (
        "products of the angular velocity, ω ω [rad²/s²]",
        ("ωx²", "ωy²", "ωz²", "ωx ωy", "ωx ωz", "ωy ωz"),
        RATE_PRODUCTS,
    ),
)
"""Axis label, names and columns of each group of motion features, such as accelerations."""

_MIN_DRAWN_RATIO = 1e-6
"""Minimum drawn value of a motion feature, relative to the largest of its group."""


def excitation(result: Result, *, ax: AxesT | None = None) -> Figure | AxesT:
    """Plot the root mean square of the twelve features of the motion, and of their noise.

    With a sensor offset only changes within a log are informative, so the mean is subtracted.

    Args:
        result: of a fit.
        ax: axes to draw on instead of a new figure, see `identify.plot`.
    """
    return make_figure(excitation_columns(require_logs(result, "excitation")), ax=ax)


def excitation_columns(result: Result) -> tuple[Column, ...]:
    """Return the column of the figure `excitation`, without features that are all zero."""
    motion, noise = feature_rms(result)
    panels = tuple(
        Panel(
            partial(_draw_features, names=names, motion=motion[columns], noise=noise[columns]),
            xlabel=label,
            height=0.12 + 0.19 * len(names),
        )
        for label, names, columns in FEATURE_GROUPS
        if motion[columns].any()
    )
    return (Column("Motion", "", panels, shared_x=False),) if panels else ()


def feature_rms(result: Result) -> tuple[Array, Array]:
    """Return the RMS of the motion's twelve features over all logs, and of their noise.

    Returns two arrays of shape (12,): the motion, and the standard deviation of its noise.
    """
    features = [log.features for log in result.wrench_logs]
    row_counts = np.array([len(rows) for rows in features], dtype=np.float64)
    if result.settings.bias == "per_log":
        features = [rows - rows.mean(axis=0) for rows in features]
    all_rows = np.concatenate(features)
    if result.settings.bias == "shared":
        all_rows = all_rows - all_rows.mean(axis=0)
    noise = row_counts @ np.array([log.noise[:12] for log in result.wrench_logs]) / row_counts.sum()
    return np.sqrt(np.mean(all_rows**2, axis=0)), np.sqrt(noise)


def _draw_features(axes: PanelAxes, names: tuple[str, ...], motion: Array, noise: Array) -> None:
    minimum = _MIN_DRAWN_RATIO * motion.max()
    drawn, noisy = np.maximum(motion, minimum), noise > minimum
    floor = np.maximum(noise, minimum)
    low = min(float(drawn.min()), float(noise[noisy].min(initial=np.inf)))
    axes.set_xlim(low / 2.5, float(drawn.max()) * 2.5)
    set_log_scale(axes)
    ratios = [_signal_to_noise(*pair) for pair in zip(motion, noise, strict=True)]
    heights = label_rows(axes, names, ratios)
    axes.hlines(heights, floor, drawn, color=colors.GRID, lw=5.0)
    axes.plot(drawn, heights, "o", color=colors.ESTIMATE, ms=5.5, mew=0.0, label="motion, RMS")
    if noisy.any():
        look = {"color": colors.OTHER_BODY, "ms": 9.0, "mew": 2.0}
        axes.plot(floor[noisy], heights[noisy], "|", label="noise, 1 σ", **look)


def _signal_to_noise(motion: float, noise: float) -> str:
    """Format the ratio of motion to noise; empty if the noise is unknown."""
    if noise <= 0.0:
        return ""
    if motion > noise / _MIN_DRAWN_RATIO:
        return "> 10⁶ : 1"
    return f"{format_significant(motion / noise)} : 1"
