"""Payload settings of controllers, read back: the texts that `export` writes, and their makers'.

Units, point and axes are those of `controllers.toml`: each format has only one convention.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from identify.arrays import Array
from identify.documents import numbers_validator, short_repr
from identify.errors import ModelError
from identify.inertia import InertialParameters
from identify.inertia.conventions import matrix_from_entries, rotation_from_rpy
from identify.inertia.conventions.axes import rotation_from_wxyz

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]|,\d)"
"""Pattern of a field's number, which no decimal comma follows."""
_LISTED_NUMBER = _NUMBER.removesuffix(r"(?![\w.]|,\d)")
_COMMENTS = re.compile(r"(?m)(?:^[^\S\n]*|[^\S\n])(?:#|//|;|!).*$")
_COMMA_HINT = "; is it a decimal comma? Write decimal points"


class PayloadText(NamedTuple):
    """A form of payload settings: how it begins and ends, its reader, the frame of its numbers."""

    title: str
    beginning: str
    end: str
    read: Callable[[str], InertialParameters]
    frame: str = "flange"

    @property
    def pattern(self) -> re.Pattern[str]:
        """Pattern of the whole setting; its group has the numbers."""
        return re.compile(self.beginning + self.end, re.DOTALL)


def _read_ur(call: str) -> InertialParameters:
    """Read the arguments of `set_target_payload(m, cog, inertia)` [kg, m, kg m²]."""
    lists = re.findall(r"\[([^\[\]]*)\]", call)
    if len(lists) == 1:
        raise ModelError(
            "set_target_payload without an inertia is mass and centre of mass only: add [Ixx, Iyy, "
            "Izz, Ixy, Ixz, Iyz] about the centre of gravity [kg m²]"
        )
    if len(lists) != 2:
        raise ModelError(f"expected set_target_payload(m, [3], [6]), got {short_repr(call)}")
    mass = _numbers(call.partition("[")[0], 1, "the mass")
    com, six = _numbers(lists[0], 3, "the centre"), _numbers(lists[1], 6, "the inertia")
    return InertialParameters.from_com(mass[0], com, matrix_from_entries(six, "mujoco"))


def _read_franka(call: str) -> InertialParameters:
    """Read the arguments of `setLoad(mass, F_x_Cload, load_inertia)`, column-major."""
    groups = re.findall(r"\{\{?([^{}]*)\}", call)
    if len(groups) != 2:
        raise ModelError(f"expected setLoad(m, {{{{3}}}}, {{{{9}}}}), got {short_repr(call)}")
    mass = _numbers(call.partition("{")[0], 1, "the mass")
    com, nine = _numbers(groups[0], 3, "the centre"), _numbers(groups[1], 9, "the inertia")
    return InertialParameters.from_com(mass[0], com, nine.reshape(3, 3, order="F"))


def _read_kuka(struct: str) -> InertialParameters:
    """Read `{M m, CM {X, Y, Z, A, B, C}, J {X, Y, Z}}` [kg, mm, deg, kg m²]."""
    center = re.search(r"CM\s*\{([^{}]*)\}", struct)
    inertia = re.search(r"\bJ\s*\{([^{}]*)\}", struct)
    mass = re.search(rf"\bM\s+({_NUMBER})", struct)
    if mass is None or center is None or inertia is None:
        absent = "M" if mass is None else "CM {…}" if center is None else "J {…}"
        hint = _comma_hint(struct)
        raise ModelError(f"the load data have no {absent}: {short_repr(struct)}{hint}")
    pose, moments = _fields(center[1], "XYZABC"), _fields(inertia[1], "XYZ")
    R = rotation_from_rpy(np.radians(pose[:2:-1]))
    return InertialParameters.from_com(float(mass[1]), 1e-3 * pose[:3], (R * moments) @ R.T)


def _read_abb(record: str) -> InertialParameters:
    """Read `[m, [cog], [aom], ix, iy, iz]` [kg, mm, kg m²], aom with its scalar first."""
    numbers = _numbers(re.sub(r"[\[\]]", " ", record), 11, "loaddata")
    R = rotation_from_wxyz(numbers[4:8] / np.linalg.norm(numbers[4:8]))
    return InertialParameters.from_com(numbers[0], 1e-3 * numbers[1:4], (R * numbers[8:]) @ R.T)


