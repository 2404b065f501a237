"""estimate.json, the file of an estimate: SI units throughout; keys in docs/estimate-json.md.

Numbers are written with all their digits, so the body is read back the same to the last bit. The
fields of `SavedEstimate` are the keys of the file in their order, and their types, annotated for
pydantic, are how it is read; `BodyKeys` are those of the body.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetPydanticSchema,
    PlainValidator,
    StrictBool,
    StrictInt,
)

from identify.arrays import Array, Mat33, Phi, Vec3, Vec6, seal
from identify.documents import DocumentTable, Number, Quaternion, Vector, numbers_validator
from identify.errors import ModelError
from identify.exchange.estimate_views import EstimateViews
from identify.files import digest_of_text, write_text
from identify.findings import Finding, Usability, Verdict
from identify.inertia import PHI, InertialParameters
from identify.spatial import BodyFrame, Pose
from identify.spatial.columns import WRENCH_NAMES
from identify.spatial.rotations import quaternion_from_rotation, rotation_from_quaternion
from identify.texts import to_json_value

SCHEMA_VERSION = 3
"""Version of the file's layout; readers reject every other version."""


def _array_type(*shape: int) -> PlainValidator:
    """Return the type of an array in the file; without a shape, one number for each channel."""

    def read(value: object) -> Array:
        count = max(len(value), 1) if isinstance(value, list | tuple) else 6
        return seal(numbers_validator(*shape or (count,))(value), "numbers", shape or (None,))

    return PlainValidator(read)


def _read_as(table: object, construct: Callable[..., object]) -> GetPydanticSchema:
    """Return the type of a value whose table in the file has the arguments that construct it."""
    form = Annotated[table, AfterValidator(lambda values: construct(**dict(values)))]
    return GetPydanticSchema(lambda _, handler: handler(form))


Channels: TypeAlias = Annotated[Array, _array_type()]
Covariance: TypeAlias = Annotated[Array, _array_type(10, 10)]
_Vector: TypeAlias = Annotated[Vec3, _array_type(3)]
_Matrix: TypeAlias = Annotated[Mat33, _array_type(3, 3)]
NumberPair: TypeAlias = Annotated[tuple[float, float], BeforeValidator(numbers_validator(2))]


def _phi_in_order(value: object) -> object:
    """Return the ten numbers of a mapping by name in their order, and other values unchanged."""
    if not isinstance(value, Mapping):
        return value
    if missing := [name for name in PHI if name not in value]:
        raise ValueError(f"no {missing[0]!r}; expected {list(PHI)}")
    return [value[name] for name in PHI]


class BodyKeys(BaseModel, defer_build=True):
    """Keys of estimate.json that hold the body: `phi` is complete, the others are for readers."""

    phi: Annotated[Phi | None, _array_type(10), BeforeValidator(_phi_in_order)] = None
    mass: Number | None = None
    com: _Vector | None = None
    inertia_about_com: _Matrix | None = None
    inertia_about_origin: _Matrix | None = None


class _PoseTable(DocumentTable, defer_build=True):
    position: Vector = Field(alias="translation")
    quaternion: Quaternion


_Pose: TypeAlias = Annotated[Pose, _read_as(_PoseTable, Pose.from_quaternion)]


class _FramesTable(DocumentTable, defer_build=True):
    name: str | None
    flange: _Pose | None
    tcp: _Pose | None


class _VerdictTable(DocumentTable, defer_build=True):
    usable: Usability
    possible: StrictBool
    optimal: StrictBool
    explains_data: StrictBool
    identifiable: tuple[str, ...]
    reasons: tuple[str, ...]
    needs: dict[str, StrictBool] = Field(default_factory=dict)
    quantities: dict[str, Usability] = Field(default_factory=dict)


def _require_finite(value: object) -> object:
    """Return a value unchanged if JSON can hold it; NaN and infinity raise a `ValueError`."""
    json.dumps(value, allow_nan=False, default=to_json_value)
    return value


_FINITE = AfterValidator(_require_finite)

Frames: TypeAlias = Annotated[BodyFrame, _read_as(_FramesTable, BodyFrame)]
Scores: TypeAlias = Annotated[tuple[Number | None, ...], Field(min_length=1)]
JsonObject: TypeAlias = Annotated[Mapping[str, object], _FINITE]
SavedFinding: TypeAlias = Annotated[Finding, _FINITE]
SavedVerdict: TypeAlias = Annotated[Verdict, _read_as(_VerdictTable, Verdict)]
SavedCertificate: TypeAlias = Annotated[object, _read_as(dict[str, Any], dict), _FINITE]


