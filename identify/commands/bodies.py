"""Bodies given on the command line, in any form that `identify body` reads, each with a pose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from identify.commands.command import UsageError, number_parser
from identify.errors import IdentifyError, ModelError
from identify.findings import Finding, default_body_findings, format_findings
from identify.relevance import FLANGE_POSE_TOLERANCE, ROUNDED_POSE_TOLERANCE

if TYPE_CHECKING:
    from identify.exchange import SavedEstimate
    from identify.findings import Verdict
    from identify.spatial import Pose

PoseNumbers: TypeAlias = Annotated[
    tuple[float, float, float, float, float, float], number_parser(6, "0 0 0.1 0 0 1.5708 [m, rad]")
]
"""A pose as position x, y, z [m] and rotation vector [rad], as on a robot's pendant."""

POSE_METAVAR = "X Y Z RX RY RZ"

POSE_OF_EACH_BODY_HELP = (
    "Pose of another body's frame in the first body's frame: position [m] and rotation vector "
    "[rad]; give it once for each body after the first, in order."
)

BODY_HELP = "The body: an estimate.json, model.urdf#LINK, or a text that identify body reads."
"""Help text of an argument that is a body."""

_LEAST_CERTAIN_FIRST = ("default", "constraint", "prior", "data", "given")
"""Sources that decide parameters, the least certain first."""


UNUSABLE_STATUS = 4
"""Exit status for an estimate that a finding marks as unusable."""


class UnusableEstimate(IdentifyError):
    """Error of a command that would pass on an estimate marked as unusable by a finding."""

    exit_code = UNUSABLE_STATUS

    def __init__(self, path: Path, reasons: Iterable[str]) -> None:
        lines = (
            f"{path}: this estimate must not be used, so nothing was written",
            *(f"  {reason}" for reason in reasons),
            "  override: --accept-findings",
        )
        super().__init__("\n".join(lines))


def verdict_messages(estimate: SavedEstimate) -> tuple[str, ...]:
    """Return the errors and warnings of an estimate, one line each.

    For an estimate without a verdict, written by another program, these are the parameters that
    a default body completes.
    """
    findings: Iterable[Finding] = estimate.findings
    if estimate.verdict is None:
        findings = default_body_findings(estimate.decided_by, estimate.default_body)
    return format_findings(findings)


def exit_status(verdict: Verdict | None) -> int:
    """Return 4 if the verdict forbids using the estimate, else 0."""
    return UNUSABLE_STATUS if verdict is not None and verdict.usable == "no" else 0


def read_bodies(*paths: Path) -> tuple[SavedEstimate, ...]:
    """Read bodies from files of any form, or from links of models given as `MODEL#LINK`.

    Raises `MissingFile`: no such file; `ModelError`: a file does not describe a body, or a link is
    missing or has no mass.
    """
    from identify.exchange.body_files import read_body

    return tuple(map(read_body, paths))


def reading_notes(saved: SavedEstimate) -> list[str]:
    """Return how the numbers of a body's text were read: its point, signs and last digits."""
    notes = saved.provenance.get("notes")
    return [str(note) for note in notes] if isinstance(notes, list) else []


def pose_from_numbers(at: Sequence[float], command: str) -> Pose:
    """Return the pose of the six numbers of `--at`, x y z [m] and a rotation vector [rad].

    Raises `SchemaError`: a number is not finite, or the rotation exceeds a full turn.
    """
    from identify.pipeline.prior_words import pose_of

    return pose_of(at, f"{command}: --at")


def require_pose_of_each(
    at: Sequence[object], others: Sequence[str], command: str, metavar: str
) -> None:
    """Raise `UsageError` unless there are bodies after the first, with `--at` for all or none."""
    if not others:
        raise UsageError(f"{command}: missing {metavar}; expected two or more")
    if len(at) not in (0, len(others)):
        raise UsageError(
            f"{command}: got {len(at)} times --at for {len(others)} bodies after the first; "
            "expected one for each, in order, or none"
        )


