"""The body in an estimate.json: said by phi, by mass, centre of mass and inertia, or by both."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from identify.arrays import Array, seal
from identify.documents import numbers
from identify.errors import ModelError
from identify.inertia import PHI, InertialParameters
from identify.inertia.matrices import (
    phi_from_inertia,
    rounding_about_com,
    symmetric_from_six,
)

_AGREEMENT = 1e-6
"""How far, of their size, what is said twice may differ: others print six digits and more."""

_SHAPES = {
    "phi": (10,),
    "mass": (),
    "com": (3,),
    "inertia_about_com": (3, 3),
    "inertia_about_origin": (3, 3),
}


def read_body(document: Mapping[str, object]) -> InertialParameters:
    """The body of a document.

    Raises:
        ModelError: none, what is no number, or two that contradict each other.
    """
    if "phi" not in document:
        return _from_com(document)
    phi = document["phi"]
    if isinstance(phi, Mapping):
        missing = [name for name in PHI if name not in phi]
        if missing:
            raise ModelError(f"phi: no {missing[0]!r}; expected {list(PHI)}")
        phi = [phi[name] for name in PHI]
    body = InertialParameters(_said({"phi": phi}, "phi"))
    _require_agreement(document, body)
    return body


def _from_com(document: Mapping[str, object]) -> InertialParameters:
    missing = [key for key in ("mass", "com") if key not in document]
    if missing:
        raise ModelError(f"no body: neither phi nor {missing[0]}")
    mass, com = float(_said(document, "mass")), _said(document, "com")
    if "inertia_about_com" in document:
        return InertialParameters.from_com(mass, com, _said(document, "inertia_about_com"))
    if "inertia_about_origin" in document:
        inertia = _said(document, "inertia_about_origin")
        steiner = symmetric_from_six(phi_from_inertia(mass, com, np.zeros((3, 3)))[4:])
        return InertialParameters.from_com(mass, com, inertia - steiner)
    raise ModelError("no body: neither phi nor inertia_about_com nor inertia_about_origin")


def _said(document: Mapping[str, object], key: str) -> Array:
    """Numbers of a JSON document, of the shape that a key has; `true` and `"1"` are none."""
    try:
        return seal(numbers(*_SHAPES[key])(document[key]), key, _SHAPES[key])
    except ValueError as error:
        raise ModelError(f"{key}: {error}") from error


def _require_agreement(document: Mapping[str, object], body: InertialParameters) -> None:
    """Refuse a file that says the body twice, and differently: one of the two was edited by hand.

    Raises:
        ModelError: names the key and both values.
    """
    for key in list(_SHAPES)[1:]:
        if document.get(key) is None or (body.mass == 0.0 and key in ("com", "inertia_about_com")):
            continue
        said, ours = _said(document, key), np.asarray(getattr(body, key), dtype=np.float64)
        size, floor = float(max(np.abs(said).max(), np.abs(ours).max())), 0.0
        if key == "com":  # of the body's extent too: it may be near zero
            extent = np.sqrt(np.abs(np.trace(body.inertia_about_com) / body.mass))
            size = max(size, float(extent))
        if key == "inertia_about_com":
            floor = float(rounding_about_com(body.phi))
        if np.abs(said - ours).max() > _AGREEMENT * size + floor:
            raise ModelError(
                f"{key} is {said.tolist()}, but phi says {ours.tolist()}; the two must agree: "
                f"correct the one that is wrong, or delete it"
            )
