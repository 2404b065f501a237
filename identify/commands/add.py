"""`identify add`: bodies joined rigidly, such as a tool and what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, UseAppendAction

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
from identify.commands.command import Command, UsageError, option
from identify.commands.output import require_writable_file
from identify.errors import ModelError


@dataclass(frozen=True, slots=True)
class Add(Command):
    """Add bodies that are joined rigidly: one body about the first one's point, in its axes.

    All must be about the same point in the same axes, or --at says where the others are. A body
    without a covariance counts as exact. Exit status: 2 for a sum that is no possible body, and
    where logs say that frames differ and --at is missing; 4 where one of the estimates is not to
    be used.
    """

    first: Annotated[Path, Positional, option("BODY", "(required)")]
    """An estimate.json, or model.urdf#LINK."""

    others: Annotated[tuple[str, ...], Positional, option("BODY ...", "(required)")] = ()
    """The others, likewise."""

    at: Annotated[tuple[PoseNumbers, ...], UseAppendAction, option(AT, "(default: the same)")] = ()
    """Pose of another body's frame in the first one's: position [m] and rotation vector [rad]. Once
    for each but the first, in their order."""

    output: Annotated[Path | None, option("OUT.json", "(default: print)", short="-o")] = None
    """File for the estimate.json of all; the table is printed too."""

    def with_more(self, words: Sequence[str]) -> Add:
        """The same, with the bodies that stand after an option too."""
        return replace(self, others=(*self.others, *words))

    def run(self, invocation: str) -> int:
        """Print the parameters of all together, and write them if asked to."""
        if not self.others:
            raise UsageError("add: missing BODY; expected two or more")
        if len(self.at) not in (0, len(self.others)):
            raise UsageError(
                f"add: {len(self.at)} times --at for {len(self.others)} bodies after the first; "
                f"expected one for each, in their order, or none"
            )
        require_writable_file(self.output)
        import numpy as np

        from identify.inertia import check, composite

        words = (self.first, *map(Path, self.others))
        bodies = list(read_bodies(*words))
        if not self.at:
            require_one_frame(words, bodies, "--at")
        poses = [pose_of(at, "add") for at in self.at]
        elsewhere = flange_notes(words, bodies, poses) if poses else []
        for number, X_AB in enumerate(poses, 1):
            bodies[number] = moved(bodies[number], X_AB, bodies[0])
        phi = composite(np.array([saved.parameters.phi for saved in bodies]))
        verdict = check(phi)
        if verdict.impossible:
            raise ModelError(f"together they are no possible body: {'; '.join(verdict.reasons)}")
        known = [part for part in covariances(bodies) if part is not None]
        covariance = sum(known[1:], known[0]) if known else None
        names = [str(word) for word in words]
        total = combined(phi, bodies, names, covariance, decided_by_all(bodies), invocation)
        notes = (*elsewhere, *frame_notes(bodies), *exact_notes(words, bodies))
        return write_body(self.output, total, notes)
