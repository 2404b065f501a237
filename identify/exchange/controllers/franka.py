"""Franka: `setLoad` of libfranka, and the end effector file of Desk."""

from __future__ import annotations

from identify.exchange.controllers.payload import Payload
from identify.exchange.controllers.setting import PayloadSetting
from identify.exchange.controllers.tensor import tensor_figures

_RATED = "the arm's rated payload is not checked unless you name it"


def franka(payload: Payload) -> PayloadSetting:
    """`robot.setLoad(load_mass, F_x_Cload, load_inertia)` in C++, inertia about the CoM."""
    figures = tensor_figures(payload)
    nine = figures.nine
    columns = (",\n" + " " * 16).join(", ".join(nine[i : i + 3]) for i in (0, 3, 6))
    text = (
        "// load_mass [kg]; F_x_Cload [m], centre of mass in the flange frame;\n"
        "// load_inertia [kg m^2] about the centre of mass, axes of the flange, column-major\n"
        f"robot.setLoad({figures.mass},\n"
        f"              {{{{{', '.join(figures.com)}}}}},\n"
        f"              {{{{{columns}}}}});\n"
    )
    notes = (
        "the load adds to the end effector that is set in Desk: leave that one out of the body",
        "call it outside of a control loop",
        _RATED,
    )
    return PayloadSetting("franka", text, figures.lost, notes)


def franka_desk(payload: Payload) -> PayloadSetting:
    """`endeffector-config.json` of an end effector archive, inertia by columns."""
    figures = tensor_figures(payload)
    text = (
        "{\n"
        '  "id": "payload",\n'
        '  "name": "Payload",\n'
        '  "color": "grey",\n'
        f'  "mass": {figures.mass},\n'
        f'  "centerOfMass": [{", ".join(figures.com)}],\n'
        '  "transformation": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],\n'
        f'  "inertia": [{", ".join(figures.nine)}]\n'
        "}\n"
    )
    notes = (
        "kg, m and kg m² in the flange frame, inertia about the centre of mass; transformation "
        "is that of the end effector frame in the flange frame, by columns",
        "an archive (zip) with this file as endeffector-config.json is uploaded in the settings",
        "id and name are placeholders: choose your own",
        _RATED,
    )
    lost = (*figures.lost, "the end effector frame is not known: transformation is the identity")
    return PayloadSetting("franka_desk", text, lost, notes)
