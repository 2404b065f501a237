"""Inertia of MJCF bodies from their geoms, which only MuJoCo's own compiler tells.

It is called on files no larger than they should be, and without its noise.
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
from identify.inertia.conventions.simulators import MIN_FULL_INERTIA, MujocoInertial

_FROM_GEOMS = "its inertia comes from its geoms"
_SAID_ELSEWHERE = "settotalmass"
"""What a warning is about that every link's note speaks of."""

_SHARING = ("frame", "replicate", "composite", "flexcomp")
"""Elements whose geoms belong to the body around them."""

_OF_BODIES = ("body", "geom", "composite", "flexcomp")
_MOST_COPIES, _MOST_CELLS = 10_000, 10**8
"""Bodies and geoms that a file may make, and cells or pixels that one element may declare."""

_CELLS = ("nrow", "ncol", "width", "height", "nkey")


class _Named(Protocol):
    name: str


class _CompiledModel(Protocol):
    """What is read of MuJoCo's `MjModel`."""

    nbody: int
    body_mass: Array
    body_ipos: Array
    body_iquat: Array
    body_inertia: Array

    def body(self, number: int, /) -> _Named: ...


class CompiledBody(NamedTuple):
    """What MuJoCo says of a body; phi is None for one without mass, and where the note says why."""

    phi: Phi | None
    note: str = ""


def has_geoms(body: XmlElement) -> bool:
    """Whether a body has geoms of its own."""
    stack = list(body.children)
    while stack:
        element = stack.pop()
        if element.tag == "geom":
            return True
        if element.tag in _SHARING:
            stack.extend(element.children)
    return False


def compiled_bodies(document: XmlDocument, bodies: Sequence[XmlElement]) -> dict[int, CompiledBody]:
    """What MuJoCo makes of a file's bodies, by the byte that each begins at.

    Where MuJoCo is not installed, or does not compile the file, every note says so. The first with
    a mass says what MuJoCo warned of.
    """
    said: list[str] = []
    model, why = _compiled(document, said)
    if model is None:
        note = f"{_FROM_GEOMS}, {why}"
        return {body.start: CompiledBody(None, note) for body in bodies}
    if model.nbody - 1 == len(bodies):
        found = {body.start: _read(model, n) for n, body in enumerate(bodies, 1)}
    else:
        found = _by_name(document, bodies, model)
    first = next((start for start, body in found.items() if body.phi is not None), None)
    if first is not None:
        texts = dict.fromkeys(_line(text) for text in said if _SAID_ELSEWHERE not in text)
        notes = filter(None, (found[first].note, *(f"MuJoCo warns: {text}" for text in texts)))
        found[first] = found[first]._replace(note="; ".join(notes))
    return found


def _compiled(document: XmlDocument, said: list[str]) -> tuple[_CompiledModel | None, str]:
    """MuJoCo's model of a file, or None and why; what it warns of is added to `said`."""
    try:
        mujoco = importlib.import_module("mujoco")
    except ImportError:
        return None, "which needs MuJoCo: pip install mujoco"
    if why := _too_large(document):
        return None, f"and {why}"
    with _listening(mujoco, said):
        model, reason = _compile(mujoco, document)
    return model, f"but MuJoCo does not compile it: {reason}"


def _too_large(document: XmlDocument) -> str:
    """The reason not to compile a file that declares far more than a model has; else nothing."""
    bodies, stack = 0, [(document.root, 1)]
    while stack:
        element, copies = stack.pop()
        copies *= _product(element, "count") if element.tag in _SHARING else 1
        bodies += copies if element.tag in _OF_BODIES else 0
        if bodies > _MOST_COPIES:
            return f"the file makes over {_MOST_COPIES} bodies and geoms, which are not compiled"
        if _product(element, *_CELLS) > _MOST_CELLS:
            return (
                f"its <{element.tag}> in line {element.line} declares over {_MOST_CELLS:.0e} "
                f"cells, which are not compiled"
            )
        stack.extend((child, copies) for child in element.children)
    return ""


def _product(element: XmlElement, *names: str) -> int:
    """The product of the whole numbers in attributes; those that are absent count as one."""
    words = " ".join(element.attributes.get(name, "1") for name in names).split()
    return math.prod(int(word) for word in words if word.isdecimal())


