"""`Estimate`: the body that was found, and what is known of how well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from identify.arrays import Array, Phi, Vec6
from identify.estimation.certificate import Certificate
from identify.exchange import PrincipalAxis, SavedBias, SavedEstimate, write_estimate
from identify.exchange.estimate_views import EstimateViews
from identify.findings import Finding, Verdict, verdict_of
from identify.inertia import InertialParameters
from identify.spatial import BodyFrame

DecidedBy: TypeAlias = Literal["data", "constraint", "given", "default"]
"""What fixed a parameter: the data; a constraint that moved it by more than a standard error; the
user; or the default body, because the data do not identify it."""

Interval: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class MovedBody:
    """What moved in a log: one body, or a payload and its carrier as one.

    Attributes:
        bodies: their names.
        phi: ten parameters about Bo in B, shape (10,).
        least_squares: those without the consistency constraint, shape (10,).
        covariance: of phi, shape (10, 10).
        unidentifiable: names of what the data do not identify of its bodies.
    """

    bodies: tuple[str, ...]
    phi: Phi
    least_squares: Phi
    covariance: Array
    unidentifiable: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(EstimateViews):
    """A certified, physically consistent body. It holds no signals.

    Attributes:
        parameters: the ten inertial parameters about Bo in B.
        least_squares: those without the consistency constraint, for comparison.
        covariance: of phi, shape (10, 10).
        intervals: 95 % bounds by name: the ten of phi, cx, cy, cz, Icxx … Iczz and the principal
            moments I1, I2, I3; None for what the data do not identify.
        interval_kind: what the intervals are, and what they leave out.
        variance_shares: by the same names, what share of the variance is noise of the "wrench",
            noise of the "motion", "rest" (drift, vibration, the model) and "completion" by the
            default body; empty where no noise was read off the signals.
        principal_axes: by ascending moments, with the cones they are known to within; none where
            the data do not identify the inertia.
        decided_by: for each of the ten, what fixed it.
        default_body: the body that completes what the data do not identify, in words, or None.
        biases: sensor offset of each log, [f; t] at Bo in B, measured = on the body + offset,
            shape (logs, 6).
        bias_half_widths: of their 95 % intervals, likewise; zero where none is fitted.
        residual_rms: root mean square of the residual wrench on six axes [N, N m], shape (6,); of
            each channel, where others were measured.
        samples: rows used.
        effective_samples: how many independent samples they are worth.
        certificate: consistency and optimality, as checked.
        log_ids: sha256 of each log.
        dropped_rows: rows of the logs the reader left out.
        provenance: logs, schema, options, versions and command.
        findings: what is to know of it, the gravest first.
        r_squared: of the wrench on data held out, six axes; None for an axis without signal.
        needs: what was asked of its intervals, and whether they meet it.
        others: estimates of the other bodies of the same fit, by name.
        scalars: the other unknowns of the same fit by name, each with its standard error.
        body: its name in the fit.
        joint_covariance: of all unknowns of a fit of several bodies, in its order; None for one.
        unloaded: how many of the logs, the last ones, are of the carrier alone.
        frames: the name of B, and where the flange and the tool point are in it, as far as known.
    """

    parameters: InertialParameters
    least_squares: InertialParameters
    covariance: Array
    intervals: Mapping[str, Interval | None]
    interval_kind: str
    variance_shares: Mapping[str, Mapping[str, float]]
    principal_axes: tuple[PrincipalAxis, ...]
    decided_by: Mapping[str, DecidedBy]
    default_body: str | None
    biases: Array
    bias_half_widths: Array
    residual_rms: Vec6
    samples: int
    effective_samples: float
    certificate: Certificate
    log_ids: tuple[str, ...] = ()
    dropped_rows: int = 0
    provenance: Mapping[str, object] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    r_squared: tuple[float | None, ...] | None = None
    needs: Mapping[str, bool] = field(default_factory=dict)
    others: Mapping[str, Estimate] = field(default_factory=dict)
    scalars: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    body: str = "body"
    joint_covariance: Array | None = None
    unloaded: int = 0
    frames: BodyFrame = field(default_factory=BodyFrame)

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
        covariance = moved[0].covariance
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
                if by == "default"
            ),
        )

    @property
    def complete(self) -> bool:
        """Whether the data identify every parameter, so that none is of the default body."""
        return "default" not in self.decided_by.values()

    @property
    def verdict(self) -> Verdict:
        """What is known of it, each part for itself."""
        by_data = [name for name, by in self.decided_by.items() if by in ("data", "constraint")]
        return verdict_of(
            self.findings,
            possible=self.parameters.consistent,
            optimal=True,  # or there were an error in its place
            identifiable=by_data,
            needs=self.needs,
        )

    @property
    def saved(self) -> SavedEstimate:
        """The estimate as it is kept in a file."""
        ids = self.log_ids or ("",) * len(self.biases)
        return SavedEstimate(
            parameters=self.parameters,
            frame="body",
            frames=self.frames,
            covariance=self.covariance,
            intervals=self.intervals,
            interval_kind=self.interval_kind,
            variance_shares=self.variance_shares,
            principal_axes=self.principal_axes,
            decided_by=self.decided_by,
            default_body=self.default_body,
            bias=tuple(
                SavedBias(*one) for one in zip(ids, self.biases, self.bias_half_widths, strict=True)
            ),
            residual_rms=self.residual_rms,
            samples=self.samples,
            effective_samples=self.effective_samples,
            dropped_rows=self.dropped_rows,
            certificate=_plain(self.certificate),
            provenance=self.provenance,
            findings=self.findings,
            r_squared=self.r_squared,
            verdict=self.verdict,
        )

    def save(self, path: Path | str) -> Path:
        """Write the estimate to an estimate.json, whole or not at all; returns the path."""
        return write_estimate(self.saved, path)


def _plain(certificate: Certificate) -> dict[str, object]:
    document = asdict(certificate)
    document["versions"] = dict(certificate.versions)
    document["eigenvalues"] = list(certificate.eigenvalues)
    document["active"] = list(certificate.active)
    return document
