"""What may explain logs, in one ranking: as read, or with a fault, by likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Phi
from identify.diagnosis.fault import Fault
from identify.diagnosis.misfit import BandRows, Misfit, misfit
from identify.findings import Severity
from identify.inertia.consistency import MAX_DENSITY, mean_density, within_arm_capacity
from identify.significance import CLEAR_LEAD
from identify.spatial.columns import W

SLIP = 12.0
"""Twice the log-likelihood that each mistake has to gain for itself."""

UNITS = ("force_unit", "torque_unit")
"""Codes of which several may be as likely, each of another body."""

_SIMPLER = {
    "partly_compensated": "already_compensated",
    "wrench_misaligned": "wrench_axes",
}
"""Codes of faults of several numbers, and that of a fault that has them given."""

_LEAST_MASS = 1e-6
"""Mass that a body has at the least [kg]."""

_DENSITIES = 2.0, 1e4
"""Mean densities of bodies [kg/m³], by their second moments: rods and sheets of a metre have the
least, lumps of metal the largest."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A fault that explains logs, at the size that fits best; without one, the logs as read.

    Attributes:
        gain: twice the log-likelihood it gains on the logs as read, what it takes paid for.
        phi: the body by it.
        faults: of each log.
        size: η [SI], shape (d,).
        half_width: of the 95 % interval of each component [SI], shape (d,).
        note: what else speaks for or against it.
        density: of the body at the least [kg/m³].
        left: share of the wrench's signal that the fit of the logs so read leaves beyond noise
            (`share_left`); zero where they were not fitted.
    """

    gain: float
    phi: Phi
    faults: tuple[Fault, ...] = ()
    size: Array = field(default_factory=lambda: np.zeros(0))
    half_width: Array = field(default_factory=lambda: np.zeros(0))
    note: str = ""
    density: float = np.nan
    left: float = 0.0

    @property
    def sized(self) -> bool:
        """Whether the fault has a size."""
        return bool(len(self.size))

    @property
    def counts(self) -> bool:
        """Whether it leaves the body told but for a factor."""
        return bool(self.faults) and self.faults[0].counts

    @property
    def usual(self) -> bool:
        """Whether the mean density of the body, where it is told, is that of bodies."""
        density, (low, high) = mean_density(self.phi), _DENSITIES
        return not (density <= low or density >= high)

    @property
    def held(self) -> bool:
        """Whether there is a body, and an arm may hold it if it is of another unit."""
        if self.code not in UNITS or not self.mass > _LEAST_MASS:
            return not self.code or self.mass > _LEAST_MASS
        facts = self.faults[0].facts
        place = facts.X_BS.position if facts is not None and facts.X_BS is not None else np.zeros(3)
        return (
            within_arm_capacity(self.phi, np.zeros((10, 10)), place)
            and not self.density > _DENSITIES[1]
        )

    @property
    def code(self) -> str:
        """Of its finding; empty for the logs as read."""
        return self.faults[0].code if self.faults else ""

    @property
    def severity(self) -> Severity:
        """Of its finding: a warning where the fault has a size that such faults have."""
        sizes = self.faults[0].sizes if self.faults else None
        if sizes is None:
            return "error"
        low, high = np.array(sizes.believed) * sizes.scale(self.phi)
        return "warning" if ((self.size > low) & (self.size < high)).all() else "error"

    @property
    def mass(self) -> float:
        """Of the body by it [kg]."""
        return float(self.phi[0])

    @property
    def interval(self) -> tuple[Array, Array]:
        """95 % bounds of each component [SI]."""
        return self.size - self.half_width, self.size + self.half_width

    @property
    def remedy(self) -> str:
        """What to change."""
        return self.faults[0].remedy_at(self.size) if self.faults else ""

    @property
    def text(self) -> str:
        """What is so by it, with the size and its interval."""
        if not self.faults:
            return "the log is as it was read"
        fault = self.faults[0]
        if fault.says is not None:
            return fault.says(self.size, self.half_width)
        if fault.sizes is None or len(self.size) > 3:
            return fault.text + self.note
        per, unit, names = fault.sizes.per_unit, fault.sizes.unit, fault.sizes.parameters
        sizes = [
            f"{size / per:.4g} ± {half / per:.2g} {unit}"
            for size, half in zip(self.size, self.half_width, strict=True)
        ]
        name = fault.name.replace("_", " ")
        if len(sizes) == 1 and name.endswith(names[0]):
            return f"{name} {sizes[0]}"
        return f"{name}: {', '.join(map(' '.join, zip(names, sizes, strict=True)))}"


@dataclass(frozen=True, slots=True)
class Ranking:
    """All explanations of one body, the likeliest first; the logs as read are one of them.

    Attributes:
        explanations: at least the logs as read.
        apart: twice the log-likelihood that a body for each log gains, paid for; of one log none.
    """

    explanations: tuple[Explanation, ...]
    apart: float = -np.inf

    @classmethod
    def of(cls, explanations: Sequence[Explanation], apart: float = -np.inf) -> Ranking:
        """Of explanations in any order, units that explain alike told apart by the density.

        Readings by which there is no body, or none that an arm holds, are left out.
        """
        order = sorted(explanations, key=lambda each: -round(each.gain, 3))  # else as they came
        count = len(cls(tuple(order)).tied)
        tied, others = _told_by_density(order[:count]), order[count:]
        if any(each.counts for each in tied):  # sooner they than a body of no usual density
            tied = [each for each in tied if each.code not in UNITS or each.usual]
        if any(each.code in UNITS for each in tied):  # a gain that no sensor has is one's
            tied = [each for each in tied if not (each.code == "gain" and each.severity == "error")]
        codes = {each.code for each in tied}
        tied = [each for each in tied if _SIMPLER.get(each.code) not in codes]
        held = [each for each in (*tied, *others) if each.held]
        return cls(tuple(held), apart) if tied[0].held else cls.of(held, apart)

    @property
    def best(self) -> Explanation:
        """The likeliest."""
        return self.explanations[0]

    @property
    def tied(self) -> tuple[Explanation, ...]:
        """Those that explain the logs as well as the best, the best among them."""
        return tuple(e for e in self.explanations if self.best.gain - e.gain < CLEAR_LEAD)

    @property
    def as_read(self) -> bool:
        """Whether nothing explains the logs clearly better than how they were read."""
        return any(not e.code for e in self.tied)

    @property
    def lead(self) -> float:
        """Of the best over the first of another code."""
        others = [e.gain for e in self.explanations if e.code != self.best.code]
        return self.best.gain - max(others) if others else np.inf


def price_of(fault: Fault) -> float:
    """Twice the log-likelihood that a fault has to gain, less what raw signals say for it."""
    return SLIP * fault.slips - fault.seen


def _told_by_density(tied: Sequence[Explanation]) -> list[Explanation]:
    """Explanations without the units by which the body is none, where it is one by another unit."""
    units = {k: mean_density(each.phi) for k, each in enumerate(tied) if each.code in UNITS}
    low, high = _DENSITIES
    likely = [k for k, density in units.items() if low < density < high] or list(units)
    if len(units) < 2:
        return list(tied)
    left_out = [f"{tied[k].text}: {units[k]:.2g}" for k in units if k not in likely]
    against = f", and not as where {' or '.join(left_out)}" if left_out else ""
    return [
        replace(each, note=f" (of a mean density of {units[k]:.2g} kg/m³{against})")
        if k in likely
        else each
        for k, each in enumerate(tied)
        if k in likely or k not in units
    ]


@dataclass(frozen=True, slots=True)
class Compared:
    """Logs of one body as read, with which explanations of them are compared.

    Attributes:
        rows: of each log, extended.
        misfit: of the logs as read.
    """

    rows: tuple[BandRows, ...]
    misfit: Misfit

    @classmethod
    def of(cls, rows: Sequence[BandRows]) -> Compared:
        """Of logs as read."""
        return cls(tuple(rows), misfit(rows))

    @property
    def samples(self) -> float:
        """Of all logs."""
        return float(sum(rows.samples.sum() for rows in self.rows))

    def mapped(self, faults: Sequence[Fault]) -> Explanation:
        """The logs with a fault that is a linear map, without sizes."""
        maps = [fault.fit_map() for fault in faults]
        return self.read_again([r.mapped(M) for r, M in zip(self.rows, maps, strict=True)], faults)

    def read_again(self, rows: Sequence[BandRows], faults: Sequence[Fault]) -> Explanation:
        """The logs read otherwise, and mapped by their faults where those have a map.

        Args:
            rows: of each log as it is read and mapped.
            faults: of each log.
        """
        fault, power = faults[0], 0.0
        if fault.linear:
            power = 2.0 * float(np.linalg.slogdet(fault.fit_map()[W, W])[1])
        return self._explained(rows, faults, self.samples * power - price_of(fault))

    def sized(self, found: Explanation) -> Explanation:
        """An explanation with a size, compared with the others by these rows."""
        maps = [fault.fit_map(found.size) for fault in found.faults]
        rows = [r.mapped(M) for r, M in zip(self.rows, maps, strict=True)]
        power = 2.0 * float(np.linalg.slogdet(maps[0][W, W])[1])
        paid = SLIP + len(found.size) * float(np.log(6.0 * self.samples))
        now = self._explained(rows, found.faults, self.samples * power - paid, found.size)
        return replace(found, gain=now.gain, phi=now.phi, density=now.density)

    def _explained(
        self, rows: Sequence[BandRows], faults: Sequence[Fault], added: float, size: ArrayLike = ()
    ) -> Explanation:
        dense = self.misfit.density > MAX_DENSITY
        after = misfit(rows, scale=faults[0].least_scale(size, dense=dense))
        # Rows whose edges are tapered otherwise are worth others in number.
        again = float(sum(each.samples.sum() for each in rows))
        gain = self.misfit.cost - after.cost * self.samples / again + added
        return Explanation(float(gain), after.phi, tuple(faults), density=after.density)

    @property
    def as_read(self) -> Explanation:
        """The logs as read."""
        return Explanation(0.0, self.misfit.phi, density=self.misfit.density)

    @property
    def apart(self) -> float:
        """Twice the log-likelihood that a body for each log gains, paid for."""
        if len(self.rows) < 2:
            return -np.inf
        paid = (len(self.rows) - 1) * (SLIP + 10.0 * float(np.log(6.0 * self.samples)))
        return self.misfit.cost - sum(misfit([each]).cost for each in self.rows) - paid