def _read_ros(text: str) -> InertialParameters:
    """Read a `geometry_msgs/Inertia` or a `SetPayload` in YAML [kg, m, kg m²]."""
    pairs = re.findall(rf"\b(m|x|y|z|i[xyz][xyz])(?:ass)?\s*:\s*({_NUMBER})", text)
    entries = dict(pairs)
    names = ("m", "x", "y", "z", "ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    if missing := [name for name in names if name not in entries]:
        raise ModelError(f"the message has no {', '.join(missing)}{_comma_hint(text)}")
    if len(pairs) > len(names):
        raise ModelError("the text has several messages: keep one of them in the file")
    numbers = np.array([float(entries[name]) for name in names])
    return InertialParameters.from_com(
        numbers[0], numbers[1:4], matrix_from_entries(numbers[4:], "ros")
    )


PAYLOAD_TEXTS: Mapping[str, PayloadText] = MappingProxyType(
    {
        "ur": PayloadText(
            "set_target_payload of Universal Robots",
            r"set_target_payload\s*\(",
            r"([^()]*)\)",
            _read_ur,
        ),
        "franka": PayloadText("setLoad of Franka", r"\bsetLoad\s*\(", r"([^()]*)\)", _read_franka),
        "kuka": PayloadText(
            "LOAD_DATA of KUKA",
            r"\$?LOAD(?:_DATA\s*\[\s*\d+\s*\])?\s*=\s*\{",
            r"((?:[^{}]|\{[^{}]*\})*)\}",
            _read_kuka,
        ),
        "abb": PayloadText(
            "loaddata of ABB",
            r"\bloaddata\s+\w+\s*:=\s*\[",
            r"([^;]*)\]\s*;",
            _read_abb,
            "tool frame (GripLoad), or wrist frame (tload)",
        ),
        "ur_ros2": PayloadText(
            "set_payload of the driver of Universal Robots",
            r"ur_msgs/srv/SetPayload\s",
            r"+[\"'](\{.*\})",
            _read_ros,
        ),
        "ros": PayloadText(
            "geometry_msgs/Inertia",
            r"",
            r"((?:^|\n|\b)m\s*:.*\bixx\s*:.*)",
            _read_ros,
            "frame of the message",
        ),
    }
)
"""Texts of payload settings that are read, by the name of the export that writes them."""

_UNSET_KUKA = re.compile(rf"\bM\s+-{_NUMBER}")
"""Mass of a load that is not set."""


def payload_text_name(text: str) -> str | None:
    """Return the name of the payload setting that a text is; None if it is none of them."""
    text = without_comments(text)
    return next((name for name, form in PAYLOAD_TEXTS.items() if form.pattern.search(text)), None)


def require_whole_payload(text: str) -> None:
    """Raise `ModelError`, with the line, if a text has the beginning of a payload setting alone."""
    text = without_comments(text)
    for form in PAYLOAD_TEXTS.values():
        if form.beginning and (match := re.search(form.beginning, text)):
            line = text.count("\n", 0, match.start()) + 1
            raise ModelError(
                f"line {line}: {form.title} has no end: the text is cut off; copy all of it"
            )


def read_payload_text(text: str, name: str, wanted: str | None) -> InertialParameters:
    """Return the body of a payload setting about the origin of its frame.

    `wanted`: number of the setting in the text, from 1, if there are several.
    Raises `ModelError`: several and none is wanted, or a number is missing.
    """
    form = PAYLOAD_TEXTS[name]
    text = without_comments(text)
    settings = list(form.pattern.finditer(text))
    if name == "kuka":
        settings = [setting for setting in settings if not _UNSET_KUKA.search(setting[1])]
        if not settings:
            raise ModelError("every load has a mass below zero, which is one that is not set")
    if wanted is None and len(settings) > 1:
        raise ModelError(
            f"{len(settings)} payloads: choose one as FILE#NUMBER, from 1 to {len(settings)}"
        )
    number = wanted or "1"
    if number not in map(str, range(1, len(settings) + 1)):
        raise ModelError(f"no payload {number!r}; expected 1 to {len(settings)}")
    setting = settings[int(number) - 1]
    try:
        body = form.read(setting[1])
        if not body.mass > 0.0:
            raise ModelError(f"a mass of {body.mass:g} kg: write the mass of the load")
        return body
    except ModelError as error:
        line = text.count("\n", 0, setting.start(1)) + 1
        raise ModelError(f"line {line}: {error}") from error


def read_franka_desk(document: Mapping[str, object]) -> InertialParameters:
    """Return the body of a Franka end effector (`endeffector-config.json`) about the flange.

    Raises `ModelError`: a key is missing, or a value is no number.
    """
    values = {}
    for key, shape in (("mass", ()), ("centerOfMass", (3,)), ("inertia", (9,))):
        try:
            values[key] = numbers_validator(*shape)(document.get(key))
        except ValueError as error:
            raise ModelError(f"{key}: {error}") from error
    inertia = np.reshape(values["inertia"], (3, 3), order="F")
    return InertialParameters.from_com(values["mass"], values["centerOfMass"], inertia)


def is_franka_desk(document: Mapping[str, object]) -> bool:
    """Return whether a JSON object is a Franka end effector."""
    return {"mass", "centerOfMass", "inertia"} <= set(document)


def without_comments(text: str) -> str:
    """Return a program text without its comments."""
    return _COMMENTS.sub("", text)


def _numbers(text: str, count: int, quantity: str) -> Array:
    words = re.findall(_LISTED_NUMBER, text)
    if len(words) != count or re.sub(
        rf"{_LISTED_NUMBER}|[\s,]|inertia\s*=|m\s*=|cog\s*=|mass\s*=", "", text
    ):
        many = "1 number" if count == 1 else f"{count} numbers"
        hint = _COMMA_HINT if len(words) == 2 * count else ""
        raise ModelError(f"{quantity}: expected {many}, got {short_repr(text.strip())}{hint}")
    return np.array([float(word) for word in words])


def _fields(text: str, names: str) -> Array:
    """Return the fields of a structure of KRL, such as `X 1.0, Y 2.0`, in order."""
    fields = dict(re.findall(rf"\b([A-Z])\s+({_NUMBER})", text))
    if missing := [name for name in names if name not in fields]:
        hint = _comma_hint(text)
        raise ModelError(f"the load data have no {', '.join(missing)} in {{{text}}}{hint}")
    return np.array([float(fields[name]) for name in names])


def _comma_hint(text: str) -> str:
    return _COMMA_HINT if re.search(r"\d,\d", text) else ""
