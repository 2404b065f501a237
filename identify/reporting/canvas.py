"""Figures without pyplot: columns of panels in one style, put side by side.

Everything is placed in inches, so that no layout engine has to draw a figure in order to arrange
it, and a column looks the same alone (in a report, one SVG each) as beside others
(`identify.plot`).
Matplotlib is imported when a figure is drawn, not before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from identify.reporting.rounding import power_of_ten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Transform

INK = "#1f2933"
MUTED = "#66727f"
GRID = "#e3e8ee"
MEASURED = "#9aa5b1"
ESTIMATE = "#0061a8"
OTHER = "#d1530a"
BAND = "#d6e6f5"
AXES = (("x", "#0061a8", "-"), ("y", "#d1530a", (0, (5, 1.5))), ("z", "#17866b", (0, (1.5, 1))))
"""Name, colour and dashes of the three axes of a vector; they differ without colour, too."""

WIDTH = 4.6
LEFT = 0.74
RIGHT = 0.12
TITLE = 0.34
NOTE = 0.22
GAP = 0.13
BOTTOM = 0.52

_STYLE: dict[str, object] = {
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.edgecolor": "#b4bdc7",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelpad": 3.0,
    "axes.labelsize": 8.5,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.unicode_minus": True,
    "axes.xmargin": 0.0,
    "axes.ymargin": 0.08,
    "figure.facecolor": "white",
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.5,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "lines.linewidth": 1.0,
    "lines.solid_joinstyle": "round",
    "svg.fonttype": "none",
    "text.color": INK,
    "xtick.color": "#b4bdc7",
    "xtick.labelcolor": INK,
    "xtick.labelsize": 8.0,
    "ytick.color": "#b4bdc7",
    "ytick.labelcolor": INK,
    "ytick.labelsize": 8.0,
}


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes.

    Attributes:
        draw: draws on them.
        ylabel: with its unit; empty where the rows are named.
        note: a few words above their right end.
        height: [in].
        xlabel: where it differs from the column's.
    """

    draw: Callable[[Axes], None]
    ylabel: str = ""
    note: str = ""
    height: float = 0.95
    xlabel: str | None = None

    @property
    def above(self) -> float:
        """Room above the axes [in]."""
        return NOTE if self.note else GAP


@dataclass(frozen=True, slots=True)
class Column:
    """Panels one above the other, under a title and a legend.

    Attributes:
        title: a few words.
        xlabel: of the horizontal axis, with its unit.
        panels: from the top.
        shared: whether all panels have the same horizontal axis, which is then labelled once.
        left, right: room for what stands beside the axes [in].
        above: more room above the first panel [in].
        legend_columns: entries in a row of a legend below the title, which `above` has to leave
            room for; where not given, all stand in one row to the right of the title.
    """

    title: str
    xlabel: str
    panels: tuple[Panel, ...]
    shared: bool = True
    left: float = LEFT
    right: float = RIGHT
    above: float = 0.0
    legend_columns: int | None = None

    @property
    def height(self) -> float:
        """Height in all [in]."""
        return TITLE + self.above + sum(self.room(index) for index in range(len(self.panels)))

    def room(self, index: int) -> float:
        """Height of a panel with what stands above and below it [in]."""
        panel = self.panels[index]
        return panel.above + panel.height + (BOTTOM if self.labelled(index) else 0.0)

    def labelled(self, index: int) -> bool:
        """Whether the horizontal axis of a panel is labelled."""
        return not self.shared or index == len(self.panels) - 1


