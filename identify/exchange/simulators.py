"""Limits that simulators and other programs set on the inertia of a link.

They were measured with one link at a time, by MuJoCo 4.0.0, Drake 1.51.1 and the libsdformat in it
(which reads Gazebo's files), Pinocchio 4.1.0, PyBullet 3.2.7 (`URDF_USE_INERTIA_FROM_FILE`), DART
6.20.0 and Newton 1.8.0; the tests repeat the first four. That Gazebo wants a mass above zero, and
drops links without one, is from SDFormat's documentation (tutorial "zero mass links";
gazebosim/sdformat pull request 1238).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from identify.exchange.link_inertia import LinkInertia
from identify.inertia.conventions.simulators import MUJOCO_MIN_FULL_INERTIA, MUJOCO_MIN_INERTIA
from identify.inertia.matrices import inertia_about_com, second_moment_from_inertia

_MACHINE_EPSILON = float(np.finfo(np.float64).eps)

_EIGENVALUE_ERROR = 8.0 * _MACHINE_EPSILON
"""Rounding error of computed principal moments, relative to their sum."""

_MAX_ROD_WIDTH = 1e-4
"""Second largest second moment up to which a body is a rod, relative to the sum of the three."""


@dataclass(frozen=True, slots=True)
class Simulator:
    """Program with its limits on the inertia of a link.

    Attributes:
        name: its key in `SIMULATORS`.
        title: its name for messages.
        formats: model formats that it reads.
        refusal: sentence part on its reaction to an inertia that it refuses.
        smallest_mass: [kg]; programs with a limit refuse a mass of zero or less.
        smallest_moment: of principal moments that are in the file [kg m²].
        smallest_computed_moment: of principal moments that it computes from six numbers [kg m²].
        max_triangle_excess: largest excess of moment C over A + B [kg m²]; None without a check.
        max_relative_excess: largest excess of C over A + B, relative to half the sum of moments.
        relative_above_moment: factor of the largest moment in `max_triangle_excess`, if the product
            exceeds 1 [1/(kg m²)]; 0 for an absolute limit.
        min_turned_rod: smallest second moment, relative to the sum of the three, of a rod that is
            not along an axis: the closed form of its moments has the square root of the rounding
            error.
        massless_treatment: sentence part on the treatment of a massless frame that is not kept.
        accepts_moving_frames: whether it accepts massless frames that a joint moves.
    """

    name: str
    title: str
    formats: tuple[str, ...]
    refusal: str = ""
    smallest_mass: float = 0.0
    smallest_moment: float = 0.0
    smallest_computed_moment: float = 0.0
    max_triangle_excess: float | None = 0.0
    max_relative_excess: float = 0.0
    relative_above_moment: float = 0.0
    min_turned_rod: float = 0.0
    massless_treatment: str = ""
    accepts_moving_frames: bool = True

    def refusals(self, link: LinkInertia) -> Iterator[str]:
        """Yield the reasons for which the program rejects a link, one sentence each."""
        if link.massless and link.is_moving_frame and not self.accepts_moving_frames:
            yield (
                f"{self.title} {self.refusal}: a joint moves it, and nothing with a mass is fixed "
                f"to it"
            )
        if self.max_triangle_excess is None or link.massless or link.phi_as_printed is None:
            return
        mass = float(link.phi_as_printed[0])
        if mass <= 0.0 or mass < self.smallest_mass:
            least = f"{self.smallest_mass:g} kg or more" if self.smallest_mass else "more than zero"
            yield f"{self.title} {self.refusal}: the mass is {mass:g} kg, expected {least}"
            if mass == 0.0:
                return
        inertia = inertia_about_com(link.phi_as_printed)
        straight = not (inertia[[0, 0, 1], [1, 2, 2]]).any()
        moments = np.sort(np.diag(inertia)) if straight else np.linalg.eigvalsh(inertia)
        least = self.smallest_moment
        if not (straight and link.order == "diagonal"):
            least = self.smallest_computed_moment
        if moments[0] < least:
            yield (
                f"{self.title} {self.refusal}: a principal moment is {moments[0]:.3g} kg m², "
                f"expected {least:g} or more"
            )
        total = float(np.abs(moments).sum())
        excess = float(moments[2] - moments[1] - moments[0])
        allowed = max(
            self.max_triangle_excess * max(1.0, self.relative_above_moment * float(moments[2])),
            0.5 * self.max_relative_excess * total,
        )
        # Drake's tolerance covers the rounding of computed moments; the others have no tolerance.
        rounding = 0.0 if straight or self.max_triangle_excess else _EIGENVALUE_ERROR * total
        if excess > allowed - rounding:
            by = f"exceeds the sum of the others by {excess:.2g} kg m²"
            if excess <= allowed:
                by = "is the sum of the others, which leaves no room for rounding"
            yield f"{self.title} {self.refusal}: the largest principal moment {by}"
            return
        thin = np.linalg.eigvalsh(second_moment_from_inertia(inertia)) / max(0.5 * total, 1e-300)
        if not straight and thin[0] < self.min_turned_rod and thin[1] < _MAX_ROD_WIDTH:
            yield (
                f"it depends on rounding whether {self.title} {self.refusal}: for a rod that is "
                f"not along an axis, the smallest second moment is {thin[0]:.1e} of their sum, "
                f"expected {self.min_turned_rod:g} or more"
            )


NEWTON_TOLERANCE = float(np.finfo(np.float32).eps)
"""Excess of the largest moment over the others' sum that Newton leaves, relative to it."""

