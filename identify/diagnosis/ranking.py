"""Ranking of explanations of logs by likelihood: as read, or with a fault."""

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

MISTAKE_PENALTY = 12.0
"""Penalty of each mistake, as twice a log-likelihood."""

UNITS = ("force_unit", "torque_unit")
"""Codes of wrong units, of which several may be equally likely with different bodies."""

_SIMPLER = {
    "partly_compensated": "already_compensated",
    "wrench_misaligned": "wrench_axes",
}
"""Codes of faults with parameters and the code of their special case without parameters."""

_LEAST_MASS = 1e-6
"""Smallest mass of a body [kg]."""

_DENSITIES = 2.0, 1e4
"""Smallest and largest usual mean density of bodies by their second moments [kg/m³]: rods and
sheets of a metre have the smallest, lumps of metal the largest."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Hypothesis that explains logs: a fault at its best-fitting size, or the logs as read.

    Attributes:
        gain: twice the log-likelihood ratio to the logs as read, less the penalty.
        phi: the body under this hypothesis.
        faults: of each log.
        size: η [SI], shape (d,).
        half_width: of the 95 % interval of each component [SI], shape (d,).
        note: further evidence for or against it, in words.
        density: lower bound of the body's density [kg/m³].
        left: unexplained share of the wrench's signal (`unexplained_fraction`); zero if the logs
            were not fitted.
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
        """Whether it determines the body only up to a factor."""
        return bool(self.faults) and self.faults[0].counts

    @property
    def usual(self) -> bool:
        """Whether the mean density of the body, if known, is that of usual bodies."""
        density, (low, high) = mean_density(self.phi), _DENSITIES
        return not (density <= low or density >= high)

    @property
    def held(self) -> bool:
        """Whether the body has a mass, and a robot can hold it if a unit is wrong."""
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
        """Code of its finding; empty for the logs as read."""
        return self.faults[0].code if self.faults else ""

    @property
    def severity(self) -> Severity:
        """Severity of its finding: a warning if the size of the fault is plausible."""
        sizes = self.faults[0].sizes if self.faults else None
        if sizes is None:
            return "error"
        low, high = np.array(sizes.believed) * sizes.scale(self.phi)
        return "warning" if ((self.size > low) & (self.size < high)).all() else "error"

    @property
    def mass(self) -> float:
        """Mass of the body under this hypothesis [kg]."""
        return float(self.phi[0])

    @property
    def interval(self) -> tuple[Array, Array]:
        """95 % bounds of each component [SI]."""
        return self.size - self.half_width, self.size + self.half_width

    @property
    def remedy(self) -> str:
        """Remedy: the line of the schema or the action that corrects the fault."""
        return self.faults[0].remedy_at(self.size) if self.faults else ""

    @property
    def text(self) -> str:
        """Description of the fault with its size and interval."""
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
    """Explanations of the logs of one body by likelihood; the logs as read are one of them.

    Attributes:
        explanations: at least the logs as read.
        apart: twice the log-likelihood ratio of separate bodies for the logs, less the penalty;
            minus infinity for one log.
    """

    explanations: tuple[Explanation, ...]
    apart: float = -np.inf

    @classmethod
    def of(cls, explanations: Sequence[Explanation], apart: float = -np.inf) -> Ranking:
        """Rank explanations, with equally likely units selected by the density of the body.

        Readings that give no body, or none that a robot can hold, are dropped.
        """
        order = sorted(explanations, key=lambda each: -round(each.gain, 3))  # else as they came
        count = len(cls(tuple(order)).tied)
        tied, others = _select_by_density(order[:count]), order[count:]
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
        """Most likely explanation."""
        return self.explanations[0]

    @property
    def tied(self) -> tuple[Explanation, ...]:
        """Explanations that are not significantly less likely than the best, including it."""
        return tuple(e for e in self.explanations if self.best.gain - e.gain < CLEAR_LEAD)

    @property
    def as_read(self) -> bool:
        """Whether no fault explains the logs significantly better than no fault."""
        return any(not e.code for e in self.tied)

    @property
    def lead(self) -> float:
        """Lead of the best explanation over the next one with another code."""
        others = [e.gain for e in self.explanations if e.code != self.best.code]
        return self.best.gain - max(others) if others else np.inf


def mistake_penalty(fault: Fault) -> float:
    """Return the penalty of a fault, less the evidence for it in the raw signals."""
    return MISTAKE_PENALTY * fault.slips - fault.seen


def _select_by_density(tied: Sequence[Explanation]) -> list[Explanation]:
    """Drop units that give an unusual density if another unit gives a usual one."""
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
class BaselineLikelihood:
    """Likelihood of logs as read, with which explanations of them are compared.

    Attributes:
        rows: wide rows of each log.
        misfit: of the logs as read.
    """

    rows: tuple[BandRows, ...]
    misfit: Misfit

    @classmethod
    def of(cls, rows: Sequence[BandRows]) -> BaselineLikelihood:
        """Fit logs as read."""
        return cls(tuple(rows), misfit(rows))

    @property
    def samples(self) -> float:
        """Number of effective samples of all logs."""
        return float(sum(rows.samples.sum() for rows in self.rows))

    def mapped(self, faults: Sequence[Fault]) -> Explanation:
        """Return the explanation by a fault that is a linear map without parameters."""
        maps = [fault.fit_map() for fault in faults]
        return self.read_again([r.mapped(M) for r, M in zip(self.rows, maps, strict=True)], faults)

    def read_again(self, rows: Sequence[BandRows], faults: Sequence[Fault]) -> Explanation:
        """Return the explanation by a fault, from rows that were read and mapped accordingly.

        Args:
            rows: of each log, read and mapped.
            faults: of each log.
        """
        fault, power = faults[0], 0.0
        if fault.linear:
            power = 2.0 * float(np.linalg.slogdet(fault.fit_map()[W, W])[1])
        return self._explained(rows, faults, self.samples * power - mistake_penalty(fault))

    def sized(self, estimate: Explanation) -> Explanation:
        """Recompute the likelihood of an explanation with a size from these rows."""
        maps = [fault.fit_map(estimate.size) for fault in estimate.faults]
        rows = [r.mapped(M) for r, M in zip(self.rows, maps, strict=True)]
        power = 2.0 * float(np.linalg.slogdet(maps[0][W, W])[1])
        penalty = MISTAKE_PENALTY + len(estimate.size) * float(np.log(6.0 * self.samples))
        added = self.samples * power - penalty
        result = self._explained(rows, estimate.faults, added, estimate.size)
        return replace(estimate, gain=result.gain, phi=result.phi, density=result.density)

    def _explained(
        self, rows: Sequence[BandRows], faults: Sequence[Fault], added: float, size: ArrayLike = ()
    ) -> Explanation:
        dense = self.misfit.density > MAX_DENSITY
        after = misfit(rows, scale=faults[0].least_scale(size, dense=dense))
        # Rows with other tapers have another number of effective samples.
        again = float(sum(each.samples.sum() for each in rows))
        gain = self.misfit.cost - after.cost * self.samples / again + added
        return Explanation(float(gain), after.phi, tuple(faults), density=after.density)

    @property
    def as_read(self) -> Explanation:
        """Explanation without a fault."""
        return Explanation(0.0, self.misfit.phi, density=self.misfit.density)

    @property
    def apart(self) -> float:
        """Twice the log-likelihood ratio of separate bodies for the logs, less the penalty."""
        if len(self.rows) < 2:
            return -np.inf
        paid = (len(self.rows) - 1) * (MISTAKE_PENALTY + 10.0 * float(np.log(6.0 * self.samples)))
        return self.misfit.cost - sum(misfit([each]).cost for each in self.rows) - paid
