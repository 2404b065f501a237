"""Picture of a body in its frame as an SVG, which readers can rotate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from identify.arrays import Array
from identify.reporting import colors
from identify.reporting.content import Drawing

if TYPE_CHECKING:
    from identify.exchange import SavedEstimate
    from identify.spatial import Pose

_WIDTH = 340.0
_HEIGHT = 280.0
_MARGIN = 26.0
"""Width, height and margin of the picture [px]."""
_VIEW_AXES = np.array([[-0.64, 0.768, 0.0], [-0.315, -0.263, 0.912], [0.701, 0.584, 0.41]])
"""Initial view: rows are the directions right, up and towards the viewer, in axes of B."""

_HALF_LETTER_WIDTH = 3.2
_LINE_HEIGHT = 12.0
_DOT_DEPTH = 4.0
"""Half the width of a letter, height of a line, and depth of a dot below its centre [px]; report.js
has the same values."""

_LINE_SHIFTS = (0, 1, -1, 2, -2, 3, -3, 4, -4)
"""Lines by which a label may move down to be apart from others, the preferred ones first."""

_MERIDIANS, _CURVE_POINTS = 6, 33
"""Number of meridians of an ellipsoid, and of the points of each curve."""


class _SceneItem(NamedTuple):
    """Line through points in B, shape (n, 3) [m], or a dot or a label at a point."""

    points: Array
    color: str
    width: float = 1.0
    label: str = ""
    dashes: str = ""


def ellipsoid_semi_axes(estimate: SavedEstimate) -> Array:
    """Return the semi-axes of the solid ellipsoid with a body's mass and inertia [m], shape (3,).

    They are along the principal axes. With s_j = m a_j² / 5 of a solid ellipsoid, the moment about
    principal axis i is I_i = Σ_j s_j − s_i.
    """
    moments = np.array([axis.moment for axis in estimate.principal_axes])
    second_moments = 0.5 * moments.sum() - moments
    return np.sqrt(5.0 * np.maximum(second_moments, 0.0) / estimate.parameters.mass)


def body_drawing(estimate: SavedEstimate) -> Drawing:
    """Draw the frames, the centre of mass with its interval, and the ellipsoid of equal inertia.

    The ellipsoid is missing if the inertia is not known.
    """
    items = list(_scene_items(estimate))
    points = np.concatenate([item.points for item in items])
    centre = 0.5 * (points.min(axis=0) + points.max(axis=0))
    radius = float(np.linalg.norm(points - centre, axis=1).max())
    scale = (0.5 * min(_WIDTH, _HEIGHT) - _MARGIN) / radius
    page_centre = np.array([0.5 * _WIDTH, 0.5 * _HEIGHT])
    items = [item._replace(points=item.points - centre) for item in items]
    dots = [
        _project(item.points, page_centre, scale)[0]
        for item in items
        if len(item.points) == 1 and not item.label
    ]
    placed = [(x, y + _DOT_DEPTH, 1) for x, y in dots]
    elements = "".join(_svg_element(item, page_centre, scale, placed) for item in items)
    frame = " ".join(f"{value:.4g}" for value in (*page_centre, scale))
    view = " ".join(f"{value:g}" for value in _VIEW_AXES.ravel())
    ellipsoid = "and the ellipsoid of the same inertia" if estimate.principal_axes else ""
    label = escape(f"{estimate.frame_description}: its axes, the centre of mass {ellipsoid}")
    svg = (
        f'<svg class="body" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" aria-label="{label}" '
        f'data-frame="{frame}" data-view="{view}">{elements}</svg>'
    )
    return Drawing(svg, _caption(estimate))


def _caption(estimate: SavedEstimate) -> str:
    sentences = [f"Axes of {estimate.frame_description}; the dot is the centre of mass"]
    if _com_half_widths(estimate) is not None:
        sentences[0] += " with its 95 % interval along each axis"
    if estimate.principal_axes:
        sentences.append(
            "The solid ellipsoid of uniform density has the same mass and inertia: compare it with "
            "the real body"
        )
    if estimate.frames.flange is not None:
        sentences.append("The flange is placed by the schema")
    return ". ".join(sentences) + "."


def _com_half_widths(estimate: SavedEstimate) -> Array | None:
    """Return the half-widths of the centre of mass [m], shape (3,); None if one is missing."""
    bounds = [estimate.intervals.get(name) for name in ("cx", "cy", "cz")]
    half_widths = [0.5 * (high - low) for low, high in filter(None, bounds)]
    return np.array(half_widths) if len(half_widths) == 3 else None


def _scene_items(estimate: SavedEstimate) -> Iterator[_SceneItem]:
    com, frames = estimate.com, estimate.frames
    size = float(np.linalg.norm(com))
    if estimate.principal_axes:
        axes = ellipsoid_semi_axes(estimate)
        size = max(size, float(axes.max()))
        directions = np.array([axis.direction for axis in estimate.principal_axes])
        yield from _ellipsoid(com, axes[:, None] * directions)
    length = 0.6 * size or 0.1
    for number, (name, color, _) in enumerate(colors.AXIS_STYLES):
        tip = length * np.eye(3)[number]
        yield _SceneItem(np.array([np.zeros(3), tip]), color, 2.2)
        yield _SceneItem(1.12 * tip[None], color, label=name)
    for label, pose in (("flange", frames.flange), ("tool point", frames.tcp)):
        if pose is not None and np.linalg.norm(pose.position) < 5.0 * size:
            yield from _dashed_frame(label, pose, 0.5 * length)
    half_widths = _com_half_widths(estimate)
    if half_widths is not None:
        for axis, half in zip(np.eye(3), half_widths.tolist(), strict=True):
            yield _SceneItem(
                np.array([com - half * axis, com + half * axis]), colors.OTHER_BODY, 2.0
            )
    yield _SceneItem(com[None], colors.OTHER_BODY, 3.5)


def _dashed_frame(label: str, pose: Pose, length: float) -> Iterator[_SceneItem]:
    for axis, (_, color, _) in zip(pose.rotation.T, colors.AXIS_STYLES, strict=True):
        points = np.array([pose.position, pose.position + length * axis])
        yield _SceneItem(points, color, 1.3, dashes="4 2")
    yield _SceneItem(pose.position[None], colors.MUTED, label=label)


def _ellipsoid(centre: Array, axes: Array) -> Iterator[_SceneItem]:
    """Draw meridians, parallels and principal sections; rows of `axes` are the semi-axes."""
    phase = np.linspace(0.0, 2.0 * np.pi, _CURVE_POINTS)[:, None]
    a, b, c = axes
    for angle in np.pi * np.arange(_MERIDIANS) / _MERIDIANS:
        across = np.cos(angle) * b + np.sin(angle) * c
        yield _SceneItem(centre + np.cos(phase) * a + np.sin(phase) * across, colors.AXIS, 0.6)
    for angle in np.pi * np.arange(1, _MERIDIANS) / _MERIDIANS:
        ring = np.cos(phase) * b + np.sin(phase) * c
        yield _SceneItem(centre + np.cos(angle) * a + np.sin(angle) * ring, colors.AXIS, 0.6)
    for first, second in ((a, b), (b, c), (c, a)):
        yield _SceneItem(
            centre + np.cos(phase) * first + np.sin(phase) * second, colors.ESTIMATE, 1.2
        )


def _project(points: Array, page_centre: Array, scale: float) -> Array:
    """Return points in B as seen in the initial view [px], shape (n, 2)."""
    return np.asarray(page_centre + scale * (points @ _VIEW_AXES[:2].T) * (1.0, -1.0))


def _free_height(
    x: float, y: float, size: int, placed: Sequence[tuple[float, float, int]]
) -> float:
    """Return the height of a label's baseline at which it overlaps nothing that is placed.

    The name of a frame begins below the frame's origin, where it does not hide the axes.
    """
    first = y + _LINE_HEIGHT * (size > 1)
    for shift in _LINE_SHIFTS:
        height = first + shift * _LINE_HEIGHT
        if not any(
            abs(x - u) < _HALF_LETTER_WIDTH * (size + n) and abs(height - v) < _LINE_HEIGHT
            for u, v, n in placed
        ):
            return height
    return first


def _svg_element(
    item: _SceneItem, page_centre: Array, scale: float, placed: list[tuple[float, float, int]]
) -> str:
    """Draw an item in the initial view; a label moves until it overlaps no other label or dot."""
    projected = _project(item.points, page_centre, scale)
    points = " ".join(f"{value:.4g}" for value in item.points.ravel())
    color = colors.css_color(item.color)
    x, y = projected[0]
    if item.label:
        y = _free_height(x, y, len(item.label), placed)
        placed.append((x, y, len(item.label)))
        look = f'fill="{colors.css_color(colors.TEXT)}" font-size="10" text-anchor="middle"'
        return f'<text data-p="{points}" x="{x:.1f}" y="{y:.1f}" {look}>{escape(item.label)}</text>'
    if len(projected) == 1:
        return (
            f'<circle data-p="{points}" cx="{x:.1f}" cy="{y:.1f}" r="{item.width}" fill="{color}"/>'
        )
    d = "L".join(f"{x:.1f} {y:.1f}" for x, y in projected)
    dashes = f' stroke-dasharray="{item.dashes}"' if item.dashes else ""
    look = f'fill="none" stroke="{color}" stroke-width="{item.width}"{dashes}'
    return f'<path data-p="{points}" d="M{d}" {look}/>'
