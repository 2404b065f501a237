"""Vectors of ten about the body's origin that differ from phi in nothing but their order."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Phi
from identify.errors import ModelError, did_you_mean
from identify.inertia.conventions.sealing import seal_batch, seal_phi
from identify.inertia.conventions.six_orders import SIX_ORDERS
from identify.inertia.parameters import PHI


def _ten(six: tuple[str, ...]) -> tuple[str, ...]:
    return ("m", "hx", "hy", "hz", *(f"I{entry}" for entry in six))


TEN_ORDERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {name: _ten(SIX_ORDERS[name]) for name in ("identify", "pinocchio", "rigeo", "wensing")}
)
"""Order of the ten parameters [m, h, I], all about Bo in B, by name."""


def ten_from_phi(phi: ArrayLike, order: str) -> Array:
    """Ten parameters in a named order, shape (..., 10).

    Raises:
        ModelError: an unknown name, or not ten finite numbers.
    """
    return seal_phi(phi)[..., _positions(order)]


def phi_from_ten(values: ArrayLike, order: str) -> Phi:
    """Ten parameters from a named order; inverse of `ten_from_phi`."""
    values = seal_batch(values, f"ten parameters ({order})", (10,))
    return values[..., np.argsort(_positions(order))]


def _positions(order: str) -> np.ndarray:
    if order not in TEN_ORDERS:
        hint = did_you_mean(order, TEN_ORDERS)
        raise ModelError(f"no order of ten {order!r} among {sorted(TEN_ORDERS)}{hint}")
    return np.array([PHI.index(name) for name in TEN_ORDERS[order]])