@contextmanager
def style() -> Iterator[None]:
    """The style of these figures on matplotlib's own defaults, whatever the user has set."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)  # pyright: ignore[reportCallIssue, reportArgumentType]
        yield


def compose(columns: Sequence[Column], across: int = 2) -> Figure:
    """A figure of columns side by side, `across` in a row.

    Args:
        columns: at least one.
        across: columns in a row.
    """
    from matplotlib.figure import Figure

    rows = [columns[start : start + across] for start in range(0, len(columns), across)]
    width = WIDTH * max(len(row) for row in rows)
    height = sum(max(column.height for column in row) for row in rows)
    with style():
        figure = Figure(figsize=(width, height))
        top = height
        for row in rows:
            for place, column in enumerate(row):
                _Placed(figure, WIDTH * place, top, width, height).draw(column)
            top -= max(column.height for column in row)
    return figure


@dataclass(frozen=True, slots=True)
class _Placed:
    """A place in a figure: left and top edge of a column [in], and the figure's size."""

    figure: Figure
    left: float
    top: float
    width: float
    height: float

    def draw(self, column: Column) -> None:
        """Draw a column there."""
        begin, end = self.left + column.left, self.left + WIDTH - column.right
        edge = self.top - TITLE - column.above
        drawn: list[Axes] = []
        for index, panel in enumerate(column.panels):
            bottom = edge - panel.above - panel.height
            place = (
                begin / self.width,
                bottom / self.height,
                (end - begin) / self.width,
                panel.height / self.height,
            )
            axes = self.figure.add_axes(place, sharex=drawn[0] if column.shared and drawn else None)
            _fill(axes, panel, panel.xlabel or column.xlabel, column.labelled(index))
            drawn.append(axes)
            edge -= column.room(index)
        self.figure.text(
            (self.left + 0.06) / self.width,
            (self.top - 0.12) / self.height,
            column.title,
            va="top",
            weight="bold",
            size=9.5,
        )
        self._legend(drawn, end, column.legend_columns)

    def _legend(self, drawn: Sequence[Axes], end: float, columns: int | None) -> None:
        """What the marks of all panels mean, each once, to the right of the title or below it."""
        entries = {
            label: handle
            for axes in reversed(drawn)
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        order = [label for axes in drawn for label in axes.get_legend_handles_labels()[1]]
        handles = [entries[label] for label in dict.fromkeys(order)]
        if handles:
            below = TITLE if columns else 0.06
            self.figure.legend(
                handles=handles,
                loc="upper right",
                bbox_to_anchor=(end / self.width, (self.top - below) / self.height),
                ncols=columns or len(handles),
                columnspacing=1.2,
                handlelength=1.5,
                handletextpad=0.5,
                borderaxespad=0.0,
            )


def _fill(axes: Axes, panel: Panel, xlabel: str, labelled: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_locator(MaxNLocator(nbins=7, steps=[1, 2, 2.5, 5, 10]))
    axes.tick_params(length=3.0)
    panel.draw(axes)
    axes.set_ylabel(panel.ylabel)
    if panel.ylabel:
        # A common place, so that labels of panels one above the other stand in line.
        axes.yaxis.set_label_coords(-0.56, 0.5, transform=_inches(axes))
    if labelled:
        axes.set_xlabel(xlabel)
    else:
        axes.tick_params(labelbottom=False)
    if panel.note:
        axes.annotate(
            panel.note,
            (1.0, 1.0),
            xytext=(0.0, 3.0),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="right",
            va="bottom",
            color=MUTED,
            size=8.0,
            annotation_clip=False,
        )


def decades(axes: Axes) -> None:
    """Make the horizontal axis logarithmic within its limits, with plain numbers where short."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_xscale("log")
    low, high = axes.get_xlim()
    steps = (1.0, 2.0, 5.0) if high < 60.0 * low else (1.0,)
    axes.xaxis.set_major_locator(LogLocator(subs=steps, numticks=8))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _power(value)))
    axes.xaxis.set_minor_locator(NullLocator())


def _power(value: float) -> str:
    """0.01, 5, 10⁻⁴, 2·10⁻⁴."""
    if 1e-3 <= value < 2e3:
        return f"{value:g}"
    mantissa, exponent = f"{value:.0e}".split("e")
    power = power_of_ten(int(exponent))
    return power if mantissa == "1" else f"{mantissa}·{power}"


def _inches(axes: Axes) -> Transform:
    """Horizontally inches from the left end of the axes, vertically their fraction."""
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    figure = axes.get_figure(root=True)
    assert figure is not None
    corner = axes.transAxes.transform((0.0, 0.0))[0] / figure.dpi
    shift = figure.dpi_scale_trans + ScaledTranslation(corner, 0.0, figure.dpi_scale_trans)
    return blended_transform_factory(shift, axes.transAxes)
