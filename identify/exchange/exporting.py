"""A body in the words of a simulator, a program or a controller, by name."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template
from types import MappingProxyType

from identify.documents import lookup
from identify.errors import ModelError
from identify.exchange.controllers import CONTROLLERS, HEAVIEST, Export, payload_setting
from identify.exchange.models import MODEL_FORMATS
from identify.exchange.rewriting import inertial_snippet
from identify.exchange.rounding import round_body
from identify.inertia import InertialParameters

_CODE: Mapping[str, str] = MappingProxyType(
    {
        "drake": (
            "from pydrake.multibody.tree import RotationalInertia, SpatialInertia\n\n"
            "# kg, m, kg m^2; p_PScm_E from the frame's origin, the rotational inertia about the\n"
            "# centre of mass, axes of the frame\n"
            "spatial_inertia = SpatialInertia.MakeFromCentralInertia(\n"
            "    mass=$m,\n"
            "    p_PScm_E=[$com],\n"
            "    I_SScm_E=RotationalInertia(\n"
            "        Ixx=$xx, Iyy=$yy, Izz=$zz,\n"
            "        Ixy=$xy, Ixz=$xz, Iyz=$yz,\n"
            "    ),\n"
            ")\n"
        ),
        "dart": (
            "import dartpy\n\n"
            "# kg, m, kg m^2; centre of mass from the body node's origin, the moment about the\n"
            "# centre of mass, axes of the body node\n"
            "inertia = dartpy.dynamics.Inertia(\n"
            "    $m,\n"
            "    [$com],\n"
            "    [[$xx, $xy, $xz],\n"
            "     [$xy, $yy, $yz],\n"
            "     [$xz, $yz, $zz]],\n"
            ")\n"
        ),
    }
)
"""Lines of a program in Python, made from mass, centre of mass and the inertia about it."""

EXPORTS: tuple[str, ...] = (*MODEL_FORMATS, *_CODE, *CONTROLLERS)
"""Names of what a body can be exported to: model formats, programs, controllers."""


def export_body(
    body: InertialParameters, name: str, *, largest_mass: float | None = None
) -> Export:
    """A body as the text of one of `EXPORTS`.

    Args:
        body: about the origin of the link's, body node's or flange's frame, in its axes.
        name: one of `EXPORTS`.
        largest_mass: what the arm may carry [kg]; for controllers.

    Raises:
        ModelError: an unknown name, an impossible body, or one that a controller does not take.
    """
    lookup(dict.fromkeys(EXPORTS), name, "export format", ModelError)
    if name in CONTROLLERS:
        limit = HEAVIEST if largest_mass is None else largest_mass
        return payload_setting(name, body, largest_mass=limit)
    if largest_mass is not None:
        raise ModelError(f"{name}: only controllers ({', '.join(CONTROLLERS)}) have a largest mass")
    if name in _CODE:
        written = round_body(body.phi)
        six = zip(("xx", "xy", "xz", "yy", "yz", "zz"), written.inertia, strict=True)
        text = Template(_CODE[name]).substitute(
            dict(six), m=written.mass, com=", ".join(written.com)
        )
    else:
        snippet = inertial_snippet(body.phi, name)
        text, written = snippet.text, snippet.body
    return Export(text, (written.change,) if written.change else ())