@dataclass(frozen=True, slots=True)
class SavedBias:
    """Sensor offset of one log in an estimate.json.

    Attributes:
        sha256: of the log it was fitted on.
        wrench: offset that the sensor adds to the wrench on the body, [f; t] at Bo in B [N, N m],
            shape (6,); for other sensors that of each channel, such as joint torques, shape (m,).
        half_width: of the 95 % interval of each, shape (m,); None if it is not known.
    """

    sha256: str
    wrench: Channels
    half_width: Channels | None

    @property
    def six_axis_offset(self) -> Vec6:
        """Offset of a six-axis wrench sensor, shape (6,); other sensors raise an error.

        Raises:
            ModelError: it is of another sensor.
        """
        if len(self.wrench) != len(WRENCH_NAMES):
            raise ModelError(
                f"the estimate is not of a wrench sensor: its offset has {len(self.wrench)} "
                f"channels, expected {len(WRENCH_NAMES)}, {', '.join(WRENCH_NAMES)}"
            )
        return self.wrench


@dataclass(frozen=True, slots=True)
class PrincipalAxis:
    """Principal moment of inertia about the centre of mass, with its axis.

    Attributes:
        moment: [kg m²].
        direction: unit vector of the axis in B, shape (3,).
        half_angle: of the cone around it that contains the true axis with 95 % probability [rad];
            None if the moment is not distinguishable from another one, so that the axis may be any
            in the plane of both.
    """

    moment: Number
    direction: _Vector
    half_angle: Number | None


class Bound(NamedTuple):
    """Certified bounds of a quantity over all bodies that satisfy data and constraints at 95 %.

    Attributes:
        low, high: [SI], each proved; None if the quantity is unbounded on that side.
        gap: largest distance of a bound from a value that such a body attains, as a share of the
            distance of the two bounds.
    """

    low: Number | None
    high: Number | None
    gap: Number


@dataclass(frozen=True, slots=True, repr=False)
class SavedEstimate(EstimateViews):
    """Estimate with the content of its file; everything except the parameters may be missing.

    Attributes:
        parameters: the ten inertial parameters about Bo in B.
        frame: description of the body frame B.
        frames: its name, and the poses of the flange and the tool point in it, if known.
        covariance: of phi, in its order and units, shape (10, 10).
        calibration: the part of the covariance from scale errors of the sensor and of gravity,
            shape (10, 10); None if no scale errors are given.
        intervals: lower and upper bound by name: the ten of phi, cx, cy, cz, Icxx … Iczz and the
            principal moments I1, I2, I3; None for parameters that were not measured.
        interval_kind: sources of error that the intervals include and omit.
        degrees_of_freedom: of Student's t in the interval of each of the ten, by name; None for
            the normal distribution.
        certified_bounds: of the ten, cx, cy, cz and Icxx, Icyy, Iczz, if they were requested.
        variance_shares: share of each source in the variance, by the same names.
        principal_axes: by ascending moments, with their cones of uncertainty.
        decided_by: source of the value of each of the ten by name: "data", "prior", "constraint",
            "given", "default" or "nothing"; of cx, cy and cz if they are "given".
        prior_share: for each of the ten, share of the prior in the information on it, 0 to 1; the
            default body counts as a prior.
        default_body: description of the body that completes unidentified parameters, or None.
        bias: the sensor offset of each log.
        residual_rms: root mean square of the residual wrench, six axes [N, N m], or of each
            channel of other sensors.
        samples: rows used.
        effective_samples: equivalent number of independent samples.
        dropped_rows: rows of the logs left out by the reader.
        certificate: consistency and optimality as checked: a mapping as in the file, or the
            `Certificate` of a fit.
        provenance: logs with sha256, schema, options, versions, command.
        findings: in descending order of severity.
        r_squared: of the held-out wrench, six axes, or of each channel of other sensors; None for
            one without signal.
        verdict: conclusion of all findings; None if the file has none.
    """

    parameters: InertialParameters
    frame: str = "body"
    frames: Frames = field(default_factory=BodyFrame)
    covariance: Covariance | None = None
    calibration: Covariance | None = None
    intervals: Mapping[str, NumberPair | None] = field(default_factory=dict)
    interval_kind: str | None = None
    degrees_of_freedom: Mapping[str, Number | None] = field(default_factory=dict)
    certified_bounds: Mapping[str, Bound] = field(default_factory=dict)
    variance_shares: Mapping[str, Mapping[str, Number]] = field(default_factory=dict)
    principal_axes: tuple[PrincipalAxis, ...] = ()
    decided_by: Mapping[str, str] = field(default_factory=dict)
    prior_share: Mapping[str, Number] = field(default_factory=dict)
    default_body: str | None = None
    bias: tuple[SavedBias, ...] = ()
    residual_rms: Channels | None = None
    samples: StrictInt | None = None
    effective_samples: Number | None = None
    dropped_rows: StrictInt | None = None
    certificate: SavedCertificate = field(default_factory=dict)
    provenance: JsonObject = field(default_factory=dict)
    findings: tuple[SavedFinding, ...] = ()
    r_squared: Scores | None = None
    verdict: SavedVerdict | None = None

    __pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    @property
    def repeatability(self) -> Array:
        """Covariance without the scale error that logs of one sensor share, shape (10, 10).

        Raises:
            ModelError: there is no covariance.
        """
        if self.covariance is None:
            raise ModelError("the estimate has no covariance")
        return self.covariance - (0.0 if self.calibration is None else self.calibration)

    def bounds(self) -> Mapping[str, Bound]:
        """Return the certified bounds in the file by name.

        Raises:
            ModelError: the file has none; the likelihood that they require is not in a file.
        """
        if not self.certified_bounds:
            raise ModelError(
                "the estimate has no certified bounds, and its file does not contain the "
                "likelihood that they are computed from: fit its logs again with --bounds (in "
                "Python, bounds=True)"
            )
        return self.certified_bounds

    @property
    def saved(self) -> SavedEstimate:
        """Estimate as it is saved: the object itself."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the estimate.json as plain lists, numbers and strings, SI."""
        return json.loads(estimate_text(self))


