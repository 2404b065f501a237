"""estimate.json: the file an estimate is kept in. SI throughout; keys documented in the README.

Numbers are written with all their digits, so what is read back is the same body to the last bit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from identify.arrays import Array, Vec3, Vec6
from identify.errors import IdentifyError, ModelError
from identify.exchange.estimate_body import BODY_SHAPES, read_body, seal_numbers
from identify.exchange.estimate_views import EstimateViews
from identify.files import require_file, write_text
from identify.findings import Finding, Verdict
from identify.inertia import InertialParameters
from identify.spatial import BodyFrame, Pose
from identify.spatial.rotations import quaternion_from_rotation

SCHEMA_VERSION = 3
"""Version of the file's layout; a reader refuses a later one."""

_LARGEST_FILE = 50_000_000


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
            where the moment cannot be told from another one, so that the axis may be any in the
            plane of both.
    """

    moment: float
    direction: Vec3
    half_angle: float | None


@dataclass(frozen=True, slots=True, repr=False)
class SavedEstimate(EstimateViews):
    """An estimate as it is kept in a file; everything but the parameters may be missing.

    Attributes:
        parameters: the ten inertial parameters about Bo in B.
        frame: what the body frame B is, in words.
        frames: its name, and where the flange and the tool point are in it, as far as known.
        covariance: of phi, in its order and units, shape (10, 10).
        intervals: lower and upper bound by name: the ten of phi, cx, cy, cz, Icxx … Iczz and the
            principal moments I1, I2, I3; None for what was not measured.
        interval_kind: what the intervals are, and what they leave out.
        variance_shares: by the same names, what share of the variance comes of which source.
        principal_axes: by ascending moments, with the cones they are known to within.
        decided_by: for each of the ten: "data", "constraint", "given" or "default".
        default_body: the body that completes what the data do not tell, in words, or None.
        bias: the sensor offset of each log.
        residual_rms: root mean square of the residual wrench, six axes [N, N m].
        samples: rows used.
        effective_samples: how many independent samples they are worth.
        dropped_rows: rows of the logs left out by the reader.
        certificate: consistency and optimality as they were checked.
        provenance: logs with sha256, schema, options, versions, command.
        findings: what is to know of it, the gravest first.
        r_squared: of the wrench on data held out, six axes; None for an axis without signal.
        verdict: what the findings come to; None where nothing was said, as in files of version 1.
    """

    parameters: InertialParameters
    frame: str = "body"
    frames: BodyFrame = field(default_factory=BodyFrame)
    covariance: Array | None = None
    intervals: Mapping[str, tuple[float, float] | None] = field(default_factory=dict)
    interval_kind: str | None = None
    variance_shares: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    principal_axes: tuple[PrincipalAxis, ...] = ()
    decided_by: Mapping[str, str] = field(default_factory=dict)
    default_body: str | None = None
    bias: tuple[SavedBias, ...] = ()
    residual_rms: Vec6 | None = None
    samples: int | None = None
    effective_samples: float | None = None
    dropped_rows: int | None = None
    certificate: Mapping[str, object] = field(default_factory=dict)
    provenance: Mapping[str, object] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    r_squared: tuple[float | None, ...] | None = None
    verdict: Verdict | None = None

    @property
    def saved(self) -> SavedEstimate:
        """Itself: what is kept in a file."""
        return self


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
        **{key: getattr(body, key) for key in ("phi", *BODY_SHAPES)},
        **{key: getattr(estimate, key) for key in _READERS if key not in ("frame", "frames")},
    }
    return json.dumps(document, indent=2, allow_nan=False, default=_plain) + "\n"


def estimate_digest(estimate: SavedEstimate) -> str:
    """The sha256 of the file's content (hexadecimal)."""
    return hashlib.sha256(estimate_text(estimate).encode()).hexdigest()


def _plain(value: object) -> object:
    """What JSON has of an array, a mapping, a finding, a verdict or a bias."""
    if isinstance(value, Finding | Verdict):
        return value.record()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, BodyFrame):  # `asdict` would copy the poses to plain values of their own
        return {"name": value.name, "flange": value.flange, "tcp": value.tcp}
    if isinstance(value, Pose):
        return {
            "translation": value.position,
            "quaternion": quaternion_from_rotation(value.rotation),
        }
    return dict(value) if isinstance(value, Mapping) else asdict(value)  # pyright: ignore[reportArgumentType]


