"""Figures of simulated motions: pose, momentum and energy; Poinsot's construction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from identify.arrays import Array, Flags, Mat33, Phi, PhiLike, Vec3
from identify.errors import ProblemError
from identify.inertia import spatial_momentum
from identify.reporting import colors
from identify.reporting.canvas import SQUARE_HEIGHT, AxesT, Column, Panel, PanelAxes, make_figure
from identify.reporting.rounding import (
    Unit,
    format_significant,
    unit_of_length,
    with_power_of_ten,
    with_si_prefix,
)
from identify.reporting.timeline import THINNING_BUCKETS, thin_signal
from identify.simulation import Trajectory
from identify.simulation.free_rotation import Regime
from identify.simulation.poinsot import Poinsot, polhode_curves
from identify.simulation.poinsot_curves import HerpolhodeCurve, herpolhode_curve, polhode_curve
from identify.spatial.rotations import cross, rotate, rotate_back, rotation_from_unit_quaternion
from identify.spatial.vectors import GRAVITY_W

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TALL_PANEL_HEIGHT = 1.55
_ORIGIN_NOTE = "of the body's origin, world axes"


def motion(
    path: Trajectory, phi: PhiLike, gravity: ArrayLike = GRAVITY_W, *, ax: AxesT | None = None
) -> Figure | AxesT:
    """Plot pose, velocities, angular momentum about the centre of mass and energy of one body.

    `path`: of one body, shape (n, ·), two samples or more; `phi`: its ten parameters about Bo in B,
    shape (10,); `gravity`: g in W [m/s²], shape (3,); `ax`: axes to draw on instead of a new
    figure, see `identify.plot`.
    Raises `ProblemError`: more than one body, or a single sample.
    """
    if path.position.ndim != 2 or len(path.time) < 2:
        raise ProblemError(
            f"the figure is of one body over time, got a trajectory of shape {path.position.shape}"
        )
    phi = np.asarray(phi, dtype=np.float64)
    length = unit_of_length(float(np.abs(path.position).max()))
    rotations = Rotation.from_quat(path.quaternion)
    turned = np.rad2deg((rotations[0].inv() * rotations).magnitude())
    pose = [
        Panel(
            partial(_line, time=path.time, values=values / length.factor),
            ylabel=f"{name} [{length.name}]",
            note="position" if name == "x" else "",
        )
        for name, values in zip("xyz", path.position.T, strict=True)
    ]
    angle = partial(_line, time=path.time, values=turned)
    pose.append(Panel(angle, "turned [°]", "angle from the first attitude"))
    velocities = (
        _vector_panel(path, path.velocity, partial(with_si_prefix, "m/s"), "v", _ORIGIN_NOTE),
        _vector_panel(
            path, path.angular_velocity, partial(with_power_of_ten, "rad/s"), "ω", "body axes"
        ),
    )
    columns = (
        Column("Pose", "time [s]", tuple(pose)),
        Column("Velocity", "time [s]", velocities),
        Column("Momentum and energy", "time [s]", _dynamics(path, phi, gravity)),
    )
    return make_figure(columns, columns_per_row=3, ax=ax)


def _dynamics(path: Trajectory, phi: Phi, gravity: ArrayLike) -> tuple[Panel, Panel]:
    R = rotation_from_unit_quaternion(path.quaternion)
    V = np.concatenate((rotate_back(R, path.velocity), path.angular_velocity), axis=-1)
    momentum = spatial_momentum(phi, V)
    com = np.broadcast_to(phi[1:4] / phi[0], path.position.shape)
    spin = rotate(R, momentum[:, 3:] - cross(com, momentum[:, :3]))
    energy = path.energy(phi, gravity)
    change = energy - energy[0]
    joule = with_power_of_ten("J", float(np.abs(change).max()))
    gained = partial(_line, time=path.time, values=change / joule.factor)
    about = "about the centre of mass, world axes"
    return (
        _vector_panel(path, spin, partial(with_power_of_ten, "kg m²/s"), "L", about),
        Panel(gained, f"energy gained [{joule.name}]", height=_TALL_PANEL_HEIGHT),
    )


def _vector_panel(
    path: Trajectory, values: Vec3, unit_of: Callable[[float], Unit], symbol: str, note: str
) -> Panel:
    unit = unit_of(float(np.abs(values).max()))

    def draw(axes: PanelAxes) -> None:
        for column, (name, colour, dashes) in zip(values.T, colors.AXIS_STYLES, strict=True):
            _line(axes, path.time, column / unit.factor, color=colour, ls=dashes, label=name)

    return Panel(draw, f"{symbol} [{unit.name}]", note, _TALL_PANEL_HEIGHT)


def _line(
    axes: PanelAxes,
    time: Array,
    values: Array,
    color: str = colors.ESTIMATE,
    ls: str | tuple[float, tuple[float, ...]] = "-",
    label: str | None = None,
) -> None:
    axes.plot(*thin_signal(time, values, THINNING_BUCKETS), color=color, ls=ls, label=label)
    axes.set_xlim(float(time[0]), float(time[-1]))


@dataclass(frozen=True, slots=True)
class View:
    """Orthographic view of an ellipsoid.

    Attributes:
        axes: rows to the right, up and towards the viewer, shape (3, 3).
    """

    axes: Mat33

    @classmethod
    def of(cls, azimuth: float, elevation: float) -> View:
        """Create the view from an azimuth about z and an elevation above the xy plane [rad]."""
        ca = np.cos(azimuth)
        sa = np.sin(azimuth)
        ce = np.cos(elevation)
        se = np.sin(elevation)
        return cls(np.array([[-sa, ca, 0.0], [-se * ca, -se * sa, ce], [ce * ca, ce * sa, se]]))

    def project(self, points: Vec3) -> Array:
        """Project points onto the plane of the view, shape (..., 2)."""
        return points @ self.axes[:2].T

    def faces_viewer(self, points: Vec3, inertia: Mat33) -> Flags:
        """Return whether points of the ellipsoid rᵀ I r = 1 face the viewer, shape (...)."""
        return points @ inertia @ self.axes[2] >= 0.0

    def outline(self, inertia: Mat33, count: int = 181) -> Array:
        """Return the outline of the ellipsoid rᵀ I r = 1, shape (count, 2).

        The shadow of r = I^-½ e along the view is the ellipse of S I⁻¹ Sᵀ.
        """
        theta = np.linspace(0.0, 2.0 * np.pi, count)
        across = self.axes[:2]
        root = np.linalg.cholesky(across @ np.linalg.inv(inertia) @ across.T)
        return np.column_stack((np.cos(theta), np.sin(theta))) @ root.T

    def split_visibility(self, curve: Vec3, inertia: Mat33) -> tuple[Array, Array]:
        """Split a projected curve on the ellipsoid into a visible and a hidden part, with NaN.

        `curve`: shape (n, 3); `inertia`: shape (3, 3).
        Returns two of shape (n, 2).
        """
        seen, front = self.project(curve), self.faces_viewer(curve, inertia)
        sides = []
        for shown in (front, ~front):
            # A point beyond each change belongs to both, so that the line has no hole there.
            shown = shown | np.append(False, shown[:-1])
            sides.append(np.where(shown[:, None], seen, np.nan))
        return sides[0], sides[1]

    def draw(
        self,
        axes: Axes,
        curves: Sequence[Vec3],
        inertia: Mat33,
        *,
        color: str,
        lw: float,
        label: str,
    ) -> None:
        """Draw curves on the ellipsoid, with their hidden parts faint.

        `curves`: each of shape (n, 3); `inertia`: shape (3, 3).
        """
        for index, curve in enumerate(curves):
            near, far = self.split_visibility(curve, inertia)
            axes.plot(*far.T, color=color, lw=0.8 * lw, alpha=0.3)
            axes.plot(*near.T, label=label if index == 0 else None, color=color, lw=lw)


LENGTH_UNIT = "1/√(kg m²)"
DEFAULT_VIEW = View.of(azimuth=np.deg2rad(35.0), elevation=np.deg2rad(24.0))
_POLHODES_PER_SIDE = 7
"""Number of drawn polhodes on either side of the separatrix."""
_ZERO_TOLERANCE = 1e-6
"""Relative size below which a component, or its change, is drawn as zero."""


def poinsot(
    construction: Poinsot, view: View = DEFAULT_VIEW, *, ax: AxesT | None = None
) -> Figure | AxesT:
    """Plot the polhode on the ellipsoid, the herpolhode, and ω in principal axes.

    `view`: of the ellipsoid, in principal axes in ascending order of their moments; `ax`: axes to
    draw on instead of a new figure, see `identify.plot`.
    """
    curve = herpolhode_curve(construction)
    ellipsoid = Panel(
        lambda axes: _ellipsoid(axes, construction, view),
        ylabel=f"r up the view [{LENGTH_UNIT}]",
        note=f"I = {', '.join(format_significant(x, 3) for x in construction.moments)} kg m²",
        height=SQUARE_HEIGHT,
    )
    plane = Panel(
        lambda axes: _herpolhode(axes, construction, curve),
        ylabel=f"in the plane, across [{LENGTH_UNIT}]",
        note=f"{format_significant(construction.distance, 3)} {LENGTH_UNIT} from the centre"
        + describe_extent(curve),
        height=SQUARE_HEIGHT,
    )
    w = construction.root_of_twice_energy * construction.polhode @ construction.axes
    spin = tuple(
        Panel(
            partial(_draw_component, time=construction.time, w=w, k=k),
            ylabel=f"ω{'₁₂₃'[k]} [rad/s]",
            note=_regime_note(construction) if k == 0 else "",
            height=1.1,
        )
        for k in range(3)
    )
    columns = (
        Column("Inertia ellipsoid", f"r across the view [{LENGTH_UNIT}]", (ellipsoid,)),
        Column("Herpolhode", f"in the invariable plane [{LENGTH_UNIT}]", (plane,)),
        Column("Angular velocity in principal axes", "time [s]", spin),
    )
    return make_figure(columns, columns_per_row=3, ax=ax)


def polhode_family(moments: Vec3) -> tuple[list[Array], list[Array]]:
    """Return polhodes spread over the ellipsoid, and the separatrix; none if moments are equal.

    Returns Curves, and those of the separatrix, each of shape (n, 3), in principal axes.
    """
    least, middle, most = moments
    # Along an arc from either axis to the separatrix the share grows as the square of the angle.
    share = (
        np.sin(0.5 * np.pi * np.arange(1, _POLHODES_PER_SIDE + 1) / (_POLHODES_PER_SIDE + 1)) ** 2
    )
    effective = np.concatenate((least + (middle - least) * share, most - (most - middle) * share))
    near = _ZERO_TOLERANCE * most
    apart = [x for x in effective if least + near < x < most - near and abs(x - middle) > near]
    curves = [curve for pair in polhode_curves(moments, apart) for curve in pair]
    between = least + near < middle < most - near
    separatrix = list(polhode_curves(moments, [middle])[0]) if between else []
    return curves, separatrix


def describe_extent(curve: HerpolhodeCurve) -> str:
    """Describe which part of a herpolhode is drawn, for a note; empty if all of it is drawn."""
    if curve.is_complete:
        return ""
    duration = f"{format_significant(float(np.ptp(curve.time)), 3)} s"
    if not curve.periods >= 1.0:
        return f"; the first {duration}"
    return f"; the first {format_significant(curve.periods, 2)} periods ({duration})"


def _ellipsoid(axes: PanelAxes, construction: Poinsot, view: View) -> None:
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)  # no page shows it
    inertia = np.diag(construction.moments)
    outline = view.outline(inertia)
    axes.fill(*outline.T, color=colors.BAND, lw=0.0)
    curves, separatrix = polhode_family(construction.moments)
    view.draw(axes, curves, inertia, color=colors.MEASURED, lw=0.7, label="polhodes")
    view.draw(axes, separatrix, inertia, color=colors.TEXT, lw=0.9, label="separatrix")
    axes.plot(*outline.T, color=colors.MUTED, lw=0.9)
    _principal_axes(axes, construction, view)
    polhode = polhode_curve(construction)
    view.draw(axes, [polhode], inertia, color=colors.OTHER_BODY, lw=2.0, label="this motion")
    start = construction.polhode[0] @ construction.axes
    axes.plot(
        *view.project(start), "o", color=colors.OTHER_BODY, ms=5.0, mec="white", mew=0.8, zorder=4
    )
    _set_equal_scales(axes, 1.25 * float(np.abs(outline).max()))


def _principal_axes(axes: Axes, construction: Poinsot, view: View) -> None:
    """Draw the ends of the principal axes outside the ellipsoid, with their numbers."""
    longest = float(construction.semi_axes.max())
    for k, length in enumerate(construction.semi_axes):
        sign = 1.0 if view.axes[2, k] >= 0.0 else -1.0
        color = colors.AXIS_STYLES[k][1]
        from_, to = view.project(np.outer([length, length + 0.2 * longest], sign * np.eye(3)[k]))
        arrow = {"arrowstyle": "-|>", "color": color, "lw": 1.1, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", to, from_, arrowprops=arrow)
        outward = (to - from_) / max(float(np.hypot(*(to - from_))), 0.05 * longest)
        axes.annotate(
            f"{'−' if sign < 0.0 else ''}{k + 1}",
            to,
            xytext=tuple(8.0 * outward),
            textcoords="offset points",
            color=color,
            ha="center",
            va="center",
        )


def _herpolhode(axes: PanelAxes, construction: Poinsot, curve: HerpolhodeCurve) -> None:
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)  # no page shows it
    path = curve.points @ construction.plane_axes[:, :2]
    theta = np.linspace(0.0, 2.0 * np.pi, 181)
    circle = np.column_stack((np.cos(theta), np.sin(theta)))
    for index, radius in enumerate(construction.herpolhode_radii):
        label = "bounds" if index == 0 else None
        axes.plot(*(radius * circle).T, color=colors.MUTED, lw=0.8, ls=(0, (3, 2)), label=label)
    axes.plot(*path.T, color=colors.OTHER_BODY, lw=1.1)
    axes.plot(*path[0], "o", color=colors.OTHER_BODY, ms=5.0, mec="white", mew=0.8, label="start")
    axes.plot(0.0, 0.0, "+", color=colors.TEXT, ms=7.0, label="foot of L")
    reach = max(float(np.abs(path).max()), construction.herpolhode_radii[1])
    floor = 5e-2 * float(construction.semi_axes.max())  # of a steady spin it is a point
    _set_equal_scales(axes, 1.12 * max(reach, floor))


def _draw_component(axes: PanelAxes, time: Array, w: Vec3, k: int) -> None:
    axes.axhline(0.0, color=colors.MUTED, lw=0.7)
    axes.plot(time, w[:, k], color=colors.AXIS_STYLES[k][1], lw=1.2)
    if len(time) > 1:
        axes.set_xlim(float(time.min()), float(time.max()))
    reach, whole = float(np.abs(w[:, k]).max()), float(np.abs(w).max())
    if reach < _ZERO_TOLERANCE * whole:
        axes.set_ylim(-0.1 * whole, 0.1 * whole)
    elif np.ptp(w[:, k]) < _ZERO_TOLERANCE * whole:
        axes.set_ylim(-1.2 * reach, 1.2 * reach)


def _regime_note(construction: Poinsot) -> str:
    invariants = construction.invariants
    words = {
        Regime.STEADY: "constant",
        Regime.ABOUT_SMALLEST: "about the axis of the smallest moment",
        Regime.ABOUT_LARGEST: "about the axis of the largest moment",
        Regime.SEPARATRIX: "on the separatrix",
    }[Regime(int(invariants.regime))]
    if not np.isfinite(invariants.period):
        return words
    return f"{words}, period {format_significant(float(invariants.period), 4)} s"


def _set_equal_scales(axes: Axes, reach: float) -> None:
    from matplotlib.ticker import MaxNLocator

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=7, steps=[1, 2, 2.5, 5, 10]))
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    axes.set_aspect("equal")
