"""The controllers by name: which numbers each takes, its template, and what it cannot be given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from string import Template
from types import MappingProxyType

import numpy as np

from identify.documents import lookup
from identify.errors import ModelError
from identify.exchange.controllers.figures import (
    SINGLE,
    Figures,
    principal_figures,
    screen_figures,
    tensor_figures,
)
from identify.exchange.controllers.payload import HEAVIEST, Payload, checked_payload
from identify.inertia import InertialParameters
from identify.spatial.vectors import STANDARD_GRAVITY

SMALLEST_ABB_MASS = 0.001
"""Mass of RAPID's own `load0` [kg], the smallest load that is written."""

LARGEST_UR_INERTIA = 133.0
"""Largest magnitude of each entry of the matrix [kg m²]; beyond it the script stops."""

KGF_CM_S2 = STANDARD_GRAVITY * 0.01
"""One kgf cm s² in kg m²: 1 kg m² is 10.197 kgf cm s²."""

_RATED = "the arm's rated payload is not checked unless you name it"


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
        figures: the numbers of a payload that its template takes.
        template: of the text, with a `$word` for each number.
        notes: units, frames and what to see to before it is used.
        lost: what the text never says.
    """

    name: str
    title: str
    figures: Callable[[Payload], Figures]
    template: str
    notes: tuple[str, ...]
    lost: tuple[str, ...] = ()


def _abb(payload: Payload) -> Figures:
    if payload.mass < SMALLEST_ABB_MASS:
        raise ModelError(
            f"a mass of {payload.mass:g} kg; expected {SMALLEST_ABB_MASS:g} kg (that of "
            f"load0) or more: use load0 in its place"
        )
    figures = principal_figures(
        payload,
        lost=f"digits: a num of RAPID is of single precision, so numbers have {SINGLE} digits",
        axes="aom, whose axes are the principal ones nearest to the frame's",
    )
    notes = ()
    if not payload.inertia.any():
        notes += ("ix, iy and iz of zero: the controller takes the load for a point mass",)
    if not any(float(figures.words[axis]) for axis in "xyz"):
        notes += ("a cog of [0, 0, 0]: load0 itself has 0.001 mm, and so may yours",)
    return figures._replace(notes=notes)


def _ur(payload: Payload) -> Figures:
    largest = float(np.abs(payload.inertia).max())
    if largest > LARGEST_UR_INERTIA:
        raise ModelError(
            f"an inertia of {largest:.4g} kg m² about the centre of mass; "
            f"set_target_payload takes at most {LARGEST_UR_INERTIA:g}: check the units"
        )
    return tensor_figures(payload)


_ALL = (
    Controller(
        "abb",
        "ABB, loaddata of RAPID",
        _abb,
        "! mass kg; cog mm; aom q1..q4 (q1 the scalar), the principal axes at cog;\n"
        "! ix, iy, iz kgm^2 about the axes of aom\n"
        "PERS loaddata payload := [$m,[$x,$y,$z],[$q1,$q2,$q3,$q4],$jx,$jy,$jz];\n",
        (
            "a payload (GripLoad) is given in the tool frame; the load of a tool (tload of "
            "tooldata) in the wrist frame, tool0: change the body's frame accordingly",
            "the arm's load diagram is not checked",
        ),
    ),
    Controller(
        "fanuc",
        "FANUC, payload schedule",
        partial(screen_figures, length=0.01, inertia=KGF_CM_S2, decimals=2),
        "PAYLOAD                  [kg] $m\n"
        "PAYLOAD CENTER X         [cm] $x\n"
        "PAYLOAD CENTER Y         [cm] $y\n"
        "PAYLOAD CENTER Z         [cm] $z\n"
        "PAYLOAD INERTIA X [kgfcms^2] $jx\n"
        "PAYLOAD INERTIA Y [kgfcms^2] $jy\n"
        "PAYLOAD INERTIA Z [kgfcms^2] $jz\n",
        (
            "typed in a schedule of MOTION / PAYLOAD SET and chosen by PAYLOAD[n] in a program",
            "centre and axes are those of the faceplate; moments are about the payload's centre",
            "the arm's rated payload and wrist inertias are not checked (Payload Checker does)",
        ),
    ),
    Controller(
        "franka",
        "Franka, setLoad of libfranka",
        tensor_figures,
        "// load_mass [kg]; F_x_Cload [m], centre of mass in the flange frame;\n"
        "// load_inertia [kg m^2] about the centre of mass, axes of the flange, column-major\n"
        "robot.setLoad($m,\n"
        "              {{$x, $y, $z}},\n"
        "              {{$xx, $xy, $xz,\n"
        "                $xy, $yy, $yz,\n"
        "                $xz, $yz, $zz}});\n",
        (
            "the load adds to the end effector that is set in Desk: leave that one out of the body",
            "call it outside of a control loop",
            _RATED,
        ),
    ),
    Controller(
        "franka_desk",
        "Franka, end effector of Desk (JSON)",
        tensor_figures,
        "{\n"
        '  "id": "payload",\n'
        '  "name": "Payload",\n'
        '  "color": "grey",\n'
        '  "mass": $m,\n'
        '  "centerOfMass": [$x, $y, $z],\n'
        '  "transformation": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],\n'
        '  "inertia": [$xx, $xy, $xz, $xy, $yy, $yz, $xz, $yz, $zz]\n'
        "}\n",
        (
            "kg, m and kg m² in the flange frame, inertia about the centre of mass; transformation "
            "is that of the end effector frame in the flange frame, by columns",
            "an archive (zip) with this file as endeffector-config.json is uploaded in the "
            "settings",
            "id and name are placeholders: choose your own",
            _RATED,
        ),
        ("the end effector frame is not known: transformation is the identity",),
    ),
    Controller(
        "kuka",
        "KUKA, LOAD_DATA of KRL",
        partial(
            principal_figures,
            lost=f"digits: a REAL of KRL is of single precision, so numbers have {SINGLE} digits, "
            f"angles 4 decimals",
            axes="A, B and C, whose principal axes are those nearest to the flange's",
        ),
        "; M kg; CM mm and deg, in the FLANGE frame; J kg m^2 at the centre of mass,\n"
        "; along the principal axes, which A (Z), B (Y'), C (X'') turn from FLANGE\n"
        "LOAD_DATA[1]={M $m,CM {X $x,Y $y,Z $z,A $a,B $b,C $c},J {X $jx,Y $jy,Z $jz}}\n",
        (
            "LOAD_DATA[n] belongs to tool n: change the number; $LOAD is the payload in use",
            "the arm's payload diagram is not checked (KUKA.Load does)",
        ),
    ),
    Controller(
        "ros",
        "ROS, geometry_msgs/Inertia (YAML)",
        tensor_figures,
        "# geometry_msgs/Inertia: m kg; com m; ixx to izz kg m^2 about the centre of mass,\n"
        "# in axes of the message's frame\n"
        "m: $m\n"
        "com:\n"
        "  x: $x\n  y: $y\n  z: $z\n"
        "ixx: $xx\nixy: $xy\nixz: $xz\niyy: $yy\niyz: $yz\nizz: $zz\n",
        ("messages documented before 2026 leave the point of the inertia open",),
        ("the frame: the message has no header, InertiaStamped has one",),
    ),
    Controller(
        "ur",
        "Universal Robots, set_target_payload of URScript",
        _ur,
        "# kg; m from the tool flange; kg m^2 [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] at the CoG,\n"
        "# axes of the tool flange\n"
        "set_target_payload($m, [$x, $y, $z], [$xx, $yy, $zz, $xy, $xz, $yz])\n",
        (
            "give the body in the tool flange's frame, not the TCP's",
            "the force and torque readings are zeroed when the payload is set",
            _RATED,
        ),
    ),
    Controller(
        "yaskawa",
        "Yaskawa, tool load information",
        partial(screen_figures, length=1e-3, inertia=1.0, decimals=3),
        "W        $m kg\n"
        "Xg       $x mm\nYg       $y mm\nZg       $z mm\n"
        "Ix       $jx kg.m2\nIy       $jy kg.m2\nIz       $jz kg.m2\n",
        (
            "typed on the TOOL window of the tool in use",
            "centre in the flange coordinates; moments about the centre, axes parallel to the "
            "flange's",
            "the manual advises to round W up a little; the arm's allowable wrist load is not "
            "checked",
        ),
    ),
)

CONTROLLERS: Mapping[str, Controller] = MappingProxyType({entry.name: entry for entry in _ALL})
"""Every controller by its name. A new one is an entry here."""


def payload_setting(
    controller: str, body: InertialParameters, *, largest_mass: float = HEAVIEST
) -> Export:
    """A body as the payload setting of a controller.

    Args:
        controller: one of `CONTROLLERS`.
        body: about the origin of the flange's (ABB payloads: the tool's) frame, in its axes.
        largest_mass: what the arm may carry [kg].

    Raises:
        ModelError: an unknown controller, an impossible body, or one out of the range that the
            controller or any arm takes.
    """
    entry = lookup(CONTROLLERS, controller, "controller", ModelError)
    payload = checked_payload(body, largest_mass=largest_mass)
    try:
        words, lost, notes = entry.figures(payload)
    except ModelError as error:
        raise ModelError(f"{controller}: {error}") from error
    text = Template(entry.template).substitute(words)
    return Export(text, (*lost, *entry.lost), (*entry.notes, *notes))
