"""Reader of estimate.json: pydantic checks the keys, a digest checks the contents."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from pydantic import TypeAdapter, ValidationError

from identify.documents import short_repr
from identify.errors import IdentifyError, ModelError, did_you_mean
from identify.exchange.estimate_json import (
    FILE_FIELDS,
    SCHEMA_VERSION,
    BodyKeys,
    SavedEstimate,
    contents_digest,
)
from identify.files import require_file
from identify.findings import Finding, derive_verdict, sort_findings
from identify.inertia import InertialParameters
from identify.inertia.matrices import (
    phi_from_inertia,
    rounding_error_about_com,
    symmetric_from_entries,
)

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

T = TypeVar("T")

_MAX_FILE_BYTES = 50_000_000
"""Largest size of an estimate.json [bytes]."""


def read_estimate(path: Path | str) -> SavedEstimate:
    """Read an estimate.json, also if another program wrote it.

    If the contents do not match the digest, the estimate has the finding `edited`, an error, and
    the verdict "no".

    Args:
        path: the file, or the folder that `identify fit -o` wrote. `phi` may be a list of ten in
            the toolkit's order or a mapping by name; without it, the file needs `mass`, `com` and
            `inertia_about_com` or `inertia_about_origin` (3×3).

    Raises:
        MissingFile: no such file.
        ModelError: not JSON, of another version, with a key missing or unknown, without a body, or
            with redundant values that contradict each other.
    """
    inside = Path(path) / "estimate.json"
    path = inside if inside.is_file() else Path(path)
    text, document = _read_json_object(path)
    try:
        own_layout = _written_by_this_toolkit(document)
        _require_all_parameters(document)
        intact = not own_layout or document["digest"] == contents_digest(text)
        # In an edited file phi may contradict the other keys: only phi is read.
        body = read_body_keys(document if intact else {"phi": document["phi"]})
        given = {key: document[key] for key in FILE_FIELDS if document.get(key) is not None}
        saved = _validate(_ESTIMATE, {"parameters": body, **given})
        _require_equal_channels(saved)
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
    require_file(path)
    if path.stat().st_size > _MAX_FILE_BYTES:
        raise ModelError(
            f"{path}: larger than {_MAX_FILE_BYTES // 1_000_000} MB; is this an estimate.json?"
        )
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        comma = re.search(r":\s*-?\d+,\d", text)
        hint = "; write decimal points, not commas" if comma else ""
        raise ModelError(f"{path}: not a JSON file: {error}{hint}") from error
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

    Raises `ModelError`: it is of another version, or has other keys than those of its version.
    """
    if "schema_version" not in document:
        if late := [key for key in ("frames", "digest") if key in document]:
            raise ModelError(
                f"there is no schema_version, and {late[0]!r} is a key of version "
                f"{SCHEMA_VERSION}: the file was changed after it was written"
            )
        return False
    if "arm" in document:
        raise ModelError(
            "is the arm.json of a fit of an arm, which is no body: identify fit-arm --export "
            "writes its links to the URDF"
        )
    version = document["schema_version"]
    if type(version) is not int or version != SCHEMA_VERSION:
        raise ModelError(
            f"schema_version is {short_repr(version)}; this version of the toolkit reads "
            f"{SCHEMA_VERSION}. A later one needs an update of the toolkit; leave schema_version "
            "out of a file of your own"
        )
    known = ("schema_version", *BodyKeys.model_fields, *FILE_FIELDS, "digest")
    for key in document:
        if key not in known:
            raise ModelError(f"unknown key {short_repr(key)}{did_you_mean(key, known)}")
    for key in known:
        if key not in document:
            raise ModelError(f"the key {key!r} is missing")
    return True


_BODY, _ESTIMATE = TypeAdapter(BodyKeys), TypeAdapter(SavedEstimate)


def _validate(adapter: TypeAdapter[T], values: Mapping[str, object]) -> T:
    """Return the values of a file in their type."""
    try:
        return adapter.validate_python(values)
    except ValidationError as error:
        problems = error.errors()[:_MAX_PROBLEMS]
        raise ModelError("; and ".join(map(_format_problem, problems))) from error


def _require_equal_channels(saved: SavedEstimate) -> None:
    """Reject a file whose sensor values differ in their number of channels.

    Logs have offsets of as many channels as the widest; residuals are of the channels of all logs.
    """
    width = len(saved.bias[0].wrench) if saved.bias else 0
    expected = f"{width} numbers, as bias.0.wrench"
    for number, offset in enumerate(saved.bias):
        for key, values in (("wrench", offset.wrench), ("half_width", offset.half_width)):
            if values is not None and len(values) != width:
                raise ModelError(
                    f"bias.{number}.{key}: expected a list of {expected}, got {len(values)}"
                )
    residuals, scores = saved.residual_rms, saved.r_squared
    if residuals is not None and len(residuals) < width:
        raise ModelError(f"residual_rms: expected at least {expected}, got {len(residuals)}")
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
        case "extra_forbidden" | "unexpected_keyword_argument":
            return f"unknown key {short_repr(place)}"
        case "value_error":
            return f"{place}: {context['error']}"
        case "model_type" | "dataclass_type" | "dict_type":
            return f"{place}: expected an object, got {got}"
        case "tuple_type" | "named_tuple_type":
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
        precision=None if saved.verdict is None else saved.verdict.quantities,
    )
    return replace(saved, findings=findings, verdict=verdict)


_REDUNDANCY_TOLERANCE = 1e-6
"""Largest relative difference of redundant values: other programs write six digits or more."""


def read_body_keys(document: Mapping[str, object]) -> InertialParameters:
    """Return the body of a JSON document.

    Raises:
        ModelError: no body, a value that is not a number, or values that contradict each other.
    """
    keys = _validate(_BODY, document)
    if keys.phi is not None:
        body = InertialParameters(keys.phi)
        _require_redundant_keys_agree(keys, body)
        return body
    if keys.mass is None or keys.com is None:
        raise ModelError(f"no body: neither phi nor {'mass' if keys.mass is None else 'com'}")
    if keys.inertia_about_com is not None:
        return InertialParameters.from_com(keys.mass, keys.com, keys.inertia_about_com)
    if keys.inertia_about_origin is None:
        raise ModelError("no body: neither phi nor inertia_about_com nor inertia_about_origin")
    steiner = symmetric_from_entries(phi_from_inertia(keys.mass, keys.com, np.zeros((3, 3)))[4:])
    return InertialParameters.from_com(keys.mass, keys.com, keys.inertia_about_origin - steiner)


def _require_redundant_keys_agree(keys: BodyKeys, body: InertialParameters) -> None:
    """Reject a file whose redundant keys of the body contradict `phi`.

    Raises `ModelError`: names the key and both values.
    """
    for key, value in keys:
        if value is None or (body.mass == 0.0 and key in ("com", "inertia_about_com")):
            continue
        given, by_phi = np.asarray(value), np.asarray(getattr(body, key))
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
