"""A simulated motion: pose, velocities, momentum and energy over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from identify.arrays import Array, Phi, Vec3
from identify.errors import ProblemError
from identify.inertia import kinetic_energy, spatial_momentum
from identify.reporting.canvas import AXES, ESTIMATE, Column, Panel, compose
from identify.reporting.rounding import Unit, prefixed, scaled, unit_of_length
from identify.reporting.timeline import BUCKETS, thin
from identify.simulation import Trajectory
from identify.spatial.rotations import cross, rotate, rotate_back, rotation_from_unit_quaternion

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def motion(path: Trajectory, phi: Phi, gravity: Vec3) -> Figure:
    """Pose, velocities, angular momentum about the centre of mass and energy of one body.

    Args:
        path: of one body, shape (n, ·), two samples or more.
        phi: its ten parameters about Bo in B, shape (10,).
        gravity: g in W [m/s²], shape (3,).

    Raises:
        ProblemError: more than one body, or a single sample.
    """
    if path.position.ndim != 2 or len(path.time) < 2:
        raise ProblemError(
            f"the figure is of one body over time, got a trajectory of shape {path.position.shape}"
        )
    return compose((_pose(path), _velocities(path), _dynamics(path, phi, gravity)), across=3)


def _pose(path: Trajectory) -> Column:
    length = unit_of_length(float(np.abs(path.position).max()))
    turned = _turned(path)
    return Column(
        title="Pose",
        xlabel="time [s]",
        panels=(
            *_panels(path.time, path.position, length, "position"),
            Panel(
                draw=lambda axes: _line(axes, path.time, np.rad2deg(turned)),
                ylabel="turned [°]",
                note="angle from the first attitude",
            ),
        ),
    )


def _turned(path: Trajectory) -> Array:
    """Angle between the first attitude and the others [rad], 0 … π, shape (n,)."""
    rotations = Rotation.from_quat(path.quaternion)
    return np.atleast_1d((rotations[0].inv() * rotations).magnitude())


def _velocities(path: Trajectory) -> Column:
    spin = path.angular_velocity
    return Column(
        title="Velocity",
        xlabel="time [s]",
        panels=(
            _vector_panel(
                path.time,
                path.velocity,
                prefixed("m/s", _largest(path.velocity)),
                "v",
                "of the body's origin, world axes",
            ),
            _vector_panel(path.time, spin, scaled("rad/s", _largest(spin)), "ω", "body axes"),
        ),
    )


def _dynamics(path: Trajectory, phi: Phi, gravity: Vec3) -> Column:
    R = rotation_from_unit_quaternion(path.quaternion)
    V = np.concatenate((rotate_back(R, path.velocity), path.angular_velocity), axis=-1)
    momentum = spatial_momentum(phi, V)
    com = phi[1:4] / phi[0]
    spin = rotate(R, momentum[:, 3:] - cross(np.broadcast_to(com, V[:, :3].shape), momentum[:, :3]))
    height = path.position + rotate(R, np.broadcast_to(com, path.position.shape))
    energy = kinetic_energy(phi, V) - phi[0] * height @ gravity
    change = energy - energy[0]
    unit = scaled("kg m²/s", _largest(spin))
    joule = scaled("J", _largest(change))
    return Column(
        title="Momentum and energy",
        xlabel="time [s]",
        panels=(
            _vector_panel(path.time, spin, unit, "L", "about the centre of mass, world axes"),
            Panel(
                draw=lambda axes: _line(axes, path.time, change / joule.factor),
                ylabel=f"energy gained [{joule.name}]",
                height=1.55,
            ),
        ),
    )


def _panels(time: Array, values: Vec3, unit: Unit, what: str) -> tuple[Panel, ...]:
    return tuple(
        Panel(
            draw=lambda axes, axis=axis: _line(axes, time, values[:, axis] / unit.factor),
            ylabel=f"{name} [{unit.name}]",
            note=what if axis == 0 else "",
        )
        for axis, name in enumerate("xyz")
    )


def _vector_panel(time: Array, values: Vec3, unit: Unit, symbol: str, what: str) -> Panel:
    def draw(axes: Axes) -> None:
        for axis, (name, colour, dashes) in enumerate(AXES):
            x, y = thin(time, values[:, axis] / unit.factor, BUCKETS)
            axes.plot(x, y, color=colour, ls=dashes, label=name)
        axes.set_xlim(float(time[0]), float(time[-1]))

    return Panel(draw=draw, ylabel=f"{symbol} [{unit.name}]", note=what, height=1.55)


def _line(axes: Axes, time: Array, values: Array) -> None:
    axes.plot(*thin(time, values, BUCKETS), color=ESTIMATE)
    axes.set_xlim(float(time[0]), float(time[-1]))


def _largest(values: Array) -> float:
    return float(np.abs(values).max())
