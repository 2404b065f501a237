"""`SavedEstimate`: what an estimate.json holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from identify.arrays import Array, Vec6
from identify.inertia import InertialParameters


@dataclass(frozen=True, slots=True)
class SavedBias:
    """The sensor bias of one log.

    Attributes:
        sha256: of the log it was fitted on.
        wrench: what the sensor adds to the wrench on the body, [f; t] at Bo in B [N, N m], shape
            (6,).
    """

    sha256: str
    wrench: Vec6


@dataclass(frozen=True, slots=True)
class SavedEstimate:
    """An estimate as it is kept in a file; everything but the parameters may be missing.

    Attributes:
        parameters: the ten inertial parameters about Bo in B.
        frame: what the body frame B is, in words.
        covariance: of phi, in its order and units, shape (10, 10).
        intervals: lower and upper bound by name: the ten of phi, cx, cy, cz and Icxx … Iczz; None
            for what was not measured.
        interval_kind: what the intervals are, and what they leave out.
        decided_by: for each of the ten: "data", "constraint", "given" or "default".
        default_body: the body that completes what the data do not tell, in words, or None.
        bias: the sensor bias of each log.
        residual_rms: root mean square of the residual wrench, six axes [N, N m].
        samples: rows used.
        effective_samples: how many independent samples they are worth.
        dropped_rows: rows of the logs left out by the reader.
        certificate: consistency and optimality as they were checked.
        provenance: logs with sha256, schema, options, versions, command.
    """

    parameters: InertialParameters
    frame: str = "body"
    covariance: Array | None = None
    intervals: Mapping[str, tuple[float, float] | None] = field(default_factory=dict)
    interval_kind: str | None = None
    decided_by: Mapping[str, str] = field(default_factory=dict)
    default_body: str | None = None
    bias: tuple[SavedBias, ...] = ()
    residual_rms: Vec6 | None = None
    samples: int | None = None
    effective_samples: float | None = None
    dropped_rows: int | None = None
    certificate: Mapping[str, object] = field(default_factory=dict)
    provenance: Mapping[str, object] = field(default_factory=dict)
