"""Poinsot's construction: the inertia ellipsoid rolls without slipping on the invariable plane.

With r = ω/√(2K), K the kinetic energy: rᵀ I r = 1, so r is a point of the ellipsoid; its normal
there is along L, and r · L = √(2K) is constant, so the plane it touches stays where it is. The
point of contact draws the polhode on the ellipsoid and the herpolhode on the plane.

Lengths are those of r, 1/√(kg m²): the semi-axes of the ellipsoid are 1/√I₁, 1/√I₂, 1/√I₃.

Reference: Poinsot, "Théorie nouvelle de la rotation des corps" (1834); Goldstein, Poole and Safko,
"Classical Mechanics" (2002), § 5.6.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Vec3, Vec4, as_array, as_real
from identify.errors import SimulationError
from identify.simulation.free_rotation import (
    Regime,
    RotationInvariants,
    angular_momentum,
    rotate_freely,
    rotation_invariants,
)
from identify.simulation.free_rotation.checks import checked_inertia, checked_start
from identify.simulation.free_rotation.polhode import ordered_spin, polhode
from identify.spatial.rotations import rotate, rotation_from_quaternion

_BOUND_TOLERANCE = 1e-9
"""Accepted excess of I_eff = L²/2K over its bounds, relative to the largest moment."""

_CURVE_POINTS = 181
"""Number of points of a polhode as a closed curve."""


@dataclass(frozen=True, slots=True)
class Poinsot:
    """Poinsot's construction of a free rotation over time.

    Attributes:
        inertia: I_BBcm_B [kg m²], shape (3, 3): the ellipsoid is rᵀ I r = 1 in axes of B.
        moments: principal moments, ascending [kg m²], shape (3,).
        axes: principal axes in B as columns, right-handed, those of the smallest and the largest
            moment on the side of the first ω, shape (3, 3).
        momentum: L in W [kg m²/s], shape (3,): normal to the invariable plane.
        invariants: K, |L|, regime, period and precession.
        time: [s], shape (n,).
        quaternion: R_WB, shape (n, 4).
        polhode: r in B [1/√(kg m²)], shape (n, 3).
        herpolhode: r in W from the ellipsoid's centre [1/√(kg m²)], shape (n, 3).
        herpolhode_radii: of the circles about the foot of L in the plane between which the
            herpolhode runs, the lesser first [1/√(kg m²)]; zero on the separatrix, where it winds
            about the foot for ever.
        body_and_start: body, R_WB and w_WB_B at time zero, from which the motion at any other
            time follows exactly.
    """

    inertia: Mat33
    moments: Vec3
    axes: Mat33
    momentum: Vec3
    invariants: RotationInvariants
    time: Array
    quaternion: Vec4
    polhode: Vec3
    herpolhode: Vec3
    herpolhode_radii: tuple[float, float]
    body_and_start: tuple[Array, Vec4, Vec3]

    @property
    def semi_axes(self) -> Vec3:
        """Semi-axes of the ellipsoid along its principal axes [1/√(kg m²)], descending."""
        return 1.0 / np.sqrt(self.moments)

    @property
    def root_of_twice_energy(self) -> float:
        """Scale factor √(2K) between ω and the point r = ω/√(2K) on the ellipsoid [√J]."""
        return float(np.sqrt(2.0 * self.invariants.kinetic_energy))

    @property
    def normal(self) -> Vec3:
        """Unit normal of the invariable plane in W, along L, shape (3,)."""
        return self.momentum / np.linalg.norm(self.momentum)

    @property
    def distance(self) -> float:
        """Distance of the invariable plane from the ellipsoid's centre, √(2K)/|L| [1/√(kg m²)]."""
        return self.root_of_twice_energy / float(self.invariants.angular_momentum)

    @property
    def plane_axes(self) -> Mat33:
        """Rotation R_WN: two axes in the invariable plane and its normal, as columns."""
        normal = self.normal
        first = np.cross(np.eye(3)[np.argmin(np.abs(normal))], normal)
        first /= np.linalg.norm(first)
        return np.column_stack((first, np.cross(normal, first), normal))


