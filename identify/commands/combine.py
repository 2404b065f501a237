"""`identify add` and `subtract`: combine rigidly joined bodies, such as a tool and its payload."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, UseAppendAction

from identify.commands.bodies import (
    POSE_METAVAR,
    POSE_OF_EACH_BODY_HELP,
    PoseNumbers,
    change_frame,
    exit_status,
    flange_mismatch_notes,
    least_certain_source,
    pose_from_numbers,
    read_bodies,
    require_one_frame,
    require_pose_of_each,
    verdict_messages,
)
from identify.commands.command import Command, Outcome, option
from identify.commands.output import require_writable_file, write_file
from identify.errors import ModelError
from identify.findings import Finding, default_body_findings, derive_verdict, sort_findings
from identify.significance import IMPOSSIBLE_PAYLOAD_SIGMA
from identify.texts import sentence

if TYPE_CHECKING:
    from identify.arrays import Array
    from identify.exchange import SavedEstimate
    from identify.inertia import BodyDifference

DEFAULT_BODY_NOTE = "unidentifiable parameters are those of the default bodies of the logs"
"""Description of the default body in a sum or difference."""


@dataclass(frozen=True, slots=True)
class Add(Command):
    """Add rigidly joined bodies; the sum is in the frame of the first.

    All bodies must be about the same point in the same axes, unless --at gives their poses. A body
    without a covariance counts as exact. Exit status: 2 if the sum is not physically consistent,
    or if the frames differ according to the logs and --at is missing; 4 if one of the estimates
    must not be used.
    """

    first: Annotated[Path, Positional, option("BODY", "(required)")]
    """An estimate.json, or model.urdf#LINK."""

    others: Annotated[tuple[str, ...], Positional, option("BODY ...", "(required)")] = ()
    """The other bodies, in the same formats."""

    at: Annotated[
        tuple[PoseNumbers, ...],
        UseAppendAction,
        option(POSE_METAVAR, "(default: the same frame)", help=POSE_OF_EACH_BODY_HELP),
    ] = ()

    output: Annotated[Path | None, option("OUT.json", "(default: print)", short="-o")] = None
    """File for the estimate.json of the sum; the table is also printed."""

    def run(self, invocation: str) -> Outcome:
        """Add the given bodies, and write the sum if an output file is given."""
        require_pose_of_each(self.at, self.others, "add", "BODY")
        require_writable_file(self.output)
        import numpy as np

        from identify.inertia import check_consistency, composite

        files = (self.first, *map(Path, self.others))
        bodies = list(read_bodies(*files))
        if not self.at:
            require_one_frame(files, bodies)
        poses = [pose_from_numbers(at, "add") for at in self.at]
        pose_notes = flange_mismatch_notes(files, bodies, poses) if poses else []
        for number, X_AB in enumerate(poses, 1):
            bodies[number] = change_frame(bodies[number], X_AB, bodies[0])
        phi = composite(np.array([saved.parameters.phi for saved in bodies]))
        verdict = check_consistency(phi)
        if verdict.impossible:
            raise ModelError(
                f"the combined body is not physically consistent: {'; '.join(verdict.reasons)}"
            )
        known = [part for part in _covariances_of_bodies(bodies) if part is not None]
        covariance = sum(known[1:], known[0]) if known else None
        names = [str(file) for file in files]
        total = _combined_estimate(
            phi, bodies, names, covariance, _combine_decided_by(bodies), invocation
        )
        notes = (
            *pose_notes,
            *_frame_mismatch_notes(bodies),
            *_missing_covariance_notes(files, bodies),
        )
        return _write_and_describe(self.output, total, notes)


