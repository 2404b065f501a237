"""Robot controllers by name, from `controllers.toml`, and the payload setting for each."""

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
from identify.exchange.controllers.payload_numbers import (
    Payload,
    PayloadNumbers,
    diagonal_numbers,
    nearest_principal_frame,
    principal_numbers,
    tensor_numbers,
    weight_numbers,
)
from identify.exchange.estimate_views import EstimateViews
from identify.exchange.export_marks import can_be_placed, export_marks, misplaced_origin
from identify.inertia import InertialParameters
from identify.inertia.consistency import BodyKind
from identify.inertia.conventions.mass_properties import without_rounding_noise
from identify.inertia.verdict import check_consistency
from identify.spatial import Pose
from identify.texts import with_comment_lines

MAX_CONTROLLER_PAYLOAD = 3000.0
"""Largest plausible mass of a payload [kg]: the largest arms carry about 2300 kg."""

MIN_CONTROLLER_PAYLOAD = 1e-6
"""Smallest plausible mass of a payload [kg]: a milligram."""

MAX_PAYLOAD_DISTANCE = 10.0
"""Largest plausible distance of a payload's centre of mass from the flange, and radius of gyration
[m]."""

MIN_ABB_MASS = 0.001
"""Mass of RAPID's `load0` [kg], the smallest mass that is written for ABB."""

MAX_UR_INERTIA = 133.0
"""Largest entry of the inertia matrix that URScript accepts [kg m²]; a larger one stops the
script."""


@dataclass(frozen=True, slots=True)
class Export:
    """Text that sets the body in another program or controller, to paste or to type.

    Attributes:
        text: the text.
        lost_information: information on the body that the text lacks or changes, a sentence each.
        notes: units, frames and checks to make before use.
    """

    text: str
    lost_information: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Controller:
    """A robot controller with its format of a payload setting.

    Attributes:
        name: its key in `CONTROLLERS`.
        title: maker and setting, for lists.
        frame: origin and axes of its numbers: the "flange", the "tool", or "any".
        payload_numbers: formats the numbers of a payload for its template.
        template: text with a `$word` for each number.
        notes: units, frames and checks to make before use.
        read_back: where the controller shows the numbers that it took.
        lost_information: information that the text never holds.
        comment: prefix of a comment line; empty if the format has no comments.
        zero_inertia: what the controller takes an inertia of zero for; empty if no source says it.
        principal: whether the moments are along the principal axes.
        weight_only: whether the text has no inertia.
    """

    name: str
    title: str
    frame: Literal["flange", "tool", "any"]
    payload_numbers: Callable[[Payload], PayloadNumbers]
    template: str
    notes: tuple[str, ...]
    read_back: str
    lost_information: tuple[str, ...] = ()
    comment: str = ""
    zero_inertia: str = ""
    principal: bool = False
    weight_only: bool = False


def _abb_numbers(payload: Payload, **options: str) -> PayloadNumbers:
    """Format principal moments for RAPID, with notes on zeros, which have another meaning there."""
    if payload.mass < MIN_ABB_MASS:
        raise ModelError(
            f"a mass of {payload.mass:g} kg; expected {MIN_ABB_MASS:g} kg (that of "
            f"load0) or more: use load0 instead"
        )
    numbers = principal_numbers(payload, **options)
    notes = ()
    if not payload.inertia.any():
        notes += ("ix, iy and iz of zero: the controller takes the load for a point mass",)
    if not any(float(numbers.by_name[axis]) for axis in "xyz"):
        notes += ("a cog of [0, 0, 0]: load0 itself has 0.001 mm, and so may yours",)
    return numbers._replace(notes=notes)


def _ur_numbers(payload: Payload) -> PayloadNumbers:
    """Format the inertia matrix for URScript, and check its size."""
    largest = float(np.abs(payload.inertia).max())
    if largest > MAX_UR_INERTIA:
        raise ModelError(
            f"an inertia of {largest:.4g} kg m² about the centre of mass; "
            f"set_target_payload takes at most {MAX_UR_INERTIA:g}: check the units"
        )
    return tensor_numbers(payload)


