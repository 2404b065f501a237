"""estimate.json: the file an estimate is kept in. SI throughout; keys documented in the README.

Numbers are written with all their digits, so what is read back is the same body to the last bit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Vec6
from identify.errors import IdentifyError, ModelError
from identify.exchange.estimate_body import read_body, seal_numbers
from identify.files import require_file, write_text
from identify.inertia import InertialParameters

SCHEMA_VERSION = 1
"""Version of the file's layout; a reader refuses a later one."""

_LARGEST_FILE = 50_000_000


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
    return json.dumps(_document(estimate), indent=2, allow_nan=False) + "\n"


def _document(estimate: SavedEstimate) -> dict[str, object]:
    body = estimate.parameters
    return {
        "schema_version": SCHEMA_VERSION,
        "frame": estimate.frame,
        "phi": body.phi.tolist(),
        "mass": body.mass,
        "com": body.com.tolist(),
        "inertia_about_com": body.inertia_about_com.tolist(),
        "inertia_about_origin": body.inertia_about_origin.tolist(),
        "covariance": _list(estimate.covariance),
        "intervals": {
            name: None if bounds is None else list(bounds)
            for name, bounds in estimate.intervals.items()
        },
        "interval_kind": estimate.interval_kind,
        "decided_by": dict(estimate.decided_by),
        "default_body": estimate.default_body,
        "bias": [{"sha256": bias.sha256, "wrench": bias.wrench.tolist()} for bias in estimate.bias],
        "residual_rms": _list(estimate.residual_rms),
        "samples": estimate.samples,
        "effective_samples": estimate.effective_samples,
        "dropped_rows": estimate.dropped_rows,
        "certificate": dict(estimate.certificate),
        "provenance": dict(estimate.provenance),
    }


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
            f"{path}: schema_version is {version!r}; this version of the toolkit reads "
            f"{SCHEMA_VERSION} at the most. Update the toolkit to read the file"
        )
    try:
        return _parse(document)
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


def _parse(document: dict[str, object]) -> SavedEstimate:
    get = document.get
    covariance, rms = get("covariance"), get("residual_rms")
    samples, effective, dropped = (
        _number(get(key), key) for key in ("samples", "effective_samples", "dropped_rows")
    )
    return SavedEstimate(
        parameters=read_body(document),
        frame=str(get("frame", "body")),
        covariance=None if covariance is None else seal_numbers(covariance, "covariance", (10, 10)),
        intervals={
            str(name): None if bounds is None else _interval(bounds)
            for name, bounds in _mapping(document, "intervals").items()
        },
        interval_kind=_text(get("interval_kind")),
        decided_by={str(k): str(v) for k, v in _mapping(document, "decided_by").items()},
        default_body=_text(get("default_body")),
        bias=tuple(
            SavedBias(str(entry["sha256"]), seal_numbers(entry["wrench"], "bias wrench", (6,)))
            for entry in get("bias") or ()  # pyright: ignore[reportGeneralTypeIssues]
        ),
        residual_rms=None if rms is None else seal_numbers(rms, "residual_rms", (6,)),
        samples=None if samples is None else int(samples),
        effective_samples=None if effective is None else effective,
        dropped_rows=None if dropped is None else int(dropped),
        certificate=_mapping(document, "certificate"),
        provenance=_mapping(document, "provenance"),
    )


def _mapping(document: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = document.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ModelError(f"{key}: expected an object, got {type(value).__name__}")
    return value


def _interval(bounds: object) -> tuple[float, float]:
    low, high = seal_numbers(bounds, "interval", (2,)).tolist()
    return low, high


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _number(value: object, name: str) -> float | None:
    return None if value is None else float(seal_numbers(value, name, ()))


def _list(array: ArrayLike | None) -> object:
    return None if array is None else np.asarray(array).tolist()