def write_estimate(estimate: SavedEstimate, path: Path | str) -> Path:
    """Write an estimate.json atomically.

    Returns:
        The path written.
    """
    path = Path(path)
    write_text(path, estimate_text(estimate))
    return path


def estimate_text(estimate: SavedEstimate) -> str:
    """Return the text of the estimate.json."""
    body = estimate.parameters
    document = {
        "schema_version": SCHEMA_VERSION,
        "frame": estimate.frame,
        "frames": estimate.frames,
        **_body_numbers(body, estimate.decided_by),
        **{key: getattr(estimate, key) for key in FILE_FIELDS},
    }
    to_json = partial(json.dumps, allow_nan=False, default=_to_plain)
    digest = contents_digest(to_json(document))
    return to_json(document | {"digest": digest}, indent=2) + "\n"


def _body_numbers(body: InertialParameters, decided_by: Mapping[str, str]) -> dict[str, object]:
    """Return the keys of the body; null for undecided parameters and what depends on them."""
    numbers: dict[str, object] = {key: getattr(body, key) for key in BodyKeys.model_fields}
    if "nothing" not in decided_by.values():
        return numbers
    known = [decided_by.get(name) != "nothing" for name in PHI]
    phi = zip(body.phi.tolist(), known, strict=True)
    missing = [] if all(known[:4]) else ["com"]
    missing += [key for key in BodyKeys.model_fields if key.startswith("inertia")]
    values = [value if is_known else None for value, is_known in phi]
    return numbers | dict.fromkeys(missing) | {"phi": values}


def contents_digest(text: str) -> str:
    """Return the sha256 (hexadecimal) of a file's contents, except its key `digest`.

    It is computed from their JSON with sorted keys, no spaces, non-ASCII characters escaped, and
    each number as the shortest text that reads back as the same double: 1000 and 1000.0 give the
    same digest, and so do files that differ only in their layout or the order of their keys.

    Raises `ValueError`: it is not valid JSON.
    """
    contents = json.loads(text, parse_int=_double_or_integer)
    contents.pop("digest", None)
    plain = json.dumps(contents, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()


def _double_or_integer(digits: str) -> float | int:
    """Parse a whole number as a double if a double is exact, else as an integer."""
    number = float(digits)
    return number if abs(number) < 2.0**53 else int(digits)


def estimate_digest(estimate: SavedEstimate) -> str:
    """Return the sha256 of the text of an estimate.json (hexadecimal)."""
    return digest_of_text(estimate_text(estimate))


def _to_plain(value: object) -> object:
    """Convert a pose, an array, a mapping, a finding, a verdict or a bias to values of JSON."""
    if isinstance(value, Pose):
        return {"translation": value.position, "quaternion": _stable_quaternion(value.rotation)}
    return to_json_value(value)


def _stable_quaternion(rotation: Mat33) -> list[float]:
    """Return a quaternion of 15 decimals that does not change when it is written and read again.

    Reading normalises it, which may change the last digit: repeated, the quaternion converges, or
    alternates between two, of which the smaller is taken.
    """
    rounds: list[list[float]] = []
    for _ in range(_MAX_QUATERNION_ROUNDS):
        quaternion = np.round(quaternion_from_rotation(rotation), 15) + 0.0  # no -0.0
        rounds.append(quaternion.tolist())
        rotation = rotation_from_quaternion(quaternion / math.hypot(*quaternion))
    return min(rounds[-2:])


_MAX_QUATERNION_ROUNDS = 10
"""Maximum number of rounds of writing and reading a quaternion."""

FILE_FIELDS = tuple(entry.name for entry in fields(SavedEstimate) if entry.name != "parameters")
"""Fields of `SavedEstimate` that are written to the file, in their order."""
