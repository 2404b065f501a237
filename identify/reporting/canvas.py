"""Matplotlib figures in one style: panels in columns, side by side, without pyplot.

Pages show the same columns as SVG, which `drawing` writes faster than matplotlib.

Matplotlib's constrained layout places titles, legends and labels. Its settings are
global to a process, so all drawing is done inside `style`, by one thread at a time; the layout and
the fonts of a returned figure do not depend on the settings in force when it is saved.
Matplotlib is imported when the first figure is drawn.
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
from identify.reporting import colors
from identify.reporting.rounding import power_of_ten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from identify.reporting.svg_axes import SvgAxes

PanelAxes: TypeAlias = "Axes | SvgAxes"
"""Axes that panels are drawn on: matplotlib's, or those that record a figure for SVG."""

AxesLike: TypeAlias = "Axes | Sequence[Axes] | np.ndarray | Mapping[str, Axes]"
"""Axes given by the caller for the panels of a figure: one for the first panel; several in the
order of the panels, arrays column by column; or a mapping from the names of panels, as
`matplotlib.pyplot.subplot_mosaic` returns it."""

AxesT = TypeVar("AxesT", bound=AxesLike)

COLUMN_WIDTH = 4.6
"""Width of a column of panels [in]."""

SQUARE_HEIGHT = 3.7
"""Height of a panel that is about as high as it is wide [in]."""

LABEL_HEIGHT = 0.06
"""Height of a panel for each character of its vertical label [in], so that a long one does not
reach into the next panel."""

_TITLE_HEIGHT = 0.34
_NOTE_HEIGHT = 0.22
_PANEL_GAP = 0.13
_AXIS_LABEL_HEIGHT = 0.44
"""Heights in a column outside its panels [in]: title, note, gap between panels, axis labels."""

COLUMN_MARGIN = 0.08
"""Margin around a column of panels [in]."""

_DPI = 160
"""Resolution of PNG figures [dots per inch]."""
_MATPLOTLIB_LOCK = RLock()
_MATPLOTLIB_SETTINGS: dict[str, object] = {
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.edgecolor": colors.AXIS,
    "axes.grid": True,
    "axes.labelcolor": colors.TEXT,
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
    "grid.color": colors.GRID,
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
    "text.color": colors.TEXT,
    # Browsers do not hint text; hinted digits would be up to a tenth narrower.
    "text.hinting": "no_hinting",
    "xtick.color": colors.AXIS,
    "xtick.labelcolor": colors.TEXT,
    "xtick.labelsize": 8.0,
    "ytick.color": colors.AXIS,
    "ytick.labelcolor": colors.TEXT,
    "ytick.labelsize": 8.0,
}
"""Style settings of matplotlib for all figures."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Panel of a figure: a pair of axes, and the function that draws on them.

    Attributes:
        draw: draws on the axes.
        ylabel: with its unit; empty if the rows have names.
        note: a short text above the right end.
        height: approximate height, in proportion to the other panels of the column [in].
        xlabel: if it differs from the column's.
    """

    draw: Callable[[PanelAxes], None]
    ylabel: str = ""
    note: str = ""
    height: float = 0.95
    xlabel: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """Column of a figure: panels one above the other, below a common title and legend.

    Attributes:
        title: a short text.
        xlabel: of the horizontal axis, with its unit.
        panels: from the top.
        shared_x: whether all panels have the same horizontal axis, which is then labelled once.
        zoom_group: name of the quantity along that axis; columns of a page with the same name zoom
            together, columns without a name do not zoom.
    """

    title: str
    xlabel: str
    panels: tuple[Panel, ...]
    shared_x: bool = True
    zoom_group: str = ""

    @property
    def height(self) -> float:
        """Total height [in]."""
        labels = _AXIS_LABEL_HEIGHT * (1 if self.shared_x else len(self.panels))
        gaps = sum(_NOTE_HEIGHT if panel.note else _PANEL_GAP for panel in self.panels)
        return _TITLE_HEIGHT + gaps + sum(panel.height for panel in self.panels) + labels


