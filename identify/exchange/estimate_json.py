"""estimate.json: the file an estimate is kept in. SI throughout; keys in docs/estimate-json.md.

Numbers are written with all their digits, so what is read back is the same body to the last bit.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from identify.arrays import Array, Mat33, Vec3, Vec6
from identify.errors import ModelError
from identify.exchange.estimate_views import EstimateViews
from identify.files import write_text
from identify.findings import Finding, Verdict
from identify.inertia import PHI, InertialParameters
from identify.spatial import BodyFrame, Pose
from identify.spatial.rotations import quaternion_from_rotation, rotation_from_quaternion
from identify.texts import as_json

SCHEMA_VERSION = 3
"""Version of the file's layout; a reader refuses another one."""

BODY_KEYS = ("phi", "mass", "com", "inertia_about_com", "inertia_about_origin")
"""What says the body: in full by `phi`; the rest is for those who read it."""


@dataclass(frozen=True, slots=True)
class SavedBias:
    """The sensor offset of one log.

    Attributes:
        sha256: of the log it was fitted on.
        wrench: what the sensor adds to the wrench on the body, [f; t] at Bo in B [N, N m], shape
            (6,).
        half_width: of the 95 % interval of each, shape (6,); None where nothing is known of it.
    """

    sha256: str
    wrench: Vec6
    half_width: Vec6 | None = None


@dataclass(frozen=True, slots=True)
class PrincipalAxis:
    """A principal moment of inertia about the centre of mass, and where its axis is.

    Attributes:
        moment: [kg m²].
        direction: of the axis in B, of length one, shape (3,).
        half_angle: of the cone around it that holds the true axis in 95 of 100 cases [rad]; None
            where the moment is not distinguishable from another one, so that the axis may be any
            in the plane of both.
    """

    moment: float
    direction: Vec3
    half_angle: float | None


class Bound(NamedTuple):
    """Least and greatest value over all bodies that the data and the terms of a fit leave at 95 %.

    Attributes:
        low, high: [SI], each proved; None where there is none.
        gap: how far a bound is at the most from what some such body has, in shares of their
            distance.
    """

    low: float | None
    high: float | None
    gap: float


@dataclass(frozen=True, slots=True, repr=False)
class SavedEstimate(EstimateViews):
    """An estimate as it is kept in a file; everything but the parameters may be missing.

    Attributes:
        parameters: the ten inertial parameters about Bo in B.
        frame: what the body frame B is, in words.
        frames: its name, and where the flange and the tool point are in it, as far as known.
        covariance: of phi, in its order and units, shape (10, 10).
        calibration: the part of the covariance that errors of scale of the sensor and of gravity
            make, shape (10, 10); None where none are given.
        intervals: lower and upper bound by name: the ten of phi, cx, cy, cz, Icxx … Iczz and the
            principal moments I1, I2, I3; None for what was not measured.
        interval_kind: what the intervals are, and what they leave out.
        degrees_of_freedom: of Student's t in the interval of each of the ten, by name; None where
            it is the normal distribution.
        certified_bounds: of the ten, cx, cy, cz and Icxx, Icyy, Iczz, where they were asked for.
        variance_shares: by the same names, what share of the variance comes of which source.
        principal_axes: by ascending moments, with the cones they are known to within.
        decided_by: for each of the ten: "data", "prior", "constraint", "given", "default" or
            "nothing"; cx, cy and cz where they are "given".
        prior_share: for each of the ten, how much of the information on it is a prior's, 0 to 1;
            what the default body completes counts as that.
        default_body: the body that completes what the data do not identify, in words, or None.
        bias: the sensor offset of each log.
        residual_rms: root mean square of the residual wrench, six axes [N, N m].
        samples: rows used.
        effective_samples: how many independent samples they are worth.
        dropped_rows: rows of the logs left out by the reader.
        certificate: consistency and optimality as they were checked: a mapping as it is in the
            file, or the `Certificate` of a fit.
        provenance: logs with sha256, schema, options, versions, command.
        findings: what is to know of it, the gravest first.
        r_squared: of the wrench on data held out, six axes; None for an axis without signal.
        verdict: what the findings come to; None where nothing was said, as in files of version 1.
    """

    parameters: InertialParameters
    frame: str = "body"
    frames: BodyFrame = field(default_factory=BodyFrame)
    covariance: Array | None = None
    calibration: Array | None = None
    intervals: Mapping[str, tuple[float, float] | None] = field(default_factory=dict)
    interval_kind: str | None = None
    degrees_of_freedom: Mapping[str, float | None] = field(default_factory=dict)
    certified_bounds: Mapping[str, Bound] = field(default_factory=dict)
    variance_shares: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    principal_axes: tuple[PrincipalAxis, ...] = ()
    decided_by: Mapping[str, str] = field(default_factory=dict)
    prior_share: Mapping[str, float] = field(default_factory=dict)
    default_body: str | None = None
    bias: tuple[SavedBias, ...] = ()
    residual_rms: Vec6 | None = None
    samples: int | None = None
    effective_samples: float | None = None
    dropped_rows: int | None = None
    certificate: object = field(default_factory=dict)
    provenance: Mapping[str, object] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    r_squared: tuple[float | None, ...] | None = None
    verdict: Verdict | None = None

    @property
    def repeatability(self) -> Array:
        """Covariance without errors of scale, which logs of one sensor share, shape (10, 10).

        Raises:
            ModelError: there is no covariance.
        """
        if self.covariance is None:
            raise ModelError("the estimate has no covariance")
        return self.covariance - (0.0 if self.calibration is None else self.calibration)

    def bounds(self) -> Mapping[str, Bound]:
        """Certified bounds by name: those of the file.

        Raises:
            ModelError: it has none, and what they are worked out of is not in a file.
        """
        if not self.certified_bounds:
            raise ModelError(
                "the estimate has no certified bounds, and its file not the likelihood that they "
                "are worked out of: fit its logs again with --bounds (in Python, bounds=True)"
            )
        return self.certified_bounds

    @property
    def saved(self) -> SavedEstimate:
        """Itself: what is kept in a file."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """The content of the estimate.json: plain lists, numbers and words, SI."""
        return json.loads(estimate_text(self))


def write_estimate(estimate: SavedEstimate, path: Path | str) -> Path:
    """Write an estimate.json, whole or not at all.

    Returns:
        The path written.
    """
    path = Path(path)
    write_text(path, estimate_text(estimate))
    return path


def estimate_text(estimate: SavedEstimate) -> str:
    """The file's content."""
    body = estimate.parameters
    document = {
        "schema_version": SCHEMA_VERSION,
        "frame": estimate.frame,
        "frames": estimate.frames,
        **_numbers(body, estimate.decided_by),
        **{key: getattr(estimate, key) for key in _KEYS if key not in ("frame", "frames")},
    }
    write = partial(json.dumps, allow_nan=False, default=_plain)
    digest = contents_digest(write(document))
    return write(document | {"digest": digest}, indent=2) + "\n"


