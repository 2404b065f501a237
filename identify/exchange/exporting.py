"""Export of a body as text for a simulator, a program or a controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from textwrap import wrap

from identify.arrays import PhiLike
from identify.documents import lookup, read_toml
from identify.errors import ModelError
from identify.exchange.controllers import (
    CONTROLLERS,
    MAX_CONTROLLER_PAYLOAD,
    Export,
    payload_setting,
)
from identify.exchange.estimate_views import EstimateViews
from identify.exchange.models import MODEL_FORMATS
from identify.exchange.rewriting import inertial_snippet
from identify.exchange.rounding import DEFAULT_DIGITS, round_body
from identify.exchange.xml_document import parse_xml
from identify.inertia import InertialParameters

_PROGRAM_TEMPLATES: Mapping[str, str] = read_toml(
    Path(str(files("identify.exchange").joinpath("programs.toml")))
)
"""Templates of Python programs that create the body in a library, by format name."""

EXPORT_FORMATS: tuple[str, ...] = (*MODEL_FORMATS, *_PROGRAM_TEMPLATES, *CONTROLLERS)
"""Names of all export formats: robot models, programs and controllers."""


def export_body(
    body: PhiLike | EstimateViews,
    name: str,
    *,
    largest_mass: float | None = None,
    digits: int = DEFAULT_DIGITS,
) -> Export:
    """Return a body as text in one of the formats of `EXPORT_FORMATS`.

    Args:
        body: an estimate, which is exported to a controller about the flange (or tool point) and
            to the others about B; or ten parameters about the origin of the link's, body node's or
            flange's frame, in its axes, shape (10,).
        name: one of `EXPORT_FORMATS`.
        largest_mass: rated payload of the arm [kg]; for controllers.
        digits: initial number of significant digits, see `round_body`; not for controllers, which
            determine their digits.

    Raises:
        ModelError: an unknown name, a body that is not physically consistent or that a controller
            does not take, or an estimate without the pose of the flange.
    """
    lookup(dict.fromkeys(EXPORT_FORMATS), name, "export format", ModelError)
    if name in CONTROLLERS:
        if digits != DEFAULT_DIGITS:
            raise ModelError(f"{name}: the controller determines the digits; leave digits out")
        limit = MAX_CONTROLLER_PAYLOAD if largest_mass is None else largest_mass
        return payload_setting(name, body, largest_mass=limit)
    if largest_mass is not None:
        raise ModelError(f"{name}: only controllers ({', '.join(CONTROLLERS)}) take a largest mass")
    notes: tuple[str, ...] = ()
    if isinstance(body, EstimateViews):
        body, notes = body.parameters, (f"about {body.frame_description}, in its axes",)
    body = InertialParameters.single(body)
    if name in _PROGRAM_TEMPLATES:
        written = round_body(body.phi, digits=digits)
        six = zip(("xx", "xy", "xz", "yy", "yz", "zz"), written.inertia, strict=True)
        text = Template(_PROGRAM_TEMPLATES[name]).substitute(
            dict(six), m=written.mass, com=", ".join(written.com)
        )
    else:
        snippet = inertial_snippet(body.phi, name, digits=digits)
        text, written = snippet.text, snippet.body
    return Export(text, (written.change,) if written.change else (), notes)


_COMMENT_WIDTH = 96
"""Maximum width of a comment [characters]."""


def with_comment(text: str, name: str, lines: Sequence[str]) -> str | None:
    """Return an exported text below a comment; None if its format has no comments.

    Args:
        text: of one of `EXPORT_FORMATS`.
        name: its name.
        lines: the comment, a paragraph each; in ASCII, as controllers require.
    """
    if name in MODEL_FORMATS:
        return f"{_xml_comment(lines)}\n{text}"
    prefix = "#" if name in _PROGRAM_TEMPLATES else CONTROLLERS[name].comment
    if not prefix:
        return None
    return "".join(f"{prefix} {line}\n" for line in _wrap_ascii(lines)) + text


def model_with_comment(content: bytes, path: Path, lines: Sequence[str]) -> bytes:
    """Return a model file with a comment before its root element.

    Args:
        content: of the file.
        path: its name, for errors.
        lines: the comment, a paragraph each.
    """
    document = parse_xml(content, path)
    comment = (_xml_comment(lines) + "\n").replace("\n", document.newline).encode("ascii")
    return content[: document.root.start_byte] + comment + content[document.root.start_byte :]


def _xml_comment(lines: Sequence[str]) -> str:
    text = "\n".join(f"  {line}" for line in _wrap_ascii(lines))
    while "--" in text:  # would end the comment
        text = text.replace("--", "- -")
    return f"<!--\n{text}\n-->"


def _wrap_ascii(lines: Sequence[str]) -> list[str]:
    ascii_lines = (
        line.replace("²", "^2").replace("³", "^3").encode("ascii", "replace").decode()
        for line in lines
    )
    return [part for line in ascii_lines for part in wrap(line, _COMMENT_WIDTH)]
