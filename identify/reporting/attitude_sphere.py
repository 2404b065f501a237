"""Drawing of the attitudes of a log: the direction of gravity in the body, on two hemispheres."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array
from identify.logs import Recording
from identify.reporting import colors
from identify.reporting.content import Drawing
from identify.reporting.svg_axes import write_text
from identify.spatial import rotation_from_quaternion
from identify.spatial.rotations import rotate_back

_RADIUS = 70.0
_GAP = 30.0
_MARGIN = 26.0
"""Radius of a hemisphere, gap between both, and margin around them [px]."""

_WINDOW_ROWS = 25
"""Rows of an accelerometer that are averaged to a direction."""

_MAX_SPECIFIC_FORCE_ERROR = 0.1
"""Largest relative difference of a mean specific force from gravity that shows its direction."""

_MAX_COMPARED = 600
"""Largest number of directions between which the largest angle is computed."""


def gravity_directions(recording: Recording) -> Array:
    """Return unit vectors of gravity in B at the rows of a log; none without an attitude.

    They are those of the pose, or of means of an accelerometer whose length is that of gravity.

    Shape (n, 3).
    """
    sources = (recording.signals, *(stream.signals for stream in recording.streams))
    strength = float(np.linalg.norm(recording.gravity))
    for signals in sources:
        if "quaternion" in signals and strength > 0.0:
            R = rotation_from_quaternion(signals["quaternion"])
            return rotate_back(R, np.broadcast_to(recording.gravity / strength, (len(R), 3)))
    for signals in sources:
        if "accelerometer" in signals and strength > 0.0:
            read = signals["accelerometer"]
            rows = 1 if recording.still else min(_WINDOW_ROWS, len(read))
            count = len(read) // rows
            means = read[: count * rows].reshape(count, rows, 3).mean(axis=1)
            lengths = np.linalg.norm(means, axis=1)
            steady = np.abs(lengths / strength - 1.0) < _MAX_SPECIFIC_FORCE_ERROR
            return -means[steady] / lengths[steady, None]
    return np.zeros((0, 3))


def largest_angle(directions: Array) -> float:
    """Return the largest angle between two of at most a few hundred of the directions [rad]."""
    some = directions[:: max(1, len(directions) // _MAX_COMPARED)]
    return float(np.arccos(np.clip((some @ some.T).min(), -1.0, 1.0)))


def attitude_drawing(directions: Array) -> Drawing:
    """Draw directions of gravity in B in Lambert's equal-area projection of two hemispheres.

    A direction d with d_z ≥ 0 is drawn at (d_x, d_y) / √(1 + d_z) of the radius, one with d_z < 0
    in the other circle at (d_x, d_y) / √(1 − d_z).
    """
    width = 4.0 * _RADIUS + _GAP + 2.0 * _MARGIN
    height = 2.0 * (_RADIUS + _MARGIN)
    y = 0.5 * height
    parts = []
    for sign, x in ((1.0, _MARGIN + _RADIUS), (-1.0, width - _MARGIN - _RADIUS)):
        parts.append(_graticule(x, y))
        side = directions[(directions[:, 2] >= 0.0) == (sign > 0.0)]
        projected = side[:, :2] / np.sqrt(1.0 + np.abs(side[:, 2:]))
        points = np.unique(np.round(_RADIUS * projected * (1.0, -1.0)), axis=0)
        if len(points):
            d = "".join(f"M{x + a:g} {y + b:g}h0" for a, b in points.tolist())
            look = f'stroke="{colors.css_color(colors.ESTIMATE)}" stroke-width="3"'
            parts.append(f'<path d="{d}" fill="none" {look} stroke-linecap="round"/>')
        middle = ' text-anchor="middle"'
        heading = "towards +z of B" if sign > 0.0 else "towards −z of B"
        parts.append(write_text(heading, x, 11.0, 11.0, colors.TEXT, middle))
        parts.append(write_text("x", x + _RADIUS + 8.0, y + 4.0, 11.0, colors.TEXT, middle))
        parts.append(write_text("y", x, y - _RADIUS - 3.0, 11.0, colors.TEXT, middle))
    angle = np.degrees(largest_angle(directions))
    svg = (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="Direction of gravity in '
        f'the body frame, on two hemispheres">{"".join(parts)}</svg>'
    )
    caption = (
        f"Direction of gravity in the body frame B: its directions are up to {angle:.0f}° apart. "
        "Each circle is half of the sphere, in an equal-area projection: the middle is gravity "
        "along the axis z, the edge gravity across it; inner circles are 30° and 60° from the "
        "middle. Mass and centre of mass need directions that differ about two axes; the more of "
        "both circles is covered, the better."
    )
    return Drawing(svg, caption)


def _graticule(x: float, y: float) -> str:
    """Draw circles at 30°, 60° and 90° from the axis, and the axes x and y."""
    look = f'fill="none" stroke="{colors.css_color(colors.AXIS)}" stroke-width="0.7"'
    radii = [_RADIUS * np.sqrt(1.0 - np.cos(np.radians(angle))) for angle in (30.0, 60.0, 90.0)]
    circles = "".join(f'<circle cx="{x:g}" cy="{y:g}" r="{r:.2f}" {look}/>' for r in radii)
    axes = f"M{x - _RADIUS:g} {y:g}H{x + _RADIUS:g}M{x:g} {y - _RADIUS:g}V{y + _RADIUS:g}"
    return f'{circles}<path d="{axes}" {look}/>'
