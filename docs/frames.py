"""Draw the figures of `conventions.md`: frames, and the two signs of a wrench.

python docs/frames.py        # writes docs/images/frames.svg and wrench_signs.svg
"""

import matplotlib as mpl
import numpy as np
from svg import BLUE, FAINT, GREEN, INK, ORANGE, PAPER, RED, STYLE, write_svg

mpl.use("svg")
import matplotlib.pyplot as plt


def _frame(axes, origin, angle, name, size=0.5, labels=("x", "z")):
    """Draw axes x and z of a frame as arrows, with its name at the origin."""
    c, s = np.cos(angle), np.sin(angle)
    for direction, colour, label in (((c, s), RED, labels[0]), ((-s, c), BLUE, labels[1])):
        tip = np.asarray(origin) + size * np.asarray(direction)
        arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.6}
        axes.annotate("", tip, origin, arrowprops={**arrow, "shrinkA": 0, "shrinkB": 0})
        text = np.asarray(origin) + (size + 0.11) * np.asarray(direction)
        axes.text(*text, label, color=colour, ha="center", va="center", fontsize=8)
    axes.plot(*origin, "o", color=INK, markersize=3.5)
    side = -0.15 if name != "S" else 0.17
    axes.text(origin[0] + side, origin[1] - 0.17, name, weight="bold", ha="center", va="center")


def _arrow(axes, start, end, text, at=0.5, offset=(0.0, 0.12), colour=INK, style="-|>"):
    arrow = {"arrowstyle": style, "color": colour, "linewidth": 1.1}
    axes.annotate("", end, start, arrowprops={**arrow, "shrinkA": 3, "shrinkB": 3})
    place = np.asarray(start) + at * (np.asarray(end) - np.asarray(start)) + offset
    axes.text(*place, text, ha="center", va="center", fontsize=9, color=colour)


def frames():
    """Draw world, body, sensor and tool point, the centre of mass and gravity."""
    figure, axes = plt.subplots(figsize=(7.6, 3.8), layout="constrained")
    W, B, angle = np.array([0.0, 0.0]), np.array([2.6, 1.9]), -0.35
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    outline = turn @ np.array([[-0.45, 0.75, 0.95, 0.3, -0.45], [-1.9, -1.9, -1.2, -0.1, -0.1]])
    axes.fill(*(outline + B[:, None]), color=FAINT, alpha=0.3, linewidth=0)
    S, com, T = B + turn @ [0.0, 0.65], B + turn @ [0.28, -1.05], B + turn @ [0.15, -1.9]
    _frame(axes, W, 0.0, "W", 0.7)
    _frame(axes, B, angle, "B", 0.55)
    _frame(axes, S, angle + 0.5, "S", 0.4)
    _frame(axes, T, angle + np.pi, "T", 0.4)
    axes.plot(*com, marker="o", markersize=10, color=PAPER, markeredgecolor=INK)
    axes.plot(*com, marker="+", markersize=10, color=INK)
    axes.text(com[0] + 0.33, com[1], "$B_{cm}$", ha="center", va="center")
    _arrow(axes, W, B, "$X_{WB} = (R_{WB},\\ p_{WB})$", 0.45, (-0.5, 0.22))
    _arrow(axes, B, S, "$X_{BS}$", 0.6, (-0.27, 0.0))
    _arrow(axes, B, com, "$c$", 0.5, (-0.12, -0.03), GREEN)
    _arrow(axes, np.array([-0.55, 1.9]), np.array([-0.55, 1.2]), "$g_W$", 0.5, (-0.22, 0.0), ORANGE)
    notes = (
        (3.75, 2.55, "S: the axes of the force-torque sensor"),
        (3.75, 2.05, "B: the frame whose pose is logged;\nthe ten parameters are about Bo"),
        (3.75, 0.95, "Bcm: the centre of mass, $h = m\\,c$"),
        (3.75, 0.3, "T: the tool point; where its pose is logged,\nB is the flange"),
    )
    for x, y, text in notes:
        axes.text(x, y, text, fontsize=8, va="center")
    axes.set(xlim=(-0.9, 7.0), ylim=(-0.4, 3.2))
    axes.set_aspect("equal")
    axes.axis("off")
    return figure


def wrench_signs():
    """Draw a body at rest with the wrench on the body and the wrench on the sensor."""
    figure, panels = plt.subplots(1, 2, figsize=(7.6, 2.9), layout="constrained")
    texts = (
        ('acts_on = "body"', "the sensor holds the body up:\n$f = -m\\,g$", 1.0, "$f$"),
        ('acts_on = "sensor"', "the body pulls the sensor down:\n$f = m\\,g$", -1.0, "$f$"),
    )
    for axes, (title, text, sign, name) in zip(panels, texts, strict=True):
        axes.fill([-0.7, 0.7, 0.7, -0.7], [0.95, 0.95, 1.15, 1.15], color=INK, linewidth=0)
        axes.fill([-0.25, 0.25, 0.25, -0.25], [0.7, 0.7, 0.95, 0.95], color=FAINT, linewidth=0)
        axes.fill([-0.4, 0.4, 0.4, -0.4], [0, 0, 0.7, 0.7], color=BLUE, alpha=0.35, linewidth=0)
        start = np.array([0.0, 0.55])
        end = np.array([0.0, 0.55 + 0.85 * sign])
        _arrow(axes, start, end, name, 0.75, (0.12, 0.0), RED)
        _arrow(axes, np.array([-0.9, 0.75]), np.array([-0.9, 0.15]), "$g$", 0.5, (-0.1, 0), ORANGE)
        axes.text(0.75, 0.3, text, fontsize=8, va="center")
        axes.set_title(title, fontsize=9, family="monospace")
        axes.set(xlim=(-1.2, 2.6), ylim=(-0.4, 1.5))
        axes.set_aspect("equal")
        axes.axis("off")
    return figure


def main():
    for drawn in (frames, wrench_signs):
        plt.rcParams |= STYLE | {"svg.hashsalt": drawn.__name__}
        write_svg(drawn(), drawn.__name__)


if __name__ == "__main__":
    main()
