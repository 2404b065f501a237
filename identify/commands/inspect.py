"""`identify inspect`: the inertia of every link of a model, judged and repaired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.command import Command, Flag, Number, Outcome, UsageError, option
from identify.commands.output import require_writable_file, write_file

if TYPE_CHECKING:
    from identify.exchange import LinkInertia, Model
    from identify.exchange.link_checks import LinkCheck, Requirement
    from identify.exchange.repair import Repair, RepairedModel

_WIDEST_NAME = 40
_SAME_NUMBER = 1e-8
"""Relative change up to which a number is the one it was, as far as it is printed."""
_FOR = (
    "Judge by the limits of a program too, and say what it makes of what is beyond them: mujoco, "
    "drake, gazebo, pinocchio or bullet."
)


@dataclass(frozen=True, slots=True)
class Inspect(Command):
    """Judge the inertia of every link of a URDF, SDF or MJCF file, or of an estimate.json.

    Prints each link with its verdict and, for one that is wrong, why and by how much; "by rounding"
    where the digits printed explain it; and where the shape of a link contradicts its inertia. With
    --repair only what changed is printed, and what is still wrong. Exit status: 1 if any link is
    impossible, has a mass and no inertia, or is not what --for and --margin ask for (with --repair:
    if any still is), 2 for a file that cannot be read.
    """

    model: Annotated[Path, Positional, option("MODEL", "(required)")]
    """URDF (not xacro), SDF or MJCF file, or estimate.json."""

    for_: Annotated[str | None, option("NAME", name="for", help=_FOR)] = None

    margin: Annotated[Number, option("SHARE")] = None
    """Smallest second moment of mass, of the sum of the three: 0 is possible, 1/3 is a ball."""

    repair: Flag = False
    """Give each link that is wrong a body in its place, all else is kept. Needs -o."""

    no_geometry: Flag = False
    """Do not take the inertia of a link with a mass alone from its own shapes."""

    from_geometry: Flag = False
    """Where a link's shape contradicts its inertia, take that of the shape with the link's mass."""

    density: Annotated[Number, option("RHO")] = None
    """Repair links of no or negative mass too, by their shapes with this density [kg/m³]."""

    output: Annotated[Path | None, option("FIXED", short="-o")] = None
    """File for the repaired model."""

    quiet: Flag = False
    """Leave out the links that nothing is wrong with."""

    def run(self, invocation: str) -> Outcome:
        """Judge, and repair if asked to."""
        self._require_output()
        from identify.exchange import read_model
        from identify.exchange.link_checks import check_links
        from identify.exchange.repair import RepairSettings, repair_model
        from identify.exchange.rewriting import link_shapes

        asked = self._requirement()
        geometry, density = not self.no_geometry, self.density
        settings = RepairSettings(asked, geometry, density, from_geometry=self.from_geometry)
        model = read_model(self.model)
        self._require_readable(model, asked)
        if self.output is None:
            shapes = {} if model.format == "estimate" else link_shapes(self.model)
            judged = check_links(model.links, asked, shapes)
            return Outcome(
                lines=lines_of(model, judged, asked, only_wrong=self.quiet),
                document=lambda: _record(model, judged),
                status=1 if any(entry.problem for entry in judged) else 0,
            )
        repaired = repair_model(self.model, model, settings)
        write_file(self.output, repaired.content)
        return Outcome(
            lines=lines_of_repair(repaired),
            document=lambda: _record_of_repair(repaired),
            files=[self.output],
            status=1 if repaired.unrepaired else 0,
        )

    def _requirement(self) -> Requirement:
        from identify.documents import lookup
        from identify.exchange.link_checks import Requirement
        from identify.exchange.simulators import SIMULATORS

        name = self.for_
        simulator = None if name is None else lookup(SIMULATORS, name, "program", UsageError)
        return Requirement(simulator, 0.0 if self.margin is None else self.margin)

    def _require_readable(self, model: Model, asked: Requirement) -> None:
        if self.from_geometry and model.format not in ("urdf", "sdf"):
            raise UsageError(
                f"inspect: --from-geometry: {self.model} is {model.format}, of which no shapes are "
                f"read; expected urdf or sdf"
            )
        simulator = asked.simulator
        if simulator is not None and model.format not in (*simulator.formats, "estimate"):
            reads = ", ".join(simulator.formats)
            raise UsageError(
                f"inspect: {self.model} is {model.format}, which {simulator.title} does not read "
                f"(it reads {reads})"
            )

    def _require_output(self) -> None:
        if self.repair != (self.output is not None):
            missing = "-o FIXED" if self.repair else "--repair"
            raise UsageError(f"inspect: --repair and -o FIXED go together; {missing} is missing")
        given = {"--no-geometry": self.no_geometry, "--from-geometry": self.from_geometry}
        named = [name for name, on in given.items() if on]
        named += ["--density"] * (self.density is not None)
        if named and not self.repair:
            raise UsageError(f"inspect: {' and '.join(named)}: only with --repair")
        if all(given.values()):
            raise UsageError(f"inspect: {' and '.join(given)} exclude each other; leave one out")
        there = self.output is not None and self.output.exists() and self.model.exists()
        if self.output is not None and there and self.output.samefile(self.model):
            raise UsageError(f"inspect: {self.output} is the model itself; give -o another file")
        require_writable_file(self.output)


def lines_of(
    model: Model, judged: Sequence[LinkCheck], asked: Requirement, *, only_wrong: bool = False
) -> Iterator[str]:
    """The model's links with their verdicts, and their count."""
    counts = Counter[str]()
    shown: list[tuple[LinkInertia, list[str]]] = []
    for entry in judged:
        counted, lines = _judged(entry)
        counts[counted] += 1
        if entry.problem or entry.warning or not only_wrong:
            note, warning = entry.note, entry.warning
            lines += [f"- warning: {warning}"] * bool(warning)
            shown.append((entry.link, lines + [f"- note: {note}"] * bool(note)))
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
    simulator = asked.simulator
    if simulator is not None and simulator.frame and counts["massless"]:
        yield f"Note: of massless links, {simulator.title} {simulator.frame}."
    what = {0: "no links", 1: "1 link"}.get(len(model.links), f"{len(model.links)} links")
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    yield f"{model.path}: {what} ({model.format}){': ' if kinds else ''}{kinds}."


