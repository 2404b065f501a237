"""Reader of estimate.json: pydantic checks the keys, a digest checks the contents."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

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
from identify.documents import (
    DocumentTable,
    Number,
    Quaternion,
    Vector,
    numbers_validator,
    short_repr,
    word_validator,
)
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
from identify.findings import Finding, Verdict, derive_verdict, sort_findings
from identify.inertia import PHI, InertialParameters
from identify.inertia.matrices import (
    phi_from_inertia,
    rounding_error_about_com,
    symmetric_from_entries,
)
from identify.spatial import BodyFrame, Pose

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_MAX_FILE_BYTES = 50_000_000
"""Largest size of an estimate.json [bytes]."""


def read_estimate(path: Path | str) -> SavedEstimate:
    """Read an estimate.json, also if another program wrote it.

    If the contents do not match the digest, the estimate has the finding `edited`, an error, and
    the verdict "no".

    Args:
        path: the file. `phi` may be a list of ten in the toolkit's order or a mapping by name;
            without it, the file needs `mass`, `com` and `inertia_about_com` or
            `inertia_about_origin` (3×3).

    Raises:
        MissingFile: no such file.
        ModelError: not JSON, of another version, with a key missing or unknown, without a body, or
            with redundant values that contradict each other.
    """
    path = Path(path)
    text, document = _read_json_object(path)
    try:
        own_layout = _written_by_this_toolkit(document)
        values = dict(_validate_fields(document))
        _require_equal_channels(values)
        _require_all_parameters(document)
        intact = not own_layout or document["digest"] == contents_digest(text)
        # In an edited file phi may contradict the other keys: only phi is read.
        body = read_body(document if intact else {"phi": document["phi"]})
        given = {key: value for key, value in values.items() if value is not None}
        saved = SavedEstimate(body, **given)
    except (IdentifyError, ValueError, RecursionError) as error:
        raise ModelError(f"{path}: {error}") from error
    return saved if intact else _mark_edited(saved)


def read_parameters(path: Path | str) -> InertialParameters:
    """Read only the body of an estimate.json; reject a file that was edited by hand.

    Raises:
        MissingFile, ModelError: as `read_estimate`, and if the file has the finding `edited`.
    """
    saved = read_estimate(path)
    require_unedited(saved, path)
    return saved.parameters


def require_unedited(saved: SavedEstimate, path: Path | str) -> None:
    """Raise `ModelError` if the file of an estimate was edited by hand (finding `edited`)."""
    for finding in saved.findings:
        if finding.code == "edited":
            raise ModelError(f"{path}: {finding}")


def _read_json_object(path: Path) -> tuple[str, dict[str, object]]:
    """Return the text of a JSON file, and the object in it."""
    inside = path / "estimate.json"
    if inside.is_file():
        raise MissingFile(f"{path}: is a folder; did you mean {inside}?", path=path)
    require_file(path)
    if path.stat().st_size > _MAX_FILE_BYTES:
        raise ModelError(
            f"{path}: larger than {_MAX_FILE_BYTES // 1_000_000} MB; is this an estimate.json?"
        )
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: not a JSON file: {error}") from error
    if not isinstance(document, dict):
        raise ModelError(f"{path}: expected a JSON object, got {type(document).__name__}")
    return text, document


def _require_all_parameters(document: Mapping[str, object]) -> None:
    """Reject a file that was fitted without a prior and lacks unidentified parameters."""
    decided = document.get("decided_by")
    named = decided if isinstance(decided, dict) else {}
    if unidentified := [name for name, by in named.items() if by == "nothing"]:
        raise ModelError(
            f"it has no number for {', '.join(unidentified)}, which the log does not identify: it "
            "was fitted with prior='none', on the command line --prior none. Fit it again with the "
            "shape of the body as the prior, or with the default one"
        )


def _written_by_this_toolkit(document: Mapping[str, object]) -> bool:
    """Return whether this toolkit wrote the file; files of other programs have no version.

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
            f"schema_version is {short_repr(version)}; this version of the toolkit reads "
            f"{SCHEMA_VERSION}. A later one needs an update of the toolkit; leave schema_version "
            "out of a file of your own"
        )
    known = ("schema_version", *BODY_KEYS, *_EstimateJson.model_fields, "digest")
    for key in document:
        if key not in known:
            raise ModelError(f"unknown key {short_repr(key)}{did_you_mean(key, known)}")
    for key in known:
        if key not in document:
            raise ModelError(f"the key {key!r} is missing")
    return True


