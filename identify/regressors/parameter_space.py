"""Unknowns of a fit: ten inertial parameters for each body, then scalars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import null_space

from identify.arrays import Array, Flags, Phi, PhiLike, seal
from identify.errors import ProblemError
from identify.inertia import PHI, inertia_about_com, is_consistent

_MIN_HIDDEN_COMPONENT = 1e-6
"""Component of a parameter along a direction that nothing shows, from which it is not known."""


@dataclass(frozen=True, slots=True)
class ScalarUnknown:
    """Scalar unknown besides the bodies: a friction coefficient, a rotor inertia, a gain.

    Attributes:
        name: shown in messages and tables.
        low, high: bounds; infinite where there is none.
    """

    name: str
    low: float = -np.inf
    high: float = np.inf

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ProblemError(
                f"{self.name}: expected low < high, got low = {self.low:g}, high = {self.high:g}"
            )


@dataclass(frozen=True, slots=True)
class ParameterSpace:
    """Space of the unknowns x = [phi of each body | scalars], in this order.

    Attributes:
        bodies: names of the bodies, at least one.
        scalars: unknowns besides the bodies.
        defaults: default body of some bodies by their name, ten parameters about Bo in B, such as
            the links of a robot in its URDF. What the data do not identify of such a body is that
            of its default, which also gives its units; its mass need not be identified. A body
            without one is completed by a ball of water's density about its centre of mass.
        unobservable: directions of a body's parameters, by its name, that no motion of a mechanism
            shows, as rows of shape (k, 10).
    """

    bodies: tuple[str, ...] = ("body",)
    scalars: tuple[ScalarUnknown, ...] = ()
    defaults: Mapping[str, PhiLike] = field(default_factory=dict, hash=False)
    unobservable: Mapping[str, Array] = field(default_factory=dict, hash=False, compare=False)

    def __post_init__(self) -> None:
        if not self.bodies:
            raise ProblemError("a parameter space needs at least one body")
        names = [*self.bodies, *(scalar.name for scalar in self.scalars)]
        if len(set(names)) < len(names):
            raise ProblemError(f"names of bodies and scalars must differ, got {', '.join(names)}")
        defaults = {
            body: _validated_default(self, body, phi) for body, phi in self.defaults.items()
        }
        object.__setattr__(self, "defaults", defaults)

    def __len__(self) -> int:
        return 10 * len(self.bodies) + len(self.scalars)

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each unknown; prefixed by the body's name if there are several bodies."""
        prefixes = [""] if len(self.bodies) == 1 else [f"{body}." for body in self.bodies]
        body_names = (f"{prefix}{name}" for prefix in prefixes for name in PHI)
        return (*body_names, *(scalar.name for scalar in self.scalars))

    def body_slice(self, body: str | int = 0) -> slice:
        """Return the slice of a body's ten parameters in x.

        Raises:
            ProblemError: no body has this name.
        """
        if isinstance(body, str):
            if body not in self.bodies:
                raise ProblemError(f"no body {body!r} among {', '.join(self.bodies)}")
            body = self.bodies.index(body)
        return slice(10 * body, 10 * body + 10)

    def default_parameters(self, body: str | int) -> Phi | None:
        """Return the parameters of a body's default, shape (10,); None if it has no default."""
        phi = self.defaults.get(self.bodies[body] if isinstance(body, int) else body)
        return None if phi is None else np.array(phi)

    def with_defaults(self, defaults: Mapping[str, PhiLike]) -> ParameterSpace:
        """Return the space with other default bodies.

        Raises:
            ProblemError: no body has a name, or a default is no physically consistent body.
        """
        return replace(self, defaults=defaults)

    def unobservable_unknowns(self, equalities: Array | None = None) -> Flags:
        """Return which unknowns no motion of the mechanism shows alone, shape (p,).

        Args:
            equalities: rows E of equalities that the unknowns meet, shape (k, p).
        """
        flags = np.zeros(len(self), dtype=np.bool_)
        for body, directions in self.unobservable.items():
            block = self.body_slice(body)
            if equalities is not None and len(equalities):
                directions = null_space(equalities[:, block] @ directions.T).T @ directions
            flags[block] = np.abs(directions).max(axis=0, initial=0.0) > _MIN_HIDDEN_COMPONENT
        return flags

    @property
    def scalar_slice(self) -> slice:
        """Slice of the scalars in the unknowns x."""
        return slice(10 * len(self.bodies), len(self))


def _validated_default(space: ParameterSpace, body: str, phi: PhiLike) -> tuple[float, ...]:
    """Validate the default parameters of a body and return them as a tuple."""
    space.body_slice(body)
    default = seal(phi, f"default of {body!r}", (10,))
    if not (
        default[0] > 0.0 and is_consistent(default) and np.trace(inertia_about_com(default)) > 0.0
    ):
        raise ProblemError(
            f"default of {body!r}: expected a physically consistent body with a mass and an "
            f"inertia above zero, got {default.tolist()}"
        )
    return tuple(default.tolist())


ONE_BODY_SPACE = ParameterSpace()
"""Parameter space of one body without scalars: ten unknowns."""
