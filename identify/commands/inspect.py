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
from identify.commands.terminal import printable

if TYPE_CHECKING:
    from identify.arrays import Vec3
    from identify.exchange import LinkInertia, Model
    from identify.exchange.repair import Repair, RepairedModel
    from identify.inertia.consistency import BodyKind
    from identify.inertia.verdict import Verdict

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

        model = read_model(self.model)
        for line in lines_of(model, only_impossible=self.quiet):
            print(printable(line))
        if self.output is None:
            from identify.exchange.link_inertia import impossible_links

            return 1 if impossible_links(model.links) else 0
        from identify.exchange.repair import repair_model

        repaired = repair_model(self.model, model)
        write_file(self.output, repaired.content)
        for line in lines_of_repair(repaired, self.output):
            print(printable(line))
        return 1 if repaired.left else 0

    def _require_output(self) -> None:
        if self.repair != (self.output is not None):
            missing = "-o FIXED" if self.repair else "--repair"
            raise UsageError(f"inspect: --repair and -o FIXED go together; {missing} is missing")
        if self.output is None:
            return
        if self.output.exists() and self.model.exists() and self.output.samefile(self.model):
            raise UsageError(f"inspect: {self.output} is the model itself; give -o another file")
        require_writable_file(self.output)


def lines_of(model: Model, *, only_impossible: bool = False) -> Iterator[str]:
    """The model's links with their verdicts, and their count."""
    from identify.exchange.link_inertia import link_kinds

    judged = list(zip(model.links, link_kinds(model.links), strict=True))
    counts = Counter[str]()
    shown: list[tuple[LinkInertia, list[str]]] = []
    for link, kind in judged:
        verdict = link.verdict if kind == "impossible" else None
        counts[_counted_as(kind, verdict)] += 1
        if kind == "impossible" or not only_impossible:
            shown.append((link, _said(link, kind, verdict)))
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
    yield f"{model.path}: {_total(model, counts)}."


def _said(link: LinkInertia, kind: BodyKind | None, verdict: Verdict | None) -> list[str]:
    """The verdict and what else there is to say, a line each."""
    if verdict is not None:
        lines = ["impossible by rounding" if verdict.by_rounding else "impossible"]
        lines += [f"- {reason}" for reason in verdict.reasons]
        lines += [f"- {_moments(verdict.principal_moments)}"] * bool(verdict.mass > 0.0)
    elif kind is None:
        lines = ["not said by the file"]
    else:
        lines = ["a massless frame" if kind == "massless" else f"possible: {kind}"]
    if link.note:
        lines.append(f"- note: {link.note}")
    return lines


def _moments(moments: Vec3) -> str:
    listed = ", ".join(f"{moment:.4g}" for moment in moments)
    return f"principal moments about the centre of mass: {listed} kg m²"


def _total(model: Model, counts: Counter[str]) -> str:
    """How many links there are of each kind, in words."""
    if not model.links:
        return f"no links ({model.format})"
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    what = "link" if len(model.links) == 1 else "links"
    return f"{len(model.links)} {what} ({model.format}): {kinds}"


def _counted_as(kind: BodyKind | None, verdict: Verdict | None) -> str:
    if kind is None:
        return "could not be judged"
    if verdict is not None:
        return "impossible by rounding" if verdict.by_rounding else "impossible"
    return "massless" if kind == "massless" else "possible"


def lines_of_repair(repaired: RepairedModel, path: Path) -> Iterator[str]:
    """What was changed, what could not be, and the file written."""
    if not repaired.repairs and not repaired.left:
        yield "Nothing to repair; the file is written as it was."
    for repair in repaired.repairs:
        yield f"Repaired {repair.link.name}: {_change(repair)}."
    for link, why in repaired.left:
        yield f"Left as it was, {link.name}: {why}."
    yield str(path)


def _change(repair: Repair) -> str:
    before, after = repair.verdict.principal_moments, repair.moments
    listed = ", ".join(f"{a:.4g} → {b:.4g}" for a, b in zip(before, after, strict=True))
    return (
        f"principal moments {listed} kg m²; mass and centre of mass kept; moved by "
        f"{repair.distance:.2g} of the body's characteristic length in the pseudo-inertia"
        + (f". Beyond that, {repair.change}" if repair.change else "")
    )
