"""The controllers by name, as `controllers.toml` says them, and bodies as their settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from identify.arrays import PhiLike
from identify.documents import lookup, read_toml
from identify.errors import ModelError
from identify.exchange.controllers.figures import (
    Figures,
    Payload,
    principal_figures,
    screen_figures,
    tensor_figures,
)
from identify.exchange.estimate_views import EstimateViews
from identify.inertia import InertialParameters
from identify.inertia.consistency import BodyKind
from identify.inertia.verdict import check

HEAVIEST = 3000.0
"""Heaviest mass that is taken for a payload [kg]: the largest arms carry about 2300 kg."""

LIGHTEST = 1e-6
"""Lightest mass that is taken for a payload [kg]: a milligram."""

FARTHEST = 10.0
"""Farthest centre of mass from the flange, and largest radius of gyration, of a payload [m]."""

SMALLEST_ABB_MASS = 0.001
"""Mass of RAPID's own `load0` [kg], the smallest load that is written."""

LARGEST_UR_INERTIA = 133.0
"""Largest magnitude of each entry of the matrix [kg m²]; beyond it the script stops."""


@dataclass(frozen=True, slots=True)
class Export:
    """A body as text to paste, or to type where a controller has a screen only.

    Attributes:
        text: the text.
        lost: what the text does not say of the body, or says otherwise, a sentence each.
        notes: units, frames and what to see to before it is used.
    """

    text: str
    lost: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Controller:
    """A controller that takes a payload.

    Attributes:
        name: what it is called here.
        title: maker and what is written, for lists.
        about: in whose frame its numbers are, that of the "flange", of the "tool", or "any".
        figures: the numbers of a payload that its template takes.
        template: of the text, with a `$word` for each number.
        notes: units, frames and what to see to before it is used.
        read_back: where to look whether the controller took the numbers.
        lost: what the text never says.
        comment: what a line of a comment begins with; nothing where there are no comments.
    """

    name: str
    title: str
    about: Literal["flange", "tool", "any"]
    figures: Callable[[Payload], Figures]
    template: str
    notes: tuple[str, ...]
    read_back: str
    lost: tuple[str, ...] = ()
    comment: str = ""


def _abb(payload: Payload, **options: str) -> Figures:
    """Those of principal axes; a body may be too light, or have too many zeros for RAPID."""
    if payload.mass < SMALLEST_ABB_MASS:
        raise ModelError(
            f"a mass of {payload.mass:g} kg; expected {SMALLEST_ABB_MASS:g} kg (that of "
            f"load0) or more: use load0 in its place"
        )
    figures = principal_figures(payload, **options)
    notes = ()
    if not payload.inertia.any():
        notes += ("ix, iy and iz of zero: the controller takes the load for a point mass",)
    if not any(float(figures.words[axis]) for axis in "xyz"):
        notes += ("a cog of [0, 0, 0]: load0 itself has 0.001 mm, and so may yours",)
    return figures._replace(notes=notes)


def _ur(payload: Payload) -> Figures:
    """Those of the whole matrix, which may be too large."""
    largest = float(np.abs(payload.inertia).max())
    if largest > LARGEST_UR_INERTIA:
        raise ModelError(
            f"an inertia of {largest:.4g} kg m² about the centre of mass; "
            f"set_target_payload takes at most {LARGEST_UR_INERTIA:g}: check the units"
        )
    return tensor_figures(payload)


_FIGURES: Mapping[str, Callable[..., Figures]] = {
    "abb": _abb,
    "principal": principal_figures,
    "screen": screen_figures,
    "tensor": tensor_figures,
    "ur": _ur,
}


def controller_of(name: str, entry: Mapping[str, Any]) -> Controller:
    """The controller that a table of `controllers.toml` describes."""
    return Controller(
        name,
        entry["title"],
        entry["about"],
        partial(_FIGURES[entry["figures"]], **entry.get("options", {})),
        entry["template"],
        tuple(entry["notes"]),
        entry["read_back"],
        tuple(entry.get("lost", ())),
        entry.get("comment", ""),
    )


def _read_controllers() -> Mapping[str, Controller]:
    tables = read_toml(
        Path(str(files("identify.exchange.controllers").joinpath("controllers.toml")))
    )
    return MappingProxyType({name: controller_of(name, entry) for name, entry in tables.items()})


CONTROLLERS: Mapping[str, Controller] = _read_controllers()
"""Every controller by its name. A new one is an entry in `controllers.toml`."""


