"""Settings of MuJoCo's compiler that change bodies, and what they make of a body.

They are those of `<compiler>`, in MJCF or in a URDF's `<mujoco>`, as MuJoCo 4.0.0 applies them:
bounds first, then balance, then fused bodies, and the total mass last.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from identify.arrays import Phi
from identify.exchange.xml_document import XmlDocument
from identify.inertia.conventions.mass_properties import InertialFrame


@dataclass(frozen=True, slots=True)
class MujocoCompiler:
    """Settings of MuJoCo's compiler that change bodies.

    Attributes:
        inertia_from_geoms: `true` always, `false` never, `auto` without an `<inertial>`.
        groups: first and last group of the geoms that count.
        min_mass: [kg] of every body.
        min_moment: smallest principal moment of every body [kg m²].
        balances: whether moments with A + B < C become their mean.
        fuses_static: whether a body without a joint becomes part of its parent.
        total_mass: of the model [kg]; None without scaling.
    """

    inertia_from_geoms: str = "auto"
    groups: tuple[float, float] = (0.0, 5.0)
    min_mass: float = 0.0
    min_moment: float = 0.0
    balances: bool = False
    fuses_static: bool = False
    total_mass: float | None = None

    @classmethod
    def of_document(cls, document: XmlDocument) -> MujocoCompiler:
        """Read the settings of an MJCF file, or of `<mujoco>` in a URDF."""
        root = document.root
        is_urdf = root.tag == "robot"
        parents = list(root.find_all("mujoco")) if is_urdf else [root]
        settings: dict[str, str] = {}
        for parent in parents:
            for compiler in parent.find_all("compiler"):
                settings.update(compiler.attributes)

        def number(name: str, default: float) -> float:
            try:
                value = float(settings.get(name, default))
            except ValueError:
                return default
            return value if math.isfinite(value) else default

        groups = [
            float(word) for word in settings.get("inertiagrouprange", "").split() if word.isdigit()
        ]
        total = number("settotalmass", -1.0)
        return cls(
            settings.get("inertiafromgeom", "auto"),
            (groups[0], groups[1]) if len(groups) == 2 else (0.0, 5.0),
            number("boundmass", 0.0),
            number("boundinertia", 0.0),
            settings.get("balanceinertia") == "true",
            settings.get("fusestatic", "true" if is_urdf else "false") == "true",
            total if total > 0.0 else None,
        )

    @property
    def changes_inertias(self) -> bool:
        """Whether bounds or balance may make valid what is not."""
        return self.balances or self.min_mass > 0.0 or self.min_moment > 0.0

    def compiled(self, frame: InertialFrame) -> tuple[Phi, tuple[str, ...]]:
        """Return a body within the bounds and balanced, and what was changed; not yet scaled."""
        mass = float(frame.mass)
        moments, axes = np.linalg.eigh(frame.inertia)
        bounded = np.maximum(moments, self.min_moment) if self.min_moment > 0.0 else moments
        changes = []
        if mass < self.min_mass:
            changes.append(f"boundmass raises its {mass:.6g} kg to {self.min_mass:.6g} kg")
        if (bounded > moments).any():
            changes.append(f"boundinertia raises moments to {self.min_moment:.6g} kg m²")
        excess = 2.0 * bounded.max() - bounded.sum()
        if self.balances and excess > 1e-12 * bounded.max():
            bounded = np.full(3, bounded.mean())
            changes.append(f"balanceinertia makes each moment the mean, {bounded[0]:.6g} kg m²")
        if not changes:
            return frame.phi, ()
        inertia = (axes * bounded) @ axes.T
        mass = max(mass, self.min_mass)
        return frame._replace(mass=np.array(mass), inertia=inertia).phi, tuple(changes)

    def scale(self, mass: float) -> float:
        """Return the factor of mass and inertia in a model of a mass [kg] before scaling."""
        return 1.0 if self.total_mass is None or not mass > 0.0 else self.total_mass / mass