@dataclass(frozen=True, slots=True)
class Subtract(Command):
    """Subtract the tool from tool and payload.

    Both must be about the same point in the same axes, unless --at gives the pose of the second. A
    body without a covariance counts as exact. Exit status: 2 if the difference is physically
    inconsistent by more than its noise, if the frames differ according to the logs and --at is
    missing, or if --at contradicts the logs; 4 if one of the estimates must not be used.
    """

    with_payload: Annotated[Path, Positional, option("WITH", "(required)")]
    """Tool and payload: an estimate.json, or model.urdf#LINK."""

    without: Annotated[Path, Positional, option("WITHOUT", "(required)")]
    """The tool alone, in the same formats."""

    at: Annotated[PoseNumbers | None, option(POSE_METAVAR, "(default: the same frame)")] = None
    """Pose of WITHOUT's frame in WITH's: position [m] and rotation vector [rad]."""

    output: Annotated[Path | None, option("OUT.json", "(default: print)", short="-o")] = None
    """File for the payload's estimate.json; the table is also printed."""

    def run(self, invocation: str) -> Outcome:
        """Compute the payload, and write it if an output file is given."""
        require_writable_file(self.output)
        from identify.inertia import subtract_estimates

        files = (self.with_payload, self.without)
        both = read_bodies(*files)
        if self.at is not None:
            X_AB = pose_from_numbers(self.at, "subtract")
            if notes := flange_mismatch_notes(files, both, [X_AB]):
                # The tool was on it with the payload.
                raise ModelError(f"{notes[0]}: give that pose")
            both = both[0], change_frame(both[1], X_AB, both[0])
        else:
            require_one_frame(files, both)
        remainder = subtract_estimates(
            both[0].parameters.phi, both[1].parameters.phi, *_covariances_of_bodies(both)
        )
        payload = _payload(remainder, both, invocation)
        return _write_and_describe(
            self.output,
            payload,
            [*_payload_notes(remainder, both), *_missing_covariance_notes(files, both)],
        )


def _payload(
    remainder: BodyDifference, both: Sequence[SavedEstimate], invocation: str
) -> SavedEstimate:
    """Return the payload; if noise made it inconsistent, the nearest consistent body."""
    from identify.inertia import PHI, ImpossibleDifference, nearest_consistent

    if remainder.phi[0] == 0.0:
        raise ModelError("both estimates have the same mass, so the payload has none")
    decided, phi = _combine_decided_by(both), remainder.phi
    if _impossible_beyond_rounding(remainder):
        beyond_noise = (
            remainder.violation_sigmas is None
            or remainder.violation_sigmas > IMPOSSIBLE_PAYLOAD_SIGMA
        )
        if beyond_noise or not remainder.verdict.mass > 0.0:
            raise ImpossibleDifference(remainder.verdict, ())
        phi = nearest_consistent(phi).phi
        decided = {
            name: source if source == "default" or name in PHI[:4] else "constraint"
            for name, source in decided.items()
        }
    names = ("with the payload", "without it")
    return _combined_estimate(phi, both, names, remainder.covariance, decided, invocation)


def _impossible_beyond_rounding(remainder: BodyDifference) -> bool:
    return remainder.verdict.impossible and not remainder.verdict.by_rounding


def _payload_notes(remainder: BodyDifference, both: Sequence[SavedEstimate]) -> Iterator[str]:
    if _impossible_beyond_rounding(remainder):
        yield (
            f"the difference itself is physically inconsistent by {remainder.violation_sigmas:.1f} "
            f"standard deviations, which noise explains; the result is the nearest consistent body "
            f"with the same mass and centre of mass"
        )
    yield from _frame_mismatch_notes(both)


def _combine_decided_by(bodies: Sequence[SavedEstimate]) -> dict[str, str]:
    """Return `decided_by` of a sum or difference; parameters without a known source are absent."""
    from identify.inertia import PHI

    decided = {
        name: least_certain_source(saved.decided_by.get(name) for saved in bodies) for name in PHI
    }
    return {name: source for name, source in decided.items() if source}


def _covariances_of_bodies(bodies: Sequence[SavedEstimate]) -> list[Array | None]:
    """Return the covariances of bodies; zero for a body without one, None if no body has one."""
    import numpy as np

    if all(saved.covariance is None for saved in bodies):
        return [None] * len(bodies)
    return [np.zeros((10, 10)) if s.covariance is None else s.covariance for s in bodies]