_SIMULATORS = (
    Simulator(
        name="mujoco",
        title="MuJoCo",
        formats=("urdf", "mjcf"),
        refusal="does not compile the file",
        smallest_mass=MUJOCO_MIN_INERTIA,
        smallest_moment=MUJOCO_MIN_INERTIA,
        smallest_computed_moment=MUJOCO_MIN_FULL_INERTIA,
        accepts_moving_frames=False,
    ),
    Simulator(
        name="drake",
        title="Drake",
        formats=("urdf", "sdf", "mjcf"),
        refusal="puts a ball of water's density in its place",
        max_triangle_excess=16.0 * _MACHINE_EPSILON,
        relative_above_moment=1.0,
    ),
    Simulator(
        name="gazebo",
        title="Gazebo",
        formats=("urdf", "sdf"),
        refusal="refuses the link",
        max_relative_excess=10.0 * _MACHINE_EPSILON,
        min_turned_rod=1e-7,
        massless_treatment=(
            "drops each, with the joints and links behind it, unless its joint is fixed"
        ),
    ),
    Simulator(
        name="pinocchio",
        title="Pinocchio",
        formats=("urdf", "sdf", "mjcf"),
        max_triangle_excess=None,
        massless_treatment=(
            "loads them, but the forward dynamics are NaN for those that move alone"
        ),
    ),
    Simulator(
        name="bullet",
        title="Bullet",
        formats=("urdf", "sdf", "mjcf"),
        refusal="sets the inertia to zero",
        massless_treatment="gives those without <inertial> 1 kg and 1 kg m²",
    ),
    Simulator(
        name="dart",
        title="DART",
        formats=("urdf",),
        max_triangle_excess=None,
        massless_treatment="gives those without <inertial> 1 kg and 1 kg m²",
    ),
    Simulator(
        name="newton",
        title="Newton",
        formats=("urdf", "mjcf"),
        refusal="changes it",
        max_relative_excess=NEWTON_TOLERANCE,
        massless_treatment="gives those with collision shapes their body at 1000 kg/m³",
    ),
)

SIMULATORS: Mapping[str, Simulator] = MappingProxyType({it.name: it for it in _SIMULATORS})
"""Programs with limits on inertias, by name."""
