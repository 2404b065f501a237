"""estimate.json: the file an estimate is kept in. SI throughout; keys documented in the README.

Numbers are written with all their digits, so what is read back is the same body to the last bit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, seal
from identify.errors import IdentifyError, MissingFile, ModelError
from identify.exchange.atomic_write import write_text
from identify.exchange.saved_estimate import SavedBias, SavedEstimate
from identify.inertia import PHI, InertialParameters
from identify.inertia.matrices import phi_from_inertia
from identify.inertia.matrices import symmetric_from_six as _symmetric

SCHEMA_VERSION = 1
"""Version of the file's layout; a reader refuses a later one."""

_LARGEST_FILE = 50_000_000


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
        ModelError: not JSON, of a later version, or without a body.
    """
    path = Path(path)
    document = _load(path)
    version = document.get("schema_version", SCHEMA_VERSION)
    if not isinstance(version, int) or not 1 <= version <= SCHEMA_VERSION:
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
    if not path.is_file():
        raise MissingFile(f"{path}: no such file", path=path)
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
        _number(get(key)) for key in ("samples", "effective_samples", "dropped_rows")
    )
    return SavedEstimate(
        parameters=_body(document),
        frame=str(get("frame", "body")),
        covariance=None if covariance is None else _seal(covariance, "covariance", (10, 10)),
        intervals={
            str(name): None if bounds is None else _interval(bounds)
            for name, bounds in _mapping(document, "intervals").items()
        },
        interval_kind=_text(get("interval_kind")),
        decided_by={str(k): str(v) for k, v in _mapping(document, "decided_by").items()},
        default_body=_text(get("default_body")),
        bias=tuple(
            SavedBias(str(entry["sha256"]), _seal(entry["wrench"], "bias wrench", (6,)))
            for entry in get("bias") or ()  # pyright: ignore[reportGeneralTypeIssues]
        ),
        residual_rms=None if rms is None else _seal(rms, "residual_rms", (6,)),
        samples=None if samples is None else int(samples),
        effective_samples=None if effective is None else effective,
        dropped_rows=None if dropped is None else int(dropped),
        certificate=_mapping(document, "certificate"),
        provenance=_mapping(document, "provenance"),
    )


def _body(document: Mapping[str, object]) -> InertialParameters:
    if "phi" in document:
        phi = document["phi"]
        if isinstance(phi, Mapping):
            missing = [name for name in PHI if name not in phi]
            if missing:
                raise ModelError(f"phi: no {missing[0]!r}; expected {list(PHI)}")
            phi = [phi[name] for name in PHI]
        return InertialParameters(_seal(phi, "phi", (10,)))
    missing = [key for key in ("mass", "com") if key not in document]
    if missing:
        raise ModelError(f"no body: neither phi nor {missing[0]}")
    mass = float(_seal([document["mass"]], "mass", (1,))[0])
    com = _seal(document["com"], "com", (3,))
    if "inertia_about_com" in document:
        inertia = _seal(document["inertia_about_com"], "inertia_about_com", (3, 3))
        return InertialParameters.from_com(mass, com, inertia)
    if "inertia_about_origin" in document:
        inertia = _seal(document["inertia_about_origin"], "inertia_about_origin", (3, 3))
        steiner = _symmetric(phi_from_inertia(mass, com, np.zeros((3, 3)))[4:])
        return InertialParameters.from_com(mass, com, inertia - steiner)
    raise ModelError("no body: neither phi nor inertia_about_com nor inertia_about_origin")


def _seal(values: object, name: str, shape: tuple[int | None, ...]) -> Array:
    return seal(values, name, shape)  # pyright: ignore[reportArgumentType]


def _mapping(document: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = document.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ModelError(f"{key}: expected an object, got {type(value).__name__}")
    return value


def _interval(bounds: object) -> tuple[float, float]:
    low, high = _seal(bounds, "interval", (2,)).tolist()
    return low, high


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _number(value: object) -> float | None:
    return None if value is None else float(_seal([value], "count", (1,))[0])


def _list(array: ArrayLike | None) -> object:
    return None if array is None else np.asarray(array).tolist()
