"""Figures of matplotlib without pyplot: columns of panels in one style, put side by side.

Pages have the same columns as SVG by another way (`drawing`), which is quicker.

Matplotlib's constrained layout finds the room for titles, legends and labels. Its settings are
global to a process, so all drawing is done inside `style`, by one thread at a time; a figure that
is handed out has its layout and its fonts, whatever is set where it is saved.
Matplotlib is imported when a figure is drawn, not before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from threading import RLock
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from identify.arrays import Array
from identify.documents import lookup
from identify.errors import SchemaError
from identify.reporting.rounding import power_of_ten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

Place: TypeAlias = "Axes | Sequence[Axes] | np.ndarray | Mapping[str, Axes]"
"""Axes of one's own for the panels of a figure: one for the first panel; several, in the order of
the panels, an array of rows and columns column by column, as the figure stands; or by the panels'
names, as `matplotlib.pyplot.subplot_mosaic` gives them."""

PlaceT = TypeVar("PlaceT", bound=Place)

INK = "#1f2933"
MUTED = "#66727f"
GRID = "#e3e8ee"
EDGE = "#b4bdc7"
MEASURED = "#9aa5b1"
ESTIMATE = "#0061a8"
OTHER = "#d1530a"
BAND = "#d6e6f5"
DASHES = (4.0, 2.0)
"""Of a line that is predicted, over one that was measured."""
AXES = (("x", "#0061a8", "-"), ("y", "#d1530a", (0, (5, 1.5))), ("z", "#17866b", (0, (1.5, 1))))
"""Name, colour and dashes of the three axes of a vector; they differ without colour, too."""

SHADE, CONSTRAINT = "#f3efe6", "#8a5a00"
"""Of what is no better than the body's own scale, and of what a constraint decided."""

PAINTS: Mapping[str, tuple[str, str]] = {
    INK: ("ink", "#e6eaee"),
    MUTED: ("muted", "#a8b2bd"),
    GRID: ("grid", "#333c46"),
    EDGE: ("edge", "#66727f"),
    MEASURED: ("measured", "#7f8b97"),
    ESTIMATE: ("estimate", "#62b3f2"),
    OTHER: ("other", "#f39355"),
    BAND: ("band", "#24435c"),
    AXES[2][1]: ("third", "#45c9a5"),
    SHADE: ("shade", "#2c2b25"),
    CONSTRAINT: ("constraint", "#e2b45c"),
}
"""Each colour of a page: the name of its variable there, and what it is in the dark."""


def paint(color: str) -> str:
    """A colour as a page's figures have it, which follows the reader's light or dark setting."""
    return f"var(--{PAINTS[color][0]})" if color in PAINTS else color


WIDTH = 4.6
"""Of a column [in]."""

SQUARE = 3.7
"""Height of a panel that is about as high as it is wide [in]."""

_TITLE_HEIGHT, _NOTE_HEIGHT, _PANEL_GAP, _BOTTOM = 0.34, 0.22, 0.13, 0.44
"""What a column has beside its panels [in]: a title, a note, a gap between two, a labelled axis."""

PAD = 0.08
"""Around a column [in]."""

