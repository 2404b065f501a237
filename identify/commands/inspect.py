"""`identify inspect`: check and repair the inertia of every link of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.command import Command, Flag, Number, Outcome, UsageError, option
from identify.commands.output import require_writable_file, write_file
from identify.texts import sentence

if TYPE_CHECKING:
    from identify.exchange import LinkInertia, Model
    from identify.exchange.link_checks import LinkCheck, LinkRequirements
    from identify.exchange.repair import Repair, RepairedModel

_MAX_NAME_WIDTH = 40
_UNCHANGED_RTOL = 1e-8
"""Relative change below which a number counts as unchanged."""
_FOR_HELP = (
    "Also check the limits of a program (mujoco, drake, gazebo, dart, pinocchio, bullet, newton), "
    "and show the bodies that it simulates where they differ from the file."
)


@dataclass(frozen=True, slots=True)
class Inspect(Command):
    """Check the inertia of every link of a URDF, SDF, MJCF or USD file, or of an estimate.json.

    Prints each link with its verdict; for an invalid link the reasons and their size, "by rounding"
    if the printed digits explain it; and the convention in which the numbers of a link would fit
    its shape, if they do not as written. With --repair only changes and remaining faults are
    printed. Exit status: 1 if any link is physically inconsistent, has a mass but no inertia, does
    not fit its shape, or violates --for or --margin (with --repair: if any still does), 2 for a
    file that cannot be read.
    """

    model: Annotated[Path, Positional, option("MODEL", "(required)")]
    """URDF (not xacro), SDF, MJCF or USD file, or estimate.json."""

    for_: Annotated[str | None, option("NAME", name="for", help=_FOR_HELP)] = None

    margin: Annotated[Number, option("SHARE")] = None
    """Minimum ratio of the smallest second moment of mass to the sum of all three (0 to 1/3)."""

    repair: Flag = False
    """Replace invalid inertias and keep everything else; write FIXED (with or without -o)."""

    no_geometry: Flag = False
    """Do not compute a missing inertia from the shapes of the link."""

    from_geometry: Flag = False
    """Replace an inertia that contradicts the link's shape by that of the shape."""

    density: Annotated[Number, option("RHO")] = None
    """Density of the shapes of links without positive mass, and of balls [kg/m³]."""

    output: Annotated[Path | None, option("FIXED", short="-o")] = None
    """File for the repaired model; not MODEL itself."""

    quiet: Flag = False
    """Print only links with faults or warnings."""

    def with_extra_positionals(self, words: Sequence[str]) -> Inspect:
        """Take a file after --repair for that of the repaired model."""
        if not self.repair or self.output is not None or len(words) != 1:
            raise UsageError(f"unexpected {' '.join(words)}; expected one MODEL")
        return replace(self, output=Path(words[0]))

    def run(self, invocation: str) -> Outcome:
        """Check the links, and repair them if an output file is given."""
        self._require_output()
        from identify.exchange import read_model
        from identify.exchange.link_checks import check_links
        from identify.exchange.repair import RepairSettings, repair_model
        from identify.exchange.rewriting import BodiesInProgram, bodies_in_program

        requirement = self._requirement()
        geometry, density = not self.no_geometry, self.density
        settings = RepairSettings(requirement, geometry, density, from_geometry=self.from_geometry)
        model = read_model(self.model)
        self._require_readable(model, requirement)
        if self.output is None:
            simulated = BodiesInProgram()
            if requirement.simulator and model.document:
                simulated = bodies_in_program(model.document, requirement.simulator)
            judged = check_links(model.links, requirement, model.shapes(), simulated.bodies)
            notes = (*model.notes, simulated.problem) if simulated.problem else model.notes
            model = replace(model, notes=notes)
            return Outcome(
                lines=link_lines(model, judged, requirement, only_wrong=self.quiet),
                document=lambda: _record(model, judged),
                status=1 if any(entry.problem for entry in judged) else 0,
            )
        repaired = repair_model(self.model, model, settings)
        write_file(self.output, repaired.content)
        return Outcome(
            lines=repair_lines(repaired),
            document=lambda: _record_of_repair(repaired),
            files=[self.output],
            status=1 if repaired.unrepaired or repaired.problem else 0,
        )

    def _requirement(self) -> LinkRequirements:
        from identify.documents import lookup
        from identify.exchange.link_checks import LinkRequirements
        from identify.exchange.simulators import SIMULATORS

        name = self.for_
        simulator = None if name is None else lookup(SIMULATORS, name, "program", UsageError)
        return LinkRequirements(simulator, 0.0 if self.margin is None else self.margin)

    def _require_readable(self, model: Model, requirement: LinkRequirements) -> None:
        if self.from_geometry and model.format == "estimate":
            raise UsageError(f"inspect: --from-geometry: {self.model} has no shapes")
        simulator = requirement.simulator
        if model.format == "usd" and (self.repair or simulator is not None):
            name = "--repair" if self.repair else "--for"
            raise UsageError(f"inspect: {name} takes a URDF, SDF or MJCF file, not a stage of USD")
        if simulator is not None and model.format not in (*simulator.formats, "estimate"):
            reads = ", ".join(simulator.formats)
            raise UsageError(
                f"inspect: {self.model} is {model.format}, which {simulator.title} does not read "
                f"(it reads {reads})"
            )

    def _require_output(self) -> None:
        if self.repair != (self.output is not None):
            missing = "-o FIXED" if self.repair else "--repair"
            raise UsageError(f"inspect: --repair and -o FIXED require each other; add {missing}")
        given = {"--no-geometry": self.no_geometry, "--from-geometry": self.from_geometry}
        named = [name for name, on in given.items() if on]
        named += ["--density"] * (self.density is not None)
        if named and not self.repair:
            raise UsageError(f"inspect: {' and '.join(named)} requires --repair")
        if all(given.values()):
            raise UsageError(f"inspect: {' and '.join(given)} cannot be combined")
        both_exist = self.output is not None and self.output.exists() and self.model.exists()
        if self.output is not None and both_exist and self.output.samefile(self.model):
            raise UsageError(f"inspect: {self.output} is the model itself; give -o another file")
        require_writable_file(self.output)


