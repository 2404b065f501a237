"""MuJoCo's compiler called on an MJCF file: no larger than it should be, and without its noise."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from identify.errors import IdentifyError
from identify.exchange.xml_parser import read_xml
from identify.exchange.xml_text import XmlDocument, XmlElement
from identify.inertia.conventions.simulators import SMALLEST_FULL_INERTIA

MOST_COPIES = 10_000
"""Bodies and geoms that a file may have, those of `<replicate>` and the like counted: seconds."""

_FROM_GEOMS = "its inertia comes from its geoms"
_TOLD_OTHERWISE = "settotalmass"
"""What a warning is about that every link's note speaks of."""


class Compiled(NamedTuple):
    """A compiled model, or None and why; and what MuJoCo warned of."""

    model: Any
    why: str = ""
    warnings: tuple[str, ...] = ()


def compile_mjcf(document: XmlDocument) -> Compiled:
    """MuJoCo's model of a file; where it refuses one, its reason."""
    try:
        mujoco = importlib.import_module("mujoco")
    except ImportError:
        return Compiled(None, f"{_FROM_GEOMS}, which needs MuJoCo: pip install mujoco")
    if _copies(document) > MOST_COPIES:
        return Compiled(
            None,
            f"{_FROM_GEOMS}, and the file makes over {MOST_COPIES} bodies and geoms by "
            f"<replicate> and the like, which are not compiled here",
        )
    said: list[str] = []
    with _listening(mujoco, said):
        model, reason = _compile(mujoco, document)
    if model is None:
        return Compiled(None, f"{_FROM_GEOMS}, but MuJoCo does not compile it: {reason}")
    told = dict.fromkeys(_line(text) for text in said if _TOLD_OTHERWISE not in text)
    return Compiled(model, "", tuple(f"MuJoCo warns: {text}" for text in told))


def _compile(mujoco: Any, document: XmlDocument) -> tuple[Any, str]:
    """The model as it is; where that is refused or fused, one that tells the bodies from geoms."""
    refusals = (ValueError, OSError, RuntimeError, mujoco.FatalError)
    model, reason = None, ""
    try:
        model = mujoco.MjModel.from_xml_path(str(document.path))
    except refusals as error:
        reason = _line(str(error))
    if model is not None and not _is_fused(document):
        return model, ""
    try:
        spec = mujoco.MjSpec.from_file(str(document.path))
        spec.compiler.fusestatic = False
        always = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
        if spec.compiler.inertiafromgeom != always:
            _stand_in(spec)
        return spec.compile(), ""
    except refusals:
        return model, reason  # of the file as it is, not of what was made of it here


def _stand_in(spec: Any) -> None:
    """Possible inertias in the place of those of `<inertial>`, which are read elsewhere.

    The masses stay, as `settotalmass` counts them.
    """
    for body in spec.bodies:
        if body.explicitinertial:
            body.mass = max(float(body.mass), SMALLEST_FULL_INERTIA)
            body.inertia = np.ones(3)
            body.fullinertia = np.full(6, np.nan)


def _is_fused(document: XmlDocument) -> bool:
    return any(c.attributes.get("fusestatic") == "true" for c in document.root.all("compiler"))


def _copies(document: XmlDocument) -> int:
    """How many bodies and geoms a file and those it includes make, copies by macros counted."""
    total, stack = 0, [(document.root, 1)]
    included: set[str] = set()
    while stack:
        element, factor = stack.pop()
        if element.tag in ("replicate", "composite", "flexcomp"):
            factor *= _count(element)
        total += factor * (element.tag in ("body", "geom", "composite", "flexcomp"))
        stack.extend((child, factor) for child in element.children)
        name = element.attributes.get("file", "")
        if element.tag == "include" and name not in included:
            included.add(name)  # MuJoCo refuses a file that is included twice
            stack.extend((root, factor) for root in _roots(document.path.parent / name))
    return total


def _roots(path: Path) -> tuple[XmlElement, ...]:
    """The outermost element of an included file; none where MuJoCo is to say what is wrong."""
    try:
        return (read_xml(path).root,)
    except IdentifyError:
        return ()


def _count(element: XmlElement) -> int:
    """The product of an element's `count`; one where it is not said, or not in numbers."""
    try:
        return math.prod(max(int(float(n)), 1) for n in element.attributes["count"].split())
    except (KeyError, ValueError, OverflowError):
        return 1


@contextmanager
def _listening(mujoco: Any, said: list[str]) -> Iterator[None]:
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
