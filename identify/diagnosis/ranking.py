"""Ranking of explanations of logs by likelihood: without a fault, or with one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Phi
from identify.diagnosis.body_likelihood import BandRows, BodyFit, fit_body
from identify.diagnosis.fault import Fault
from identify.findings import Severity
from identify.inertia.consistency import MAX_DENSITY, mean_density, within_arm_capacity
from identify.significance import CLEAR_LIKELIHOOD_LEAD, MIN_LIKELIHOOD_LEAD
from identify.spatial.columns import WRENCH

MISTAKE_PENALTY = 12.0
"""Penalty of each mistake in a schema or log, as twice a log-likelihood."""

UNIT_CODES = ("force_unit", "torque_unit")
"""Codes of wrong units, of which several may be equally likely with different bodies."""

_SPECIAL_CASE_CODES = {
    "partly_compensated": "already_compensated",
    "wrench_misaligned": "wrench_axes",
}
"""Code of a special case without parameters, by code of the fault with parameters."""

_MIN_MASS = 1e-3
"""Smallest mass of a body that a wrist sensor weighs [kg]: the finest resolve 3 mN, a third of its
weight (ATI Nano17 SI-12-0.12)."""

_USUAL_DENSITIES = 2.0, 1e4
"""Smallest and largest usual mean density of bodies by their second moments [kg/m³]: rods and
sheets of a metre have the smallest, lumps of metal the largest."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Hypothesis that explains logs: a fault at its best-fitting size, or no fault.

    Attributes:
        log_likelihood_ratio: twice the log-likelihood ratio to the logs as read, less the penalty.
        phi: the body under this hypothesis.
        faults: fault of each log; empty for the logs as read.
        fault_size: parameters η of the fault [SI], shape (d,).
        fault_half_width: half-width of the 95 % interval of each component [SI], shape (d,).
        note: further evidence for or against the hypothesis, in words.
        density: lower bound of the body's density [kg/m³].
        unexplained: fraction of the wrench that the fitted body does not explain
            (`unexplained_fraction`); zero if the logs were not fitted.
    """

    log_likelihood_ratio: float
    phi: Phi
    faults: tuple[Fault, ...] = ()
    fault_size: Array = field(default_factory=lambda: np.zeros(0))
    fault_half_width: Array = field(default_factory=lambda: np.zeros(0))
    note: str = ""
    density: float = np.nan
    unexplained: float = 0.0

    @property
    def raw_counts(self) -> bool:
        """Whether the readings have no unit, so that the body is identified only up to a factor."""
        return bool(self.faults) and self.faults[0].raw_counts

    @property
    def has_usual_density(self) -> bool:
        """Whether the mean density of the body, if known, is that of usual bodies."""
        density, (low, high) = mean_density(self.phi), _USUAL_DENSITIES
        return not (density <= low or density >= high)

    @property
    def is_liftable(self) -> bool:
        """Whether the body has a mass, and under another unit one that a robot can hold."""
        if self.code not in UNIT_CODES or not self.mass > _MIN_MASS:
            return not self.code or self.mass > _MIN_MASS
        setup = self.faults[0].setup
        place = setup.X_BS.position if setup is not None and setup.X_BS is not None else np.zeros(3)
        return (
            within_arm_capacity(self.phi, np.zeros((10, 10)), place)
            and not self.density > _USUAL_DENSITIES[1]
        )

    @property
    def code(self) -> str:
        """Code of the fault's finding; empty for the logs as read."""
        return self.faults[0].code if self.faults else ""

    @property
    def severity(self) -> Severity:
        """Severity of the finding: a warning if the corrected estimate is usable."""
        parameters = self.faults[0].parameters if self.faults else None
        if parameters is None:
            return "error"
        low, high = np.array(parameters.usable_range) * parameters.mass_factor(self.phi)
        return "warning" if ((self.fault_size > low) & (self.fault_size < high)).all() else "error"

    @property
    def mass(self) -> float:
        """Mass of the body under this hypothesis [kg]."""
        return float(self.phi[0])

    @property
    def interval(self) -> tuple[Array, Array]:
        """Bounds of the 95 % interval of each parameter η [SI]."""
        return self.fault_size - self.fault_half_width, self.fault_size + self.fault_half_width

    @property
    def remedy(self) -> str:
        """Remedy: the line of the schema or the action that corrects the fault."""
        return self.faults[0].remedy_at(self.fault_size) if self.faults else ""

    @property
    def schema_patch(self) -> dict[str, object]:
        """Keys of the schema with other values that correct the fault; empty if none do."""
        fault = self.faults[0] if self.faults else None
        return {} if fault is None or fault.parametric else dict(fault.patch_at_zero)

    @property
    def text(self) -> str:
        """Description of the fault with its size and interval."""
        if not self.faults:
            return "the log is as it was read"
        fault = self.faults[0]
        if fault.describe is not None:
            return fault.describe(self.fault_size, self.fault_half_width)
        if fault.parameters is None or len(self.fault_size) > 3:
            return fault.text + self.note
        unit_si = fault.parameters.unit_si
        unit = fault.parameters.unit
        names = fault.parameters.names
        sizes = [
            f"{size / unit_si:.4g} ± {half / unit_si:.2g} {unit}"
            for size, half in zip(self.fault_size, self.fault_half_width, strict=True)
        ]
        name = fault.name.replace("_", " ")
        if len(sizes) == 1 and name.endswith(names[0]):
            return f"{name} {sizes[0]}"
        return f"{name}: {', '.join(map(' '.join, zip(names, sizes, strict=True)))}"


