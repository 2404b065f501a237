"""A body in the words of a simulator, a program or a controller, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from textwrap import wrap

from identify.arrays import PhiLike
from identify.documents import lookup, read_toml
from identify.errors import ModelError
from identify.exchange.controllers import CONTROLLERS, HEAVIEST, Export, payload_setting
from identify.exchange.estimate_views import EstimateViews
from identify.exchange.models import MODEL_FORMATS
from identify.exchange.rewriting import inertial_snippet
from identify.exchange.rounding import DIGITS, round_body
from identify.exchange.xml_document import parse_xml
from identify.inertia import InertialParameters

_PROGRAMS: Mapping[str, str] = read_toml(
    Path(str(files("identify.exchange").joinpath("programs.toml")))
)
"""Templates of programs in Python, by name."""

EXPORTS: tuple[str, ...] = (*MODEL_FORMATS, *_PROGRAMS, *CONTROLLERS)
"""Names of what a body can be exported to: model formats, programs, controllers."""


def export_body(
    body: PhiLike | EstimateViews,
    name: str,
    *,
    largest_mass: float | None = None,
    digits: int = DIGITS,
) -> Export:
    """A body as the text of one of `EXPORTS`.

    Args:
        body: an estimate, which goes to a controller about the flange (or tool point) and to the
            others about B; or ten parameters about the origin of the link's, body node's or
            flange's frame, in its axes, shape (10,).
        name: one of `EXPORTS`.
        largest_mass: what the arm may carry [kg]; for controllers.
        digits: significant digits to begin with, see `round_body`; not for controllers, whose
            digits are those that they take.

    Raises:
        ModelError: an unknown name, an impossible body, one that a controller does not take, or an
            estimate of which nobody knows where the flange is.
    """
    lookup(dict.fromkeys(EXPORTS), name, "export format", ModelError)
    if name in CONTROLLERS:
        if digits != DIGITS:
            raise ModelError(f"{name}: the digits are those that the controller takes")
        limit = HEAVIEST if largest_mass is None else largest_mass
        return payload_setting(name, body, largest_mass=limit)
    if largest_mass is not None:
        raise ModelError(f"{name}: only controllers ({', '.join(CONTROLLERS)}) have a largest mass")
    notes: tuple[str, ...] = ()
    if isinstance(body, EstimateViews):
        body, notes = body.parameters, (f"about {body.frame_in_words}, in its axes",)
    body = InertialParameters.single(body)
    if name in _PROGRAMS:
        written = round_body(body.phi, digits=digits)
        six = zip(("xx", "xy", "xz", "yy", "yz", "zz"), written.inertia, strict=True)
        text = Template(_PROGRAMS[name]).substitute(
            dict(six), m=written.mass, com=", ".join(written.com)
        )
    else:
        snippet = inertial_snippet(body.phi, name, digits=digits)
        text, written = snippet.text, snippet.body
    return Export(text, (written.change,) if written.change else (), notes)


_LINE_WIDTH = 96


def with_comment(text: str, name: str, lines: Sequence[str]) -> str | None:
    """The text of an export under a comment, or None where its format has no comments.

    Args:
        text: of one of `EXPORTS`.
        name: its name.
        lines: the comment, a paragraph each; in ASCII, as controllers want it.
    """
    if name in MODEL_FORMATS:
        return f"{_xml_comment(lines)}\n{text}"
    mark = "#" if name in _PROGRAMS else CONTROLLERS[name].comment
    if not mark:
        return None
    return "".join(f"{mark} {line}\n" for line in _wrapped(lines)) + text


def model_with_comment(content: bytes, path: Path, lines: Sequence[str]) -> bytes:
    """A model file with a comment before its root element.

    Args:
        content: of the file.
        path: its name, for errors.
        lines: the comment, a paragraph each.
    """
    document = parse_xml(content, path)
    comment = (_xml_comment(lines) + "\n").replace("\n", document.newline).encode("ascii")
    return content[: document.root.start] + comment + content[document.root.start :]


def _xml_comment(lines: Sequence[str]) -> str:
    said = "\n".join(f"  {line}" for line in _wrapped(lines))
    while "--" in said:  # would end it
        said = said.replace("--", "- -")
    return f"<!--\n{said}\n-->"


def _wrapped(lines: Sequence[str]) -> list[str]:
    plain = (
        line.replace("²", "^2").replace("³", "^3").encode("ascii", "replace").decode()
        for line in lines
    )
    return [part for line in plain for part in wrap(line, _LINE_WIDTH)]