_DPI = 160
_LOCK = RLock()
_STYLE: dict[str, object] = {
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.edgecolor": EDGE,
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
    "font.family": ["DejaVu Sans"],
    "font.size": 8.5,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.fontsize": 8.0,
    "legend.borderaxespad": 0.7,
    "legend.borderpad": 0.0,
    "legend.columnspacing": 1.2,
    "legend.frameon": False,
    "legend.handlelength": 1.5,
    "legend.handletextpad": 0.5,
    "lines.linewidth": 1.0,
    "lines.solid_joinstyle": "round",
    "svg.fonttype": "none",
    "svg.hashsalt": "identify",
    "text.color": INK,
    # Room is measured for text as a page sets it; hinted digits are up to a tenth narrower.
    "text.hinting": "no_hinting",
    "xtick.color": EDGE,
    "xtick.labelcolor": INK,
    "xtick.labelsize": 8.0,
    "ytick.color": EDGE,
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
        height: beside the panels of its column, and about what it has [in].
        xlabel: where it differs from the column's.
    """

    draw: Callable[[Axes], None]
    ylabel: str = ""
    note: str = ""
    height: float = 0.95
    xlabel: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """Panels one above the other, under a title and a legend of all that is drawn.

    Attributes:
        title: a few words.
        xlabel: of the horizontal axis, with its unit.
        panels: from the top.
        shared: whether all panels have the same horizontal axis, which is then labelled once.
        link: what is along that axis; columns of a page with the same word are zoomed together,
            those without a word not at all.
    """

    title: str
    xlabel: str
    panels: tuple[Panel, ...]
    shared: bool = True
    link: str = ""

    @property
    def height(self) -> float:
        """Height in all [in]."""
        labelled = 1 if self.shared else len(self.panels)
        above = sum(_NOTE_HEIGHT if panel.note else _PANEL_GAP for panel in self.panels)
        return (
            _TITLE_HEIGHT + above + sum(panel.height for panel in self.panels) + labelled * _BOTTOM
        )


@contextmanager
def style() -> Iterator[None]:
    """The style of these figures on matplotlib's own defaults, whatever the user has set.

    Other threads that want it wait: matplotlib has one set of settings for all.
    """
    import matplotlib

    with _LOCK, matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)  # pyright: ignore[reportCallIssue, reportArgumentType]
        yield


def compose(
    columns: Sequence[Column], across: int = 2, ax: PlaceT | None = None
) -> Figure | PlaceT:
    """A figure of columns side by side, `across` in a row, each as high as its row.

    Returns:
        The figure, or `ax` where it is given.

    Raises:
        SchemaError: more axes than panels, or a panel that there is not.
    """
    if ax is not None:
        _draw_on(columns, ax)
        return ax
    with style():
        return _arranged(columns, across)


def _draw_on(columns: Sequence[Column], ax: Place) -> None:
    """Draw panels on axes of somebody's own, in the style that these have."""
    panels = [(column, panel) for column in columns for panel in column.panels]
    names = [_name(column, panel) for column, panel in panels]
    if isinstance(ax, Mapping):
        known = dict(zip(names, panels, strict=True))
        chosen = [lookup(known, name, "panel", SchemaError) for name in ax]
        places = list(ax.values())
    else:
        places = np.ravel(np.asarray(ax, dtype=object), order="F").tolist()
        if len(places) > len(panels):
            raise SchemaError(
                f"ax: got {len(places)} axes for {len(panels)} panels, which are, in order: "
                f"{', '.join(names)}"
            )
        chosen = panels[: len(places)]
    titled = set()
    for axes, (column, panel) in zip(places, chosen, strict=True):
        panel.draw(axes)
        axes.set_ylabel(panel.ylabel)
        axes.set_xlabel(panel.xlabel or column.xlabel)
        if panel.note:
            axes.set_title(panel.note, loc="right", size="small")
        if id(column) not in titled:
            axes.set_title(column.title, loc="left")
            titled.add(id(column))
            if axes.get_legend_handles_labels()[0]:
                axes.legend()


def _name(column: Column, panel: Panel) -> str:
    """What a panel is called: `force x`, `force residual z`, `parameters`."""
    what = (panel.ylabel or panel.xlabel).partition(" [")[0]
    return f"{column.title} {what}".strip().lower()


def png(figure: Figure) -> bytes:
    """A figure as PNG."""
    buffer = BytesIO()
    with style():
        figure.savefig(buffer, format="png", dpi=_DPI)
    return buffer.getvalue()


def _arranged(columns: Sequence[Column], across: int) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    rows = [columns[start : start + across] for start in range(0, len(columns), across)]
    heights = [max(column.height for column in row) for row in rows]
    most = max(map(len, rows))
    engine = ConstrainedLayoutEngine(w_pad=PAD, h_pad=PAD, wspace=0.0, hspace=0.0)
    figure = Figure(figsize=(WIDTH * most, sum(heights)), layout=engine)
    FigureCanvasAgg(figure)
    grid = figure.subfigures(len(rows), most, squeeze=False, height_ratios=heights)
    for places, row in zip(grid, rows, strict=True):
        for place, column in zip(places, row, strict=False):
            _draw(place, column)
    engine.execute(figure)
    figure.set_layout_engine("none")  # it stays as it is, whatever is set when it is saved
    for place in figure.subfigs:
        _settle(place)
    return figure


def _draw(place: SubFigure, column: Column) -> None:
    """Draw a column in its place of a figure."""
    from matplotlib.ticker import MaxNLocator

    drawn = place.subplots(
        len(column.panels),
        sharex=column.shared,
        squeeze=False,
        height_ratios=[panel.height for panel in column.panels],
    )[:, 0]
    for axes, panel in zip(drawn, column.panels, strict=True):
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=7, steps=[1, 2, 2.5, 5, 10]))
        axes.tick_params(length=3.0)
        panel.draw(axes)
        axes.set_ylabel(panel.ylabel)
        axes.set_title(panel.note, loc="right", size=8.0, color=MUTED, y=1.0, pad=3.0)
        if not column.shared or axes is drawn[-1]:
            axes.set_xlabel(panel.xlabel or column.xlabel)
        else:  # matplotlib takes long to find the place of a label, though it is empty
            axes.xaxis.set_label_coords(0.5, 0.0)
    _head(place, column.title, list(drawn))


