import numpy as np
import pytest
from matplotlib.figure import Figure

from identify.errors import SchemaError
from identify.reporting import plot


def lines(axes):
    return [(line.get_label(), line.get_xydata()) for line in axes.get_lines()]


def same(axes, others):
    return all(
        name == other and np.array_equal(xy, xy_of_other, equal_nan=True)
        for (name, xy), (other, xy_of_other) in zip(lines(axes), lines(others), strict=True)
    )


def test_panels_are_drawn_column_by_column(case_of):
    result = case_of("one log").result
    axes = Figure().subplots(3, 2)
    assert plot.residuals(result, ax=axes) is axes
    own = [panel for panel in plot.residuals(result).axes if panel.get_lines()]
    for k, panel in enumerate(own[:6]):
        assert same(axes[k % 3, k // 3], panel)
        assert axes[k % 3, k // 3].get_ylabel() == panel.get_ylabel()
        assert axes[k % 3, k // 3].get_xlabel().startswith("time")
    assert axes[0, 0].get_title("left") == "Force residual"
    assert axes[0, 1].get_title("left") == "Torque residual"
    assert axes[0, 0].get_legend() is not None
    assert axes[1, 0].get_title("right").startswith("RMS")


def test_single_axes_receives_first_panel(case_of):
    case, figure = case_of("one log"), Figure()
    axes = figure.subplots()
    assert plot.parameters(case.result, case.truth, ax=axes) is axes
    assert "shaded" in axes.get_title("right")
    assert figure.axes == [axes]
    wrench = Figure().subplots()
    assert same(plot.wrench(case.result, ax=wrench), plot.wrench(case.result).axes[0])


def test_panels_by_name(case_of):
    result = case_of("one log").result
    axes = Figure().subplot_mosaic([["torque z", "force x"]])
    assert plot.wrench(result, ax=axes) is axes
    own = plot.wrench(result).axes
    assert same(axes["force x"], own[0])
    assert same(axes["torque z"], own[5])
    errors = Figure().subplot_mosaic([["replay error attitude, rms"]])
    plot.replay(result, ax=errors)
    assert errors["replay error attitude, rms"].get_ylabel().startswith("attitude")
    groups = list(Figure().subplots(3))
    assert plot.excitation(result, ax=groups) is groups
    assert [axes.get_xlabel() for axes in groups] == [
        axes.get_xlabel() for axes in plot.excitation(result).axes
    ]


def test_axes_without_a_panel_are_rejected(case_of):
    result = case_of("one log").result
    with pytest.raises(SchemaError, match=r"ax: got 7 axes for 6 panels; .* torque z"):
        plot.wrench(result, ax=Figure().subplots(7))
    with pytest.raises(SchemaError, match="did you mean 'force x'"):
        plot.wrench(result, ax={"forcex": Figure().subplots()})