def _missing_covariance_notes(files: Sequence[Path], bodies: Sequence[SavedEstimate]) -> list[str]:
    """Return a note that names the bodies without a covariance; empty if all have one."""
    exact = [
        str(file) for file, saved in zip(files, bodies, strict=True) if saved.covariance is None
    ]
    if not exact:
        return []
    reason = f"{' and '.join(exact)} {'has' if len(exact) == 1 else 'have'} no covariance"
    if len(exact) == len(bodies):
        return [f"no intervals: {reason}"]
    return [f"{reason} and counts as exact: the intervals contain only the other body's errors"]


def _frame_mismatch_notes(bodies: Sequence[SavedEstimate]) -> list[str]:
    """Return a note if the frames have different names or are partly unknown."""
    from identify.spatial import BodyFrame

    names = [repr(name) for name in dict.fromkeys(saved.frame for saved in bodies)]
    if len(names) == 1:
        unknown = [body for body in bodies if body.frames == BodyFrame()]
        if len(unknown) in (0, len(bodies)):
            return []
        known = next(body for body in bodies if body.frames != BodyFrame())
        return [
            f"the frame of {len(unknown)} of the {len(bodies)} bodies is unknown and assumed to be "
            f"{known.frame_description}; give its pose with --at if it differs"
        ]
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return [
        f"the frames have different names, {listed}: make sure that they are the same, or give "
        "poses with --at"
    ]


def _combined_estimate(
    phi: Array,
    bodies: Sequence[SavedEstimate],
    names: Sequence[str],
    covariance: Array | None,
    decided: dict[str, str],
    invocation: str,
) -> SavedEstimate:
    """Return the estimate of a sum or difference, in the frame of the first body.

    It has the findings of all bodies, each prefixed by the name of its body.
    """
    from identify.estimation.intervals import intervals_of, principal_axes_of
    from identify.estimation.scale_accuracy import WITHOUT_SENSOR_FAULTS
    from identify.exchange import SavedEstimate
    from identify.inertia import PHI, InertialParameters

    intervals, axes = {}, ()
    if covariance is not None:
        known = {name: decided.get(name, "data") for name in PHI}
        intervals = intervals_of(phi, covariance, float("inf"), known)
        axes = principal_axes_of(phi, covariance, float("inf"), known)
    count = {2: "two"}.get(len(bodies), str(len(bodies)))
    kind = f"95 %, from the covariances of the {count} estimates, assumed independent"
    if any(WITHOUT_SENSOR_FAULTS in (saved.interval_kind or "") for saved in bodies):
        kind += f"; {WITHOUT_SENSOR_FAULTS}"
    body = InertialParameters(phi)
    default_body = DEFAULT_BODY_NOTE if "default" in decided.values() else None
    findings = _combine_findings(bodies, names, default_body_findings(decided, default_body))
    verdict = None
    if any(saved.verdict is not None for saved in bodies):
        identifiable = [name for name, by in decided.items() if by in ("data", "constraint")]
        verdict = derive_verdict(
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


def _combine_findings(
    bodies: Sequence[SavedEstimate], names: Sequence[str], completed: Iterable[Finding]
) -> tuple[Finding, ...]:
    """Return findings of all bodies with the name of the body, and of completed parameters."""
    return sort_findings(
        [
            *completed,
            *(
                replace(finding, where=": ".join(filter(None, (name, finding.where))))
                for name, saved in zip(names, bodies, strict=True)
                for finding in saved.findings
                if finding.code != "completed"
            ),
        ]
    )


def _write_and_describe(output: Path | None, saved: SavedEstimate, notes: Iterable[str]) -> Outcome:
    """Write a body if an output file is given, and return its table, notes and warnings."""
    from identify.exchange.estimate_json import estimate_text
    from identify.reporting.parameter_table import TABLE_GROUPS, parameter_rich_table

    if output is not None:
        write_file(output, estimate_text(saved).encode())
    notes = list(notes)
    return Outcome(
        lines=[
            parameter_rich_table(saved, groups=TABLE_GROUPS),
            *(sentence(f"Note: {note}") for note in notes),
        ],
        messages=verdict_messages(saved),
        document=lambda: {"estimate": saved.to_dict(), "notes": notes},
        files=[] if output is None else [output],
        status=exit_status(saved.verdict),
    )
