"""Prior from an earlier estimate or a CAD body."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from identify.arrays import Array, Phi, seal
from identify.estimation.errors import TermError
from identify.estimation.priors.prior import NormalMixture, Prior
from identify.exchange import SavedEstimate
from identify.inertia import inertia_about_com, is_consistent
from identify.inertia.frames import congruence_map
from identify.spatial import BodyFrame

_LENGTH_POWERS = np.repeat([0.0, 1.0, 2.0], [1, 3, 6])


@dataclass(frozen=True, slots=True, eq=False)
class BodyPrior(Prior):
    """Normal prior about a given body with a covariance.

    Attributes:
        phi: ten parameters about Bo in B, shape (10,).
        covariance: covariance of phi, shape (10, 10).
        name: what it is, in words.
        frames: body frame of phi, as far as it is known.
        logs: sha256 of the logs it was estimated from.
    """

    kind: ClassVar[str] = "body"

    phi: Phi
    covariance: Array
    name: str = "a body"
    frames: BodyFrame = field(default_factory=BodyFrame)
    logs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        phi = seal(self.phi, "prior", (10,))
        covariance = seal(self.covariance, "prior: covariance", (10, 10))
        if not (phi[0] > 0.0 and is_consistent(phi)):
            raise TermError(f"prior: {self.name} is not physically consistent; repair it first")
        size = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
        scaled = covariance / np.outer(size, size)
        if np.abs(scaled - scaled.T).max() > 1e-6 or np.linalg.eigvalsh(scaled)[0] < -1e-6:
            raise TermError(f"prior: the covariance of {self.name} is not positive semidefinite")
        object.__setattr__(self, "phi", phi)
        object.__setattr__(self, "covariance", covariance)

    @classmethod
    def with_error(cls, phi: Phi, error: float, name: str = "a body") -> BodyPrior:
        """Create a prior with a relative error of all parameters, such as for a body from CAD.

        Args:
            phi: shape (10,).
            error: standard error of the mass as a share of it; the centre of mass is known to that
                share of the root mean square radius, the inertia about it to that of m times the
                square of that.
            name: what it is, in words.
        """
        if not (np.isfinite(error) and error > 0.0):
            raise TermError(f"prior: expected an error above zero, as 0.1 for 10 %, got {error}")
        phi = seal(phi, "prior", (10,))
        if not phi[0] > 0.0:
            raise TermError(f"prior: {name} has a mass of {phi[0]:g} kg; expected one above zero")
        radius = np.sqrt(max(0.5 * float(np.trace(inertia_about_com(phi))) / phi[0], 0.0))
        T = np.eye(4)
        T[:3, 3] = phi[1:4] / phi[0]
        root = congruence_map(T) * (error * phi[0] * radius**_LENGTH_POWERS)
        return cls(phi, root @ root.T, name)

    @classmethod
    def of_estimate(cls, saved: SavedEstimate, name: str = "an earlier estimate") -> BodyPrior:
        """Create a prior from an earlier estimate and its covariance.

        Raises:
            TermError: the estimate has no covariance.
        """
        if saved.covariance is None:
            raise TermError(
                f"prior: {name} has no covariance, so its accuracy is unknown; give an estimate of "
                "a fit, or an error: with_error(…, 0.1), on the command line --prior-error 0.1"
            )
        logs = tuple(offset.sha256 for offset in saved.bias if offset.sha256)
        return cls(saved.parameters.phi, saved.covariance, name, saved.frames, logs)

    @property
    def nominal(self) -> Phi:
        """The given body."""
        return self.phi

    def mixture(self, mass: float) -> NormalMixture:
        """Return the prior as a single normal distribution."""
        return NormalMixture(self.phi[None], self.covariance[None], {})

    def __str__(self) -> str:
        return self.name

    def record(self) -> dict[str, object]:
        """Return the prior with its parameters as plain values."""
        return {"kind": self.kind, "is": str(self), "phi": self.phi.tolist()}
