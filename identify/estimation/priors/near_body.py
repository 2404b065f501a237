"""Prior of a body near a given one, by a distance between bodies and a weight.

    minimise  ½ Σ r²/σ² + λ d(Π, Π₀)

    entropic   d = tr Q − log det Q − 4,   Q = Π₀^-½ Π Π₀^-½
    pullback   d = ½ ‖Q − 1‖²,             the entropic distance to second order
    euclidean  d = ½ ‖φ − φ₀‖² in SI,      which depends on units and origin

The first is consistent by construction, and neither it nor the second change with the frame (Lee,
Wensing and Park, "Geometric robot dynamic identification: a convex programming approach", 2020).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np
from scipy.special import multigammaln

from identify.arrays import Array, Phi, require_positive, seal
from identify.errors import ProblemError
from identify.estimation.errors import TermError
from identify.estimation.priors.prior import NormalMixture, Prior
from identify.estimation.scaling import BodyScaling
from identify.inertia import (
    PSEUDO_INERTIA_BASIS,
    inertia_about_com,
    phi_from_pseudo_inertia,
    pseudo_inertia,
)

Distance: TypeAlias = Literal["entropic", "pullback", "euclidean"]
"""Distance between two bodies."""

_MIN_EIGENVALUE = 1e-9
"""Smallest eigenvalue of the pseudo-inertia of a prior body, relative to its own scale."""

WeightRule: TypeAlias = Literal["evidence", "cross-validation", "bound"]
"""Rule for one common weight of all such priors of a fit: the largest Laplace evidence, the best
prediction of rows left out, or the largest whose residual is within the bound of the fit."""


@dataclass(frozen=True, slots=True, eq=False)
class NearBody(Prior):
    """Prior of a body near a given one.

    Intervals are those of the normal approximation at the optimum (Laplace). They do not include an
    error of the given body beyond what the weight allows.

    Attributes:
        phi: ten parameters of the given body about Bo in B, shape (10,).
        distance: distance between bodies.
        weight: λ, or the rule that chooses it; with λ, the mass is known to about λ^-½ of itself.
        name: what it is, in words.
    """

    kind: ClassVar[str] = "near"

    phi: Phi
    distance: Distance = "entropic"
    weight: float | WeightRule = "evidence"
    name: str = "a body"

    def __post_init__(self) -> None:
        object.__setattr__(self, "phi", seal(self.phi, "prior", (10,)))
        if self.distance not in get_args(Distance):
            raise TermError(
                f"prior: expected a distance among {', '.join(get_args(Distance))}, got "
                f"{self.distance!r}"
            )
        if isinstance(self.weight, str):
            if self.weight not in get_args(WeightRule):
                raise TermError(
                    "weight of the prior: expected a number or one of "
                    f"{', '.join(get_args(WeightRule))}, got {self.weight!r}"
                )
        else:
            require_positive(self.weight, "weight of the prior", "1", ProblemError)
        least = -np.inf
        if self.phi[0] > 0.0 and np.trace(inertia_about_com(self.phi)) > 0.0:
            theta = BodyScaling.of_body(self.phi).to_theta @ self.phi
            least = np.linalg.eigvalsh((PSEUDO_INERTIA_BASIS @ theta).reshape(4, 4))[0]
        if least < _MIN_EIGENVALUE:
            raise TermError(
                f"prior: {self.name} is flat or not physically consistent, and a prior near a body "
                "needs one that extends in every direction: repair it, or give it a thickness"
            )

    @property
    def nominal(self) -> Phi:
        """The given body."""
        return self.phi

    @property
    def curved(self) -> bool:
        """Whether the prior is not a normal distribution."""
        return self.distance == "entropic"

    def weighted(self, weight: float) -> NearBody:
        """Return the prior with a weight."""
        return replace(self, weight=weight)

    def mixture(self, mass: float) -> NormalMixture:
        """Return the normal distribution that the prior is near the given body."""
        return self.normal_at(self.phi)

    def normal_at(self, phi: Phi) -> NormalMixture:
        """Return the normal distribution with the value, slope and curvature of the prior at phi.

        Of the entropic distance with Q at phi it is about 2 Q − Q², with the curvature Q⁻¹ ⊗ Q⁻¹.
        """
        unit = BodyScaling.of_body(self.phi)
        if self.distance == "euclidean":
            roots, mean = unit.to_phi, self.phi
        else:
            Q = _whitened(self.phi, phi) if self.curved else np.eye(4)
            root0 = np.linalg.cholesky(pseudo_inertia(self.phi))
            inverse = np.linalg.inv(root0 @ np.linalg.cholesky(Q))
            roots = np.kron(inverse, inverse) @ PSEUDO_INERTIA_BASIS @ unit.to_phi
            mean = phi_from_pseudo_inertia(root0 @ (2.0 * Q - Q @ Q) @ root0.T)
        root = np.sqrt(float(self.weight)) * np.linalg.qr(roots, mode="r")
        spread = unit.to_phi @ np.linalg.inv(root)
        return NormalMixture(
            mean[None],
            (spread @ spread.T)[None],
            {"weight": np.array([self.weight])},
            (root @ unit.to_theta)[None],
        )

    def cost(self, phi: Phi) -> float:
        """Return λ d of a body; infinite if the distance is not defined for it."""
        if self.distance == "euclidean":
            return 0.5 * float(self.weight) * float(np.sum((phi - self.phi) ** 2))
        Q = _whitened(self.phi, phi)
        if not self.curved:
            return 0.5 * float(self.weight) * float(np.sum((Q - np.eye(4)) ** 2))
        values = np.linalg.eigvalsh(Q)
        if not values[0] > 0.0:
            return np.inf
        return float(self.weight) * float((values - np.log(values) - 1.0).sum())

    def log_normalisation(self) -> float:
        """Return the log of ∫ exp(−λ d), up to a constant of λ; of the entropic one exactly."""
        weight = float(self.weight)
        if not self.curved:
            return -5.0 * float(np.log(weight))
        a = weight + 2.5
        return float(multigammaln(a, 4) - 4.0 * a * np.log(weight) + 4.0 * weight)

    def __str__(self) -> str:
        return f"near {self.name}, {self.distance}"

    def record(self) -> dict[str, object]:
        """Return the prior with its parameters as plain values."""
        return {
            "kind": self.kind,
            "is": str(self),
            "distance": self.distance,
            "weight": self.weight,
            "phi": self.phi.tolist(),
        }


def _whitened(phi0: Phi, phi: Phi) -> Array:
    """Compute Q = L₀⁻¹ Π L₀⁻ᵀ, shape (4, 4)."""
    inverse = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(phi0)))
    return inverse @ pseudo_inertia(phi) @ inverse.T
