"""The options of `identify fit`, in the groups of its help, and what they ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, UseAppendAction

from identify.commands.bodies import AT, PoseNumbers, pose_of, read_bodies
from identify.commands.command import (
    Flag,
    Number,
    UsageError,
    Vector,
    numbers,
    option,
    require_time_limit,
    require_workers,
)

if TYPE_CHECKING:
    from identify.estimation.priors import Prior
    from identify.estimation.terms import Term

_EVEN, _BALL, _NONE = "even", "ball", "none"
_BOX = "box"

_WEIGHED = (
    "The mass of a weighed body: print the force gain of the sensor that makes it so, as lines for "
    "the schema of its other logs; the estimate is as without."
)
_PRIORS = (
    "What else is known of the body: even (its density), ball (stands in for what the log does not "
    "identify), none (that has no number), an earlier estimate.json, or model.urdf#LINK."
)
_ROUTES = (
    'How intervals come about: "formula", from the noise that is found, or "bootstrap", from the '
    "spread of refits to blocks of time."
)

Box = Annotated[
    tuple[float, float, float, float, float, float] | None,
    numbers(6),
    option("X0 X1 Y0 Y1 Z0 Z1"),
]
"""Two ends along each axis."""


@dataclass(frozen=True, slots=True)
class Input:
    """What is fitted."""

    logs: Annotated[tuple[Path, ...], Positional, option("LOG [LOG ...]", "(required)")]
    """Logs of the same body, of any format that identify reads, or a folder of such files."""

    schema: Annotated[Path, option("S.toml", "(required)")]
    """What the columns of the logs mean; identify init LOG writes a first one."""

    unloaded: Annotated[tuple[Path, ...], UseAppendAction, option("LOG", "(repeatable)")] = ()
    """A log without the payload; once for each. What is known below is of the payload."""


@dataclass(frozen=True, slots=True)
class KnownBody:
    """What is known of the body besides its logs."""

    mass: Annotated[Number, option("KG")] = None
    """Known mass."""

    mass_between: Annotated[tuple[float, float] | None, numbers(2), option("LO HI")] = None
    """Bounds of the mass [kg]."""

    com: Annotated[Vector, option("X Y Z")] = None
    """Known centre of mass in B [m]."""

    com_box: Box = None
    """Box that the centre of mass lies in, along the axes of B [m]."""

    bounding_box: Box = None
    """Box that all of the body lies in, along the axes of B [m]."""

    shape: Annotated[str | None, option("FILE | box X Y Z")] = None
    """Shape of the body: STL, OBJ, CSV x,y,z[,volume][,part], or a box that it lies in [m]."""

    shape_at: Annotated[PoseNumbers | None, option(AT, "(default: B)")] = None
    """Pose of the shape in B: position [m] and rotation vector [rad]."""

    shape_scale: Annotated[Number, option("S", "(default: 1)")] = None
    """Metres per unit of the shape's file, 0.001 for one in millimetres."""

    shape_error: Annotated[Number, option("M", "(default: spacing of its points)")] = None
    """How well the shape's outline is known [m]."""

    prior: Annotated[
        str | None, option("PRIOR", "(default: even with --shape, else ball)", help=_PRIORS)
    ] = None

    prior_error: Annotated[Number, option("SHARE")] = None
    """How well the body of --prior is known, as 0.1 for 10 %, where it does not say."""

    def terms(self) -> tuple[Term, ...]:
        """Constraints on the body.

        Raises:
            UsageError: numbers that cannot be.
        """
        from identify.estimation.errors import TermError
        from identify.estimation.terms import ComInBox, KnownCom, MassBetween, MassInBox

        terms: list[Term] = []
        option = "--mass-between LO HI"
        try:
            if self.mass_between is not None:
                terms.append(MassBetween(*self.mass_between))
            option = "--com-box X0 X1 Y0 Y1 Z0 Z1"
            if self.com_box is not None:
                x0, x1, y0, y1, z0, z1 = self.com_box
                terms.append(ComInBox((x0, y0, z0), (x1, y1, z1)))
            option = "--com X Y Z"
            if self.com is not None:
                terms.append(KnownCom(self.com))
            option = "--bounding-box X0 X1 Y0 Y1 Z0 Z1"
            if self.bounding_box is not None:
                x0, x1, y0, y1, z0, z1 = self.bounding_box
                terms.append(MassInBox((x0, y0, z0), (x1, y1, z1)))
        except TermError as error:
            raise UsageError(f"fit: {option}: {error}") from error
        return tuple(terms)

    def prior_of_fit(self) -> Prior:
        """The prior that the options of shape and prior ask for.

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
        pose = None if self.shape_at is None else pose_of(self.shape_at, "fit", "--shape-at")
        kind, *sizes = str(self.shape).split(" ") if str(self.shape).startswith("box ") else ("",)
        if kind == _BOX:
            for name, value in (
                ("--shape-scale", self.shape_scale),
                ("--shape-error", self.shape_error),
            ):
                if value is not None:
                    raise UsageError(
                        f"fit: {name} is of a file, and --shape box X Y Z is in metres: give the "
                        "sides that the body surely lies in"
                    )
            import numpy as np

            return ShapePrior.of_box(np.array([_side(word) for word in sizes]), at=pose)
        scale = 1.0 if self.shape_scale is None else self.shape_scale
        return ShapePrior.read(str(self.shape), scale=scale, at=pose, error=self.shape_error)

    def _of_body(self) -> Prior:
        from identify.estimation.priors import Ball, BodyPrior, NoPrior

        given = {"at": self.shape_at, "scale": self.shape_scale, "error": self.shape_error}
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


@dataclass(frozen=True, slots=True)
class Signals:
    """How the logs are read."""

    no_bias: Flag = False
    """The sensor has no offset."""

    shared_bias: Flag = False
    """One sensor offset for all logs, where it was not zeroed between them."""

    cutoff: Annotated[Number, option("HZ", "(default: 5 Hz or rate/10)")] = None
    """Highest frequency that is used, of all signals alike."""

    gravity: Annotated[Vector, option("X Y Z", "(default: the schema's)")] = None
    """Gravity in world axes [m/s²]."""

    check: Flag = False
    """Try all other readings of the logs too, as `identify check` does."""

    apply: Annotated[str, option("CODE[,CODE ...]")] = ""
    """Correct what was found before the fit, by the codes of findings; it is in the provenance."""

    known_mass_check: Annotated[Number, option("KG", help=_WEIGHED)] = None


@dataclass(frozen=True, slots=True)
class Intervals:
    """What the intervals are, and have to reach."""

    need: Annotated[str, option("NEEDS")] = ""
    """What the intervals have to reach, as "mass 1%, com 2mm, inertia 10%"; the verdict says it."""

    interval: Annotated[Literal["formula", "bootstrap"], option("ROUTE", help=_ROUTES)] = "formula"

    simultaneous: Flag = False
    """Intervals that hold all at once at 95 %, not each by itself."""

    bounds: Flag = False
    """Work out certified bounds: the least and greatest of each over all bodies that are left."""


@dataclass(frozen=True, slots=True)
class Output:
    """What is written and printed."""

    output: Annotated[Path, option("OUT", "(required)", short="-o")]
    """Folder of the results, made if need be; those of an earlier fit are replaced."""

    truth: Annotated[Path | None, option("FILE.json")] = None
    """The true body, to show beside: JSON with phi, or mass, com and inertia; model.urdf#LINK."""

    no_report: Flag = False
    """Write no report.html, which takes a second, and no result.npz to make it of."""

    quiet: Flag = False
    """Print nothing but errors."""


@dataclass(frozen=True, slots=True)
class ManyLogs:
    """Logs that are fitted each by itself, or while they grow."""

    each: Flag = False
    """Fit every log by itself: OUT/NAME of each, a table, a page. LOG may be 'runs/*.csv'."""

    workers: Annotated[int | None, option("N", "(default: the cores there are)")] = None
    """With --each: local processes; 0 runs in this one."""

    timeout: Annotated[Number, option("S")] = None
    """With --each: seconds that a log may take; one that takes longer is a row that says so."""

    retry_failed: Flag = False
    """With --each: fit logs again whose row is an error."""

    follow: Flag = False
    """Watch the LOG as it grows, advise turns, and fit it once --need is met or on Ctrl-C."""

    def require_choice(self) -> None:
        """Raise `UsageError` where they do not go together."""
        if self.each and self.follow:
            raise UsageError("fit: --follow watches one log, and --each fits many: leave one out")
        for name in ("workers", "timeout", "retry_failed"):
            if not self.each and getattr(self, name) not in (None, False):
                raise UsageError(f"fit: --{name.replace('_', '-')} goes with --each")
        require_workers(self.workers, "fit --each")
        require_time_limit(self.timeout, "fit --each")


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