def _validate_fields(document: Mapping[str, object]) -> _EstimateJson:
    """Validate all keys except those of the body; None for keys that are absent or null."""
    values = {key: document[key] for key in _EstimateJson.model_fields if key in document}
    try:
        return _EstimateJson.model_validate(values)
    except ValidationError as error:
        problems = error.errors()[:_MAX_PROBLEMS]
        raise ModelError("; and ".join(map(_format_problem, problems))) from error


def _require_equal_channels(values: Mapping[str, Any]) -> None:
    """Reject a file whose sensor values differ in their number of channels.

    Logs have offsets of as many channels as the widest; residuals are of the channels of all logs.
    """
    offsets: Sequence[SavedBias] = values["bias"] or ()
    width = len(offsets[0].wrench) if offsets else 0
    for number, offset in enumerate(offsets):
        for key, numbers_of in (("wrench", offset.wrench), ("half_width", offset.half_width)):
            if numbers_of is not None and len(numbers_of) != width:
                raise ModelError(
                    f"bias.{number}.{key}: expected a list of {width} numbers, as bias.0.wrench, "
                    f"got {len(numbers_of)}"
                )
    residuals, scores = values["residual_rms"], values["r_squared"]
    if residuals is not None and len(residuals) < width:
        raise ModelError(
            f"residual_rms: expected at least {width} numbers, one for each channel of "
            f"bias.0.wrench, got {len(residuals)}"
        )
    if residuals is not None and scores is not None and len(scores) != len(residuals):
        raise ModelError(
            f"r_squared: expected a list of {len(residuals)} numbers, as residual_rms, got "
            f"{len(scores)}"
        )


_MAX_PROBLEMS = 5
"""Maximum number of problems of a file that a message lists."""


def _format_problem(detail: ErrorDetails) -> str:
    place, got = ".".join(map(str, detail["loc"])), short_repr(detail["input"])
    context = detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            return f"the key {place!r} is missing"
        case "extra_forbidden":
            return f"unknown key {short_repr(place)}"
        case "value_error":
            return f"{place}: {context['error']}"
        case "model_type" | "dict_type":
            return f"{place}: expected an object, got {got}"
        case "tuple_type":
            return f"{place}: expected a list, got {got}"
        case "too_short":
            return f"{place}: expected at least one value, got {context['actual_length']}"
        case _:
            return f"{place}: {detail['msg'][:1].lower()}{detail['msg'][1:]}, got {got}"


def _mark_edited(saved: SavedEstimate) -> SavedEstimate:
    """Add the finding `edited` to an estimate, which makes it unusable."""
    text = "The file was changed after it was written: its contents do not match its digest."
    remedy = (
        "Use the file as it was written, or fit again; for a body of your own, write a JSON file "
        "with phi only."
    )
    others = [finding for finding in saved.findings if finding.code != "edited"]
    findings = sort_findings([Finding("edited", "error", text, remedy), *others])
    verdict = derive_verdict(
        findings,
        possible=saved.parameters.consistent,
        optimal=False,
        identifiable=() if saved.verdict is None else saved.verdict.identifiable,
        needs=None if saved.verdict is None else saved.verdict.needs,
    )
    return replace(saved, findings=findings, verdict=verdict)


