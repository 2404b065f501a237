"""The numbers of the controllers that take a whole inertia matrix.

An exact plate or rod is on the edge of what is possible, where any rounding may take it outside. So
it is thickened by `THICKNESS`, and decimals are added until what is read back keeps half of that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import Mat33
from identify.errors import ModelError
from identify.exchange.controllers.figures import decimals_for, fixed, fixed_all
from identify.exchange.controllers.payload import Payload
from identify.inertia.conventions import matrix_from_six, six_in_order

DIGITS = 9
"""Significant digits of the largest number, where no more are needed."""

THICKNESS = 1e-9
"""Smallest second moment about the centre of mass that is written, of the sum of the three."""

_EXACT = 17


class TensorFigures(NamedTuple):
    """Mass, centre of mass, and ixx, ixy, ixz, iyy, iyz, izz about it, as text."""

    mass: str
    com: tuple[str, ...]
    six: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def nine(self) -> tuple[str, ...]:
        """The symmetric 3×3 matrix by columns."""
        xx, xy, xz, yy, yz, zz = self.six
        return xx, xy, xz, xy, yy, yz, xz, yz, zz


def tensor_figures(payload: Payload) -> TensorFigures:
    """Text that is still a possible body when it is read back.

    Raises:
        ModelError: no number of digits keeps the body possible.
    """
    inertia, lost = payload.inertia, ()
    values, axes = np.linalg.eigh(_second_moment(inertia))
    floor = THICKNESS * float(np.maximum(values, 0.0).sum())
    thickening = np.maximum(floor - values, 0.0)
    if thickening.any():
        S = _second_moment(inertia) + (axes * thickening) @ axes.T
        inertia = np.trace(S) * np.eye(3) - S
        lost = (
            f"thickness: the body has none in some direction, and was given {THICKNESS:g} of its "
            f"second moment, so that its rounded numbers are still a possible body",
        )
    return TensorFigures(
        fixed(payload.mass, decimals_for(payload.mass, DIGITS)),
        fixed_all(payload.com, decimals_for(payload.com, DIGITS)),
        _possible_six(inertia, floor),
        lost,
    )


def _possible_six(inertia: Mat33, floor: float) -> tuple[str, ...]:
    six = six_in_order(inertia, "urdf")
    for digits in range(DIGITS, _EXACT + 1):
        texts = fixed_all(six, decimals_for(six, digits))
        read = matrix_from_six(np.array(texts, dtype=np.float64), "urdf")
        if np.linalg.eigvalsh(_second_moment(read))[0] >= 0.5 * floor:
            return texts
    raise ModelError(f"payload: the body cannot be printed in {_EXACT} digits and stay possible")


def _second_moment(inertia: Mat33) -> Mat33:
    """S = ½ tr(I) 1 − I, positive semidefinite about the centre of mass."""
    return 0.5 * np.trace(inertia) * np.eye(3) - inertia
