"""Export of a body as text for a simulator, a program or a controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template

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
from identify.exchange.export_marks import export_marks
from identify.exchange.models import MODEL_FORMATS
from identify.exchange.rewriting import inertial_snippet
from identify.exchange.rounding import DEFAULT_DIGITS, round_body
from identify.exchange.xml_document import parse_xml
from identify.inertia import InertialParameters
from identify.spatial import Pose
from identify.texts import XML_COMMENT, with_comment_lines

_PROGRAM_TEMPLATES: Mapping[str, str] = read_toml(
    Path(str(files("identify.exchange").joinpath("programs.toml")))
)
"""Templates of Python programs and scenes that create the body, by format name."""

EXPORT_FORMATS: tuple[str, ...] = (*MODEL_FORMATS, *_PROGRAM_TEMPLATES, *CONTROLLERS)
"""Names of all export formats: robot models, programs and controllers."""


def export_body(
    body: PhiLike | EstimateViews,
    name: str,
    *,
    X_AB: Pose | None = None,
    largest_mass: float | None = None,
    digits: int = DEFAULT_DIGITS,
) -> Export:
    """Return a body as text in one of the formats of `EXPORT_FORMATS`.

    Quantities that an estimate decides too poorly are marked in the text, see `export_marks`.

    Args:
        body: an estimate, which is exported to a controller about the flange (or tool point) and
            to the others about B; or ten parameters about the origin of the link's, body node's or
            flange's frame, in its axes, shape (10,).
        name: one of `EXPORT_FORMATS`.
        X_AB: pose of the body's frame B in the frame A of the text, if it is another.
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
        return payload_setting(name, body, X_AB=X_AB, largest_mass=limit)
    if largest_mass is not None:
        raise ModelError(f"{name}: only controllers ({', '.join(CONTROLLERS)}) take a largest mass")
    notes: tuple[str, ...] = ()
    if isinstance(body, EstimateViews) and X_AB is None:
        notes = (f"about {body.frame_description}, in its axes",)
    phi = InertialParameters.single(body).in_frame(X_AB or Pose.identity()).phi
    if name in _PROGRAM_TEMPLATES:
        written = round_body(phi, digits=digits)
        principal = round_body(phi, principal=True, digits=digits)
        six = zip(("xx", "xy", "xz", "yy", "yz", "zz"), written.inertia, strict=True)
        text = Template(_PROGRAM_TEMPLATES[name].lstrip()).substitute(
            dict(six),
            m=written.mass,
            com=", ".join(written.com),
            diagonal=", ".join(principal.diagonal),
            quaternion=", ".join(principal.quat_wxyz),
        )
    else:
        snippet = inertial_snippet(phi, name, digits=digits)
        text, written = snippet.text, snippet.body
    marks = export_marks(body, X_AB, pose_given=X_AB is not None)
    text = _below_comment(text, name, marks.lines)
    return Export(text, (written.change,) if written.change else (), (*marks.notes(), *notes))


def with_comment(text: str, name: str, lines: Sequence[str]) -> str | None:
    """Return an exported text below a comment; None if its format has no comments.

    Args:
        text: of one of `EXPORT_FORMATS`.
        name: its name.
        lines: the comment, a paragraph each; in ASCII, as controllers require.
    """
    return _below_comment(text, name, lines) if _comment_prefix(name) else None


def _below_comment(text: str, name: str, lines: Sequence[str]) -> str:
    """Return an exported text below a comment, which follows the first line of USD."""
    first, separator, rest = text.partition("\n") if name == "usd" else ("", "", text)
    return first + separator + with_comment_lines(rest, _comment_prefix(name), lines)


def _comment_prefix(name: str) -> str:
    if name in MODEL_FORMATS:
        return XML_COMMENT
    return "#" if name in _PROGRAM_TEMPLATES else CONTROLLERS[name].comment


def model_with_comment(content: bytes, path: Path, lines: Sequence[str]) -> bytes:
    """Return a model file with a comment before its root element.

    Args:
        content: of the file.
        path: its name, for errors.
        lines: the comment, a paragraph each.
    """
    document = parse_xml(content, path)
    comment = with_comment_lines("", XML_COMMENT, lines)
    comment = comment.replace("\n", document.newline).encode("ascii")
    return content[: document.root.start_byte] + comment + content[document.root.start_byte :]