def poinsot_motion(
    body: ArrayLike, quaternion: ArrayLike, angular_velocity: ArrayLike, time: ArrayLike
) -> Poinsot:
    """Compute Poinsot's construction of one body that rotates freely.

    Args:
        body: I_BBcm_B [kg m²], shape (3, 3), or ten parameters, shape (10,).
        quaternion: R_WB at time zero, shape (4,).
        angular_velocity: w_WB_B at time zero [rad/s], shape (3,).
        time: [s], shape (n,).

    Raises:
        SimulationError: as `rotate_freely`; several bodies, or a body at rest, which has no
            invariable plane.
    """
    time = as_array(time, "time", (...,), SimulationError)
    inertia = checked_inertia(body)
    batch = inertia.shape[:-2]
    if batch or np.ndim(quaternion) != 1 or np.ndim(angular_velocity) != 1 or time.ndim != 1:
        raise SimulationError(
            "Poinsot's construction is of one body: expected an inertia (3, 3) or phi (10,), a "
            "quaternion (4,), an angular velocity (3,) and times (n,); got a batch "
            f"{batch} of bodies, {np.shape(quaternion)}, {np.shape(angular_velocity)} and "
            f"{time.shape}"
        )
    invariants = rotation_invariants(body, angular_velocity)
    if invariants.regime == Regime.AT_REST:
        raise SimulationError(
            "the body is at rest: without angular momentum there is no invariable plane; give it "
            "an angular velocity"
        )
    rotation = rotate_freely(body, quaternion, angular_velocity, time)
    moments, axes = np.linalg.eigh(inertia)
    w = np.array(as_real(angular_velocity, "angular_velocity"))
    axes *= np.where(w @ axes < 0.0, -1.0, 1.0)
    axes[:, 1] *= np.sign(np.linalg.det(axes))
    r = rotation.angular_velocity / np.sqrt(2.0 * invariants.kinetic_energy)
    return Poinsot(
        inertia=inertia,
        moments=moments,
        axes=axes,
        momentum=angular_momentum(body, quaternion, angular_velocity),
        invariants=invariants,
        time=time,
        quaternion=rotation.quaternion,
        polhode=r,
        herpolhode=rotate(rotation_from_quaternion(rotation.quaternion), r),
        herpolhode_radii=_herpolhode_radii(body, angular_velocity, invariants),
        body_and_start=(
            np.array(as_real(body, "body")),
            np.array(as_real(quaternion, "quaternion")),
            w,
        ),
    )


def _herpolhode_radii(
    body: ArrayLike, angular_velocity: ArrayLike, invariants: RotationInvariants
) -> tuple[float, float]:
    """Return the smallest and the largest radius of the herpolhode, |ω × L| / (|L| √(2K))."""
    if invariants.regime == Regime.STEADY:
        return 0.0, 0.0
    start = checked_start(body, [0.0, 0.0, 0.0, 1.0], angular_velocity)
    ordered = ordered_spin(start.inertia, start.spin)
    path = polhode(ordered)
    I1, I2, I3 = ordered.moments[:, 0]
    w1, w2, w3 = np.abs(path.amplitude[:, 0])
    scale = start.unit_of_inertia[0] * start.unit_of_spin[0] ** 2
    scale /= float(invariants.angular_momentum * np.sqrt(2.0 * invariants.kinetic_energy))
    first = w1 * w3 * abs(I1 - I3)
    second = w2 * w3 * np.sqrt(path.complementary[0]) * abs(I2 - I3)
    return float(scale * min(first, second)), float(scale * max(first, second))


def polhode_curves(moments: Vec3, effective_inertia: ArrayLike) -> list[Array]:
    """Compute polhodes on an inertia ellipsoid, with both branches, as closed curves.

    A polhode is where the ellipsoid Σ I_k r_k² = 1 meets Σ I_k² r_k² = I_eff, I_eff = L²/2K: about
    the axis of the smallest moment for I_eff < I_mid, of the largest for I_eff > I_mid; at I_mid
    the two ellipses of the separatrix.

    `moments`: I₁ ≤ I₂ ≤ I₃ [kg m²], shape (3,); `effective_inertia`: values of I_eff between I₁ and
    I₃ [kg m²], shape (k,).
    Returns two curves for each value, shape (2, 181, 3), in principal axes [1/√(kg m²)].
    Raises `SimulationError`: a value that is not between the smallest and the largest moment.
    """
    I = as_real(moments, "moments")
    return [_curve_pair(I, float(value)) for value in np.atleast_1d(effective_inertia)]


def _curve_pair(I: Vec3, effective_inertia: float) -> Array:
    """Compute both branches of the polhode of an effective inertia I_eff = L²/2K."""
    span = I[2] - I[0]
    if not I[0] - _BOUND_TOLERANCE * I[2] <= effective_inertia <= I[2] + _BOUND_TOLERANCE * I[2]:
        raise SimulationError(
            f"I_eff = L²/2K = {effective_inertia:.6g} kg m² is not between the smallest and "
            f"the largest principal moment, {I[0]:.6g} and {I[2]:.6g} kg m²"
        )
    # Axis c is encircled; the projection along it is an ellipse.
    a, b, c = (0, 1, 2) if effective_inertia > I[1] or span == 0.0 else (2, 1, 0)
    theta = np.linspace(0.0, 2.0 * np.pi, _CURVE_POINTS)
    r = np.zeros((2, _CURVE_POINTS, 3))
    r[..., a] = _semi_axis(effective_inertia, I[a], I[c]) * np.cos(theta)
    r[..., b] = _semi_axis(effective_inertia, I[b], I[c]) * np.sin(theta)
    remainder = np.maximum(1.0 - I[a] * r[..., a] ** 2 - I[b] * r[..., b] ** 2, 0.0)
    r[..., c] = np.array([[1.0], [-1.0]]) * np.sqrt(remainder / I[c])
    return r


def _semi_axis(effective_inertia: float, moment: float, encircled: float) -> float:
    """Return a semi-axis of a polhode's projection: r² = (I_eff − I_c) / (I (I − I_c))."""
    if moment == encircled:
        return 0.0
    square = (effective_inertia - encircled) / (moment * (moment - encircled))
    return float(np.sqrt(np.clip(square, 0.0, 1.0 / moment)))
