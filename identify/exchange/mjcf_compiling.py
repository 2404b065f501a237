"""Inertia of MJCF bodies from their geoms, computed by MuJoCo's compiler.

It is called only on files of plausible size, and its messages are captured.
"""

from __future__ import annotations

import importlib
import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import NamedTuple, Protocol

import numpy as np

from identify.arrays import Array, Phi
from identify.exchange.xml_document import XmlDocument, XmlElement
from identify.inertia.conventions.simulators import MUJOCO_MIN_FULL_INERTIA, MujocoInertial
from identify.texts import plain_text

_FROM_GEOMS_NOTE = "its inertia comes from its geoms"
TRANSPARENT_ELEMENTS = ("frame", "replicate", "composite", "flexcomp")
"""Elements whose geoms belong to the enclosing body."""

_BODY_TAGS = ("body", "geom", "composite", "flexcomp")
"""Elements whose copies count towards the size of a model."""

_MAX_BODIES = 10_000
"""Maximum number of bodies and geoms of a file that is compiled."""

_MAX_CELLS = 10**8
"""Maximum number of cells or pixels of one element of a file that is compiled."""

_CELL_COUNTS = ("nrow", "ncol", "width", "height", "nkey")
"""Attributes whose product is the number of cells or pixels of an element."""


class _NamedElement(Protocol):
    name: str


class _CompiledModel(Protocol):
    """Interface of the part of MuJoCo's `MjModel` that is read here."""

    nbody: int
    body_mass: Array
    body_ipos: Array
    body_iquat: Array
    body_inertia: Array

    def body(self, number: int, /) -> _NamedElement: ...


class CompiledBody(NamedTuple):
    """Body as compiled by MuJoCo; phi is None if it is massless, or for the reason in the note."""

    phi: Phi | None
    note: str = ""


def has_geoms(body: XmlElement, groups: tuple[float, float]) -> bool:
    """Return whether a body has geoms of its own in a range of groups."""
    stack = list(body.children)
    while stack:
        element = stack.pop()
        if element.tag == "geom":
            group = element.attributes.get("group", "0")
            if not group.isdigit() or groups[0] <= float(group) <= groups[1]:
                return True
        if element.tag in TRANSPARENT_ELEMENTS:
            stack.extend(element.children)
    return False


def compiled_bodies(document: XmlDocument, bodies: Sequence[XmlElement]) -> dict[int, CompiledBody]:
    """Compile a file with MuJoCo, and return its bodies by their byte position in the file.

    If MuJoCo is not installed, or does not compile the file, every note has the reason. MuJoCo's
    warnings are in the note of the first body with a mass.
    """
    messages: list[str] = []
    model, reason = _compile_if_small(document, messages)
    if model is None:
        note = f"{_FROM_GEOMS_NOTE}, {reason}"
        return {body.start_byte: CompiledBody(None, note) for body in bodies}
    if model.nbody - 1 == len(bodies):
        compiled = {
            body.start_byte: read_compiled_body(model, n) for n, body in enumerate(bodies, 1)
        }
    else:
        compiled = _match_by_name(document, bodies, model)
    first = next((start for start, body in compiled.items() if body.phi is not None), None)
    if first is not None:
        texts = dict.fromkeys(map(one_line, messages))
        notes = filter(None, (compiled[first].note, *(f"MuJoCo warns: {text}" for text in texts)))
        compiled[first] = compiled[first]._replace(note="; ".join(notes))
    return compiled


def _compile_if_small(
    document: XmlDocument, messages: list[str]
) -> tuple[_CompiledModel | None, str]:
    """Return MuJoCo's model of a file, or None and the reason; warnings go to `messages`."""
    try:
        mujoco = importlib.import_module("mujoco")
    except ImportError:
        return None, "which needs MuJoCo: pip install mujoco"
    if excess := size_excess(document):
        return None, f"and {excess}"
    with capture_warnings(mujoco, messages):
        model, reason = _compile(mujoco, document)
    return model, f"but MuJoCo does not compile it: {reason}"


def size_excess(document: XmlDocument) -> str:
    """Return the reason for not compiling a file of implausible size, or an empty string."""
    bodies, stack = 0, [(document.root, 1)]
    while stack:
        element, copies = stack.pop()
        copies *= _cell_count(element, "count") if element.tag in TRANSPARENT_ELEMENTS else 1
        bodies += copies if element.tag in _BODY_TAGS else 0
        if bodies > _MAX_BODIES:
            return f"the file makes over {_MAX_BODIES} bodies and geoms, which are not compiled"
        if _cell_count(element, *_CELL_COUNTS) > _MAX_CELLS:
            return (
                f"its <{element.tag}> in line {element.line} declares over {_MAX_CELLS:.0e} "
                f"cells, which are not compiled"
            )
        stack.extend((child, copies) for child in element.children)
    return ""


