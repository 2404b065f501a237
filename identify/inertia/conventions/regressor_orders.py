"""Named orders of the columns of a regressor, the ten of each body and further unknowns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from identify.arrays import Array, Indices
from identify.documents import lookup
from identify.errors import ModelError
from identify.inertia.conventions.orders import ENTRY_ORDERS

_PHI = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


def _mass_first(six: tuple[str, ...]) -> tuple[str, ...]:
    return (*_PHI[:4], *("I" + "".join(sorted(entry)) for entry in six))


REGRESSOR_ORDERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **{name: _mass_first(six) for name, six in ENTRY_ORDERS.items()},
        "idyntree": _PHI,
        "mujoco": _mass_first(ENTRY_ORDERS["pinocchio"]),
        "mujoco_full": _mass_first(ENTRY_ORDERS["mujoco"]),
        **dict.fromkeys(("figaroh", "khalil", "sympybotics"), (*_PHI[4:], *_PHI[1:4], "m")),
    }
)
"""Names of a body's ten columns, about its origin, in the order of each tool. MuJoCo has no
regressor: `mujoco` is the order of the package mujoco-sysid, `mujoco_full` that of `fullinertia`;
`cyclic` is that of Geometric-Robot-DynID. figaroh's bodies have four more columns each."""

_FIGAROH_EXTRAS = 4
"""Columns of a body in figaroh's regressors after its ten: rotor inertia, viscous and dry friction,
and offset of its joint."""


@dataclass(frozen=True, slots=True)
class ColumnOrder:
    """Order and signs of the columns of a regressor of several bodies and further unknowns.

    Attributes:
        columns: column of each unknown, those of phi of each body, then the others, shape (p,).
        signs: 1 or −1 for each, shape (p,).
    """

    columns: Indices
    signs: Array

    @classmethod
    def of(cls, order: str | Sequence[str], bodies: int, others: int = 0) -> ColumnOrder:
        """Return the order of the columns of all bodies.

        Args:
            order: a name in `REGRESSOR_ORDERS`, or the names of a body's ten columns, with "-"
                before one of the other sign, such as "-Ixy".
            bodies: number of bodies.
            others: number of further columns, which follow all bodies; in figaroh's order four a
                body follow the ten of each.

        Raises:
            ModelError: an unknown name, or not each of the ten parameters once.
        """
        if isinstance(order, str):
            names = lookup(REGRESSOR_ORDERS, order, "order of a regressor's columns", ModelError)
        else:
            names = tuple(order)
        parameters = [name.removeprefix("-") for name in names]
        if sorted(parameters) != sorted(_PHI):
            raise ModelError(
                f"order: expected each of {', '.join(_PHI)} once, with - before a column of the "
                f"other sign, or a name among {', '.join(REGRESSOR_ORDERS)}; got {', '.join(names)}"
            )
        by_body = order == "figaroh" and others == _FIGAROH_EXTRAS * bodies
        width = 10 + _FIGAROH_EXTRAS if by_body else 10
        first = width * np.arange(bodies)[:, None]
        place = np.array([parameters.index(name) for name in _PHI])
        rest = (
            (first + np.arange(10, width)).ravel() if by_body else 10 * bodies + np.arange(others)
        )
        signs = np.array([-1.0 if names[k].startswith("-") else 1.0 for k in place])
        return cls(
            np.concatenate(((first + place).ravel(), rest)),
            np.concatenate((np.tile(signs, bodies), np.ones(others))),
        )

    def to_phi(self, A: Array) -> Array:
        """Return a regressor with its columns in the order of phi, shape (n, p)."""
        return A[:, self.columns] * self.signs


def other_orders(order: str | Sequence[str]) -> Iterator[tuple[str | tuple[str, ...], str]]:
    """Yield all orders that differ from one, with the names of the tools that have it.

    Those of the table come first, then the same with products of inertia of the other sign.
    """
    names = REGRESSOR_ORDERS[order] if isinstance(order, str) else tuple(order)
    tools: dict[tuple[str, ...], list[str]] = {}
    for tool, columns in REGRESSOR_ORDERS.items():
        tools.setdefault(columns, []).append(tool)
    for columns, of in tools.items():
        if columns != names:
            yield of[0], " or ".join(map(repr, of))
    for columns, of in tools.items():
        flipped = tuple(f"-{name}" if name in ("Ixy", "Ixz", "Iyz") else name for name in columns)
        if flipped != names:
            yield flipped, f"{of[0]!r} with products of inertia of the other sign"
