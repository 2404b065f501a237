"""Inertia of MJCF bodies from their geoms, which only MuJoCo's own compiler tells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from identify.arrays import Phi
from identify.exchange.mjcf_compiling import Compiled, compile_mjcf
from identify.exchange.xml_text import XmlDocument, XmlElement
from identify.inertia.conventions.simulators import MujocoInertial

_SHARING = ("frame", "replicate", "composite", "flexcomp")
"""Elements whose geoms belong to the body around them."""


class CompiledBody(NamedTuple):
    """What MuJoCo says of a body; phi is None for one without mass, and where the note says why."""

    phi: Phi | None
    note: str


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

    Where MuJoCo is not installed, or does not compile the file, every note says so.
    """
    compiled = compile_mjcf(document)
    model = compiled.model
    if model is None:
        return {body.start: CompiledBody(None, compiled.why) for body in bodies}
    if model.nbody - 1 == len(bodies):
        found = {body.start: _read(model, n) for n, body in enumerate(bodies, 1)}
    else:
        found = _by_name(document, bodies, model)
    return _with_warnings(found, compiled)


def _by_name(
    document: XmlDocument, bodies: Sequence[XmlElement], model: Any
) -> dict[int, CompiledBody]:
    """Bodies of a file that MuJoCo makes more or fewer of than stand in it."""
    numbers = {model.body(n).name: n for n in range(1, model.nbody)}
    separators = _separators(document)
    found: dict[int, CompiledBody] = {}
    for body in bodies:
        name = body.attributes.get("name", "")
        if not name:
            note = "MuJoCo makes other bodies of the file too; give it a name to find it by"
            found[body.start] = CompiledBody(None, note)
        elif name in numbers:
            found[body.start] = _read(model, numbers[name])
        else:
            found[body.start] = _first_copy(model, name, numbers, separators.get(body.start, ()))
    return found


def _first_copy(
    model: Any, name: str, numbers: Mapping[str, int], separators: tuple[str, ...]
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


def _read(model: Any, number: int) -> CompiledBody:
    mass = float(model.body_mass[number])
    if mass == 0.0:
        return CompiledBody(None, "")
    numbers = (model.body_ipos, model.body_iquat, model.body_inertia)
    pos, quat, moments = (np.array(array[number]) for array in numbers)
    return CompiledBody(MujocoInertial(np.array(mass), pos, quat, moments).to_phi(), "")


def _with_warnings(found: dict[int, CompiledBody], compiled: Compiled) -> dict[int, CompiledBody]:
    """The bodies; the first with a mass says what MuJoCo warned of."""
    first = next((start for start, body in found.items() if body.phi is not None), None)
    if first is None or not compiled.warnings:
        return found
    said = "; ".join((*filter(None, (found[first].note,)), *compiled.warnings))
    return found | {first: found[first]._replace(note=said)}
