"""`identify add` and `subtract`: bodies joined rigidly, such as a tool and what it holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, UseAppendAction

from identify.commands.bodies import (
    AT,
    AT_EACH,
    PoseNumbers,
    flange_notes,
    moved,
    pose_of,
    read_bodies,
    reasons_of,
    require_one_frame,
    status_of,
    weakest,
)
from identify.commands.command import Command, Outcome, UsageError, option
from identify.commands.output import require_writable_file, write_file
from identify.errors import ModelError
from identify.findings import Finding, completion, ranked, verdict_of
from identify.significance import IMPOSSIBLE_PAYLOAD_SIGMA

if TYPE_CHECKING:
    from identify.arrays import Array
    from identify.exchange import SavedEstimate
    from identify.inertia import Difference

UNIDENTIFIABLE = "what a log does not identify is that of its default body"


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

    at: Annotated[
        tuple[PoseNumbers, ...], UseAppendAction, option(AT, "(default: the same)", help=AT_EACH)
    ] = ()

    output: Annotated[Path | None, option("OUT.json", "(default: print)", short="-o")] = None
    """File for the estimate.json of all; the table is printed too."""

    def with_more(self, words: Sequence[str]) -> Add:
        """The same, with the bodies that stand after an option too."""
        return replace(self, others=(*self.others, *words))

    def run(self, invocation: str) -> Outcome:
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
        known = [part for part in _covariances(bodies) if part is not None]
        covariance = sum(known[1:], known[0]) if known else None
        names = [str(word) for word in words]
        total = _combined(phi, bodies, names, covariance, _decided_by_all(bodies), invocation)
        notes = (*elsewhere, *_frame_notes(bodies), *_exact_notes(words, bodies))
        return _written(self.output, total, notes)


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

    def run(self, invocation: str) -> Outcome:
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
        left = difference(both[0].parameters.phi, both[1].parameters.phi, *_covariances(both))
        payload = _payload(left, both, invocation)  # raises where there is none
        return _written(self.output, payload, [*_notes(left, both), *_exact_notes(words, both)])


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
    decided, phi = _decided_by_all(both), left.phi
    if _beyond_rounding(left):
        beyond_noise = left.deviations is None or left.deviations > IMPOSSIBLE_PAYLOAD_SIGMA
        if beyond_noise or not left.verdict.mass > 0.0:
            raise ImpossibleDifference(left.verdict, ())
        phi = nearest_consistent(phi).phi
        decided = {
            name: what if what == "default" or name in PHI[:4] else "constraint"
            for name, what in decided.items()
        }
    names = ("with the payload", "without it")
    return _combined(phi, both, names, left.covariance, decided, invocation)


def _beyond_rounding(left: Difference) -> bool:
    return left.verdict.impossible and not left.verdict.by_rounding


def _notes(left: Difference, both: Sequence[SavedEstimate]) -> Iterator[str]:
    if _beyond_rounding(left):
        yield (
            f"the difference itself is impossible, by {left.deviations:.1f} of its standard "
            f"deviations, which noise explains; shown is the nearest possible body with its mass "
            f"and centre of mass"
        )
    yield from _frame_notes(both)


def _decided_by_all(bodies: Sequence[SavedEstimate]) -> dict[str, str]:
    """What decided each of the ten of a sum or difference, where any is known."""
    from identify.inertia import PHI

    decided = {name: weakest(saved.decided_by.get(name) for saved in bodies) for name in PHI}
    return {name: what for name, what in decided.items() if what}


def _covariances(bodies: Sequence[SavedEstimate]) -> list[Array | None]:
    """Those of bodies: zero for one without, which counts as exact; None where none has any."""
    import numpy as np

    if all(saved.covariance is None for saved in bodies):
        return [None] * len(bodies)
    return [np.zeros((10, 10)) if s.covariance is None else s.covariance for s in bodies]


def _exact_notes(words: Sequence[Path], bodies: Sequence[SavedEstimate]) -> list[str]:
    """Which bodies have no covariance, in a sentence, or nothing."""
    bare = [
        str(word) for word, saved in zip(words, bodies, strict=True) if saved.covariance is None
    ]
    if not bare:
        return []
    exact = f"{' and '.join(bare)} {'has' if len(bare) == 1 else 'have'} no covariance"
    if len(bare) == len(bodies):
        return [f"no intervals: {exact}"]
    return [f"{exact}: taken as exact, so the intervals are those of the other alone"]


def _frame_notes(bodies: Sequence[SavedEstimate]) -> list[str]:
    """That frames are called differently, or are not known to be one, in a sentence, or nothing."""
    from identify.spatial import BodyFrame

    names = [repr(name) for name in dict.fromkeys(saved.frame for saved in bodies)]
    if len(names) == 1:
        unknown = [body for body in bodies if body.frames == BodyFrame()]
        if len(unknown) in (0, len(bodies)):
            return []
        known = next(body for body in bodies if body.frames != BodyFrame())
        return [
            f"the frame of {len(unknown)} of the {len(bodies)} bodies is not known and taken to be "
            f"{known.frame_description}; say with --at where one is"
        ]
    same = f"{', '.join(names[:-1])} and {names[-1]}: make sure that they are the same"
    return [f"the frames are called differently, {same}, or say with --at where one is"]


def _combined(
    phi: Array,
    bodies: Sequence[SavedEstimate],
    names: Sequence[str],
    covariance: Array | None,
    decided: dict[str, str],
    invocation: str,
) -> SavedEstimate:
    """The estimate of a sum or difference of bodies in the frame of the first.

    The findings of all go with it, each with the name of its body.
    """
    from identify.estimation.calibration import NOT_INCLUDED
    from identify.estimation.intervals import intervals_of, principal_axes_of
    from identify.exchange import SavedEstimate
    from identify.inertia import PHI, InertialParameters

    intervals, axes = {}, ()
    if covariance is not None:
        known = {name: decided.get(name, "data") for name in PHI}
        intervals = intervals_of(phi, covariance, float("inf"), known)
        axes = principal_axes_of(phi, covariance, float("inf"), known)
    count = {2: "two"}.get(len(bodies), str(len(bodies)))
    kind = f"95 %, from the covariances of the {count} estimates, taken as independent"
    if any(NOT_INCLUDED in (saved.interval_kind or "") for saved in bodies):
        kind += f"; {NOT_INCLUDED}"
    body = InertialParameters(phi)
    default_body = UNIDENTIFIABLE if "default" in decided.values() else None
    findings, verdict = _findings(bodies, names, completion(decided, default_body)), None
    if any(saved.verdict is not None for saved in bodies):
        identifiable = [name for name, by in decided.items() if by in ("data", "constraint")]
        verdict = verdict_of(
            findings, possible=body.consistent, optimal=False, identifiable=identifiable
        )
    return SavedEstimate(
        parameters=body,
        frame=bodies[0].frame,
        frames=bodies[0].frames,
        covariance=covariance,
        intervals=intervals,
        interval_kind=kind if intervals else None,
        principal_axes=axes,
        decided_by=decided,
        default_body=default_body,
        provenance={"command": invocation},
        findings=findings,
        verdict=verdict,
    )


def _findings(
    bodies: Sequence[SavedEstimate], names: Sequence[str], own: Iterable[Finding]
) -> tuple[Finding, ...]:
    """Those of all bodies, each with its place; what is completed is said once."""
    return ranked(
        [
            *own,
            *(
                replace(finding, where=": ".join(filter(None, (name, finding.where))))
                for name, saved in zip(names, bodies, strict=True)
                for finding in saved.findings
                if finding.code != "completed"
            ),
        ]
    )


def _written(output: Path | None, saved: SavedEstimate, notes: Iterable[str]) -> Outcome:
    """Write a body if there is a file for it; its table, notes and reasons."""
    from identify.commands.summary import parameter_table
    from identify.exchange.estimate_json import estimate_text

    if output is not None:
        write_file(output, estimate_text(saved).encode())
    notes = list(notes)
    return Outcome(
        lines=[parameter_table(saved), *(f"Note: {note}." for note in notes)],
        messages=reasons_of(saved),
        document=lambda: {"estimate": saved.to_dict(), "notes": notes},
        files=[] if output is None else [output],
        status=status_of(saved.verdict),
    )