@contextmanager
def figure_style() -> Iterator[None]:
    """Set the style of all figures, based on matplotlib's defaults and not on the user's settings.

    Other threads wait, because matplotlib's settings are global.
    """
    import matplotlib

    with _MATPLOTLIB_LOCK, matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_MATPLOTLIB_SETTINGS)  # pyright: ignore[reportCallIssue, reportArgumentType]
        yield


def make_figure(
    columns: Sequence[Column], columns_per_row: int = 2, ax: AxesT | None = None
) -> Figure | AxesT:
    """Draw columns, `columns_per_row` in a row, on a new figure or on the caller's axes.

    Returns the figure, or `ax` if it is given.
    Raises `SchemaError`: more axes than panels, or a name that no panel has.
    """
    if ax is not None:
        _draw_on(columns, ax)
        return ax
    with figure_style():
        return _new_figure(columns, columns_per_row)


def _draw_on(columns: Sequence[Column], ax: AxesLike) -> None:
    """Draw panels on the caller's axes, in the caller's style."""
    panels = [(column, panel) for column in columns for panel in column.panels]
    names = [_panel_name(column, panel) for column, panel in panels]
    if isinstance(ax, Mapping):
        by_name = dict(zip(names, panels, strict=True))
        chosen = [lookup(by_name, name, "panel", SchemaError) for name in ax]
        targets = list(ax.values())
    else:
        targets = np.ravel(np.asarray(ax, dtype=object), order="F").tolist()
        if len(targets) > len(panels):
            raise SchemaError(
                f"ax: got {len(targets)} axes for {len(panels)} panels; give at most one for each, "
                f"in this order: {', '.join(names)}"
            )
        chosen = panels[: len(targets)]
    titled = set()
    for axes, (column, panel) in zip(targets, chosen, strict=True):
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


def _panel_name(column: Column, panel: Panel) -> str:
    """Return the name of a panel in error messages, such as `force x` or `parameters`."""
    label = (panel.ylabel or panel.xlabel).partition(" [")[0]
    return f"{column.title} {label}".strip().lower()


def png_bytes(figure: Figure) -> bytes:
    """Return a figure as the bytes of a PNG image."""
    buffer = BytesIO()
    with figure_style():
        figure.savefig(buffer, format="png", dpi=_DPI)
    return buffer.getvalue()


def _new_figure(columns: Sequence[Column], across: int) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    rows = [columns[start : start + across] for start in range(0, len(columns), across)]
    heights = [max(column.height for column in row) for row in rows]
    row_length = max(map(len, rows))
    engine = ConstrainedLayoutEngine(
        w_pad=COLUMN_MARGIN, h_pad=COLUMN_MARGIN, wspace=0.0, hspace=0.0
    )
    figure = Figure(figsize=(COLUMN_WIDTH * row_length, sum(heights)), layout=engine)
    FigureCanvasAgg(figure)
    grid = figure.subfigures(len(rows), row_length, squeeze=False, height_ratios=heights)
    for subfigures, row in zip(grid, rows, strict=True):
        for subfigure, column in zip(subfigures, row, strict=False):
            _draw_column(subfigure, column)
    engine.execute(figure)
    figure.set_layout_engine("none")  # saving must not change the layout
    for subfigure in figure.subfigs:
        _freeze_layout(subfigure)
    return figure


def _draw_column(subfigure: SubFigure, column: Column) -> None:
    from matplotlib.ticker import MaxNLocator

    axes_of_panels = subfigure.subplots(
        len(column.panels),
        sharex=column.shared_x,
        squeeze=False,
        height_ratios=[panel.height for panel in column.panels],
    )[:, 0]
    for axes, panel in zip(axes_of_panels, column.panels, strict=True):
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=7, steps=[1, 2, 2.5, 5, 10]))
        axes.tick_params(length=3.0)
        panel.draw(axes)
        axes.set_ylabel(panel.ylabel)
        axes.set_title(panel.note, loc="right", size=8.0, color=colors.MUTED, y=1.0, pad=3.0)
        if not column.shared_x or axes is axes_of_panels[-1]:
            axes.set_xlabel(panel.xlabel or column.xlabel)
        else:  # matplotlib is slow at placing a label, even an empty one
            axes.xaxis.set_label_coords(0.5, 0.0)
    _draw_title_and_legend(subfigure, column.title, list(axes_of_panels))