def checked_payload(body: PhiLike, *, largest_mass: float = HEAVIEST) -> Payload:
    """The payload of a body about the flange.

    Args:
        body: ten parameters about the origin of the flange's frame, in its axes, shape (10,).
        largest_mass: what the arm may carry [kg].

    Raises:
        ModelError: an impossible body, no mass, or a size that no arm carries.
    """
    body = InertialParameters.single(body)
    if not largest_mass > 0.0:
        raise ModelError(f"largest mass: expected a positive number [kg], got {largest_mass:g}")
    if not body.mass > 0.0:
        raise ModelError(
            f"payload: a mass of {body.mass:g} kg; a controller needs a positive one: check the "
            f"sign of the measured wrench, or subtract the tool from the tool with its load"
        )
    verdict = check(body.phi)
    if verdict.impossible:
        raise ModelError(
            f"payload: {verdict}; fit it with the physical constraints, or write the nearest "
            f"possible body in its place"
        )
    if body.mass > largest_mass:
        raise ModelError(
            f"payload: a mass of {body.mass:g} kg; at most {largest_mass:g} kg may be carried: "
            f"check the units, or name the arm's own limit"
        )
    if body.mass < LIGHTEST:
        raise ModelError(
            f"payload: a mass of {body.mass:g} kg; expected {LIGHTEST:g} kg or more: "
            f"check the units"
        )
    distance = float(np.linalg.norm(body.com))
    if distance > FARTHEST:
        raise ModelError(
            f"payload: the centre of mass is {distance:.3g} m from the flange, expected at most "
            f"{FARTHEST:g} m: check the units, and give the body about the flange "
            f"(--frame; in Python, in_frame)"
        )
    gyration = float(np.sqrt(0.5 * max(np.trace(body.inertia_about_com), 0.0) / body.mass))
    if gyration > FARTHEST:
        raise ModelError(
            f"payload: a radius of gyration of {gyration:.3g} m about the centre of mass, expected "
            f"at most {FARTHEST:g} m: check the units of the inertia"
        )
    inertia = np.zeros((3, 3)) if verdict.kind == BodyKind.POINT else body.inertia_about_com
    return Payload(body.mass, body.com, inertia)


def payload_setting(
    controller: str, body: PhiLike | EstimateViews, *, largest_mass: float = HEAVIEST
) -> Export:
    """A body as the payload setting of a controller.

    Args:
        controller: one of `CONTROLLERS`.
        body: an estimate, which knows where the flange is; or ten parameters about the origin of
            the flange's (ABB payloads: the tool's) frame, in its axes, shape (10,).
        largest_mass: what the arm may carry [kg].

    Raises:
        ModelError: an unknown controller, an impossible body, one out of the range that the
            controller or any arm takes, or an estimate of which nobody knows where the flange is.
    """
    entry = lookup(CONTROLLERS, controller, "controller", ModelError)
    about: tuple[str, ...] = ()
    if isinstance(body, EstimateViews):
        body, said = _in_its_frame(entry, body)
        about = (said,)
    payload = checked_payload(body, largest_mass=largest_mass)
    try:
        words, lost, notes = entry.figures(payload)
    except ModelError as error:
        raise ModelError(f"{controller}: {error}") from error
    text = Template(entry.template).substitute(words)
    back = f"read back, before the robot moves: {entry.read_back}"
    return Export(text, (*lost, *entry.lost), (*about, *entry.notes, *notes, back))


def _in_its_frame(entry: Controller, estimate: EstimateViews) -> tuple[InertialParameters, str]:
    """The body in the frame that a controller asks for, and which that is, in words.

    Raises:
        ModelError: nobody knows where that frame is.
    """
    frames = estimate.frames
    if entry.about == "any":
        return estimate.parameters, f"about {estimate.frame_in_words}, in its axes"
    frame, wanted = "flange", frames.flange
    if entry.about == "tool":
        frame, wanted = "tool point", frames.tcp
    if wanted is None:
        raise ModelError(_unknown(entry, estimate, frame))
    table = "[body.flange]" if frames.tcp is None else "[body.tcp]"
    return estimate.parameters.in_frame(wanted.inverse()), f"about the {frame}, from {table}"


def _unknown(entry: Controller, estimate: EstimateViews, frame: str) -> str:
    schema = "[body.tcp] pose"
    if frame == "flange":
        schema = "[body.flange] translation and quaternion (or [body.tcp] of a log of a tool point)"
    return (
        f"{entry.name}: the setting is about the {frame}, and it is not known where that is in "
        f"{estimate.frame_in_words}. Either say it in the schema of the log, {schema}, and fit "
        f"again; or here: --at X Y Z RX RY RZ, the pose of B in the frame of the {frame} "
        f"(--at 0 0 0 0 0 0 says that they are the same), or --frame, the other way round. In "
        f"Python, give estimate.parameters.in_frame(pose of B in the frame of the {frame})"
    )