def link_lines(
    model: Model,
    judged: Sequence[LinkCheck],
    requirement: LinkRequirements,
    *,
    only_wrong: bool = False,
) -> Iterator[str]:
    """Format the links of a model with their verdicts, and their count."""
    counts = Counter[str]()
    shown: list[tuple[LinkInertia, list[str]]] = []
    for entry in judged:
        counted, lines = _verdict_lines(entry)
        counts[counted] += 1
        if entry.problem or entry.warning or not only_wrong:
            note, warning = entry.note, entry.warning
            lines += [f"- {line}" for line in _simulated_lines(entry, requirement)]
            lines += [f"- warning: {warning}"] * bool(warning)
            shown.append((entry.link, lines + [f"- note: {note}"] * bool(note)))
    width = min(max((len(link.name) for link, _ in shown), default=4), _MAX_NAME_WIDTH)
    subtrees = model.subtree_masses() if model.parents else {}
    if shown:
        subtree = f"  {'subtree [kg]':>12}" * bool(subtrees)
        yield f"{'line':>6}  {'link':<{width}}  {'mass [kg]':>10}{subtree}  verdict"
    for link, (first, *rest) in shown:
        line = "" if link.line is None else str(link.line)
        mass = "–" if link.phi is None else f"{link.phi[0]:.6g}"
        subtree = f"  {subtrees[link.name]:>12.6g}" if subtrees else ""
        yield f"{line:>6}  {link.name:<{width}}  {mass:>10}{subtree}  {first}"
        indent = width + (34 if subtrees else 20)
        yield from (f"{'':>{indent}}  {reason}" for reason in rest)
    for note in model.notes:
        yield sentence(f"Note: {note}")
    simulator = requirement.simulator
    if simulator is not None and simulator.massless_treatment and counts["massless"]:
        yield f"Note: for massless links, {simulator.title} {simulator.massless_treatment}."
    if any(entry.reading for entry in judged):
        yield f"Repair: identify inspect {model.path} --repair -o FIXED writes the numbers as read."
    if len(model.links) > 1:
        total = sum(float(link.phi[0]) for link in model.links if link.phi is not None)
        yield f"Total mass: {total:.6g} kg."
    link_count = {0: "no links", 1: "1 link"}.get(len(model.links), f"{len(model.links)} links")
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    yield f"{model.path}: {link_count} ({model.format}){': ' if kinds else ''}{kinds}."