def _compile(mujoco: ModuleType, document: XmlDocument) -> tuple[_CompiledModel | None, str]:
    """The model as it is; where that is refused or fused, one that tells the bodies from geoms.

    In that, possible inertias stand in the place of those of `<inertial>`, which are read
    elsewhere. The masses stay, as `settotalmass` counts them.
    """
    refusals = (ValueError, OSError, RuntimeError, mujoco.FatalError)
    model, reason = None, ""
    try:
        model = mujoco.MjModel.from_xml_path(str(document.path))
    except refusals as error:
        reason = _line(str(error))
    compilers = document.root.all("compiler")
    fused = any(compiler.attributes.get("fusestatic") == "true" for compiler in compilers)
    if model is not None and not fused:
        return model, ""
    try:
        spec = mujoco.MjSpec.from_file(str(document.path))
        spec.compiler.fusestatic = False
        always = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
        if spec.compiler.inertiafromgeom != always:
            for body in spec.bodies:
                if body.explicitinertial:
                    body.mass = max(float(body.mass), MIN_FULL_INERTIA)
                    body.inertia = np.ones(3)
                    body.fullinertia = np.full(6, np.nan)
        return spec.compile(), ""
    except refusals:
        return model, reason  # of the file as it is, not of what was made of it here


@contextmanager
def _listening(mujoco: ModuleType, said: list[str]) -> Iterator[None]:
    """Keeps what MuJoCo warns of off the terminal and out of its log file."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(said.append)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        said += [str(warning.message) for warning in caught]
    finally:
        mujoco.set_mju_user_warning(before)


def _line(text: str) -> str:
    """A message on one line, of a length for one."""
    return " ".join(text.split())[:200]


def _by_name(
    document: XmlDocument, bodies: Sequence[XmlElement], model: _CompiledModel
) -> dict[int, CompiledBody]:
    """Bodies of a file that MuJoCo makes more or fewer of than stand in it."""
    numbers = {model.body(n).name: n for n in range(1, model.nbody)}
    separators = _separators(document)
    unnamed = "MuJoCo makes other bodies of the file too; give it a name to find it by"
    found: dict[int, CompiledBody] = {}
    for body in bodies:
        name = body.attributes.get("name", "")
        if not name:
            found[body.start] = CompiledBody(None, unnamed)
        elif name in numbers:
            found[body.start] = _read(model, numbers[name])
        else:
            found[body.start] = _first_copy(model, name, numbers, separators.get(body.start, ()))
    return found


def _first_copy(
    model: _CompiledModel, name: str, numbers: Mapping[str, int], separators: tuple[str, ...]
) -> CompiledBody:
    """The first of the bodies that `<replicate>` makes of one: its name and an index for each."""
    ending = "".join(rf"{re.escape(separator)}\d+" for separator in separators)
    pattern = re.compile(re.escape(name) + ending)
    copies = [number for known, number in numbers.items() if pattern.fullmatch(known)]
    if not separators or not copies:
        return CompiledBody(None, "MuJoCo's compiler leaves no body of its name")
    first = _read(model, min(copies))
    return first._replace(note=f"the first of {len(copies)} that <replicate> makes of it")


def _separators(document: XmlDocument) -> dict[int, tuple[str, ...]]:
    """What stands between name and index, for each `<replicate>` around a body, innermost first."""
    found: dict[int, tuple[str, ...]] = {}
    stack: list[tuple[XmlElement, tuple[str, ...]]] = [(document.root, ())]
    while stack:
        element, around = stack.pop()
        found[element.start] = around
        if element.tag == "replicate":
            around = (element.attributes.get("sep", ""), *around)
        stack.extend((child, around) for child in element.children)
    return found


def _read(model: _CompiledModel, number: int) -> CompiledBody:
    mass = float(model.body_mass[number])
    if mass == 0.0:
        return CompiledBody(None)
    numbers = (model.body_ipos, model.body_iquat, model.body_inertia)
    pos, quat, moments = (np.array(array[number]) for array in numbers)
    return CompiledBody(MujocoInertial(np.array(mass), pos, quat, moments).to_phi())