def _judged(entry: LinkCheck) -> tuple[str, list[str]]:
    """What a link is counted as, and its verdict with the reasons, a line each."""
    if entry.problem:
        return entry.problem, [entry.problem, *(f"- {reason}" for reason in entry.reasons)]
    if entry.kind is None:
        return "could not be judged", ["not said by the file"]
    if entry.kind == "massless":
        return entry.kind, ["a massless frame"]
    return "possible", [f"possible: {entry.kind}"]


def _record(model: Model, judged: Sequence[LinkCheck]) -> dict[str, object]:
    """What the document says of a model."""
    links = [
        {
            "name": entry.link.name,
            "line": entry.link.line,
            "phi": entry.link.phi,
            "kind": entry.kind,
            "fault": entry.problem or None,
            "reasons": entry.reasons,
            "warning": entry.warning or None,
            "note": entry.note or None,
        }
        for entry in judged
    ]
    return {"format": model.format, "links": links, "notes": model.notes}


def _record_of_repair(repaired: RepairedModel) -> Mapping[str, object]:
    """What the document says of a repair."""
    repairs = [
        {"link": one.link.name, "phi": one.phi, "source": one.source or None, "change": one.change}
        for one in repaired.repairs
    ]
    said = {"left": repaired.unrepaired, "warnings": repaired.warnings}
    return {"repairs": repairs} | {
        name: [{"link": link.name, "reason": reason} for link, reason in entries]
        for name, entries in said.items()
    }


def lines_of_repair(repaired: RepairedModel) -> Iterator[str]:
    """What was changed, what could not be, and what contradicts the shapes of links."""
    if not repaired.repairs and not repaired.unrepaired:
        yield "Nothing to repair; the file is written as it was."
    for repair in repaired.repairs:
        said = [
            *_changes(repair),
            f"it has {repair.source}" if repair.source else "",
            repair.change,
        ]
        yield f"Repaired {repair.link.name}: {'; '.join(filter(None, said))}."
    for link, why in repaired.unrepaired:
        yield f"Left as it was, {link.name}: {why}."
    for link, how in repaired.warnings:
        yield f"Warning, {link.name}: {how}."


def _changes(repair: Repair) -> Iterator[str]:
    """What of mass, centre of mass and principal moments is another, before and after."""
    from identify.exchange.link_checks import moments_text
    from identify.inertia import check

    before, after = repair.link.phi_as_printed, repair.phi
    if before is None:
        return
    if abs(after[0] - before[0]) > _SAME_NUMBER * abs(after[0]):
        center = moments_text(after[1:4] / after[0])
        yield f"mass {before[0]:.6g} → {after[0]:.6g} kg, at [{center}] m"
    was, now = check(before).principal_moments, repair.moments
    apart = abs(now - was) > _SAME_NUMBER * abs(now)
    pairs = list(zip(was[apart], now[apart], strict=True))
    if pairs:
        digits = 4  # more where these show no difference
        while digits < 9 and any(f"{a:.{digits}g}" == f"{b:.{digits}g}" for a, b in pairs):
            digits += 1
        shown = moments_text(was, digits), moments_text(now, digits)
        yield f"principal moments {shown[0]} → {shown[1]} kg m²"