def _verdict_lines(entry: LinkCheck) -> tuple[str, list[str]]:
    """Return the category of a link, and its verdict and reasons, one per line."""
    if entry.problem:
        return entry.problem, [entry.problem, *(f"- {reason}" for reason in entry.reasons)]
    if entry.kind is None:
        return "not checked", ["the file contains no inertia"]
    if entry.kind == "massless":
        return entry.kind, ["a massless frame"]
    return "possible", [f"possible: {entry.kind}"]


def _simulated_lines(entry: LinkCheck, requirement: LinkRequirements) -> Iterator[str]:
    """Yield the body that the required program simulates, if it is not that of the file."""
    from identify.exchange.link_checks import format_moments
    from identify.inertia import check_consistency

    simulated, simulator = entry.simulated, requirement.simulator
    if simulated is None or simulator is None or not simulated.changes:
        return
    changes = "; ".join(simulated.changes)
    if simulated.phi is None:
        yield f"in {simulator.title} {changes}"
        return
    mass, center = float(simulated.phi[0]), "0, 0, 0"
    if mass:
        center = format_moments(simulated.phi[1:4] / mass)
    moments = format_moments(check_consistency(simulated.phi).principal_moments)
    yield (
        f"{simulator.title} simulates {mass:.6g} kg at [{center}] m with the principal moments "
        f"{moments} kg m²: {changes}"
    )


def _record(model: Model, judged: Sequence[LinkCheck]) -> dict[str, object]:
    links = [
        {
            "name": entry.link.name,
            "line": entry.link.line,
            "phi": entry.link.phi,
            "kind": entry.kind,
            "fault": entry.problem or None,
            "reasons": entry.reasons,
            "warning": entry.warning or None,
            "simulated": None if entry.simulated is None else entry.simulated._asdict(),
            "note": entry.note or None,
        }
        for entry in judged
    ]
    return {"format": model.format, "links": links, "notes": model.notes}


def _record_of_repair(repaired: RepairedModel) -> Mapping[str, object]:
    repairs = [
        {
            "link": repair.link.name,
            "phi": repair.phi,
            "source": repair.source or None,
            "change": repair.change,
        }
        for repair in repaired.repairs
    ]
    details = {"left": repaired.unrepaired, "warnings": repaired.warnings}
    return {"repairs": repairs, "problem": repaired.problem or None} | {
        name: [{"link": link.name, "reason": reason} for link, reason in entries]
        for name, entries in details.items()
    }


def repair_lines(repaired: RepairedModel) -> Iterator[str]:
    """Format the repairs, the links that could not be repaired, and the warnings."""
    if not repaired.repairs and not repaired.unrepaired:
        yield "Nothing to repair; the file is written unchanged."
    for repair in repaired.repairs:
        details = [
            *_changes(repair),
            f"new inertia: {repair.source}" if repair.source else "",
            repair.change,
        ]
        yield sentence(f"Repaired {repair.link.name}: {'; '.join(filter(None, details))}")
    for link, reason in repaired.unrepaired:
        yield sentence(f"Not repaired: {link.name}: {reason}")
    for link, warning in repaired.warnings:
        yield sentence(f"Warning: {link.name}: {warning}")
    if repaired.problem:
        yield sentence(f"Not loaded: {repaired.problem}")


def _changes(repair: Repair) -> Iterator[str]:
    """Return old and new mass, centre of mass and principal moments, where they differ."""
    from identify.exchange.link_checks import format_moments
    from identify.inertia import check_consistency

    before, after = repair.link.phi_as_printed, repair.phi
    if before is None:
        return
    if abs(after[0] - before[0]) > _UNCHANGED_RTOL * abs(after[0]):
        center = format_moments(after[1:4] / after[0])
        yield f"mass {before[0]:.6g} → {after[0]:.6g} kg, at [{center}] m"
    was, now = check_consistency(before).principal_moments, repair.moments
    apart = abs(now - was) > _UNCHANGED_RTOL * abs(now)
    pairs = list(zip(was[apart], now[apart], strict=True))
    if pairs:
        digits = 4  # more where these show no difference
        while digits < 9 and any(f"{a:.{digits}g}" == f"{b:.{digits}g}" for a, b in pairs):
            digits += 1
        shown = format_moments(was, digits), format_moments(now, digits)
        yield f"principal moments {shown[0]} → {shown[1]} kg m²"
