"""A simulated motion: pose, velocities, momentum and energy over time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from identify.arrays import Array, Phi, PhiLike, Vec3
from identify.errors import ProblemError
from identify.inertia import spatial_momentum
from identify.reporting.canvas import AXES, ESTIMATE, Column, Panel, Place, compose
from identify.reporting.rounding import Unit, prefixed, scaled, unit_of_length
from identify.reporting.timeline import BUCKETS, thin
from identify.simulation import Trajectory
from identify.spatial.rotations import cross, rotate, rotate_back, rotation_from_unit_quaternion
from identify.spatial.vectors import GRAVITY_W

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_TALL = 1.55
_OF_ORIGIN = "of the body's origin, world axes"


def motion(
    path: Trajectory, phi: PhiLike, gravity: ArrayLike = GRAVITY_W, *, ax: Place | None = None
) -> Any:
    """Pose, velocities, angular momentum about the centre of mass and energy of one body.

    Args:
        path: of one body, shape (n, ·), two samples or more.
        phi: its ten parameters about Bo in B, shape (10,).
        gravity: g in W [m/s²], shape (3,).
        ax: axes to draw on in place of a figure of its own, see `identify.plot`.

    Raises:
        ProblemError: more than one body, or a single sample.
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
    velocity, spin = path.velocity, path.angular_velocity
    velocities = (
        _vector(path, velocity, prefixed("m/s", _largest(velocity)), "v", _OF_ORIGIN),
        _vector(path, spin, scaled("rad/s", _largest(spin)), "ω", "body axes"),
    )
    columns = (
        Column("Pose", "time [s]", tuple(pose)),
        Column("Velocity", "time [s]", velocities),
        Column("Momentum and energy", "time [s]", _dynamics(path, phi, gravity)),
    )
    return compose(columns, across=3, ax=ax)


def _dynamics(path: Trajectory, phi: Phi, gravity: ArrayLike) -> tuple[Panel, Panel]:
    R = rotation_from_unit_quaternion(path.quaternion)
    V = np.concatenate((rotate_back(R, path.velocity), path.angular_velocity), axis=-1)
    momentum = spatial_momentum(phi, V)
    com = np.broadcast_to(phi[1:4] / phi[0], path.position.shape)
    spin = rotate(R, momentum[:, 3:] - cross(com, momentum[:, :3]))
    energy = path.energy(phi, gravity)
    change = energy - energy[0]
    joule = scaled("J", _largest(change))
    gained = partial(_line, time=path.time, values=change / joule.factor)
    about = "about the centre of mass, world axes"
    return (
        _vector(path, spin, scaled("kg m²/s", _largest(spin)), "L", about),
        Panel(gained, f"energy gained [{joule.name}]", height=_TALL),
    )


def _vector(path: Trajectory, values: Vec3, unit: Unit, symbol: str, what: str) -> Panel:
    def draw(axes: Axes) -> None:
        for column, (name, colour, dashes) in zip(values.T, AXES, strict=True):
            _line(axes, path.time, column / unit.factor, color=colour, ls=dashes, label=name)

    return Panel(draw, f"{symbol} [{unit.name}]", what, _TALL)


def _line(axes: Axes, time: Array, values: Array, color: str = ESTIMATE, **look: Any) -> None:
    axes.plot(*thin(time, values, BUCKETS), color=color, **look)
    axes.set_xlim(float(time[0]), float(time[-1]))


def _largest(values: Array) -> float:
    return float(np.abs(values).max())