def _array_type(*shape: int) -> PlainValidator:
    """Return the type of an array field of a shape, for validation."""
    check = numbers_validator(*shape)
    return PlainValidator(lambda value: seal(check(value), "numbers", shape))


def _require_channel_numbers(value: object) -> Array:
    """Validate a list of one finite number for each channel of a sensor, at least one."""
    count = max(len(value), 1) if isinstance(value, list | tuple) else 6
    return seal(numbers_validator(count)(value), "numbers", (None,))


def _construct(constructor: Callable[..., object]) -> AfterValidator:
    """Return a validator that calls a constructor with the validated values by name."""
    return AfterValidator(lambda checked: constructor(**dict(checked)))


def _require_finite(value: object) -> object:
    """Return a JSON object unchanged; reject NaN and infinity anywhere in it.

    Raises:
        ValueError: a number is not finite.
    """
    json.dumps(value, allow_nan=False)
    return value


_Channels: TypeAlias = Annotated[Array, PlainValidator(_require_channel_numbers)]
_Covariance: TypeAlias = Annotated[Array, _array_type(10, 10)]
_NumberPair: TypeAlias = Annotated[tuple[float, float], BeforeValidator(numbers_validator(2))]
_Bound: TypeAlias = Annotated[
    tuple[Number | None, Number | None, Number], AfterValidator(lambda ends: Bound(*ends))
]
_JsonObject: TypeAlias = Annotated[dict[StrictStr, object], AfterValidator(_require_finite)]


class _PoseJson(DocumentTable):
    translation: Vector
    quaternion: Quaternion


_PoseOrNone: TypeAlias = (
    Annotated[
        _PoseJson, AfterValidator(lambda X: Pose.from_quaternion(X.quaternion, X.translation))
    ]
    | None
)


class _FramesJson(DocumentTable):
    name: StrictStr | None
    flange: _PoseOrNone
    tcp: _PoseOrNone


class _BiasJson(DocumentTable):
    sha256: StrictStr
    wrench: _Channels
    half_width: _Channels | None


class _PrincipalAxisJson(DocumentTable):
    moment: Number
    direction: Annotated[Array, _array_type(3)]
    half_angle: Number | None


class _FindingJson(DocumentTable):
    code: StrictStr
    severity: StrictStr
    text: StrictStr
    remedy: StrictStr
    evidence: _JsonObject
    where: StrictStr


class _VerdictJson(DocumentTable):
    usable: Annotated[str, word_validator(("yes", "with care", "no"))]
    possible: StrictBool
    optimal: StrictBool
    explains_data: StrictBool
    identifiable: tuple[StrictStr, ...]
    reasons: tuple[StrictStr, ...]
    needs: dict[StrictStr, StrictBool] = Field(default_factory=dict)


class _EstimateJson(BaseModel):
    """Fields of `SavedEstimate`, in the order of the file; None for absent keys."""

    frame: StrictStr | None = None
    frames: Annotated[_FramesJson, _construct(BodyFrame)] | None = None
    covariance: _Covariance | None = None
    calibration: _Covariance | None = None
    intervals: dict[StrictStr, _NumberPair | None] | None = None
    interval_kind: StrictStr | None = None
    degrees_of_freedom: dict[StrictStr, Number | None] | None = None
    certified_bounds: dict[StrictStr, _Bound] | None = None
    variance_shares: dict[StrictStr, dict[StrictStr, Number]] | None = None
    principal_axes: tuple[Annotated[_PrincipalAxisJson, _construct(PrincipalAxis)], ...] | None = (
        None
    )
    decided_by: dict[StrictStr, StrictStr] | None = None
    prior_share: dict[StrictStr, Number] | None = None
    default_body: StrictStr | None = None
    bias: tuple[Annotated[_BiasJson, _construct(SavedBias)], ...] | None = None
    residual_rms: _Channels | None = None
    samples: StrictInt | None = None
    effective_samples: Number | None = None
    dropped_rows: StrictInt | None = None
    certificate: _JsonObject | None = None
    provenance: _JsonObject | None = None
    findings: tuple[Annotated[_FindingJson, _construct(Finding)], ...] | None = None
    r_squared: Annotated[tuple[Number | None, ...], Field(min_length=1)] | None = None
    verdict: Annotated[_VerdictJson, _construct(Verdict)] | None = None