@dataclass(frozen=True, slots=True)
class Ranking:
    """Explanations of the logs of one body in order of likelihood, one of them without a fault.

    Attributes:
        explanations: at least the logs as read.
        separate_bodies_lead: twice the log-likelihood ratio of separate bodies for the logs to one
            body, less the penalty; minus infinity for one log.
    """

    explanations: tuple[Explanation, ...]
    separate_bodies_lead: float = -np.inf

    @classmethod
    def of(
        cls, explanations: Sequence[Explanation], separate_bodies_lead: float = -np.inf
    ) -> Ranking:
        """Rank explanations, with equally likely units selected by the density of the body.

        Explanations without a body, or without one that a robot can hold, are dropped.
        """
        # Equal ratios keep the order of the arguments.
        order = sorted(explanations, key=lambda each: -round(each.log_likelihood_ratio, 3))
        count = len(cls(tuple(order)).tied)
        tied, others = _select_by_density(order[:count]), order[count:]
        if any(each.raw_counts for each in tied):  # likelier than a body of unusual density
            tied = [each for each in tied if each.code not in UNIT_CODES or each.has_usual_density]
        if any(each.code in UNIT_CODES for each in tied):  # a gain too large for a sensor is a unit
            tied = [each for each in tied if not (each.code == "gain" and each.severity == "error")]
        codes = {each.code for each in tied}
        tied = [each for each in tied if _SPECIAL_CASE_CODES.get(each.code) not in codes]
        liftable = [each for each in (*tied, *others) if each.is_liftable]
        if tied[0].is_liftable:
            return cls(tuple(liftable), separate_bodies_lead)
        return cls.of(liftable, separate_bodies_lead)

    @property
    def best(self) -> Explanation:
        """Most likely explanation."""
        return self.explanations[0]

    @property
    def tied(self) -> tuple[Explanation, ...]:
        """Explanations that are not significantly less likely than the best, including it."""
        best = self.best.log_likelihood_ratio
        return tuple(
            e for e in self.explanations if best - e.log_likelihood_ratio < CLEAR_LIKELIHOOD_LEAD
        )

    @property
    def confirms_schema(self) -> bool:
        """Whether no fault explains the logs significantly better than the schema does."""
        return any(not e.code for e in self.tied)

    @property
    def lead(self) -> float:
        """Twice the log-likelihood ratio of the best explanation to the best with another code."""
        others = [e.log_likelihood_ratio for e in self.explanations if e.code != self.best.code]
        return self.best.log_likelihood_ratio - max(others) if others else np.inf


def mistake_penalty(fault: Fault) -> float:
    """Return the penalty of a fault for each schema mistake in it, less its raw-signal evidence."""
    return MISTAKE_PENALTY * fault.mistake_count - fault.raw_evidence