_NUMBER_FORMATS: Mapping[str, Callable[..., PayloadNumbers]] = {
    "abb": _abb_numbers,
    "principal": principal_numbers,
    "screen": diagonal_numbers,
    "tensor": tensor_numbers,
    "ur": _ur_numbers,
    "weight": weight_numbers,
}
"""Function that formats a payload's numbers, by its name in `controllers.toml`."""


def parse_controller(name: str, entry: Mapping[str, Any]) -> Controller:
    """Return the controller that a table of `controllers.toml` describes."""
    return Controller(
        name,
        entry["title"],
        entry["about"],
        partial(_NUMBER_FORMATS[entry["figures"]], **entry.get("options", {})),
        entry["template"],
        tuple(entry["notes"]),
        entry["read_back"],
        tuple(entry.get("lost", ())),
        entry.get("comment", ""),
        entry.get("zero_inertia", ""),
        entry["figures"] in ("abb", "principal"),
        entry["figures"] == "weight",
    )


def _read_controllers() -> Mapping[str, Controller]:
    tables = read_toml(
        Path(str(files("identify.exchange.controllers").joinpath("controllers.toml")))
    )
    return MappingProxyType({name: parse_controller(name, entry) for name, entry in tables.items()})


CONTROLLERS: Mapping[str, Controller] = _read_controllers()
"""Every controller by its name. A new one is an entry in `controllers.toml`."""


def check_payload(body: PhiLike, *, largest_mass: float = MAX_CONTROLLER_PAYLOAD) -> Payload:
    """Return a body about the flange as a payload, if its mass and extent are plausible.

    `body`: ten parameters about the origin of the flange's frame, in its axes, shape (10,);
    `largest_mass`: rated payload of the arm [kg].
    Raises `ModelError`: the body is not physically consistent, has no mass, or is too large.
    """
    body = InertialParameters.single(body)
    if not largest_mass > 0.0:
        raise ModelError(f"largest mass: expected a positive number [kg], got {largest_mass:g}")
    if not body.mass > 0.0:
        raise ModelError(
            f"payload: a mass of {body.mass:g} kg; a controller needs a positive one: check the "
            f"sign of the measured wrench, or subtract the tool from the tool with its load"
        )
    verdict = check_consistency(body.phi)
    if verdict.impossible:
        raise ModelError(
            f"payload: {verdict}; fit it with the physical constraints, or replace it by the "
            f"nearest physically consistent body"
        )
    if body.mass > largest_mass:
        raise ModelError(
            f"payload: a mass of {body.mass:g} kg; expected at most {largest_mass:g} kg: "
            f"check the units, or give the rated payload of the arm"
        )
    if body.mass < MIN_CONTROLLER_PAYLOAD:
        raise ModelError(
            f"payload: a mass of {body.mass:g} kg; expected {MIN_CONTROLLER_PAYLOAD:g} kg or more: "
            f"check the units"
        )
    distance = float(np.linalg.norm(body.com))
    if distance > MAX_PAYLOAD_DISTANCE:
        raise ModelError(
            f"payload: the centre of mass is {distance:.3g} m from the flange, expected at most "
            f"{MAX_PAYLOAD_DISTANCE:g} m: check the units, and give the body about the flange "
            f"(--frame; in Python, in_frame)"
        )
    gyration = float(np.sqrt(0.5 * max(np.trace(body.inertia_about_com), 0.0) / body.mass))
    if gyration > MAX_PAYLOAD_DISTANCE:
        raise ModelError(
            f"payload: a radius of gyration of {gyration:.3g} m about the centre of mass, expected "
            f"at most {MAX_PAYLOAD_DISTANCE:g} m: check the units of the inertia"
        )
    mass, com, inertia = without_rounding_noise(body.phi)
    return Payload(float(mass), com, 0.0 * inertia if verdict.kind == BodyKind.POINT else inertia)