def _cell_count(element: XmlElement, *names: str) -> int:
    """Return the product of integer attributes; absent attributes count as 1."""
    words = " ".join(element.attributes.get(name, "1") for name in names).split()
    return math.prod(int(word) for word in words if word.isdecimal())


def _compile(mujoco: ModuleType, document: XmlDocument) -> tuple[_CompiledModel | None, str]:
    """Compile a file without the settings that change bodies, and with valid explicit inertias.

    Explicit inertias are read from the file, and `MujocoCompiler` applies the settings.
    """
    try:
        spec = mujoco.MjSpec.from_file(str(document.path))
        compiler = spec.compiler
        compiler.fusestatic = compiler.balanceinertia = False
        compiler.boundmass = compiler.boundinertia = 0.0
        compiler.settotalmass = -1.0
        for body in spec.bodies:
            if body.explicitinertial:
                body.mass = max(float(body.mass), MUJOCO_MIN_FULL_INERTIA)
                body.inertia = np.ones(3)
                body.fullinertia = np.full(6, np.nan)
        return spec.compile(), ""
    except (ValueError, OSError, RuntimeError, mujoco.FatalError) as error:
        return None, one_line(str(error))


@contextmanager
def capture_warnings(mujoco: ModuleType, messages: list[str]) -> Iterator[None]:
    """Collect MuJoCo's warnings, which would go to the terminal and to its log file."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(messages.append)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        messages += [str(warning.message) for warning in caught]
    finally:
        mujoco.set_mju_user_warning(before)


def one_line(text: str) -> str:
    """Return a message on one line, of 300 characters at most."""
    return plain_text(" ".join(text.split()), 300)


def _match_by_name(
    document: XmlDocument, bodies: Sequence[XmlElement], model: _CompiledModel
) -> dict[int, CompiledBody]:
    """Match bodies by name, if MuJoCo's model and the file differ in the number of bodies."""
    numbers = {model.body(n).name: n for n in range(1, model.nbody)}
    separators = _separators(document)
    unnamed = "MuJoCo creates further bodies from the file; give it a name to identify it"
    matches: dict[int, CompiledBody] = {}
    for body in bodies:
        name = body.attributes.get("name", "")
        if not name:
            matches[body.start_byte] = CompiledBody(None, unnamed)
        elif name in numbers:
            matches[body.start_byte] = read_compiled_body(model, numbers[name])
        else:
            matches[body.start_byte] = _first_copy(
                model, name, numbers, separators.get(body.start_byte, ())
            )
    return matches


def _first_copy(
    model: _CompiledModel, name: str, numbers: Mapping[str, int], separators: tuple[str, ...]
) -> CompiledBody:
    """Return the first copy of a body by `<replicate>`, which appends an index to names."""
    ending = "".join(rf"{re.escape(separator)}\d+" for separator in separators)
    pattern = re.compile(re.escape(name) + ending)
    copies = [number for known, number in numbers.items() if pattern.fullmatch(known)]
    if not separators or not copies:
        return CompiledBody(None, "MuJoCo's model has no body of its name")
    first = read_compiled_body(model, min(copies))
    return first._replace(note=f"the first of {len(copies)} copies by <replicate>")


def _separators(document: XmlDocument) -> dict[int, tuple[str, ...]]:
    """Return the separators of name and index for each element, innermost `<replicate>` first."""
    separators: dict[int, tuple[str, ...]] = {}
    stack: list[tuple[XmlElement, tuple[str, ...]]] = [(document.root, ())]
    while stack:
        element, enclosing = stack.pop()
        separators[element.start_byte] = enclosing
        if element.tag == "replicate":
            enclosing = (element.attributes.get("sep", ""), *enclosing)
        stack.extend((child, enclosing) for child in element.children)
    return separators


def read_compiled_body(model: _CompiledModel, number: int) -> CompiledBody:
    """Return a body of MuJoCo's model by its number."""
    mass = float(model.body_mass[number])
    if mass == 0.0:
        return CompiledBody(None)
    numbers = (model.body_ipos, model.body_iquat, model.body_inertia)
    pos, quat, moments = (np.array(array[number]) for array in numbers)
    return CompiledBody(MujocoInertial(np.array(mass), pos, quat, moments).to_phi())
