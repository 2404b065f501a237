"""What `identify fit` is told of the body before its log: its shape, another body, or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from identify.commands.bodies import pose_of, read_bodies
from identify.commands.command import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from identify.estimation.priors import Prior

_EVEN, _BALL, _NONE = "even", "ball", "none"
_BOX = "box"


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorWords:
    """The options as they were given; None where one was not.

    Attributes:
        shape: a file, or "box X Y Z".
        at: pose of the shape in B: position [m] and rotation vector [rad].
        scale: metres per unit of the file.
        error: of the outline [m].
        prior: "even", "ball", "none", an estimate.json or model.urdf#LINK.
        prior_error: of a body that does not say how well it is known, as a share.
    """

    shape: str | None = None
    at: Sequence[float] | None = None
    scale: float | None = None
    error: float | None = None
    prior: str | None = None
    prior_error: float | None = None

    def prior_of_fit(self) -> Prior:
        """The prior that they say.

        Raises:
            UsageError: they exclude each other, or one is none.
            ModelError: a file has no such shape or body.
        """
        from identify.estimation.errors import TermError

        try:
            return self._of_shape() if self.shape is not None else self._of_body()
        except TermError as error:
            raise UsageError(f"fit: {error}") from error

    def _of_shape(self) -> Prior:
        from identify.estimation.priors import ShapePrior

        if self.prior not in (None, _EVEN) or self.prior_error is not None:
            word = "--prior-error" if self.prior in (None, _EVEN) else f"--prior {self.prior}"
            raise UsageError(
                f"fit: --shape is the prior, and {word} says another: leave one of them out"
            )
        pose = None if self.at is None else pose_of(self.at, "fit", "--shape-at")
        kind, *sizes = str(self.shape).split(" ") if str(self.shape).startswith("box ") else ("",)
        if kind == _BOX:
            for name, value in (("--shape-scale", self.scale), ("--shape-error", self.error)):
                if value is not None:
                    raise UsageError(
                        f"fit: {name} is of a file, and --shape box X Y Z is in metres: give the "
                        "sides that the body surely lies in"
                    )
            import numpy as np

            return ShapePrior.of_box(np.array([_side(word) for word in sizes]), at=pose)
        scale = 1.0 if self.scale is None else self.scale
        return ShapePrior.read(str(self.shape), scale=scale, at=pose, error=self.error)

    def _of_body(self) -> Prior:
        from identify.estimation.priors import Ball, BodyPrior, NoPrior

        given = {"at": self.at, "scale": self.scale, "error": self.error}
        for name, value in given.items():
            if value is not None:
                raise UsageError(f"fit: --shape-{name} goes with --shape")
        if self.prior == _EVEN:
            raise UsageError("fit: --prior even is of a shape: give it with --shape FILE")
        if self.prior in (None, _BALL, _NONE):
            if self.prior_error is not None:
                raise UsageError("fit: --prior-error goes with --prior FILE")
            return NoPrior() if self.prior == _NONE else Ball()
        path = Path(str(self.prior))
        (saved,) = read_bodies(path)
        from identify.exchange import require_unedited

        require_unedited(saved, path)
        if self.prior_error is not None:
            return BodyPrior.with_error(saved.parameters.phi, self.prior_error, str(path))
        return BodyPrior.of_estimate(saved, str(path))


def joined_box(argv: Sequence[str]) -> list[str]:
    """Words of a command line with `--shape box X Y Z` as one option and one value."""
    words = list(argv)
    for k, word in enumerate(words):
        if word == "--shape" and words[k + 1 : k + 2] == [_BOX]:
            sides = words[k + 2 : k + 5]
            if len(sides) < 3 or any(side.startswith("--") for side in sides):
                raise UsageError("--shape box X Y Z: expected three sides [m]")
            return [*words[: k + 1], " ".join((_BOX, *sides)), *words[k + 5 :]]
    return words


def _side(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise UsageError(f"fit: --shape box X Y Z: expected a side [m], got {word!r}") from None
