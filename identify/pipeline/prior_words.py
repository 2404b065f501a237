"""Priors given by words, as those of the options --prior and --shape of `identify fit`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from identify.documents import lookup
from identify.errors import ProblemError, SchemaError
from identify.estimation.priors.prior import Ball, NoPrior, Prior
from identify.spatial import Pose
from identify.spatial.rotations import MAX_ROTATION_ANGLE, exp_rotation

_UNIFORM = "even"
_BALL = "ball"
_NONE = "none"
_BOX = "box "


@dataclass(frozen=True, slots=True)
class PriorWords:
    """Words that give a prior.

    Attributes:
        prior: "even" (uniform density in the shape), "ball", "none", an estimate.json, or
            `model.urdf#LINK`; by default "even" with a shape, else "ball".
        prior_error: relative 1σ error of the body of a file without a covariance.
        prior_weight: weight of the body of a file, near which the body is by the entropic distance:
            a number, "evidence" or "cross-validation".
        shape: file of a mesh or of points, or "box X Y Z", a box that contains the body [m].
        shape_at: pose of the shape in B: position [m] and rotation vector [rad], six numbers.
        shape_scale: unit of the shape's file [m].
        shape_error: accuracy of the shape's outline [m].
    """

    prior: str | None = None
    prior_error: float | None = None
    shape: str | Path | None = None
    shape_at: Sequence[float] | None = None
    shape_scale: float | None = None
    shape_error: float | None = None
    prior_weight: float | str | None = None

    def make(self, spell: Callable[[str], str] = str) -> Prior:
        """Return the prior.

        Raises `SchemaError`: words that cannot be combined, or an invalid one; `ModelError`: a file
        does not contain a valid shape or body.
        """
        try:
            return self._from_body(spell) if self.shape is None else self._from_shape(spell)
        except ProblemError as error:
            raise SchemaError(f"fit: {error}") from error

    def _from_shape(self, spell: Callable[[str], str]) -> Prior:
        from identify.estimation.priors import ShapePrior  # slow to import, and rarely needed

        words, prior = str(self.shape), f"{spell('prior')} {self.prior}"
        if self.prior in (None, _UNIFORM):
            prior = spell("prior_error")
        if self.prior_error is None and self.prior_weight is not None:
            prior = spell("prior_weight")
        of_body = (self.prior_error, self.prior_weight) != (None, None)
        if self.prior not in (None, _UNIFORM) or of_body:
            raise SchemaError(
                f"fit: {spell('shape')} and {prior} both define the prior; use only one of them"
            )
        at = None if self.shape_at is None else pose_of(self.shape_at, f"fit: {spell('shape_at')}")
        if not words.startswith(_BOX):
            scale = 1.0 if self.shape_scale is None else self.shape_scale
            return ShapePrior.read(words, scale=scale, at=at, error=self.shape_error)
        place = f"fit: {spell('shape')} box X Y Z"
        for name in ("shape_scale", "shape_error"):
            if getattr(self, name) is not None:
                raise SchemaError(f"{place}: give sides in metres; {spell(name)} is of a file")
        try:
            sides = np.array([float(word) for word in words.removeprefix(_BOX).split()])
        except ValueError:
            sides = np.zeros(0)
        if len(sides) != 3:
            raise SchemaError(f"{place}: expected three side lengths [m], got {words!r}")
        return ShapePrior.of_box(sides, at=at)

    def _from_body(self, spell: Callable[[str], str]) -> Prior:
        for name in ("shape_at", "shape_scale", "shape_error"):
            if getattr(self, name) is not None:
                raise SchemaError(f"fit: {spell(name)} requires {spell('shape')}")
        if self.prior == _UNIFORM:
            raise SchemaError(f"fit: {spell('prior')} even requires {spell('shape')}")
        if self.prior in (None, _BALL, _NONE):
            for name in ("prior_error", "prior_weight"):
                if getattr(self, name) is not None:
                    raise SchemaError(f"fit: {spell(name)} requires {spell('prior')} FILE")
            return NoPrior() if self.prior == _NONE else Ball()
        from identify.estimation.priors import BodyPrior, NearBody  # slow to import, rarely needed
        from identify.exchange import require_unedited
        from identify.exchange.body_files import read_body

        path = Path(str(self.prior))
        if not path.suffix and "#" not in path.name and not path.exists():
            lookup(dict.fromkeys((_UNIFORM, _BALL, _NONE)), path.name, "prior by name")
        saved = read_body(path)
        require_unedited(saved, path)
        if self.prior_weight is not None:
            if self.prior_error is not None:
                names = f"{spell('prior_error')} and {spell('prior_weight')}"
                raise SchemaError(f"fit: {names} both say how near the prior is; use only one")
            weight: Any = self.prior_weight
            with suppress(ValueError):
                weight = float(weight)
            return NearBody(saved.parameters.phi, weight=weight, name=str(path))
        if self.prior_error is not None:
            return BodyPrior.with_error(saved.parameters.phi, self.prior_error, str(path))
        return BodyPrior.of_estimate(saved, str(path))


def pose_of(numbers: Sequence[float], option: str) -> Pose:
    """Return the pose of six numbers, x y z [m] and a rotation vector [rad].

    Raises `SchemaError`: a number is not finite, or the rotation exceeds a full turn.
    """
    at = np.asarray(numbers, dtype=np.float64)
    if at.shape != (6,) or not np.isfinite(at).all():
        raise SchemaError(f"{option} X Y Z RX RY RZ: expected finite numbers, got {list(numbers)}")
    angle = float(np.linalg.norm(at[3:]))
    if angle > MAX_ROTATION_ANGLE:
        raise SchemaError(
            f"{option} X Y Z RX RY RZ: RX RY RZ rotate by {angle:.4g} rad, expected at most a full "
            "turn; the rotation vector is in radians: multiply degrees by 0.0174533"
        )
    return Pose.from_quaternion(exp_rotation(at[3:]), at[:3])