def change_frame(saved: SavedEstimate, X_AB: Pose, frame_A: SavedEstimate) -> SavedEstimate:
    """Transform a body with its covariance to another frame A.

    `decided_by` of each parameter becomes the least certain source among those it depends on.

    `saved`: the body about Bo in B; `X_AB`: pose of B in A; `frame_A`: a body about Ao in A.
    Raises `ModelError`: the origin of A or B is not the point whose pose was logged.
    """
    from identify.exchange.export_marks import can_be_placed, misplaced_origin
    from identify.inertia import PHI
    from identify.inertia.frames import frame_map

    for body in (saved, frame_A):
        if not can_be_placed(body):
            raise ModelError(misplaced_origin(body))
    F = frame_map(X_AB)
    decided = saved.decided_by and {
        name: least_certain_source(saved.decided_by.get(PHI[j]) for j in row.nonzero()[0])
        for name, row in zip(PHI, F, strict=True)
    } | {name: by for name, by in saved.decided_by.items() if name not in PHI}
    covariance, calibration = (
        None if matrix is None else F @ matrix @ F.T
        for matrix in (saved.covariance, saved.calibration)
    )
    return replace(
        saved,
        parameters=saved.parameters.in_frame(X_AB),
        frame=frame_A.frame,
        frames=frame_A.frames,
        covariance=covariance,
        calibration=calibration,
        intervals={},
        interval_kind=None,
        degrees_of_freedom={},
        certified_bounds={},
        variance_shares={},
        principal_axes=(),
        decided_by={name: source for name, source in decided.items() if source},
        bias=(),
        residual_rms=None,
        certificate={},
    )


def least_certain_source(decided: Iterable[str | None]) -> str:
    """Return the least certain source of parameters that are added; empty if none is known."""
    sources = set(decided)
    return next((source for source in _LEAST_CERTAIN_FIRST if source in sources), "")


def require_one_frame(files: Sequence[Path], bodies: Sequence[SavedEstimate]) -> None:
    """Raise if the logs of bodies show that the bodies are given in different frames.

    Raises `ModelError`: names two such bodies, and their relative pose if both know the flange.
    """
    first = bodies[0]
    for file, other in zip(files[1:], bodies[1:], strict=True):
        X_AB = _pose_by_flange(first, other)
        if X_AB is not None:
            if _largest_difference(X_AB, X_AB.identity()) < FLANGE_POSE_TOLERANCE:
                continue
            hint = f"if both are on the same flange, give --at {_format_pose(X_AB)}"
        elif None in (names := {first.frames.name, other.frames.name}) or len(names) == 1:
            continue
        else:
            hint = f"give the pose with --at {POSE_METAVAR}"
        raise ModelError(
            f"{file} is about {other.frame_description}, but {files[0]} is about "
            f"{first.frame_description}, and according to their logs these differ: {hint}"
        )


def flange_mismatch_notes(
    files: Sequence[Path], bodies: Sequence[SavedEstimate], poses: Sequence[Pose]
) -> list[str]:
    """Return notes on bodies whose `--at` contradicts the flange poses in the schemas.

    `bodies`: the bodies, each in its own frame; `poses`: requested pose of each body after the
    first in the frame of the first.
    """
    return [
        f"{file} is placed at {_format_pose(X_AB)}, but according to the flange poses of the logs "
        f"it is at {_format_pose(by_flange)} relative to {files[0]}"
        for file, other, X_AB in zip(files[1:], bodies[1:], poses, strict=True)
        if (by_flange := _pose_by_flange(bodies[0], other))
        and _largest_difference(by_flange, X_AB) > ROUNDED_POSE_TOLERANCE
    ]


def _pose_by_flange(first: SavedEstimate, other: SavedEstimate) -> Pose | None:
    """Return the pose of the other body's frame in the first's, by the pose of the flange."""
    X_AF, X_BF = first.frames.flange, other.frames.flange
    return None if X_AF is None or X_BF is None else X_AF @ X_BF.inverse()


def _largest_difference(X_AB: Pose, X_AC: Pose) -> float:
    """Return the largest difference of two poses [m, and entries of the rotation matrix]."""
    return float(abs(X_AB.matrix - X_AC.matrix).max())


def _format_pose(X_AB: Pose) -> str:
    """Format a pose as the value of `--at`."""
    from identify.spatial import log_rotation, quaternion_from_rotation

    rotation_vector = log_rotation(quaternion_from_rotation(X_AB.rotation))
    return " ".join(f"{x:.9g}" for x in (*X_AB.position, *rotation_vector))