def _freeze_layout(subfigure: SubFigure) -> None:
    """Fix the positions of the axes, and align their vertical labels at the left."""
    from matplotlib.transforms import blended_transform_factory

    for axes in subfigure.axes:
        # The last digits of the layout's solver differ from run to run.
        axes.set_position(np.round(axes.get_position(original=True).bounds, 6).tolist())
        aligned = blended_transform_factory(subfigure.transSubfigure, axes.transAxes)
        axes.yaxis.set_label_coords(COLUMN_MARGIN / COLUMN_WIDTH, 0.5, transform=aligned)
        axes.yaxis.label.set_verticalalignment("top")


def _draw_title_and_legend(subfigure: SubFigure, title: str, panels: Sequence[Axes]) -> None:
    """Draw title and legend of all panels side by side, or below each other if too wide."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    bold = {"weight": "bold", "size": 9.5}
    heading = subfigure.suptitle(title, x=COLUMN_MARGIN / COLUMN_WIDTH, ha="left", **bold)
    legends = [axes.get_legend_handles_labels() for axes in panels]
    entries = {
        label: handle
        for handles, labels in reversed(legends)
        for handle, label in zip(handles, labels, strict=True)
    }
    order = dict.fromkeys(label for _, labels in legends for label in labels)
    handles = [entries[label] for label in order]
    if not handles:
        return
    canvas = subfigure.figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)
    renderer = canvas.get_renderer()
    width = subfigure.bbox.width * (1.0 - 2.0 * COLUMN_MARGIN / COLUMN_WIDTH)
    legend = subfigure.legend(handles=handles, loc="outside upper right", ncols=len(handles))
    needed = heading.get_window_extent(renderer).width + legend.get_window_extent(renderer).width
    if needed < 0.97 * width:
        return
    legend.remove()
    subfigure.suptitle("")
    for rows in range(1, len(handles) + 1):
        legend = subfigure.legend(
            handles=handles,
            loc="outside upper left",
            ncols=-(-len(handles) // rows),
            title=title,
            title_fontproperties=bold,
            alignment="left",
        )
        if legend.get_window_extent(renderer).width < width or rows == len(handles):
            return
        legend.remove()


def set_log_scale(axes: PanelAxes, *, vertical: bool = False) -> None:
    """Make an axis logarithmic within its present limits, with at least three labelled ticks."""
    low, high = axes.get_ylim() if vertical else axes.get_xlim()
    (axes.set_yscale if vertical else axes.set_xscale)("log")
    first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    stride = max(1, -(-(last - first) // (6 if vertical else 8)))
    ticks: list[float] = []
    for steps in ((1.0,), (1.0, 2.0, 5.0), range(1, 10)):
        values = (step * 10.0**power for power in range(first, last + 1, stride) for step in steps)
        ticks = [value for value in values if low <= value <= high]
        if len(ticks) > 2:  # fewer do not show that the scale is logarithmic
            break
    set_ticks = axes.set_yticks if vertical else axes.set_xticks
    set_ticks(ticks, [_tick_label(tick) for tick in ticks])
    set_ticks([], minor=True)
    (axes.set_ylim if vertical else axes.set_xlim)(low, high)


def _tick_label(value: float) -> str:
    """Format a tick of a logarithmic axis, such as 0.01, 5, 10⁻⁴ or 2·10⁻⁴."""
    if 1e-3 <= value < 2e3:
        return f"{value:g}"
    mantissa, exponent = f"{value:.0e}".split("e")
    power = power_of_ten(int(exponent))
    return power if mantissa == "1" else f"{mantissa}·{power}"


def label_rows(axes: PanelAxes, names: Sequence[str], remarks: Sequence[str]) -> Array:
    """Label the rows of the vertical axis: a name on the left, a remark on the right."""
    heights = np.arange(len(names), dtype=np.float64)[::-1]
    axes.set_yticks(heights, names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0.0)
    for height, remark in zip(heights, remarks, strict=True):
        axes.annotate(
            remark,
            (1.0, height),
            xytext=(4.0, 0.0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            size=8.0,
            color=colors.TEXT,
            annotation_clip=False,
        )
    return heights
