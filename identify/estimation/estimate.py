"""Certified estimate of a body with its uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from identify.arrays import Array, Phi, Vec6
from identify.estimation.certificate import Certificate
from identify.exchange import Bound, SavedEstimate, write_estimate
from identify.findings import (
    UNIDENTIFIED_SOURCES,
    Finding,
    Usability,
    Verdict,
    derive_verdict,
)
from identify.inertia import InertialParameters

if TYPE_CHECKING:
    from identify.estimation.likelihood import ConfidenceRegion

DecidedBy: TypeAlias = Literal[
    "data", "prior", "constraint", "given", "default", "mechanism", "nothing"
]
"""Source that determines a parameter: the data; a prior with most of the information; a constraint
that moved it by more than a standard error; the user ("given"); the default body, because the data
do not identify it, or because no motion of the mechanism shows it; or nothing, without a default
body."""


@dataclass(frozen=True, slots=True)
class MovingAssembly:
    """Rigid assembly that moves in a log: one body, or a payload and its carrier.

    Attributes:
        bodies: names of the bodies.
        phi: ten parameters about Bo in B, shape (10,).
        least_squares: parameters without the consistency constraint, shape (10,).
        covariance: covariance of phi without scale errors, shape (10, 10).
        unidentifiable: names of the bodies' unidentifiable parameters.
    """

    bodies: tuple[str, ...]
    phi: Phi
    least_squares: Phi
    covariance: Array
    unidentifiable: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Estimate(SavedEstimate):
    """Certified, physically consistent body: a `SavedEstimate` with further results of its fit.

    It holds no signals.

    Attributes:
        least_squares: the parameters without prior and consistency constraint, for comparison.
        prior: prior of the body, and its agreement with the log; empty for the default.
        certificate: certificate of consistency and optimality.
        verdict: summary of the findings; derived from the other attributes.
        needs: required interval half-widths, and whether they are met.
        precision: whether mass, centre of mass and inertia are precise enough for use.
        others: estimates of the other bodies of the fit, by name.
        scalars: the other unknowns of the same fit by name, each with its standard error.
        body: name of the body in the fit.
        joint_covariance: of all unknowns of a fit of several bodies, in its order, without what
            errors of scale make of them; None for one.
        unloaded: how many of the logs, the last ones, are of the carrier alone.
        region: confidence region of all unknowns of the fit.
        limits: bounds that the intervals were clipped to, by name.
        simultaneous: whether the 95 % intervals hold jointly.
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
    precision: Mapping[str, Usability] = field(default_factory=dict)
    others: Mapping[str, Estimate] = field(default_factory=dict)
    scalars: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    body: str = "body"
    joint_covariance: Array | None = None
    unloaded: int = 0
    region: ConfidenceRegion | None = None
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    simultaneous: bool = False

    def __post_init__(self) -> None:
        verdict = derive_verdict(
            self.findings,
            possible=self.parameters.consistent,
            optimal=True,  # a failed certificate raises an error
            identifiable=[n for n, by in self.decided_by.items() if by in ("data", "constraint")],
            needs=self.needs,
            precision=self.precision,
        )
        object.__setattr__(self, "verdict", verdict)

    @property
    def biases(self) -> Array:
        """Sensor offset of each log, measured wrench = wrench on the body + offset, (logs, 6).

        It is [f; t] at Bo in B [N, N m].
        """
        return np.array([offset.wrench for offset in self.bias])

    @property
    def bias_half_widths(self) -> Array:
        """Half-widths of the 95 % intervals of `biases`, shape (logs, 6); zero if not fitted."""
        return np.array([offset.half_width for offset in self.bias])

    def with_other_unknowns(
        self,
        others: Mapping[str, Estimate],
        scalars: Mapping[str, tuple[float, float]],
        covariance: Array,
    ) -> Estimate:
        """Return the estimate with the other unknowns of the fit and the joint covariance."""
        if not (others or scalars):
            return self
        return replace(self, others=others, scalars=scalars, joint_covariance=covariance)

    def on_carrier(self, unloaded: int) -> Estimate:
        """Return the estimate of a payload, with the other body of the fit as its carrier.

        Residuals of the payload are those of the logs with it, residuals of the carrier those of
        the logs without it. Eigenvalues in the certificates are split by body.

        Args:
            unloaded: number of logs of the carrier alone; they come last.
        """
        ((name, carrier),) = self.others.items()

        def with_place(estimate: Estimate) -> tuple[Finding, ...]:
            return tuple(replace(finding, where=estimate.body) for finding in estimate.findings)

        first, last = self.certificate.eigenvalues[:4], self.certificate.eigenvalues[4:]
        carrier = replace(
            carrier,
            residual_rms=self.residual_rms[-6:],
            findings=with_place(carrier),
            certificate=replace(self.certificate, eigenvalues=last),
        )
        return replace(
            self,
            residual_rms=self.residual_rms[:6],
            findings=with_place(self),
            certificate=replace(self.certificate, eigenvalues=first),
            others={name: carrier},
            unloaded=unloaded,
        )

    def bounds(self) -> Mapping[str, Bound]:
        """Compute certified bounds over all consistent bodies compatible with the data.

        Bounds of the ten parameters, of cx, cy and cz, and upper bounds of Icxx, Icyy and Iczz,
        over the 95 % profile likelihood including scale errors and faults.

        Raises:
            ModelError: the estimate was not made by a fit.
        """
        if self.certified_bounds or self.region is None:
            return SavedEstimate.bounds(self)
        from identify.estimation.bounds import certified_bounds

        number = self.region.likelihood.scaling.space.body_slice(self.body).start // 10
        return certified_bounds(self.region.inflated(number, self.covariance), number)

    def with_bounds(self) -> Estimate:
        """Return the estimate with its bounds stored, so that they are written to its file."""
        others = {
            name: replace(one, certified_bounds=one.bounds()) for name, one in self.others.items()
        }
        return replace(self, certified_bounds=self.bounds(), others=others)

    @property
    def body_suffix(self) -> str:
        """Phrase " of the BODY" for messages of a fit with several bodies; else empty."""
        return "" if self.body == "body" else f" of the {self.body}"

    @property
    def bodies(self) -> tuple[Estimate, ...]:
        """All bodies of the fit, the body of the estimate first."""
        return (self, *self.others.values())

    def moving_assembly(self, log: int) -> MovingAssembly:
        """Return the rigid assembly that moves in a log.

        Args:
            log: index of the log.
        """
        alone = self.unloaded and log >= len(self.biases) - self.unloaded
        moved = self.bodies[1:] if alone else self.bodies if self.unloaded else (self,)
        covariance = moved[0].repeatability
        if len(moved) > 1 and self.joint_covariance is not None:
            blocks = self.joint_covariance[:20, :20].reshape(2, 10, 2, 10)
            covariance = blocks.sum(axis=(0, 2))
        return MovingAssembly(
            bodies=tuple(one.body for one in moved),
            phi=np.sum([one.parameters.phi for one in moved], axis=0),
            least_squares=np.sum([one.least_squares.phi for one in moved], axis=0),
            covariance=covariance,
            unidentifiable=tuple(
                name if len(self.bodies) == 1 else f"{one.body}.{name}"
                for one in moved
                for name, by in one.decided_by.items()
                if by in UNIDENTIFIED_SOURCES
            ),
        )

    @property
    def complete(self) -> bool:
        """Whether the data identify every parameter, so that the default body gives none."""
        return not UNIDENTIFIED_SOURCES & set(self.decided_by.values())

    def save(self, path: Path | str) -> Path:
        """Write the estimate atomically to an estimate.json and return the path."""
        return write_estimate(self, path)
