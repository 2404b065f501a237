"""`Estimate`: the body that was found, and what is known of how well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from identify.arrays import Array, Phi, Vec6
from identify.estimation.certificate import Certificate
from identify.exchange import Bound, SavedEstimate, write_estimate
from identify.findings import NOT_IDENTIFIED, Finding, Verdict, verdict_of
from identify.inertia import InertialParameters

if TYPE_CHECKING:
    from identify.estimation.likelihood import ConfidenceRegion

DecidedBy: TypeAlias = Literal["data", "prior", "constraint", "given", "default", "nothing"]
"""What fixed a parameter: the data; a prior that has most of the information on it; a constraint
that moved it by more than a standard error; the user; the default body, because the data do not
identify it; or nothing, where no body was to stand in for that."""


@dataclass(frozen=True, slots=True)
class MovedBody:
    """What moved in a log: one body, or a payload and its carrier as one.

    Attributes:
        bodies: their names.
        phi: ten parameters about Bo in B, shape (10,).
        least_squares: those without the consistency constraint, shape (10,).
        covariance: of phi, without what errors of scale make of it, shape (10, 10).
        unidentifiable: names of what the data do not identify of its bodies.
    """

    bodies: tuple[str, ...]
    phi: Phi
    least_squares: Phi
    covariance: Array
    unidentifiable: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Estimate(SavedEstimate):
    """A certified, physically consistent body: what its file has of it, and the rest of its fit.

    It holds no signals.

    Attributes:
        least_squares: the parameters without prior and consistency constraint, for comparison.
        prior: what else was known of the body, and how it and the log agree; empty for the default.
        certificate: consistency and optimality, as checked.
        verdict: what is known of it, each part for itself; it follows from the other attributes.
        needs: what was asked of its intervals, and whether they meet it.
        others: estimates of the other bodies of the same fit, by name.
        scalars: the other unknowns of the same fit by name, each with its standard error.
        body: its name in the fit.
        joint_covariance: of all unknowns of a fit of several bodies, in its order, without what
            errors of scale make of them; None for one.
        unloaded: how many of the logs, the last ones, are of the carrier alone.
        region: what the data and the terms leave of all unknowns of its fit.
        limits: what its intervals were cut at, by name.
        simultaneous: whether 95 % is that all its intervals hold at once.
    """

    covariance: Array = field()  # of every fit, so without the default of a file
    interval_kind: str = field()
    decided_by: Mapping[str, DecidedBy] = field()
    residual_rms: Vec6 = field()
    samples: int = field()
    effective_samples: float = field()
    certificate: Certificate = field()
    verdict: Verdict = field(init=False)
    least_squares: InertialParameters
    prior: Mapping[str, Any] = field(default_factory=dict)
    needs: Mapping[str, bool] = field(default_factory=dict)
    others: Mapping[str, Estimate] = field(default_factory=dict)
    scalars: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    body: str = "body"
    joint_covariance: Array | None = None
    unloaded: int = 0
    region: ConfidenceRegion | None = None
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    simultaneous: bool = False

    def __post_init__(self) -> None:
        verdict = verdict_of(
            self.findings,
            possible=self.parameters.consistent,
            optimal=True,  # or there were an error in its place
            identifiable=[n for n, by in self.decided_by.items() if by in ("data", "constraint")],
            needs=self.needs,
        )
        object.__setattr__(self, "verdict", verdict)

    @property
    def log_ids(self) -> tuple[str, ...]:
        """The sha256 of each log; empty where the rows are not of a recording."""
        return tuple(offset.sha256 for offset in self.bias)

    @property
    def biases(self) -> Array:
        """Sensor offset of each log, measured = on the body + offset, shape (logs, 6).

        It is [f; t] at Bo in B [N, N m].
        """
        return np.array([offset.wrench for offset in self.bias])

    @property
    def bias_half_widths(self) -> Array:
        """Of the 95 % intervals of `biases`, likewise; zero where none is fitted."""
        return np.array([offset.half_width for offset in self.bias])

    def with_others(
        self,
        others: Mapping[str, Estimate],
        scalars: Mapping[str, tuple[float, float]],
        covariance: Array,
    ) -> Estimate:
        """The same estimate with the other unknowns of its fit, and the covariance of all."""
        if not (others or scalars):
            return self
        return replace(self, others=others, scalars=scalars, joint_covariance=covariance)

    def on_carrier(self, unloaded: int) -> Estimate:
        """The same estimate as that of a payload, whose one other body is its carrier.

        Residuals are then those of the logs that each body is last seen in: with the payload, and
        without it. So are the eigenvalues that the certificate shows.

        Args:
            unloaded: how many of the logs, the last ones, are of the carrier alone.
        """
        ((name, carrier),) = self.others.items()

        def own(one: Estimate) -> tuple[Finding, ...]:
            return tuple(replace(finding, where=one.body) for finding in one.findings)

        first, last = self.certificate.eigenvalues[:4], self.certificate.eigenvalues[4:]
        carrier = replace(
            carrier,
            residual_rms=self.residual_rms[-6:],
            findings=own(carrier),
            certificate=replace(self.certificate, eigenvalues=last),
        )
        return replace(
            self,
            residual_rms=self.residual_rms[:6],
            findings=own(self),
            certificate=replace(self.certificate, eigenvalues=first),
            others={name: carrier},
            unloaded=unloaded,
        )

    def bounds(self) -> Mapping[str, Bound]:
        """Least and greatest over all bodies that the data and the terms leave, proved each.

        Of the ten parameters, cx, cy and cz, and, the greatest only, Icxx, Icyy and Iczz. A bound
        is over the profile of the likelihood at 95 %, with what errors of scale and faults add to
        the covariance, and so is never beyond what is possible.

        Raises:
            ModelError: it was not made by a fit.
        """
        if self.certified_bounds or self.region is None:
            return SavedEstimate.bounds(self)
        from identify.estimation.bounds import certified_bounds

        number = self.region.likelihood.scaling.space.body_slice(self.body).start // 10
        return certified_bounds(self.region.inflated(number, self.covariance), number)

    def with_bounds(self) -> Estimate:
        """The same estimate with its bounds kept, so that its file has them."""
        others = {
            name: replace(one, certified_bounds=one.bounds()) for name, one in self.others.items()
        }
        return replace(self, certified_bounds=self.bounds(), others=others)

    @property
    def of_body(self) -> str:
        """What follows "mass" where a fit has several bodies: " of the payload"; else nothing."""
        return "" if self.body == "body" else f" of the {self.body}"

    @property
    def bodies(self) -> tuple[Estimate, ...]:
        """All bodies of the fit, this one first."""
        return (self, *self.others.values())

    def moved_in(self, log: int) -> MovedBody:
        """What moved in a log, as one body.

        Args:
            log: its number.
        """
        alone = self.unloaded and log >= len(self.biases) - self.unloaded
        moved = self.bodies[1:] if alone else self.bodies if self.unloaded else (self,)
        covariance = moved[0].repeatability
        if len(moved) > 1 and self.joint_covariance is not None:
            blocks = self.joint_covariance[:20, :20].reshape(2, 10, 2, 10)
            covariance = blocks.sum(axis=(0, 2))
        return MovedBody(
            bodies=tuple(one.body for one in moved),
            phi=np.sum([one.parameters.phi for one in moved], axis=0),
            least_squares=np.sum([one.least_squares.phi for one in moved], axis=0),
            covariance=covariance,
            unidentifiable=tuple(
                name if len(self.bodies) == 1 else f"{one.body}.{name}"
                for one in moved
                for name, by in one.decided_by.items()
                if by in NOT_IDENTIFIED
            ),
        )

    @property
    def complete(self) -> bool:
        """Whether every parameter is known, so that none is of the default body."""
        return not NOT_IDENTIFIED & set(self.decided_by.values())

    def save(self, path: Path | str) -> Path:
        """Write the estimate to an estimate.json, whole or not at all; returns the path."""
        return write_estimate(self, path)
