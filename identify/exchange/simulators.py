"""What programs that load robot models take of an inertia, each by its own limits.

The numbers are measured, each program given one link at a time (of Gazebo its libsdformat, which is
in Drake too): `docs/commands.md` has the table, with versions and sources.
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

_SUM_ROUNDING = 8.0 * _EPS
"""What finding the principal moments may lose of their sum."""

_ROD = 1e-4
"""A body whose second smallest second moment is below this, of the sum of the three, is a rod."""


@dataclass(frozen=True, slots=True)
class Simulator:
    """A program and what it takes.

    Attributes:
        title: what it is called.
        formats: model formats that it reads.
        refusal: what it does with an inertia that it does not take.
        smallest_mass: [kg]; one of zero or below it no program with a limit takes.
        smallest_moment: of principal moments that are written as such [kg m²].
        smallest_found_moment: of those that it has to find from six numbers [kg m²].
        absolute: by how much C may exceed A + B [kg m²]; None where it does not look.
        relative: the same as a share of half the sum of the moments.
        scale: moment from which `absolute` is a share of the largest moment [kg m²]; 0 for never.
        turned_rod: smallest second moment, of the sum of the three, of a rod that is not along an
            axis: where the moments are worked out in closed form, rounding is of the square root.
        frame: what it makes of a massless frame, where that is not a frame.
        moving_frames: whether it takes massless frames that a joint moves.
    """

    title: str
    formats: tuple[str, ...]
    refusal: str = ""
    smallest_mass: float = 0.0
    smallest_moment: float = 0.0
    smallest_found_moment: float = 0.0
    absolute: float | None = 0.0
    relative: float = 0.0
    scale: float = 0.0
    turned_rod: float = 0.0
    frame: str = ""
    moving_frames: bool = True

    def refusals(self, link: LinkInertia) -> Iterator[str]:
        """Why the program does not take a link as it is, a sentence each; none if it does."""
        if link.massless and link.moves_alone and not self.moving_frames:
            yield (
                f"{self.title} {self.refusal}: a joint moves it, and nothing with a mass is fixed "
                f"to it"
            )
        if self.absolute is None or link.massless or link.judged is None:
            return
        mass = float(link.judged[0])
        if mass <= 0.0 or mass < self.smallest_mass:
            least = f"{self.smallest_mass:g} kg or more" if self.smallest_mass else "more than zero"
            yield f"{self.title} {self.refusal}: the mass is {mass:g} kg, expected {least}"
            if mass == 0.0:
                return
        inertia = inertia_about_com(link.judged)
        straight = not (inertia[[0, 0, 1], [1, 2, 2]]).any()
        moments = np.sort(np.diag(inertia)) if straight else np.linalg.eigvalsh(inertia)
        least = self.smallest_moment
        if not (straight and link.order == "diagonal"):
            least = self.smallest_found_moment
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
        # Drake's allowance is for the rounding of finding moments; the others have none to spare.
        rounding = 0.0 if straight or self.absolute else _SUM_ROUNDING * total
        if excess > allowed - rounding:
            by = f"exceeds the sum of the others by {excess:.2g} kg m²"
            if excess <= allowed:
                by = "is the sum of the others, which leaves no room for rounding"
            yield f"{self.title} {self.refusal}: the largest principal moment {by}"
            return
        thin = np.linalg.eigvalsh(second_moment_from_inertia(inertia)) / max(0.5 * total, 1e-300)
        if not straight and thin[0] < self.turned_rod and thin[1] < _ROD:
            yield (
                f"it depends on rounding whether {self.title} {self.refusal}: of a rod across the "
                f"axes, the smallest second moment is {thin[0]:.1e} of their sum, expected "
                f"{self.turned_rod:g} or more"
            )


SIMULATORS: Mapping[str, Simulator] = MappingProxyType(
    {
        "mujoco": Simulator(
            title="MuJoCo",
            formats=("urdf", "mjcf"),
            refusal="does not compile the file",
            smallest_mass=MIN_INERTIA,
            smallest_moment=MIN_INERTIA,
            smallest_found_moment=MIN_FULL_INERTIA,
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
            frame="drops a link of no mass, with the joints and links behind it, unless its joint "
            "is fixed",
        ),
        "pinocchio": Simulator(
            title="Pinocchio",
            formats=("urdf", "sdf", "mjcf"),
            absolute=None,
            frame="loads it, and its forward dynamics are not numbers where it moves alone",
        ),
        "bullet": Simulator(
            title="Bullet",
            formats=("urdf", "sdf", "mjcf"),
            refusal="sets the inertia to zero",
            frame="gives a link without <inertial> 1 kg and 1 kg m²",
        ),
    }
)
"""Programs by name."""
