"""A picture of a body in its frame, as an SVG that a page's script turns."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from identify.arrays import Array
from identify.reporting.canvas import AXES, EDGE, ESTIMATE, INK, MUTED, OTHER, paint
from identify.reporting.content import Drawing
from identify.reporting.rounding import significant, unit_of_length

if TYPE_CHECKING:
    from identify.exchange import SavedEstimate
    from identify.spatial import Pose

_WIDTH, _HEIGHT, _EDGE = 340.0, 280.0, 26.0
_VIEW_AXES = np.array([[-0.64, 0.768, 0.0], [-0.315, -0.263, 0.912], [0.701, 0.584, 0.41]])
"""Rows: what is to the right, up and towards the reader in axes of B, before it is turned."""

_LETTER, _LINE_HEIGHT = 2.8, 11.0
"""Half of a letter's width, and the height of a line; the page's script has them too."""

_CURVES, _CURVE_POINTS = 6, 33
"""Meridians of an ellipsoid, and points of each curve."""


class _Mark(NamedTuple):
    """A line through points in B, shape (n, 3) [m]; or a dot or a word at one."""

    points: Array
    color: str
    width: float = 1.0
    word: str = ""
    dashes: str = ""


def semi_axes(estimate: SavedEstimate) -> Array:
    """Of the solid ellipsoid with this mass and inertia, along its principal axes [m], shape (3,).

    About a principal axis i: I_i = Σ_j s_j − s_i, with s_j = m a_j² / 5 of a solid ellipsoid.
    """
    moments = np.array([axis.moment for axis in estimate.principal_axes])
    second = 0.5 * moments.sum() - moments
    return np.sqrt(5.0 * np.maximum(second, 0.0) / estimate.parameters.mass)


def body_drawing(estimate: SavedEstimate) -> Drawing:
    """The frames, the centre of mass with its interval, and the ellipsoid of the same inertia.

    Of a body whose inertia is not known there is no ellipsoid.
    """
    marks = list(_marks(estimate))
    everything = np.concatenate([mark.points for mark in marks])
    middle = 0.5 * (everything.min(axis=0) + everything.max(axis=0))
    reach = float(np.linalg.norm(everything - middle, axis=1).max())
    scale = (0.5 * min(_WIDTH, _HEIGHT) - _EDGE) / reach
    place = np.array([0.5 * _WIDTH, 0.5 * _HEIGHT])
    words: list[tuple[float, float, int]] = []
    drawn = "".join(
        _drawn(mark._replace(points=mark.points - middle), place, scale, words) for mark in marks
    )
    frame = " ".join(f"{value:.4g}" for value in (*place, scale))
    view = " ".join(f"{value:g}" for value in _VIEW_AXES.ravel())
    what = "and the ellipsoid of the same inertia" if estimate.principal_axes else ""
    label = escape(f"{estimate.frame_description}: its axes, the centre of mass {what}")
    svg = (
        f'<svg class="body" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" aria-label="{label}" '
        f'data-frame="{frame}" data-view="{view}">{drawn}</svg>'
    )
    return Drawing(svg, _caption(estimate))


def _caption(estimate: SavedEstimate) -> str:
    said = [f"Axes of {estimate.frame_description}; the dot is the centre of mass"]
    halves = _half_widths(estimate)
    if halves is not None:
        length = unit_of_length(float(halves.max()))
        most = significant(length.of(float(halves.max())), 2)
        said[0] += f", its 95 % interval is at most ± {most} {length.name} along an axis"
    if estimate.principal_axes:
        sizes = 2.0 * semi_axes(estimate)
        length = unit_of_length(float(sizes.max()))
        sizes = " × ".join(significant(length.of(size), 3) for size in sizes.tolist())
        said.append(
            f"The ellipsoid, solid and of even density, has the same mass and inertia: {sizes} "
            f"{length.name}. Compare it with the real body"
        )
    if estimate.frames.flange is not None:
        said.append("The flange is where the schema has it")
    return ". ".join(said) + "."


def _half_widths(estimate: SavedEstimate) -> Array | None:
    """Of the centre of mass [m], shape (3,); None where one has no interval."""
    bounds = [estimate.intervals.get(name) for name in ("cx", "cy", "cz")]
    known = [0.5 * (high - low) for low, high in filter(None, bounds)]
    return np.array(known) if len(known) == 3 else None


def _marks(estimate: SavedEstimate) -> Iterator[_Mark]:
    com, frames = estimate.com, estimate.frames
    size = float(np.linalg.norm(com))
    if estimate.principal_axes:
        axes = semi_axes(estimate)
        size = max(size, float(axes.max()))
        directions = np.array([axis.direction for axis in estimate.principal_axes])
        yield from _ellipsoid(com, axes[:, None] * directions)
    length = 0.6 * size or 0.1
    for number, (name, color, _) in enumerate(AXES):
        tip = length * np.eye(3)[number]
        yield _Mark(np.array([np.zeros(3), tip]), color, 2.2)
        yield _Mark(1.12 * tip[None], color, word=name)
    for word, pose in (("flange", frames.flange), ("tool point", frames.tcp)):
        if pose is not None and np.linalg.norm(pose.position) < 5.0 * size:
            yield from _frame(word, pose, 0.5 * length)
    halves = _half_widths(estimate)
    if halves is not None:
        for axis, half in zip(np.eye(3), halves.tolist(), strict=True):
            yield _Mark(np.array([com - half * axis, com + half * axis]), OTHER, 2.0)
    yield _Mark(com[None], OTHER, 3.5)


def _frame(word: str, pose: Pose, length: float) -> Iterator[_Mark]:
    """Another frame: its axes, dashed, and what it is called."""
    for axis, (_, color, _) in zip(pose.rotation.T, AXES, strict=True):
        points = np.array([pose.position, pose.position + length * axis])
        yield _Mark(points, color, 1.3, dashes="4 2")
    yield _Mark(pose.position[None], MUTED, word=word)


def _ellipsoid(centre: Array, axes: Array) -> Iterator[_Mark]:
    """Meridians and parallels, and its three principal sections, of semi-axes in rows."""
    around = np.linspace(0.0, 2.0 * np.pi, _CURVE_POINTS)[:, None]
    a, b, c = axes
    for angle in np.pi * np.arange(_CURVES) / _CURVES:
        across = np.cos(angle) * b + np.sin(angle) * c
        yield _Mark(centre + np.cos(around) * a + np.sin(around) * across, EDGE, 0.6)
    for angle in np.pi * np.arange(1, _CURVES) / _CURVES:
        ring = np.cos(around) * b + np.sin(around) * c
        yield _Mark(centre + np.cos(angle) * a + np.sin(angle) * ring, EDGE, 0.6)
    for one, other in ((a, b), (b, c), (c, a)):
        yield _Mark(centre + np.cos(around) * one + np.sin(around) * other, ESTIMATE, 1.2)


def _drawn(mark: _Mark, place: Array, scale: float, words: list[tuple[float, float, int]]) -> str:
    """A mark as it is seen at first, with its points in space; a word below those it would hide."""
    seen = place + scale * (mark.points @ _VIEW_AXES[:2].T) * (1.0, -1.0)
    said = " ".join(f"{value:.4g}" for value in mark.points.ravel())
    color = paint(mark.color)
    x, y = seen[0]
    if mark.word:
        size = len(mark.word)
        while any(
            abs(x - u) < _LETTER * (size + n) and abs(y - v) < _LINE_HEIGHT for u, v, n in words
        ):
            y += _LINE_HEIGHT
        words.append((x, y, size))
        look = f'fill="{paint(INK)}" font-size="10" text-anchor="middle"'
        return f'<text data-p="{said}" x="{x:.1f}" y="{y:.1f}" {look}>{escape(mark.word)}</text>'
    if len(seen) == 1:
        return (
            f'<circle data-p="{said}" cx="{x:.1f}" cy="{y:.1f}" r="{mark.width}" fill="{color}"/>'
        )
    d = "L".join(f"{x:.1f} {y:.1f}" for x, y in seen)
    dashes = f' stroke-dasharray="{mark.dashes}"' if mark.dashes else ""
    look = f'fill="none" stroke="{color}" stroke-width="{mark.width}"{dashes}'
    return f'<path data-p="{said}" d="M{d}" {look}/>'
