"""Bodies as people have them: an estimate.json or a link of a model, at a pose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from identify.commands.command import UsageError, numbers
from identify.errors import IdentifyError, ModelError
from identify.findings import Finding, completion, reasons_in_words
from identify.relevance import SAME_FLANGE, SAME_GIVEN_POSE

if TYPE_CHECKING:
    from identify.exchange import SavedEstimate
    from identify.findings import Verdict
    from identify.spatial import Pose

PoseNumbers: TypeAlias = Annotated[tuple[float, float, float, float, float, float], numbers(6)]
"""x, y, z [m] and a rotation vector [rad], as a robot's pendant shows a pose."""

AT = "X Y Z RX RY RZ"

AT_EACH = (
    "Pose of another body's frame in the first one's: position [m] and rotation vector [rad]. Once "
    "for each but the first, in their order."
)

BODY = "A body: an estimate.json, JSON with mass, com and an inertia, or model.urdf#LINK."

_MODELS = (".urdf", ".sdf", ".xml", ".mjcf")
_WEAKEST_FIRST = ("default", "constraint", "prior", "data", "given")


NOT_TO_BE_USED = 4
"""Exit status: there is an estimate, and a finding says not to use it."""


class UnusableEstimate(IdentifyError):
    """An estimate that a finding says not to use was to be handed on."""

    exit_code = NOT_TO_BE_USED

    def __init__(self, path: Path, reasons: Iterable[str]) -> None:
        super().__init__(
            f"{path}: this estimate is not to be used, nothing is written: {' '.join(reasons)} "
            f"(--accept-findings uses it all the same)"
        )


def reasons_of(estimate: SavedEstimate) -> tuple[str, ...]:
    """Errors and warnings of an estimate that was read, a line each.

    One of another hand, or of a fit before there were findings, says at least what a default body
    completes.
    """
    findings: Iterable[Finding] = estimate.findings
    if estimate.verdict is None:
        findings = completion(estimate.decided_by, estimate.default_body)
    return reasons_in_words(findings)


def status_of(verdict: Verdict | None) -> int:
    """0, or that an estimate is not to be used."""
    return NOT_TO_BE_USED if verdict is not None and verdict.usable == "no" else 0


def read_bodies(*places: Path) -> tuple[SavedEstimate, ...]:
    """The bodies that files say, or `MODEL#LINK` the links of models.

    Raises:
        MissingFile: no such file.
        ModelError: a file is no body, or a link is not in it, or has no mass.
    """
    return tuple(_read_body(place) for place in places)


def _read_body(place: Path) -> SavedEstimate:
    from identify.documents import lookup
    from identify.exchange import SavedEstimate, read_estimate, read_model
    from identify.inertia import InertialParameters

    file, hash_, name = str(place).rpartition("#")
    if place.exists() or not hash_:
        if place.suffix.lower() not in _MODELS:
            return read_estimate(place)
        names = [link.name for link in read_model(place).links]
        raise ModelError(f"{place} is a model; name its link, as {place}#LINK, one of {names}")
    links = {link.name: link for link in read_model(file).links}
    try:
        link = lookup(links, name, "link", ModelError)
    except ModelError as error:
        raise ModelError(f"{file}: {error}") from None
    if link.phi is None:
        what = "is a massless frame" if link.massless else f"is not said there: {link.note}"
        raise ModelError(f"{file}: link {name!r} {what}")
    return SavedEstimate(InertialParameters(link.phi), f"link {name} of {file}")


def pose_of(at: Sequence[float], command: str, word: str = "--at") -> Pose:
    """The pose of six numbers, x y z [m] and a rotation vector [rad]; raises `UsageError`."""
    import numpy as np

    from identify.spatial import Pose
    from identify.spatial.rotations import MAX_ROTATION_ANGLE, exp_rotation

    if not np.isfinite(at).all():
        raise UsageError(f"{command}: {word} {AT}: expected finite numbers, got {list(at)}")
    turn = float(np.linalg.norm(at[3:]))
    if turn > MAX_ROTATION_ANGLE:
        raise UsageError(
            f"{command}: {word} {AT}: RX RY RZ turn by {turn:.4g} rad, expected a full turn at the "
            "most: a rotation vector is in radians; for one in degrees, multiply by 0.0174533"
        )
    return Pose.from_quaternion(exp_rotation(np.array(at[3:])), np.array(at[:3]))


