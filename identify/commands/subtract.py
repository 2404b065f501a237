"""`identify subtract`: the payload alone, from the tool with it and the tool without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.bodies import (
    AT,
    PoseNumbers,
    combined,
    covariances,
    decided_by_all,
    exact_notes,
    flange_notes,
    frame_notes,
    moved,
    pose_of,
    read_bodies,
    require_one_frame,
    write_body,
)
from identify.commands.command import Command, option
from identify.commands.output import require_writable_file
from identify.errors import ModelError

if TYPE_CHECKING:
    from identify.exchange import SavedEstimate
    from identify.inertia import Difference

_NOISE = 4.0
"""Standard deviations up to which an impossible payload is one that noise made impossible."""


@dataclass(frozen=True, slots=True)
class Subtract(Command):
    """Subtract a body without the payload from one with it: the payload alone.

    Both must be about the same point in the same axes, or --at says where the second is. A body
    without a covariance counts as exact. Exit status: 2 where what is left is no possible body, by
    more than the noise of the two, where logs say that frames differ and --at is missing, and
    where --at is not the pose that they say; 4 where one of the estimates is not to be used.
    """

    with_payload: Annotated[Path, Positional, option("WITH", "(required)")]
    """Tool and payload: an estimate.json, or model.urdf#LINK."""

    without: Annotated[Path, Positional, option("WITHOUT", "(required)")]
    """The tool alone, likewise."""

    at: Annotated[PoseNumbers | None, option(AT, "(default: the same)")] = None
    """Pose of WITHOUT's frame in WITH's: position [m] and rotation vector [rad]."""

    output: Annotated[Path | None, option("OUT.json", "(default: print)", short="-o")] = None
    """File for the payload's estimate.json; the table is printed too."""

    def run(self, invocation: str) -> int:
        """Print the payload's parameters, and write them if asked to."""
        require_writable_file(self.output)
        from identify.inertia import difference

        words = (self.with_payload, self.without)
        both = read_bodies(*words)
        if self.at is not None:
            X_AB = pose_of(self.at, "subtract")
            for note in flange_notes(words, both, [X_AB]):  # the tool was on it with the payload
                raise ModelError(f"{note}: give that pose")
            both = both[0], moved(both[1], X_AB, both[0])
        else:
            require_one_frame(words, both, "--at")
        left = difference(both[0].parameters.phi, both[1].parameters.phi, *covariances(both))
        payload = _payload(left, both, invocation)  # raises where there is none
        return write_body(self.output, payload, [*_notes(left, both), *exact_notes(words, both)])


def _payload(left: Difference, both: Sequence[SavedEstimate], invocation: str) -> SavedEstimate:
    """The estimate of the payload: of the nearest possible body where noise made it impossible.

    Raises:
        ModelError: nothing is left.
        ImpossibleDifference: what is left is impossible, and noise does not explain it, or nothing
            is known of the noise.
    """
    from identify.inertia import PHI, ImpossibleDifference, nearest_consistent

    if left.phi[0] == 0.0:
        raise ModelError("both estimates have the same mass: there is no payload between them")
    decided, phi = decided_by_all(both), left.phi
    if _beyond_rounding(left):
        if left.deviations is None or left.deviations > _NOISE or not left.verdict.mass > 0.0:
            raise ImpossibleDifference(left.verdict, ())
        phi = nearest_consistent(phi).phi
        decided = {
            name: what if what == "default" or name in PHI[:4] else "constraint"
            for name, what in decided.items()
        }
    names = ("with the payload", "without it")
    return combined(phi, both, names, left.covariance, decided, invocation)


def _beyond_rounding(left: Difference) -> bool:
    return left.verdict.impossible and not left.verdict.by_rounding


def _notes(left: Difference, both: Sequence[SavedEstimate]) -> Iterator[str]:
    if _beyond_rounding(left):
        yield (
            f"the difference itself is impossible, by {left.deviations:.1f} of its standard "
            f"deviations, which noise explains; shown is the nearest possible body with its mass "
            f"and centre of mass"
        )
    yield from frame_notes(both)
