"""What is read of an estimate.json: every key checked by pydantic, its contents by their digest."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    PlainValidator,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
)

from identify.arrays import Array, seal
from identify.documents import Number, Quaternion, Table, Vector, numbers, one_of, shown
from identify.errors import IdentifyError, MissingFile, ModelError, did_you_mean
from identify.exchange.estimate_json import (
    BODY_KEYS,
    SCHEMA_VERSION,
    Bound,
    PrincipalAxis,
    SavedBias,
    SavedEstimate,
    contents_digest,
)
from identify.files import require_file
from identify.findings import Finding, Verdict, ranked, verdict_of
from identify.inertia import PHI, InertialParameters
from identify.inertia.matrices import (
    phi_from_inertia,
    rounding_error_about_com,
    symmetric_from_six,
)
from identify.spatial import BodyFrame, Pose

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_LARGEST_FILE = 50_000_000


def read_estimate(path: Path | str) -> SavedEstimate:
    """Read an estimate.json, or one of another hand with `phi`, or with mass, com and an inertia.

    One whose contents are not those that its digest is of has the finding `edited`, an error, and
    the verdict "no".

    Args:
        path: the file. `phi` may be a list of ten in the toolkit's order or a mapping by name;
            without it, `mass`, `com` and `inertia_about_com` or `inertia_about_origin` (3×3) do.

    Raises:
        MissingFile: no such file.
        ModelError: not JSON, of another version, with a key missing or unknown, without a body, or
            with one that is said twice and differently.
    """
    path = Path(path)
    text, document = _load(path)
    try:
        written = _is_written(document)
        said = dict(_contents(document))
        _require_numbers(document)
        intact = not written or document["digest"] == contents_digest(text)
        # Of a file that was changed phi counts: whatever contradicts it was changed, or phi was.
        body = read_body(document if intact else {"phi": document["phi"]})
        saved = SavedEstimate(body, **{key: it for key, it in said.items() if it is not None})
    except (IdentifyError, ValueError, RecursionError) as error:
        raise ModelError(f"{path}: {error}") from error
    return saved if intact else _edited(saved)


def read_parameters(path: Path | str) -> InertialParameters:
    """The body of an estimate.json, for use where nothing carries the findings of the file on.

    Raises:
        MissingFile, ModelError: as `read_estimate`, and where the file has the finding `edited`.
    """
    saved = read_estimate(path)
    require_unedited(saved, path)
    return saved.parameters


def require_unedited(saved: SavedEstimate, path: Path | str) -> None:
    """Raises `ModelError` for an estimate with the finding `edited`, read from `path`."""
    for finding in saved.findings:
        if finding.code == "edited":
            raise ModelError(f"{path}: {finding}")


def _load(path: Path) -> tuple[str, dict[str, object]]:
    """The text of a file, and the object in it."""
    inside = path / "estimate.json"
    if inside.is_file():
        raise MissingFile(f"{path}: is a folder; did you mean {inside}?", path=path)
    require_file(path)
    if path.stat().st_size > _LARGEST_FILE:
        raise ModelError(f"{path}: over {_LARGEST_FILE // 1_000_000} MB, which no estimate is")
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: not a JSON file: {error}") from error
    if not isinstance(document, dict):
        raise ModelError(f"{path}: expected a JSON object, got {type(document).__name__}")
    return text, document


def _require_numbers(document: Mapping[str, object]) -> None:
    """Refuse a file that has no number for what a log does not identify: it is of no whole body."""
    decided = document.get("decided_by")
    named = decided if isinstance(decided, dict) else {}
    if open_ := [name for name, by in named.items() if by == "nothing"]:
        raise ModelError(
            f"it has no number for {', '.join(open_)}, which the log does not identify: it was "
            "fitted with prior='none', on the command line --prior none. Fit it again with the "
            "shape of the body as the prior, or with the default one"
        )


def _is_written(document: Mapping[str, object]) -> bool:
    """Whether the toolkit wrote a file; one of another hand has no version.

    Raises:
        ModelError: it is of another version, or has other keys than those of its version.
    """
    if "schema_version" not in document:
        if late := [key for key in ("frames", "digest") if key in document]:
            raise ModelError(
                f"there is no schema_version, and {late[0]!r} is a key of version "
                f"{SCHEMA_VERSION}: the file was changed after it was written"
            )
        return False
    version = document["schema_version"]
    if type(version) is not int or version != SCHEMA_VERSION:
        raise ModelError(
            f"schema_version is {shown(version)}; this version of the toolkit reads "
            f"{SCHEMA_VERSION}. A later one needs an update of the toolkit; a file of your own has "
            "no schema_version"
        )
    known = ("schema_version", *BODY_KEYS, *_Contents.model_fields, "digest")
    for key in document:
        if key not in known:
            raise ModelError(f"unknown key {shown(key)}{did_you_mean(key, known)}")
    for key in known:
        if key not in document:
            raise ModelError(f"the key {key!r} is missing")
    return True


def _contents(document: Mapping[str, object]) -> _Contents:
    """The keys beside the body; None for those that are not there or null."""
    said = {key: document[key] for key in _Contents.model_fields if key in document}
    try:
        return _Contents.model_validate(said)
    except ValidationError as found:
        raise ModelError(
            "; and ".join(map(_explain, found.errors()[:_MOST_PROBLEMS_NAMED]))
        ) from found


_MOST_PROBLEMS_NAMED = 5
"""Problems of one file that a message names."""


def _explain(detail: ErrorDetails) -> str:
    place, got = ".".join(map(str, detail["loc"])), shown(detail["input"])
    context = detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            return f"the key {place!r} is missing"
        case "extra_forbidden":
            return f"unknown key {shown(place)}"
        case "value_error":
            return f"{place}: {context['error']}"
        case "model_type" | "dict_type":
            return f"{place}: expected an object, got {got}"
        case "tuple_type":
            return f"{place}: expected a list, got {got}"
        case "too_short" | "too_long":
            return f"{place}: expected {6} values, got {context['actual_length']}"
        case _:
            return f"{place}: {detail['msg'][:1].lower()}{detail['msg'][1:]}, got {got}"


def _edited(saved: SavedEstimate) -> SavedEstimate:
    """An estimate that is not what was written: not to be used."""
    text = "The file was changed after it was written: its digest is that of other contents."
    remedy = (
        "Use the file as it was written, or fit again; a body of your own is a JSON file with phi "
        "alone."
    )
    others = [finding for finding in saved.findings if finding.code != "edited"]
    findings = ranked([Finding("edited", "error", text, remedy), *others])
    verdict = verdict_of(
        findings,
        possible=saved.parameters.consistent,
        optimal=False,
        identifiable=() if saved.verdict is None else saved.verdict.identifiable,
        needs=None if saved.verdict is None else saved.verdict.needs,
    )
    return replace(saved, findings=findings, verdict=verdict)


def _array(*shape: int) -> PlainValidator:
    check = numbers(*shape)
    return PlainValidator(lambda value: seal(check(value), "numbers", shape))


def _made(make: Callable[..., object]) -> AfterValidator:
    """What is made of the values of an object, by their keys."""
    return AfterValidator(lambda checked: make(**dict(checked)))


def _finite(value: object) -> object:
    """An object of anything that JSON has: it has no NaN and no infinity.

    Raises:
        ValueError: there is one.
    """
    json.dumps(value, allow_nan=False)
    return value


_Six: TypeAlias = Annotated[Array, _array(6)]
_Covariance: TypeAlias = Annotated[Array, _array(10, 10)]
_Pair: TypeAlias = Annotated[tuple[float, float], BeforeValidator(numbers(2))]
_Bound: TypeAlias = Annotated[
    tuple[Number | None, Number | None, Number], AfterValidator(lambda ends: Bound(*ends))
]
_Free: TypeAlias = Annotated[dict[StrictStr, object], AfterValidator(_finite)]


class _Pose(Table):
    translation: Vector
    quaternion: Quaternion


_PoseOrNone: TypeAlias = (
    Annotated[_Pose, AfterValidator(lambda X: Pose.from_quaternion(X.quaternion, X.translation))]
    | None
)


class _Frames(Table):
    name: StrictStr | None
    flange: _PoseOrNone
    tcp: _PoseOrNone


class _Bias(Table):
    sha256: StrictStr
    wrench: _Six
    half_width: _Six | None


class _PrincipalAxis(Table):
    moment: Number
    direction: Annotated[Array, _array(3)]
    half_angle: Number | None


class _Finding(Table):
    code: StrictStr
    severity: StrictStr
    text: StrictStr
    remedy: StrictStr
    evidence: _Free
    where: StrictStr


class _Verdict(Table):
    usable: Annotated[str, one_of(("yes", "with care", "no"))]
    possible: StrictBool
    optimal: StrictBool
    explains_data: StrictBool
    identifiable: tuple[StrictStr, ...]
    reasons: tuple[StrictStr, ...]
    needs: dict[StrictStr, StrictBool] = Field(default_factory=dict)


class _Contents(BaseModel):
    """Fields of `SavedEstimate`, in the order of the file; None where a file says nothing."""

    frame: StrictStr | None = None
    frames: Annotated[_Frames, _made(BodyFrame)] | None = None
    covariance: _Covariance | None = None
    calibration: _Covariance | None = None
    intervals: dict[StrictStr, _Pair | None] | None = None
    interval_kind: StrictStr | None = None
    degrees_of_freedom: dict[StrictStr, Number | None] | None = None
    certified_bounds: dict[StrictStr, _Bound] | None = None
    variance_shares: dict[StrictStr, dict[StrictStr, Number]] | None = None
    principal_axes: tuple[Annotated[_PrincipalAxis, _made(PrincipalAxis)], ...] | None = None
    decided_by: dict[StrictStr, StrictStr] | None = None
    prior_share: dict[StrictStr, Number] | None = None
    default_body: StrictStr | None = None
    bias: tuple[Annotated[_Bias, _made(SavedBias)], ...] | None = None
    residual_rms: _Six | None = None
    samples: StrictInt | None = None
    effective_samples: Number | None = None
    dropped_rows: StrictInt | None = None
    certificate: _Free | None = None
    provenance: _Free | None = None
    findings: tuple[Annotated[_Finding, _made(Finding)], ...] | None = None
    r_squared: Annotated[tuple[Number | None, ...], Field(min_length=6, max_length=6)] | None = None
    verdict: Annotated[_Verdict, _made(Verdict)] | None = None


_AGREEMENT = 1e-6
"""How far, of their size, what is said twice may differ: others print six digits and more."""

_SHAPES = {
    "phi": (10,),
    "mass": (),
    "com": (3,),
    "inertia_about_com": (3, 3),
    "inertia_about_origin": (3, 3),
}


def read_body(document: Mapping[str, object]) -> InertialParameters:
    """The body of a document.

    Raises:
        ModelError: none, what is no number, or two that contradict each other.
    """
    if "phi" not in document:
        return _from_com(document)
    phi = document["phi"]
    if isinstance(phi, Mapping):
        missing = [name for name in PHI if name not in phi]
        if missing:
            raise ModelError(f"phi: no {missing[0]!r}; expected {list(PHI)}")
        phi = [phi[name] for name in PHI]
    body = InertialParameters(_said({"phi": phi}, "phi"))
    _require_agreement(document, body)
    return body


def _from_com(document: Mapping[str, object]) -> InertialParameters:
    missing = [key for key in ("mass", "com") if key not in document]
    if missing:
        raise ModelError(f"no body: neither phi nor {missing[0]}")
    mass, com = float(_said(document, "mass")), _said(document, "com")
    if "inertia_about_com" in document:
        return InertialParameters.from_com(mass, com, _said(document, "inertia_about_com"))
    if "inertia_about_origin" in document:
        inertia = _said(document, "inertia_about_origin")
        steiner = symmetric_from_six(phi_from_inertia(mass, com, np.zeros((3, 3)))[4:])
        return InertialParameters.from_com(mass, com, inertia - steiner)
    raise ModelError("no body: neither phi nor inertia_about_com nor inertia_about_origin")


def _said(document: Mapping[str, object], key: str) -> Array:
    """Numbers of a JSON document, of the shape that a key has; `true` and `"1"` are none."""
    try:
        return seal(numbers(*_SHAPES[key])(document[key]), key, _SHAPES[key])
    except ValueError as error:
        raise ModelError(f"{key}: {error}") from error


def _require_agreement(document: Mapping[str, object], body: InertialParameters) -> None:
    """Refuse a file that says the body twice, and differently: one of the two was edited by hand.

    Raises:
        ModelError: names the key and both values.
    """
    for key in list(_SHAPES)[1:]:
        if document.get(key) is None or (body.mass == 0.0 and key in ("com", "inertia_about_com")):
            continue
        said, ours = _said(document, key), np.asarray(getattr(body, key), dtype=np.float64)
        size, floor = float(max(np.abs(said).max(), np.abs(ours).max())), 0.0
        if key == "com":  # of the body's extent too: it may be near zero
            extent = np.sqrt(np.abs(np.trace(body.inertia_about_com) / body.mass))
            size = max(size, float(extent))
        if key == "inertia_about_com":
            floor = float(rounding_error_about_com(body.phi))
        if np.abs(said - ours).max() > _AGREEMENT * size + floor:
            raise ModelError(
                f"{key} is {said.tolist()}, but phi says {ours.tolist()}; the two must agree: "
                f"correct the one that is wrong, or delete it"
            )
