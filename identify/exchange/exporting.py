"""A body in the words of a simulator, a program or a controller, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from numpy.typing import ArrayLike

from identify.errors import ModelError, did_you_mean
from identify.exchange.controllers import CONTROLLERS, HEAVIEST, payload_setting
from identify.exchange.model_formats import MODEL_FORMATS
from identify.exchange.program_code import dart_code, drake_code
from identify.exchange.rewriting import inertial_snippet
from identify.exchange.rounding import RoundedBody
from identify.inertia import InertialParameters


@dataclass(frozen=True, slots=True)
class Export:
    """A body as text to paste.

    Attributes:
        text: the text.
        lost: what the text does not say of the body, or says otherwise, a sentence each.
        notes: units, frames and what to see to before it is used.
    """

    text: str
    lost: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


_CODE: Mapping[str, Callable[[ArrayLike], tuple[str, RoundedBody]]] = MappingProxyType(
    {"drake": drake_code, "dart": dart_code}
)

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
    if name in CONTROLLERS:
        limit = HEAVIEST if largest_mass is None else largest_mass
        setting = payload_setting(name, body, largest_mass=limit)
        return Export(setting.text, setting.lost, setting.notes)
    if largest_mass is not None:
        raise ModelError(f"{name}: only controllers ({', '.join(CONTROLLERS)}) have a largest mass")
    if name in _CODE:
        text, written = _CODE[name](body.phi)
    elif name in MODEL_FORMATS:
        snippet = inertial_snippet(body.phi, name)
        text, written = snippet.text, snippet.body
    else:
        hint = did_you_mean(name, EXPORTS)
        raise ModelError(f"nothing to export to is called {name!r}; known: {_known()}{hint}")
    return Export(text, (written.change,) if written.change else ())


def _known() -> str:
    return ", ".join(EXPORTS)
