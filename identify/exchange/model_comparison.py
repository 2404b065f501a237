"""Comparison of two models of one robot, such as a URDF and its conversion to MJCF, SDF or USD."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from identify.arrays import Phi
from identify.exchange.model_format import LinkJoint
from identify.exchange.models import detect_format
from identify.exchange.simulated_bodies import (
    LinkedModel,
    SimulatedBody,
    body_in_own_program,
    fused_bodies,
)
from identify.exchange.usd import USD_SUFFIXES, read_stage
from identify.exchange.xml_document import read_xml
from identify.inertia.matrices import inertia_about_com

_SAME_BODY = 1e-3
"""Largest relative difference of two bodies that are the same but for rounding."""

_NO_INERTIA = 1e-13
"""Ratio to the inertia of another body below which one has none but for rounding."""


_NO_IDENTIFIER = re.compile(r"^(?=\d)|\W", re.ASCII)
"""Places of a name that OpenUSD writes as `_`."""


@dataclass(frozen=True, slots=True)
class MergedModel:
    """Moving bodies of a model, with the links that are fixed to them.

    Attributes:
        path: the file.
        bodies: ten parameters by name of the first link, about its origin, shape (10,); None for
            a body that the file does not determine.
        merged: names of the links that are part of another, by name of its first link.
        total_mass: of all links [kg].
    """

    path: Path
    bodies: Mapping[str, Phi | None]
    merged: Mapping[str, tuple[str, ...]]
    total_mass: float


def merged_model(path: Path) -> MergedModel:
    """Read the bodies of a model in its own program, with links of fixed joints merged.

    Raises `MissingFile`, `MissingExtra` or `ModelError`: as `read_model` does.
    """
    joints, alone = _single_bodies(path)
    first, bodies = fused_bodies(joints, alone)
    masses = [float(body.phi[0]) for body in alone.values() if body.phi is not None]
    return MergedModel(
        path,
        {name: bodies[name].phi for name in bodies if first[name] == name},
        {
            name: tuple(member for member in first if first[member] == name != member)
            for name in bodies
        },
        sum(masses),
    )


def _single_bodies(path: Path) -> tuple[Mapping[str, LinkJoint], dict[str, SimulatedBody]]:
    """Return the joints of a model, and the body of each link in its own program."""
    if path.suffix.lower() in USD_SUFFIXES:
        stage = read_stage(path)
        return stage.joints, {
            link.name: SimulatedBody(np.zeros(10) if link.massless else link.phi)
            for link in stage.links
        }
    document = read_xml(path)
    form = detect_format(document)
    model = LinkedModel.of_document(document, form)
    alone: dict[str, SimulatedBody] = {}
    for entry in model.entries:
        body = body_in_own_program(document, form, entry)
        if body.phi is None and entry.inertia.massless:
            body = body._replace(phi=np.zeros(10))
        alone[entry.inertia.name] = body
    return model.joints, alone


def merged_pair(first: Path, second: Path) -> tuple[MergedModel, MergedModel]:
    """Read two models of one robot; if one is of USD, both have names that its prims may have.

    Raises `MissingFile`, `MissingExtra` or `ModelError`: as `read_model` does.
    """
    a, b = merged_model(first), merged_model(second)
    if not any(path.suffix.lower() in USD_SUFFIXES for path in (first, second)):
        return a, b
    return _with_prim_names(a), _with_prim_names(b)


def _with_prim_names(model: MergedModel) -> MergedModel:
    names = {name: _NO_IDENTIFIER.sub("_", name) for name in model.bodies}
    if len(set(names.values())) < len(names):
        return model
    return replace(model, bodies={names[name]: body for name, body in model.bodies.items()})


def difference(a: Phi, b: Phi) -> str:
    """Return in words how two bodies of one link differ; empty if they do by rounding alone."""
    masses = float(a[0]), float(b[0])
    if not (masses[0] > 0.0 and masses[1] > 0.0):
        return "" if masses[0] == masses[1] else f"{masses[0]:.6g} kg and {masses[1]:.6g} kg"
    parts = []
    if abs(masses[1] - masses[0]) > _SAME_BODY * masses[0]:
        parts.append(f"{masses[0]:.6g} kg and {masses[1]:.6g} kg")
    inertia, other = inertia_about_com(a) / masses[0], inertia_about_com(b) / masses[1]
    radius = float(np.sqrt(0.5 * np.trace(inertia)))
    distance = float(np.linalg.norm(b[1:4] / masses[1] - a[1:4] / masses[0]))
    if distance > _SAME_BODY * radius:
        parts.append(f"centres of mass {1e3 * distance:.3g} mm apart")
    smaller, larger = sorted(float(np.abs(matrix).max()) for matrix in (inertia, other))
    off = float(np.abs(other - inertia).max()) / max(larger, 1e-300)
    if smaller < _NO_INERTIA * larger:
        parts.append("one without inertia")
    elif smaller < 0.1 * larger:
        parts.append(f"inertia per mass {larger / smaller:.3g} times as large in one")
    elif off > _SAME_BODY:
        parts.append(f"inertia per mass {100.0 * off:.3g} % apart")
    return ", ".join(parts)


def model_differences(a: MergedModel, b: MergedModel) -> dict[str, str]:
    """Return in words how the bodies of two models differ, by name; only of those that do."""
    texts: dict[str, str] = {}
    for name in dict.fromkeys((*a.bodies, *b.bodies)):
        mine, theirs = a.bodies.get(name, np.zeros(10)), b.bodies.get(name, np.zeros(10))
        if mine is None or theirs is None:
            texts[name] = f"not known in {(a if mine is None else b).path}"
        elif name not in a.bodies or name not in b.bodies:
            body, model = (mine, a) if name in a.bodies else (theirs, b)
            if body.any():
                texts[name] = f"{body[0]:.6g} kg in {model.path} alone"
        elif text := difference(mine, theirs):
            texts[name] = text
    return texts


def comparison_lines(
    a: MergedModel, b: MergedModel, differences: Mapping[str, str]
) -> Iterator[str]:
    """Yield the differences of two models, the links merged in them, and their total masses."""
    for name, text in differences.items():
        yield f"{name}: {text}"
    for model in (a, b):
        for name, members in model.merged.items():
            if members:
                yield f"{model.path}: {name} includes {', '.join(members)} (fixed)"
    same = len(a.bodies.keys() & b.bodies.keys() - differences.keys())
    yield f"Within {100.0 * _SAME_BODY:g} % agree {same} bodies; {len(differences)} differ."
    yield f"Total mass: {a.total_mass:.6g} kg and {b.total_mass:.6g} kg."
