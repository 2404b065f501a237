"""`identify inspect`: the inertia of every link of a model, judged and repaired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.command import Command, Flag, UsageError, option
from identify.commands.output import require_writable_file, write_file
from identify.commands.pair import note_torn_pair
from identify.commands.terminal import say

if TYPE_CHECKING:
    from identify.exchange import LinkInertia, Model
    from identify.exchange.repair import RepairedModel
    from identify.inertia.consistency import BodyKind

_WIDEST_NAME = 40


@dataclass(frozen=True, slots=True)
class Inspect(Command):
    """Judge the inertia of every link of a URDF, SDF or MJCF file, or of an estimate.json.

    Prints each link with its verdict and, for an impossible one, why and by how much; "by rounding"
    where the digits printed explain it. Exit status: 1 if any link is impossible (with --repair: if
    any could not be repaired), 2 for a file that cannot be read.
    """

    model: Annotated[Path, Positional, option("MODEL", "(required)")]
    """URDF (not xacro), SDF or MJCF file, or estimate.json."""

    repair: Flag = False
    """Give each impossible link the nearest possible inertia, all else is kept. Needs -o."""

    output: Annotated[Path | None, option("FIXED", short="-o")] = None
    """File for the repaired model."""

    quiet: Flag = False
    """Leave out the links that are possible."""

    def run(self, invocation: str) -> int:
        """Print the verdicts; repair if asked to."""
        self._require_output()
        from identify.exchange import read_model

        note_torn_pair(self.model)
        model = read_model(self.model)
        verdicts = lines_of(model, only_impossible=self.quiet)
        if self.output is None:
            say(*verdicts)
            from identify.exchange.link_inertia import impossible_links

            return 1 if impossible_links(model.links) else 0
        from identify.exchange.repair import repair_model

        repaired = repair_model(self.model, model)
        write_file(self.output, repaired.content)
        say(*verdicts, *lines_of_repair(repaired), self.output)
        return 1 if repaired.left else 0

    def _require_output(self) -> None:
        if self.repair != (self.output is not None):
            missing = "-o FIXED" if self.repair else "--repair"
            raise UsageError(f"inspect: --repair and -o FIXED go together; {missing} is missing")
        there = self.output is not None and self.output.exists() and self.model.exists()
        if self.output is not None and there and self.output.samefile(self.model):
            raise UsageError(f"inspect: {self.output} is the model itself; give -o another file")
        require_writable_file(self.output)


def lines_of(model: Model, *, only_impossible: bool = False) -> Iterator[str]:
    """The model's links with their verdicts, and their count."""
    from identify.exchange.link_inertia import link_kinds

    counts = Counter[str]()
    shown: list[tuple[LinkInertia, list[str]]] = []
    for link, kind in zip(model.links, link_kinds(model.links), strict=True):
        counted, lines = _judged(link, kind)
        counts[counted] += 1
        if kind == "impossible" or not only_impossible:
            shown.append((link, lines + [f"- note: {link.note}"] * bool(link.note)))
    width = min(max((len(link.name) for link, _ in shown), default=4), _WIDEST_NAME)
    if shown:
        yield f"{'line':>6}  {'link':<{width}}  {'mass [kg]':>10}  verdict"
    for link, (first, *rest) in shown:
        line = "" if link.line is None else str(link.line)
        mass = "–" if link.phi is None else f"{link.phi[0]:.6g}"
        yield f"{line:>6}  {link.name:<{width}}  {mass:>10}  {first}"
        yield from (f"{'':>{width + 20}}  {reason}" for reason in rest)
    for note in model.notes:
        yield f"Note: {note}."
    what = {0: "no links", 1: "1 link"}.get(len(model.links), f"{len(model.links)} links")
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    yield f"{model.path}: {what} ({model.format}){': ' if kinds else ''}{kinds}."


def _judged(link: LinkInertia, kind: BodyKind | None) -> tuple[str, list[str]]:
    """What a link is counted as, and its verdict with the reasons, a line each."""
    if kind is None:
        return "could not be judged", ["not said by the file"]
    if kind == "massless":
        return kind, ["a massless frame"]
    if kind != "impossible" or (verdict := link.verdict) is None:
        return "possible", [f"possible: {kind}"]
    what = "impossible by rounding" if verdict.by_rounding else "impossible"
    lines = [what, *(f"- {reason}" for reason in verdict.reasons)]
    if verdict.mass > 0.0:
        moments = ", ".join(f"{moment:.4g}" for moment in verdict.principal_moments)
        lines.append(f"- principal moments about the centre of mass: {moments} kg m²")
    return what, lines


def lines_of_repair(repaired: RepairedModel) -> Iterator[str]:
    """What was changed, and what could not be."""
    if not repaired.repairs and not repaired.left:
        yield "Nothing to repair; the file is written as it was."
    for repair in repaired.repairs:
        pairs = zip(repair.verdict.principal_moments, repair.moments, strict=True)
        listed = ", ".join(f"{before:.4g} → {after:.4g}" for before, after in pairs)
        beyond = f". Beyond that, {repair.change}" if repair.change else ""
        yield (
            f"Repaired {repair.link.name}: principal moments {listed} kg m²; mass and centre of "
            f"mass kept; moved by {repair.distance:.2g} of the body's characteristic length in the "
            f"pseudo-inertia{beyond}."
        )
    for link, why in repaired.left:
        yield f"Left as it was, {link.name}: {why}."
