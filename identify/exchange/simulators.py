"""Limits of simulators and other programs on the inertia of a link.

They were measured with one link at a time (for Gazebo with its libsdformat, which is in Drake too):
`docs/commands.md` has the table, with versions and sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from identify.exchange.link_inertia import LinkInertia
from identify.inertia.conventions.simulators import MIN_FULL_INERTIA, MIN_INERTIA
from identify.inertia.matrices import inertia_about_com, second_moment_from_inertia

_EPS = float(np.finfo(np.float64).eps)

_EIGENVALUE_ERROR = 8.0 * _EPS
"""Rounding error of computed principal moments, as a share of their sum."""

_MAX_ROD_WIDTH = 1e-4
"""Second largest second moment up to which a body is a rod, as a share of the sum of the three."""


@dataclass(frozen=True, slots=True)
class Simulator:
    """A program with its limits on inertias.

    Attributes:
        title: its name for messages.
        formats: model formats that it reads.
        refusal: sentence part on its reaction to an inertia that it refuses.
        smallest_mass: [kg]; programs with a limit refuse a mass of zero or less.
        smallest_moment: of principal moments that are in the file [kg m²].
        smallest_computed_moment: of principal moments that it computes from six numbers [kg m²].
        absolute: largest excess of C over A + B [kg m²]; None if it does not check.
        relative: largest excess of C over A + B as a share of half the sum of the moments.
        scale: moment from which `absolute` is a share of the largest moment [kg m²]; 0 for never.
        turned_rod: smallest second moment, as a share of the sum of the three, of a rod that is not
            along an axis: the closed form of its moments has the square root of the rounding error.
        frame: sentence part on its treatment of a massless frame, if it does not keep it.
        moving_frames: whether it takes massless frames that a joint moves.
    """

    title: str
    formats: tuple[str, ...]
    refusal: str = ""
    smallest_mass: float = 0.0
    smallest_moment: float = 0.0
    smallest_computed_moment: float = 0.0
    absolute: float | None = 0.0
    relative: float = 0.0
    scale: float = 0.0
    turned_rod: float = 0.0
    frame: str = ""
    moving_frames: bool = True

    def refusals(self, link: LinkInertia) -> Iterator[str]:
        """Yield the reasons for which the program refuses a link, a sentence each."""
        if link.massless and link.moves_alone and not self.moving_frames:
            yield (
                f"{self.title} {self.refusal}: a joint moves it, and nothing with a mass is fixed "
                f"to it"
            )
        if self.absolute is None or link.massless or link.phi_as_printed is None:
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
            self.absolute * max(1.0, self.scale * float(moments[2])), 0.5 * self.relative * total
        )
        # Drake's tolerance covers the rounding of computed moments; the others have no tolerance.
        rounding = 0.0 if straight or self.absolute else _EIGENVALUE_ERROR * total
        if excess > allowed - rounding:
            by = f"exceeds the sum of the others by {excess:.2g} kg m²"
            if excess <= allowed:
                by = "is the sum of the others, which leaves no room for rounding"
            yield f"{self.title} {self.refusal}: the largest principal moment {by}"
            return
        thin = np.linalg.eigvalsh(second_moment_from_inertia(inertia)) / max(0.5 * total, 1e-300)
        if not straight and thin[0] < self.turned_rod and thin[1] < _MAX_ROD_WIDTH:
            yield (
                f"it depends on rounding whether {self.title} {self.refusal}: for a rod that is "
                f"not along an axis, the smallest second moment is {thin[0]:.1e} of their sum, "
                f"expected {self.turned_rod:g} or more"
            )


SIMULATORS: Mapping[str, Simulator] = MappingProxyType(
    {
        "mujoco": Simulator(
            title="MuJoCo",
            formats=("urdf", "mjcf"),
            refusal="does not compile the file",
            smallest_mass=MIN_INERTIA,
            smallest_moment=MIN_INERTIA,
            smallest_computed_moment=MIN_FULL_INERTIA,
            moving_frames=False,
        ),
        "drake": Simulator(
            title="Drake",
            formats=("urdf", "sdf", "mjcf"),
            refusal="puts a ball of water's density in its place",
            absolute=16.0 * _EPS,
            scale=1.0,
        ),
        "gazebo": Simulator(
            title="Gazebo",
            formats=("urdf", "sdf"),
            refusal="refuses the link",
            relative=10.0 * _EPS,
            turned_rod=1e-7,
            frame="drops each, with the joints and links behind it, unless its joint is fixed",
        ),
        "pinocchio": Simulator(
            title="Pinocchio",
            formats=("urdf", "sdf", "mjcf"),
            absolute=None,
            frame="loads them, but the forward dynamics are NaN for those that move alone",
        ),
        "bullet": Simulator(
            title="Bullet",
            formats=("urdf", "sdf", "mjcf"),
            refusal="sets the inertia to zero",
            frame="gives those without <inertial> 1 kg and 1 kg m²",
        ),
    }
)
"""Programs with limits on inertias, by name."""