_REDUNDANCY_TOLERANCE = 1e-6
"""Largest relative difference of redundant values: other programs write six digits or more."""

_BODY_SHAPES = {
    "phi": (10,),
    "mass": (),
    "com": (3,),
    "inertia_about_com": (3, 3),
    "inertia_about_origin": (3, 3),
}
"""Shape of the value of each key of the body."""


def read_body(document: Mapping[str, object]) -> InertialParameters:
    """Return the body of a JSON document.

    Raises:
        ModelError: no body, a value that is not a number, or values that contradict each other.
    """
    if "phi" not in document:
        return _body_from_com(document)
    phi = document["phi"]
    if isinstance(phi, Mapping):
        missing = [name for name in PHI if name not in phi]
        if missing:
            raise ModelError(f"phi: no {missing[0]!r}; expected {list(PHI)}")
        phi = [phi[name] for name in PHI]
    body = InertialParameters(_body_value({"phi": phi}, "phi"))
    _require_redundant_keys_agree(document, body)
    return body


def _body_from_com(document: Mapping[str, object]) -> InertialParameters:
    """Return the body from its mass, centre of mass and inertia; None if a key is missing."""
    missing = [key for key in ("mass", "com") if key not in document]
    if missing:
        raise ModelError(f"no body: neither phi nor {missing[0]}")
    mass, com = float(_body_value(document, "mass")), _body_value(document, "com")
    if "inertia_about_com" in document:
        return InertialParameters.from_com(mass, com, _body_value(document, "inertia_about_com"))
    if "inertia_about_origin" in document:
        inertia = _body_value(document, "inertia_about_origin")
        steiner = symmetric_from_entries(phi_from_inertia(mass, com, np.zeros((3, 3)))[4:])
        return InertialParameters.from_com(mass, com, inertia - steiner)
    raise ModelError("no body: neither phi nor inertia_about_com nor inertia_about_origin")


def _body_value(document: Mapping[str, object], key: str) -> Array:
    """Parse the numbers of one of the body's keys in its shape; `true` and `"1"` are no numbers."""
    try:
        return seal(numbers_validator(*_BODY_SHAPES[key])(document[key]), key, _BODY_SHAPES[key])
    except ValueError as error:
        raise ModelError(f"{key}: {error}") from error


def _require_redundant_keys_agree(document: Mapping[str, object], body: InertialParameters) -> None:
    """Reject a file whose redundant keys of the body contradict `phi`.

    Raises:
        ModelError: names the key and both values.
    """
    for key in list(_BODY_SHAPES)[1:]:
        if document.get(key) is None or (body.mass == 0.0 and key in ("com", "inertia_about_com")):
            continue
        given = _body_value(document, key)
        by_phi = np.asarray(getattr(body, key), dtype=np.float64)
        size, floor = float(max(np.abs(given).max(), np.abs(by_phi).max())), 0.0
        if key == "com":  # the centre of mass may be near zero: compare with the body's extent
            extent = np.sqrt(np.abs(np.trace(body.inertia_about_com) / body.mass))
            size = max(size, float(extent))
        if key == "inertia_about_com":
            floor = float(rounding_error_about_com(body.phi))
        if np.abs(given - by_phi).max() > _REDUNDANCY_TOLERANCE * size + floor:
            raise ModelError(
                f"{key} is {given.tolist()}, but {by_phi.tolist()} by phi; the two must agree: "
                f"correct the wrong one, or delete it"
            )