def _numbers(body: InertialParameters, decided_by: Mapping[str, str]) -> dict[str, object]:
    """The body; null in place of what nothing decided, and of what is made of that."""
    numbers: dict[str, object] = {key: getattr(body, key) for key in BODY_KEYS}
    if "nothing" not in decided_by.values():
        return numbers
    known = [decided_by.get(name) != "nothing" for name in PHI]
    phi = zip(body.phi.tolist(), known, strict=True)
    missing = [] if all(known[:4]) else ["com"]
    missing += [key for key in BODY_KEYS if key.startswith("inertia")]
    return numbers | dict.fromkeys(missing) | {"phi": [x if told else None for x, told in phi]}


def contents_digest(text: str) -> str:
    """The sha256 of what the file says in its other keys than `digest` (hexadecimal).

    It is that of their JSON with the keys sorted, no spaces, what is not ASCII escaped, and each
    number as the shortest that reads back as the same double: 1000 and 1000.0 are one, and so are
    files that differ in their layout or the order of their keys alone.

    Args:
        text: of the file; `digest` may be missing.

    Raises:
        ValueError: it is no JSON, or has numbers that are not finite.
    """
    contents = json.loads(text, parse_int=_double)
    contents.pop("digest", None)
    plain = json.dumps(contents, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(plain.encode()).hexdigest()


def _double(digits: str) -> float | int:
    """A whole number as the double that it is; as it is where there is none."""
    number = float(digits)
    return number if abs(number) < 2.0**53 else int(digits)


def estimate_digest(estimate: SavedEstimate) -> str:
    """The sha256 of the file's content (hexadecimal)."""
    return hashlib.sha256(estimate_text(estimate).encode()).hexdigest()


def _plain(value: object) -> object:
    """Convert a pose, an array, a mapping, a finding, a verdict or a bias to values of JSON."""
    if isinstance(value, Pose):
        return {"translation": value.position, "quaternion": _quaternion(value.rotation)}
    return as_json(value)


def _quaternion(rotation: Mat33) -> list[float]:
    """That of a rotation, to 15 decimals, such that the rotation read of it has the same one.

    Reading normalises it, which may round to another: after some rounds it stays, or is one of two.
    """
    rounds: list[list[float]] = []
    for _ in range(_ROUNDING_TRIES):
        found = np.round(quaternion_from_rotation(rotation), 15) + 0.0  # no -0.0
        rounds.append(found.tolist())
        rotation = rotation_from_quaternion(found / math.hypot(*found))
    return min(rounds[-2:])


_ROUNDING_TRIES = 10

_KEYS = tuple(one.name for one in fields(SavedEstimate) if one.name != "parameters")
