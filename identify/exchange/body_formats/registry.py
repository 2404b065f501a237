"""Forms of a body's text, recognised by their content, and the reader of any of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from identify.errors import IdentifyError, ModelError
from identify.exchange.body_formats import fusion, onshape, solidworks
from identify.exchange.body_formats.answers import NO_ANSWERS, BodyAnswers
from identify.exchange.body_formats.mass_report import ReportedBody, body_of_report
from identify.exchange.body_formats.own_bodies import (
    MATRIX_KEYS,
    body_keys_in_si,
    parse_own_toml,
)
from identify.exchange.body_formats.payload_texts import (
    PAYLOAD_TEXTS,
    is_franka_desk,
    payload_text_name,
    read_franka_desk,
    read_payload_text,
    require_whole_payload,
)
from identify.exchange.body_formats.report_lines import (
    ReportLines,
    mass_report,
    require_one_body,
)
from identify.exchange.estimate_json import SavedEstimate
from identify.exchange.estimate_reading import read_body_keys, read_estimate
from identify.files import read_bytes
from identify.inertia import InertialParameters
from identify.spatial import BodyFrame, Pose

_MAX_TEXT_BYTES = 4_000_000
"""Largest size of a body's text [bytes]; a text of one body has a few kilobytes."""

_OWN_KEY = re.compile(r"(?m)^\s*(?:mass|phi|com|inertia\w*|units)\s*=|^\s*\[units\]")


class BodyText(NamedTuple):
    """Text of a body, as a person gave it.

    Attributes:
        path: the file.
        text: its content.
        document: the JSON object that it is, or None.
        answers: what the text does not say.
        wanted: which of several bodies.
    """

    path: Path
    text: str
    document: Mapping[str, object] | None
    answers: BodyAnswers
    wanted: str | None


@dataclass(frozen=True, slots=True)
class BodyFormat:
    """A form of a body's text.

    Attributes:
        name: of the program or file, for messages.
        recognises: whether a text has this form, by its content.
        read: the body of such a text.
        several: whether a text may have several bodies.
    """

    name: str
    recognises: Callable[[BodyText], bool]
    read: Callable[[BodyText], SavedEstimate]
    several: bool = False


def _read_lines(
    body: BodyText, program: str, lines: list[ReportLines], habit: str = ""
) -> SavedEstimate:
    chosen = require_one_body(lines, body.wanted)
    report = mass_report(chosen, body.answers)
    reported = body_of_report(report, body.answers, habit)
    system = f"coordinate system {chosen.coordinate_system}" * bool(chosen.coordinate_system)
    return _saved(body, program, reported, system or "its origin", chosen.name)


_FUSION_HABIT = "; the texts of Fusion that were seen have entries of the matrix (negative)"


def _read_onshape(body: BodyText) -> SavedEstimate:
    assert body.document is not None
    report = onshape.read_report(body.document, body.wanted)
    reported = body_of_report(report, body.answers)
    return _saved(body, "Onshape", reported, "its coordinate system", report.name)


def _saved(
    body: BodyText, program: str, reported: ReportedBody, origin: str, name: str = ""
) -> SavedEstimate:
    part = f"{name} of {body.path}" if name else str(body.path)
    return SavedEstimate(
        reported.parameters,
        f"{program}, {origin}: {part}",
        provenance={"format": program, "notes": list(reported.notes)},
    )


def _read_franka_desk(body: BodyText) -> SavedEstimate:
    assert body.document is not None
    return _about_flange(body, "end effector of Franka Desk", read_franka_desk(body.document))


def _read_payload(body: BodyText) -> SavedEstimate:
    name = payload_text_name(body.text)
    assert name is not None
    form = PAYLOAD_TEXTS[name]
    parameters = read_payload_text(body.text, name, body.wanted)
    if form.frame == "flange":
        return _about_flange(body, form.title, parameters)
    return SavedEstimate(
        parameters,
        f"{form.frame}: {form.title}, {body.path}",
        provenance={"format": form.title, "notes": [f"numbers are in the {form.frame}"]},
    )


def _about_flange(body: BodyText, title: str, parameters: InertialParameters) -> SavedEstimate:
    return SavedEstimate(
        parameters,
        f"flange, as in {title}: {body.path}",
        frames=BodyFrame("flange", flange=Pose.identity()),
        provenance={"format": title, "notes": ["numbers are in the frame of the flange"]},
    )


