"""`identify subtract`: the payload alone, from the tool with it and the tool without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.command import Command, option
from identify.commands.output import require_writable_file, write_file
from identify.commands.pair import note_torn_pair
from identify.commands.reasons import reasons_of, say_reasons, status_of
from identify.commands.terminal import say
from identify.errors import ModelError
from identify.findings import Finding, completion, ranked, verdict_of

if TYPE_CHECKING:
    from identify.exchange import SavedEstimate
    from identify.inertia import Difference

_NOISE = 4.0
"""Standard deviations up to which an impossible payload is one that noise made impossible."""

_WEAKEST_FIRST = ("default", "constraint", "data", "given")
_UNIDENTIFIABLE = "what a log does not identify is that of its default body"
_KIND = "95 %, from the covariances of the two estimates, taken as independent"


@dataclass(frozen=True, slots=True)
class Subtract(Command):
    """Subtract an estimate without the payload from one with it: the payload alone.

    Both must be about the same point in the same axes. Exit status: 2 where what is left is no
    possible body, by more than the noise of the two; 4 where an estimate is not to be used.
    """

    with_payload: Annotated[Path, Positional, option("WITH.json", "(required)")]
    """estimate.json of tool and payload."""

    without: Annotated[Path, Positional, option("WITHOUT.json", "(required)")]
    """estimate.json of the tool alone."""

    output: Annotated[Path | None, option("OUT.json", "(default: print)", short="-o")] = None
    """File for the payload's estimate.json; the table is printed too."""

    def run(self, invocation: str) -> int:
        """Print the payload's parameters, and write them if asked to."""
        require_writable_file(self.output)
        from identify.exchange import read_estimate
        from identify.exchange.estimate_json import estimate_text
        from identify.inertia import difference

        note_torn_pair(self.with_payload, self.without)
        both = read_estimate(self.with_payload), read_estimate(self.without)
        left = difference(
            both[0].parameters.phi,
            both[1].parameters.phi,
            both[0].covariance,
            both[1].covariance,
        )
        payload = _payload(left, both, invocation)  # raises where there is none
        if self.output is not None:
            write_file(self.output, estimate_text(payload).encode())
        from identify.commands.summary import print_parameters

        print_parameters(payload)
        say(*(f"Note: {note}." for note in _notes(left, both)))
        if self.output is not None:
            say(self.output)
        say_reasons(reasons_of(payload))
        return status_of(payload.verdict)


def _payload(
    left: Difference, both: tuple[SavedEstimate, SavedEstimate], invocation: str
) -> SavedEstimate:
    """The estimate of the payload: of the nearest possible body where noise made it impossible.

    Raises:
        ModelError: nothing is left.
        ImpossibleDifference: what is left is impossible, and noise does not explain it, or nothing
            is known of the noise.
    """
    from identify.estimation.intervals import intervals_of
    from identify.exchange import SavedEstimate
    from identify.inertia import PHI, ImpossibleDifference, InertialParameters, nearest_consistent

    if left.phi[0] == 0.0:
        raise ModelError("both estimates have the same mass: there is no payload between them")
    decided: dict[str, str] = {}
    for name in PHI:  # by the weaker of the two, where any is known
        by = {saved.decided_by[name] for saved in both if name in saved.decided_by}
        if by:
            decided[name] = next(what for what in _WEAKEST_FIRST if what in by)
    phi = left.phi
    if _beyond_rounding(left):
        if left.deviations is None or left.deviations > _NOISE or not left.verdict.mass > 0.0:
            raise ImpossibleDifference(left.verdict, ())
        phi = nearest_consistent(phi).phi
        decided = {
            name: what if what == "default" or name in PHI[:4] else "constraint"
            for name, what in decided.items()
        }
    intervals = {}
    if left.covariance is not None:
        known = {name: decided.get(name, "data") for name in PHI}
        intervals = intervals_of(phi, left.covariance, float("inf"), known)
    body = InertialParameters(phi)
    default_body = _UNIDENTIFIABLE if "default" in decided.values() else None
    findings, verdict = _findings(both, decided, default_body), None
    if any(saved.verdict is not None for saved in both):
        identifiable = [name for name, by in decided.items() if by in ("data", "constraint")]
        verdict = verdict_of(
            findings, possible=body.consistent, optimal=False, identifiable=identifiable
        )
    return SavedEstimate(
        parameters=body,
        frame=both[0].frame,
        covariance=left.covariance,
        intervals=intervals,
        interval_kind=_KIND if intervals else None,
        decided_by=decided,
        default_body=default_body,
        provenance={"command": invocation},
        findings=findings,
        verdict=verdict,
    )


def _findings(
    both: tuple[SavedEstimate, SavedEstimate], decided: dict[str, str], default_body: str | None
) -> tuple[Finding, ...]:
    """Those of both estimates, each with its place; what is completed is said once."""
    names = zip(("with the payload", "without it"), both, strict=True)
    return ranked(
        [
            *completion(decided, default_body),
            *(
                replace(finding, where=": ".join(filter(None, (name, finding.where))))
                for name, saved in names
                for finding in saved.findings
                if finding.code != "completed"
            ),
        ]
    )


def _beyond_rounding(left: Difference) -> bool:
    return left.verdict.impossible and not left.verdict.by_rounding


def _notes(left: Difference, both: tuple[SavedEstimate, SavedEstimate]) -> Iterator[str]:
    if _beyond_rounding(left):
        yield (
            f"the difference itself is impossible, by {left.deviations:.1f} of its standard "
            f"deviations, which noise explains; shown is the nearest possible body with its mass "
            f"and centre of mass"
        )
    if both[0].frame != both[1].frame:
        yield (
            f"the frames are called differently, {both[0].frame!r} and {both[1].frame!r}: make "
            f"sure that they are the same"
        )
    names = zip(("first", "second"), both, strict=True)
    missing = [which for which, saved in names if saved.covariance is None]
    if missing:
        yield f"no intervals: there is no covariance in the {' and the '.join(missing)} file"