def payload_setting(
    controller: str,
    body: PhiLike | EstimateViews,
    *,
    X_AB: Pose | None = None,
    largest_mass: float = MAX_CONTROLLER_PAYLOAD,
) -> Export:
    """Return the payload setting of a controller for a body.

    Quantities that an estimate decides too poorly are marked in the text, see `export_marks`. An
    inertia that the log does not tell from zero is left out where the controller documents what
    zero means.

    Args:
        controller: one of `CONTROLLERS`.
        body: an estimate with the pose of the flange; or ten parameters about the origin of
            the flange's (ABB payloads: the tool's) frame, in its axes, shape (10,).
        X_AB: pose of the body's frame in that of the flange (tool), instead of the estimate's.
        largest_mass: rated payload of the arm [kg].

    Raises:
        ModelError: an unknown controller, a body that is not physically consistent or out of the
            range that the controller or any arm takes, or an estimate without the flange's pose.
    """
    entry = lookup(CONTROLLERS, controller, "controller", ModelError)
    about: tuple[str, ...] = ()
    pose_given = X_AB is not None
    if isinstance(body, EstimateViews) and X_AB is None:
        X_AB, frame_note = _pose_in_controller_frame(entry, body)
        about = (frame_note,)
    X_AB = X_AB or Pose.identity()
    parameters = InertialParameters.single(body).in_frame(X_AB)
    payload = check_payload(parameters, largest_mass=largest_mass)
    if entry.principal:  # A to the axes of the numbers
        X_AB = Pose(nearest_principal_frame(payload.inertia)[1].T, np.zeros(3)) @ X_AB
    marks = export_marks(
        body,
        X_AB,
        pose_given=pose_given,
        zero_inertia=entry.zero_inertia,
        principal=entry.principal,
    )
    if entry.weight_only:
        marks = marks.of_the_weight()
    if marks.inertia_left_out:
        payload = payload._replace(inertia=np.zeros((3, 3)))
    try:
        by_name, lost, notes = entry.payload_numbers(payload)
    except ModelError as error:
        raise ModelError(f"{controller}: {error}") from error
    text = Template(entry.template).substitute(by_name, label=marks.label)
    read_back = f"read back, before the robot moves: {entry.read_back}"
    text = with_comment_lines(text, entry.comment, marks.lines)
    remarks = (*marks.notes("" if entry.comment else controller), *about, *entry.notes, *notes)
    return Export(text, (*lost, *entry.lost_information), (*remarks, read_back))


def _pose_in_controller_frame(entry: Controller, estimate: EstimateViews) -> tuple[Pose, str]:
    """Return the pose of B in the frame that the controller requires, and a note on that frame.

    Raises `ModelError`: the estimate has no pose of that frame.
    """
    frames = estimate.frames
    if entry.frame == "any":
        return Pose.identity(), f"about {estimate.frame_description}, in its axes"
    frame, pose = "flange", frames.flange
    if entry.frame == "tool":
        frame, pose = "tool point", frames.tcp
    if pose is None:
        raise ModelError(_unknown_frame_message(entry, estimate, frame))
    if frames.tcp is None and np.array_equal(pose.matrix, np.eye(4)):
        return pose, f"about the {frame}, which is {estimate.frame_description}"
    table = "[body.flange]" if frames.tcp is None else "[body.tcp]"
    return pose.inverse(), f"about the {frame}, from {table}"


def _unknown_frame_message(entry: Controller, estimate: EstimateViews, frame: str) -> str:
    if not can_be_placed(estimate):
        remedies = " ".join(f.remedy for f in estimate.findings if f.code == "kinematic_offset")
        return (
            f"{entry.name}: the setting is about the {frame}, but {misplaced_origin(estimate)}\n"
            f"  remedy: {remedies}"
        )
    schema = "[body.tcp] pose"
    if frame == "flange":
        schema = "[body.flange] translation and quaternion (or [body.tcp] of a log of a tool point)"
    return (
        f"{entry.name}: the setting is about the {frame}, whose pose in "
        f"{estimate.frame_description} is not known. Either give it in the schema of the log, "
        f"{schema}, and fit again; or here: --at X Y Z RX RY RZ, the pose of B in the frame of the "
        f"{frame} (--at 0 0 0 0 0 0 if they are the same), or --frame, its inverse. In "
        f"Python, give X_AB, the pose of B in the frame of the {frame}"
    )