def _settle(place: SubFigure) -> None:
    """Keep the axes where the layout put them, their vertical labels in line at the left."""
    from matplotlib.transforms import blended_transform_factory

    for axes in place.axes:
        # The last digits of the layout's solver differ from run to run.
        axes.set_position(np.round(axes.get_position(original=True).bounds, 6).tolist())
        in_line = blended_transform_factory(place.transSubfigure, axes.transAxes)
        axes.yaxis.set_label_coords(PAD / WIDTH, 0.5, transform=in_line)
        axes.yaxis.label.set_verticalalignment("top")


def _head(place: SubFigure, title: str, drawn: Sequence[Axes]) -> None:
    """Title, and what the marks of all panels mean, each once: beside it, or in rows below it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    bold = {"weight": "bold", "size": 9.5}
    above = place.suptitle(title, x=PAD / WIDTH, ha="left", **bold)
    found = [axes.get_legend_handles_labels() for axes in drawn]
    entries = {
        label: handle
        for handles, labels in reversed(found)
        for handle, label in zip(handles, labels, strict=True)
    }
    order = dict.fromkeys(label for _, labels in found for label in labels)
    handles = [entries[label] for label in order]
    if not handles:
        return
    canvas = place.figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)
    renderer = canvas.get_renderer()
    room = place.bbox.width * (1.0 - 2.0 * PAD / WIDTH)
    beside = place.legend(handles=handles, loc="outside upper right", ncols=len(handles))
    taken = above.get_window_extent(renderer).width + beside.get_window_extent(renderer).width
    if taken < 0.97 * room:
        return
    beside.remove()
    place.suptitle("")
    for rows in range(1, len(handles) + 1):
        below = place.legend(
            handles=handles,
            loc="outside upper left",
            ncols=-(-len(handles) // rows),
            title=title,
            title_fontproperties=bold,
            alignment="left",
        )
        if below.get_window_extent(renderer).width < room or rows == len(handles):
            return
        below.remove()


def decades(axes: Axes, *, upward: bool = False) -> None:
    """Make an axis logarithmic within its limits, with plain numbers where they are short."""
    low, high = axes.get_ylim() if upward else axes.get_xlim()
    (axes.set_yscale if upward else axes.set_xscale)("log")
    first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    every = max(1, -(-(last - first) // (6 if upward else 8)))
    places: list[float] = []
    for steps in ((1.0,), (1.0, 2.0, 5.0), range(1, 10)):
        marks = (step * 10.0**power for power in range(first, last + 1, every) for step in steps)
        places = [place for place in marks if low <= place <= high]
        if len(places) > 2:  # one number alone says nothing of the scale
            break
    set_ticks = axes.set_yticks if upward else axes.set_xticks
    set_ticks(places, [_power(place) for place in places])
    set_ticks([], minor=True)
    (axes.set_ylim if upward else axes.set_xlim)(low, high)


def _power(value: float) -> str:
    """0.01, 5, 10⁻⁴, 2·10⁻⁴."""
    if 1e-3 <= value < 2e3:
        return f"{value:g}"
    mantissa, exponent = f"{value:.0e}".split("e")
    power = power_of_ten(int(exponent))
    return power if mantissa == "1" else f"{mantissa}·{power}"


def name_rows(axes: Axes, names: Sequence[str], remarks: Sequence[str]) -> Array:
    """Turn the vertical axis into rows with a name to the left and a remark to the right.

    Returns:
        Where the rows are, from the top.
    """
    places = np.arange(len(names), dtype=np.float64)[::-1]
    axes.set_yticks(places, names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0.0)
    for place, remark in zip(places, remarks, strict=True):
        axes.annotate(
            remark,
            (1.0, place),
            xytext=(4.0, 0.0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            size=8.0,
            color=INK,
            annotation_clip=False,
        )
    return places