def moved(saved: SavedEstimate, X_AB: Pose, other: SavedEstimate) -> SavedEstimate:
    """A body in another frame A, with its covariance.

    Each of the ten is decided there by the weakest of what decided those that it is made of.

    Args:
        saved: the body about Bo in B.
        X_AB: pose of B in A.
        other: a body about Ao in A.
    """
    from identify.inertia import PHI
    from identify.inertia.frames import frame_map

    F = frame_map(X_AB)
    decided = saved.decided_by and {
        name: weakest(saved.decided_by.get(PHI[j]) for j in row.nonzero()[0])
        for name, row in zip(PHI, F, strict=True)
    } | {name: by for name, by in saved.decided_by.items() if name not in PHI}
    covariance, calibration = (
        None if of is None else F @ of @ F.T for of in (saved.covariance, saved.calibration)
    )
    return replace(
        saved,
        parameters=saved.parameters.in_frame(X_AB),
        frame=other.frame,
        frames=other.frames,
        covariance=covariance,
        calibration=calibration,
        intervals={},
        interval_kind=None,
        degrees_of_freedom={},
        certified_bounds={},
        variance_shares={},
        principal_axes=(),
        decided_by={name: what for name, what in decided.items() if what},
        bias=(),
        residual_rms=None,
        certificate={},
    )


def weakest(decided: Iterable[str | None]) -> str:
    """The weakest of what decided numbers that are added up; nothing where nothing is known."""
    known = set(decided)
    return next((what for what in _WEAKEST_FIRST if what in known), "")


def require_one_frame(words: Sequence[Path], bodies: Sequence[SavedEstimate], at: str) -> None:
    """Refuse bodies whose logs say that their frames differ.

    Raises:
        ModelError: names the two, and the pose of one in the other where the flange is in both.
    """
    first = bodies[0]
    for word, other in zip(words[1:], bodies[1:], strict=True):
        one, two = first.frames, other.frames
        X_AB = _on_one_flange(first, other)
        if X_AB is not None:
            if _apart(X_AB, X_AB.identity()) < SAME_FLANGE:
                continue
            hint = f"on one flange, that is {at} {_spelled(X_AB)}"
        elif None in (one.name, two.name) or one.name == two.name:
            continue
        else:
            hint = f"say where it is with {at} {AT}"
        raise ModelError(
            f"{word} is about {other.frame_description}, but {words[0]} about "
            f"{first.frame_description}, and their logs say that these differ: {hint}"
        )


def flange_notes(
    words: Sequence[Path], bodies: Sequence[SavedEstimate], poses: Sequence[Pose]
) -> list[str]:
    """That a body is not put where the flange that both logs know has it, a sentence each.

    Args:
        words: the files.
        bodies: as they were read.
        poses: that of each body but the first in the frame of the first, as it was asked for.
    """
    return [
        f"{word} is put at {_spelled(X_AB)}, but on one flange with {words[0]}, as their logs say "
        f"where it is, it would be at {_spelled(known)}"
        for word, other, X_AB in zip(words[1:], bodies[1:], poses, strict=True)
        if (known := _on_one_flange(bodies[0], other)) and _apart(known, X_AB) > SAME_GIVEN_POSE
    ]


def _on_one_flange(one: SavedEstimate, other: SavedEstimate) -> Pose | None:
    """Pose of the other's frame in the first one's where both are on a flange that both know."""
    X_AF, X_BF = one.frames.flange, other.frames.flange
    return None if X_AF is None or X_BF is None else X_AF @ X_BF.inverse()


def _apart(X_AB: Pose, X_AC: Pose) -> float:
    """Largest difference of two poses [m, and entries of a rotation]."""
    return float(abs(X_AB.matrix - X_AC.matrix).max())


def _spelled(X_AB: Pose) -> str:
    """A pose as `--at` takes it."""
    from identify.spatial import log_rotation, quaternion_from_rotation

    turn = log_rotation(quaternion_from_rotation(X_AB.rotation))
    return " ".join(f"{x:.9g}" for x in (*X_AB.position, *turn))