def _read_own(body: BodyText) -> SavedEstimate:
    document = parse_own_toml(body.text) if body.document is None else body.document
    keys = body_keys_in_si(document, body.answers)
    frame = keys.get("frame", "body")
    return SavedEstimate(
        read_body_keys(keys), str(frame), provenance={"format": "a file of your own", "notes": []}
    )


def _is_own_json(body: BodyText) -> bool:
    """Return whether a JSON object has keys or values that estimate.json does not have."""
    document = body.document
    if document is None or "schema_version" in document:
        return False
    return (
        body.answers != NO_ANSWERS
        or any(key in document for key in ("units", "products", "inertia"))
        or any(isinstance(document.get(key), Mapping) for key in MATRIX_KEYS)
    )


BODY_FORMATS: tuple[BodyFormat, ...] = (
    BodyFormat(
        "mass properties of Onshape (JSON of its REST API)",
        lambda body: body.document is not None and onshape.is_onshape(body.document),
        _read_onshape,
        several=True,
    ),
    BodyFormat(
        "a Franka end effector (JSON)",
        lambda body: body.document is not None and is_franka_desk(body.document),
        _read_franka_desk,
    ),
    BodyFormat("a JSON file of your own with units", _is_own_json, _read_own),
    BodyFormat(
        "an estimate.json",
        lambda body: body.text.lstrip().startswith("{") or body.path.suffix.lower() == ".json",
        lambda body: read_estimate(body.path),
    ),
    BodyFormat(
        "mass properties of SolidWorks",
        lambda body: bool(solidworks.HEADING.search(body.text)),
        lambda body: _read_lines(body, "SolidWorks", solidworks.read_lines(body.text)),
        several=True,
    ),
    BodyFormat(
        "properties of Fusion",
        lambda body: bool(fusion.HEADING.search(body.text)),
        lambda body: _read_lines(body, "Fusion", fusion.read_lines(body.text), _FUSION_HABIT),
        several=True,
    ),
    BodyFormat(
        f"a payload setting ({', '.join(PAYLOAD_TEXTS)})",
        lambda body: payload_text_name(body.text) is not None,
        _read_payload,
        several=True,
    ),
    BodyFormat(
        "a TOML file of your own with units",
        lambda body: body.path.suffix.lower() == ".toml" or bool(_OWN_KEY.search(body.text)),
        _read_own,
    ),
)
"""Forms of a body's text, in the order in which they are tried."""


def read_body_text(
    path: Path, answers: BodyAnswers = NO_ANSWERS, wanted: str | None = None
) -> SavedEstimate:
    """Read a body from a text of any of `BODY_FORMATS`.

    `wanted`: name or number of one of several bodies in the text.

    Raises `MissingFile`: no such file; `UnstatedProperty`: the text does not say a unit, a point or
    a sign; `ModelError`: none of the forms, or a text that is incomplete or contradicts itself.
    """
    if path.is_dir():
        return read_estimate(path)  # which names the file in it
    content = read_bytes(path)
    body = BodyText(path, "", None, answers, wanted)
    if len(content) <= _MAX_TEXT_BYTES:
        text = _decode(content)
        body = body._replace(text=text, document=_json_object(text))
    for form in BODY_FORMATS:
        if form.recognises(body):
            return _read(form, body)
    try:
        require_whole_payload(body.text)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    known = "; ".join(form.name for form in BODY_FORMATS)
    raise ModelError(
        f"{path}: no body: the text is none of: {known}. Write mass, com and inertia_about_com of "
        "your body to a TOML file, with units = { mass = …, length = …, inertia = … }"
    )


def _read(form: BodyFormat, body: BodyText) -> SavedEstimate:
    if body.wanted is not None and not form.several:
        raise ModelError(
            f"{body.path}: no body {body.wanted!r} in it: it is {form.name}, which has one body; "
            f"leave #{body.wanted} out"
        )
    try:
        return form.read(body)
    except IdentifyError as error:
        if str(error).startswith(str(body.path)):
            raise
        file = f"{body.path}#{body.wanted}" if body.wanted else str(body.path)
        message = str(error).replace("body FILE", f"body {file}").replace("FILE#", f"{body.path}#")
        error.message = f"{body.path}: {message}"
        raise


def _decode(content: bytes) -> str:
    """Return a text in UTF-8, UTF-16 with a byte order mark, or Windows' Western encoding."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def _json_object(text: str) -> Mapping[str, object] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
