"""Draw the kit of `benchmark.md`, with its tolerances and what these leave of its inertias.

python docs/kit.py           # writes docs/images/kit.svg
"""

import matplotlib as mpl
import numpy as np
from svg import BLUE, FAINT, INK, STYLE, write_svg

from identify.inertia import composite
from identify.inertia.shapes import Box
from identify.spatial import Pose

mpl.use("svg")
import matplotlib.pyplot as plt

DENSITY = 2700.0
PLATE, CUBE = (0.160, 0.120, 0.010), 0.040
BODIES = {
    "A": (),
    "B": ((0.06, 0.04), (-0.06, -0.04)),
    "C": ((0.06, 0.04), (0.06, 0.0)),
    "D": ((0.06, 0.04), (0.06, -0.04), (-0.06, 0.04), (-0.06, -0.04)),
}
"""Places of the cubes of each body [m]."""

SIDE, THICKNESS, CUBE_SIDE, PLACE, MASS = 2e-4, 1e-4, 1e-4, 1e-4, 1e-4
"""Tolerances of the plate's sides and thickness (fine of ISO 2768), of cubes and their places [m];
largest error of a weighed part [kg]."""


def dimensions(cubes):
    """Return sizes, places and masses of the parts as drawn, and their tolerances."""
    plate, cube = DENSITY * np.prod(PLATE), DENSITY * CUBE**3
    drawn = [*PLATE, plate, *(x for at in cubes for x in (*at, CUBE, CUBE, CUBE, cube))]
    tolerances = [
        SIDE,
        SIDE,
        THICKNESS,
        MASS,
        *([PLACE] * 2 + [CUBE_SIDE] * 3 + [MASS]) * len(cubes),
    ]
    return np.array(drawn), np.array(tolerances)


def body(values):
    """Return a body of weighed parts, about the centre of the plate's lower face."""
    x, y, z, mass = values[:4]
    parts = [Box(x, y, z).body(mass=mass).in_frame(Pose(np.eye(3), (0.0, 0.0, 0.5 * z)))]
    for px, py, a, b, c, weight in values[4:].reshape(-1, 6):
        parts.append(
            Box(a, b, c).body(mass=weight).in_frame(Pose(np.eye(3), (px, py, z + 0.5 * c)))
        )
    return composite(parts)


def quantities(values):
    """Return mass [kg], centre of mass [m] and the six inertias about it [kg m²]."""
    made = body(values)
    return np.hstack((made.mass, made.com, made.inertia_about_com[np.triu_indices(3)]))


def with_tolerances(cubes):
    """Return the quantities as drawn, and the root sum of squares of the tolerances' effects."""
    drawn, tolerances = dimensions(cubes)
    effects = [
        quantities(drawn + step) - quantities(drawn - step) for step in 0.5 * np.diag(tolerances)
    ]
    return quantities(drawn), np.linalg.norm(effects, axis=0)


def bifilar_inertia(mass, period, length, distance, gravity=9.80665):
    """Return the inertia about the vertical of a body on two wires, I = m g d² T² / (16 π² L)."""
    return mass * gravity * distance**2 * period**2 / (16.0 * np.pi**2 * length)


def _size(axes, start, end, text, gap):
    """Draw a size in mm between two points, beside the part."""
    start, end = np.add(start, gap), np.add(end, gap)
    axes.annotate("", end, start, arrowprops={"arrowstyle": "<|-|>", "color": INK, "lw": 0.7})
    upright = start[0] == end[0]
    x, y = 0.5 * (start + end) + ([-3.0, 0.0] if upright else [0.0, 1.0])
    ha, va = ("right", "center") if upright else ("center", "bottom")
    axes.text(x, y, text, ha=ha, va=va, rotation=90 * upright, fontsize=8)


def kit():
    """Draw the plate with all places of cubes from above and from the side, and the inertias."""
    figure, (top, table) = plt.subplots(1, 2, figsize=(9.2, 4.2), layout="constrained")
    for axes in (top, table):
        axes.axis("off")
    top.set_aspect("equal")
    box = {"facecolor": "none", "edgecolor": INK, "linewidth": 1.2}
    top.add_patch(plt.Rectangle((-80, -60), 160, 120, **box))
    top.add_patch(plt.Rectangle((-80, -118), 160, 10, **box))
    for x, y in ((60, 40), (60, -40), (-60, 40), (-60, -40), (60, 0), (-60, 0)):
        style = {**box, "edgecolor": BLUE, "linestyle": "-" if y else ":"}
        top.add_patch(plt.Rectangle((x - 20, y - 20), 40, 40, **style))
        top.plot(x, y, "+", color=INK, markersize=7)
    for x in (-60, 60):
        top.add_patch(plt.Rectangle((x - 20, -108), 40, 40, **{**box, "edgecolor": BLUE}))
    for end, name in (((28, 0), "x"), ((0, 28), "y")):
        top.annotate("", end, (0, 0), arrowprops={"arrowstyle": "-|>", "color": FAINT})
        top.text(*np.multiply(end, 1.15), name, ha="center", va="center", color=FAINT)
    _size(top, (-80, 60), (80, 60), "160 ± 0.2", (0, 10))
    _size(top, (-80, -60), (-80, 60), "120 ± 0.2", (-10, 0))
    _size(top, (-60, 40), (60, 40), "120 ± 0.1", (0, -52))
    _size(top, (60, -40), (60, 40), "80 ± 0.1", (36, 0))
    _size(top, (-80, -118), (-80, -108), "10 ± 0.1", (-10, 0))
    _size(top, (40, -108), (40, -68), "40 ± 0.1", (-8, 0))
    top.text(0, -132, "aluminium, in mm; cubes 40 ± 0.1", ha="center", fontsize=8)
    top.set(xlim=(-105, 105), ylim=(-140, 85))
    heads = ["", "m [g]", "c [mm]", "Ixx, Iyy, Izz [10⁻⁶ kg m²]", "Ixy, Ixz, Iyz"]
    rows = []
    for name, cubes in BODIES.items():
        drawn, error = with_tolerances(cubes)
        scale = np.hstack((1e3, [1e3] * 3, [1e6] * 6))
        digits = [1, 2, 2, 2, *[1] * 6]
        text = [
            f"{v:.{n}f} ± {e:.{n}f}"
            for v, e, n in zip(scale * drawn, scale * error, digits, strict=True)
        ]
        moments, products = (text[4], text[7], text[9]), (text[5], text[6], text[8])
        rows.append([name, text[0], *map("\n".join, (text[1:4], moments, products))])
    cells = table.table(rows, colLabels=heads, loc="center", edges="horizontal", cellLoc="center")
    cells.auto_set_font_size(False)
    cells.set_fontsize(7)
    cells.auto_set_column_width(range(len(heads)))
    for (row, _), cell in cells.get_celld().items():
        cell.set(height=0.08 if row == 0 else 0.17, edgecolor=FAINT)
    note = (
        "about the centre of mass; parts weighed to 0.1 g;\n± root sum of squares of all tolerances"
    )
    table.text(0.5, 0.02, note, ha="center", fontsize=8, transform=table.transAxes)
    write_svg(figure, "kit")


if __name__ == "__main__":
    with plt.rc_context(STYLE):
        kit()