def better_than_noise(
    explanations: Sequence[Explanation], lead_of_noise: float
) -> list[Explanation]:
    """Drop readings that gain no more than the logs without their noisy motion do."""
    if lead_of_noise <= MIN_LIKELIHOOD_LEAD:
        return list(explanations)
    least = lead_of_noise + CLEAR_LIKELIHOOD_LEAD
    return [e for e in explanations if not e.code or e.log_likelihood_ratio > least]


def _select_by_density(tied: Sequence[Explanation]) -> list[Explanation]:
    """Drop units that give the body an unusual density if another unit gives a usual density."""
    units = {k: mean_density(each.phi) for k, each in enumerate(tied) if each.code in UNIT_CODES}
    low, high = _USUAL_DENSITIES
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
    """Likelihood of logs without a fault, with which explanations by faults are compared.

    Attributes:
        rows: extended rows of each log.
        body_fit: fit of one body to the logs as read.
    """

    rows: tuple[BandRows, ...]
    body_fit: BodyFit

    @classmethod
    def of(cls, rows: Sequence[BandRows]) -> BaselineLikelihood:
        """Fit one body to logs without a fault."""
        return cls(tuple(rows), fit_body(rows))

    @property
    def samples(self) -> float:
        """Number of effective samples of all logs."""
        return float(sum(rows.effective_samples.sum() for rows in self.rows))

    def explain_by_map(self, faults: Sequence[Fault]) -> Explanation:
        """Return the explanation by a fault that is a linear map without parameters."""
        maps = [fault.fit_map() for fault in faults]
        mapped = [rows.mapped(M) for rows, M in zip(self.rows, maps, strict=True)]
        return self.explain_by_rescan(mapped, faults)

    def explain_by_rescan(self, rows: Sequence[BandRows], faults: Sequence[Fault]) -> Explanation:
        """Return the explanation by a fault, from rows that were read again without the fault."""
        fault, power = faults[0], 0.0
        if fault.linear:
            power = 2.0 * float(np.linalg.slogdet(fault.fit_map()[WRENCH, WRENCH])[1])
        return self._explanation_of_rows(
            rows, faults, self.samples * power - mistake_penalty(fault)
        )

    def explain_at_size(self, estimate: Explanation) -> Explanation:
        """Recompute the likelihood of an explanation by a parametric fault, at its size."""
        maps = [fault.fit_map(estimate.fault_size) for fault in estimate.faults]
        rows = [r.mapped(M) for r, M in zip(self.rows, maps, strict=True)]
        power = 2.0 * float(np.linalg.slogdet(maps[0][WRENCH, WRENCH])[1])
        penalty = MISTAKE_PENALTY + len(estimate.fault_size) * float(np.log(6.0 * self.samples))
        added = self.samples * power - penalty
        result = self._explanation_of_rows(rows, estimate.faults, added, estimate.fault_size)
        return replace(
            estimate,
            log_likelihood_ratio=result.log_likelihood_ratio,
            phi=result.phi,
            density=result.density,
        )

    def _explanation_of_rows(
        self, rows: Sequence[BandRows], faults: Sequence[Fault], added: float, size: ArrayLike = ()
    ) -> Explanation:
        """Return the explanation by a fault, from rows without it.

        `added`: log-determinant of the fault's map less its penalties, as twice a log-likelihood.
        """
        is_too_dense = self.body_fit.density > MAX_DENSITY
        # The scale is one except for raw counts.
        after = fit_body(rows, scale=faults[0].min_wrench_scale(size, too_dense=is_too_dense))
        # Rows with other tapers have another number of effective samples.
        again = float(sum(each.effective_samples.sum() for each in rows))
        ratio = self.body_fit.cost - after.cost * self.samples / again + added
        return Explanation(float(ratio), after.phi, tuple(faults), density=after.density)

    @property
    def as_read(self) -> Explanation:
        """Hypothesis that the logs have no fault, as an explanation."""
        return Explanation(0.0, self.body_fit.phi, density=self.body_fit.density)

    @property
    def separate_bodies_lead(self) -> float:
        """Twice the log-likelihood ratio of separate bodies to one body, less the penalty."""
        if len(self.rows) < 2:
            return -np.inf
        body_penalty = MISTAKE_PENALTY + 10.0 * float(np.log(6.0 * self.samples))
        penalty = (len(self.rows) - 1) * body_penalty
        return self.body_fit.cost - sum(fit_body([each]).cost for each in self.rows) - penalty