def read_estimate(path: Path | str) -> SavedEstimate:
    """Read an estimate.json, or one of another hand with `phi`, or with mass, com and an inertia.

    Args:
        path: the file. `phi` may be a list of ten in the toolkit's order or a mapping by name;
            without it, `mass`, `com` and `inertia_about_com` or `inertia_about_origin` (3×3) do.

    Raises:
        MissingFile: no such file.
        ModelError: not JSON, of a later version, without a body, or with one that is said twice and
            differently.
    """
    path = Path(path)
    document = _load(path)
    version = document.get("schema_version", SCHEMA_VERSION)
    if type(version) is not int or not 1 <= version <= SCHEMA_VERSION:
        raise ModelError(
            f"{path}: schema_version is {repr(version)[:60]}; this version of the toolkit reads "
            f"{SCHEMA_VERSION} at the most. Update the toolkit to read the file"
        )
    try:
        said = {
            key: read(document[key], key)
            for key, read in _READERS.items()
            if document.get(key) is not None
        }
        return SavedEstimate(read_body(document), **said)
    except IdentifyError as error:
        raise ModelError(f"{path}: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"{path}: not an estimate: {type(error).__name__} {error}") from error


def _load(path: Path) -> dict[str, object]:
    require_file(path)
    if path.stat().st_size > _LARGEST_FILE:
        raise ModelError(f"{path}: over {_LARGEST_FILE // 1_000_000} MB, which no estimate is")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: not a JSON file: {error}") from error
    if not isinstance(document, dict):
        raise ModelError(f"{path}: expected a JSON object, got {type(document).__name__}")
    return document


def _numbers(*shape: int) -> Callable[[object, str], Array]:
    return lambda value, key: seal_numbers(value, key, shape)


def _text(value: object, key: str) -> str:
    return str(value)


def _frames(value: Any, key: str) -> BodyFrame:
    entry = _mapping(value, key)
    name = entry.get("name")
    return BodyFrame(
        None if name is None else str(name),
        _pose(entry.get("flange"), f"{key}: flange"),
        _pose(entry.get("tcp"), f"{key}: tcp"),
    )


def _pose(value: Any, key: str) -> Pose | None:
    if value is None:
        return None
    entry = _mapping(value, key)
    return Pose.from_quaternion(
        seal_numbers(entry["quaternion"], f"{key}: quaternion", (4,)),
        seal_numbers(entry["translation"], f"{key}: translation", (3,)),
    )


def _mapping(value: object, key: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise ModelError(f"{key}: expected an object, got {type(value).__name__}")
    return value


def _count(value: object, key: str) -> int:
    return int(seal_numbers(value, key, ()))


def _intervals(value: object, key: str) -> dict[str, tuple[float, ...] | None]:
    return {
        str(name): None
        if bounds is None
        else tuple(seal_numbers(bounds, "interval", (2,)).tolist())
        for name, bounds in _mapping(value, key).items()
    }


def _decided_by(value: object, key: str) -> dict[str, str]:
    return {str(name): str(what) for name, what in _mapping(value, key).items()}


def _bias(value: Any, key: str) -> tuple[SavedBias, ...]:
    if not isinstance(value, list):
        raise ModelError(f"{key}: expected a list, got {type(value).__name__}")
    entries = [_mapping(entry, f"{key} {number}") for number, entry in enumerate(value)]
    return tuple(
        SavedBias(
            str(entry["sha256"]),
            seal_numbers(entry["wrench"], "bias wrench", (6,)),
            _where_given(entry.get("half_width"), "bias half_width", (6,)),
        )
        for entry in entries
    )


def _where_given(value: object, key: str, shape: tuple[int, ...]) -> Array | None:
    return None if value is None else seal_numbers(value, key, shape)


def _principal_axes(value: Any, key: str) -> tuple[PrincipalAxis, ...]:
    if not isinstance(value, list):
        raise ModelError(f"{key}: expected a list, got {type(value).__name__}")
    found = []
    for number, item in enumerate(value):
        entry = _mapping(item, f"{key} {number}")
        angle = _where_given(entry.get("half_angle"), f"{key}: half_angle", ())
        found.append(
            PrincipalAxis(
                float(seal_numbers(entry["moment"], f"{key}: moment", ())),
                seal_numbers(entry["direction"], f"{key}: direction", (3,)),
                None if angle is None else float(angle),
            )
        )
    return tuple(found)


def _shares(value: object, key: str) -> dict[str, dict[str, float]]:
    return {
        str(name): {
            str(source): float(seal_numbers(share, f"{key} of {name}", ()))
            for source, share in _mapping(shares, f"{key} of {name}").items()
        }
        for name, shares in _mapping(value, key).items()
    }


def _findings(value: Any, key: str) -> tuple[Finding, ...]:
    if not isinstance(value, list):
        raise ModelError(f"{key}: expected a list, got {type(value).__name__}")
    return tuple(_finding(_mapping(entry, f"{key} {k}"), key) for k, entry in enumerate(value))


def _finding(entry: Mapping[str, Any], key: str) -> Finding:
    for name, what in entry.items():
        if name != "evidence" and not isinstance(what, str):
            raise ModelError(f"{key}: {name}: expected text, got {type(what).__name__}")
    return Finding(**entry)


def _r_squared(value: Any, key: str) -> tuple[float | None, ...]:
    if not isinstance(value, list) or len(value) != 6:
        raise ModelError(f"{key}: expected six numbers or nulls, got {repr(value)[:60]}")
    return tuple(None if one is None else float(seal_numbers(one, key, ())) for one in value)


def _verdict(value: object, key: str) -> Verdict:
    said: dict[str, Any] = dict(_mapping(value, key))
    if said.get("usable") not in ("yes", "with care", "no"):
        raise ModelError(f'{key}: usable is {said.get("usable")!r}, not "yes", "with care" or "no"')
    for name in ("identifiable", "reasons"):
        said[name] = tuple(map(str, said[name]))
    truths = [said[name] for name in ("possible", "optimal", "explains_data")]
    truths += _mapping(said.get("needs", {}), f"{key}: needs").values()
    if not all(isinstance(one, bool) for one in truths):
        raise ModelError(f"{key}: expected true or false of each part, got {truths}")
    return Verdict(**said)


_READERS: Mapping[str, Callable[[Any, str], Any]] = MappingProxyType(
    {
        "frame": _text,
        "frames": _frames,
        "covariance": _numbers(10, 10),
        "intervals": _intervals,
        "interval_kind": _text,
        "variance_shares": _shares,
        "principal_axes": _principal_axes,
        "decided_by": _decided_by,
        "default_body": _text,
        "bias": _bias,
        "residual_rms": _numbers(6),
        "samples": _count,
        "effective_samples": lambda value, key: float(seal_numbers(value, key, ())),
        "dropped_rows": _count,
        "certificate": _mapping,
        "provenance": _mapping,
        "findings": _findings,
        "r_squared": _r_squared,
        "verdict": _verdict,
    }
)
"""How each key beside the body is read, in the order of the file: fields of `SavedEstimate`."""
