"""Inertias of public robot models in every installed program, before and after repair.

python experiments/models.py -o reports/models.md [--robots FOLDER] [--hashes]

The models are the URDF files of the package example-robot-data (0.4 GB), which is not a dependency:

    python -m pip install --no-deps --target ../robots example-robot-data==5.0.0
    make study NAME=models ARGS="--robots ../robots"

Bullet takes part if pybullet can be imported; a copy on PYTHONPATH is enough.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from experiments.external_data import models_in, robots
from experiments.models_study.programs import URDF, installed, sdf_of
from experiments.reports import numerics_line, study_parser, write_report
from identify.exchange.link_checks import LinkRequirements, check_links
from identify.exchange.link_inertia import MAX_MATERIAL_DENSITY, LinkInertia, implied_density
from identify.exchange.repair import Repair, RepairSettings, repair_model
from identify.exchange.rewriting import open_model
from identify.exchange.simulators import SIMULATORS
from identify.files import digest, write_text

HASHES = Path(__file__).resolve().parents[1] / "tests/exchange/models/robots.sha256"
_INERTIA_ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
DENSITY = 1000.0
"""Density assumed for links without a mass [kg/m³]."""

_SHAPES = re.compile(rb"<!--.*?-->|<(visual|collision|mujoco)\b(?:[^>]*/>|.*?</\1>)", re.DOTALL)

HOW = (
    "python -m pip install --no-deps --target ../robots example-robot-data==5.0.0\n"
    '    make study NAME=models ARGS="--robots ../robots"'
)


class Count(NamedTuple):
    """Counts of the inertials of all models by program and result."""

    links: int
    massless: int
    rejected: Counter[str]
    predicted: Counter[str]
    missed: Counter[str]


def main(arguments: list[str] | None = None) -> int:
    """Run the study and write its report; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    models = tuple(models_in(options.robots))
    if not models:
        print(f"Skipped: no robot models in {options.robots}. To get them:\n    {HOW}")
        return 0
    digests = "".join(f"{digest(path)}  {name}\n" for name, path in models)
    if options.hashes:
        write_text(HASHES, digests)
    same = digests == HASHES.read_text(encoding="utf-8")
    missing = "" if same else f"the files of {HASHES.name}"
    line = numerics_line("models", parser, options, missing=missing)
    before, after, statuses, repairs = _empty(), _empty(), Counter[int](), Counter[str]()
    dense = unrepaired = 0
    with tempfile.TemporaryDirectory() as folder:
        for _, path in models:
            before = _add_model(before, path)
            statuses[1 if repair_model(path).unrepaired else 0] += 1
            repaired = repair_model(path, settings=RepairSettings(density=DENSITY))
            for repair in repaired.repairs:
                repairs[_source(repair)] += 1
                dense += implied_density(repair.phi) > 1.01 * MAX_MATERIAL_DENSITY
            unrepaired += len(repaired.unrepaired)
            fixed = Path(folder, path.name)
            fixed.write_bytes(repaired.content)
            after = _add_model(after, fixed)
    text = _report(len(models), same, before, after, statuses, repairs)
    text += _whole_files([path for _, path in models])
    text += f"{dense} of the repaired links are denser than {MAX_MATERIAL_DENSITY:g} kg/m³; "
    text += f"{unrepaired} are not repaired.\n"
    write_report(options.output, text, line)
    return 1 if after.rejected.total() or not same else 0


def _empty() -> Count:
    return Count(0, 0, Counter(), Counter(), Counter())


def _add_model(count: Count, path: Path) -> Count:
    """Return the counts with the inertials of a model added."""
    programs = installed()
    document, model_format = open_model(path)
    entries = [entry for entry in model_format.read(document) if entry.inertial_element is not None]
    massless = sum(entry.inertia.massless for entry in entries)
    count = count._replace(massless=count.massless + massless)
    inertials = [
        (entry.inertia, document.content[slice(*document.span(entry.inertial_element))].decode())
        for entry in entries
        if not entry.inertia.massless
    ]
    links = [link for link, _ in inertials]
    predicted = {
        name: {
            entry.link.name: bool(entry.problem)
            for entry in check_links(links, LinkRequirements(SIMULATORS[name]))
        }
        for name in programs
    }
    for link, text in inertials:
        count = count._replace(links=count.links + 1)
        for name, (form, accepts) in programs.items():
            file_text = URDF.format(inertial=text) if form == "urdf" else _sdf(link)
            rejected, expected = not accepts(file_text), predicted[name][link.name]
            count.rejected[name] += rejected
            count.predicted[name] += expected
            count.missed[name] += rejected and not expected
    return count


def _whole_files(paths: list[Path]) -> str:
    """Compare how many whole files, without shapes, MuJoCo compiles with the prediction."""
    mujoco = installed().get("mujoco")
    if mujoco is None:
        return ""
    _, compiles = mujoco
    settings = RepairSettings(LinkRequirements(SIMULATORS["mujoco"]))
    before, after = 0, Counter[tuple[bool, bool]]()
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            bare = Path(folder, path.name)
            bare.write_bytes(_SHAPES.sub(b"", path.read_bytes()))
            before += compiles(bare.read_text(encoding="utf-8"))
            repaired = repair_model(bare, settings=settings)
            after[not repaired.unrepaired, compiles(repaired.content.decode())] += 1
    good, bad = (after[complete, True] + after[complete, False] for complete in (True, False))
    return (
        f"Whole files without their shapes: MuJoCo compiles {before} before repair. After "
        f"`--for mujoco --repair` it compiles {after[True, True]} of the {good} that end with "
        f"status 0, and {after[False, True]} of the {bad} with 1 (links without a mass).\n"
    )


def _source(repair: Repair) -> str:
    """Describe the source of a repaired inertia in a few words."""
    if not repair.source:
        corrected = repair.distance is None
        return "a typo corrected" if corrected else "the nearest physically consistent inertia"
    for words in ("collision geometry", "visual geometry"):
        if repair.source.startswith(f"its {words}"):
            return f"its {words}"
    return "a ball"


def _sdf(link: LinkInertia) -> str:
    """Write the numbers of a URDF inertial into an SDF file, about the link origin."""
    mass, *_ = numbers = [repr(x) for x in link.phi_as_printed.tolist()]
    return sdf_of(mass, dict(zip(_INERTIA_ENTRIES, numbers[4:], strict=True)))


def _report(
    models: int,
    same: bool,
    before: Count,
    after: Count,
    statuses: Counter[int],
    repairs: Counter[str],
) -> str:
    """Return the report as Markdown."""
    rows = [
        f"| {SIMULATORS[name].title} | {before.rejected[name]} | {before.predicted[name]} | "
        f"{before.missed[name]} | {after.rejected[name]} | {after.predicted[name]} |"
        for name in SIMULATORS
        if name in installed()
    ]
    missing = [SIMULATORS[name].title for name in SIMULATORS if name not in installed()]
    other = "" if same else f"; NOT the files of {HASHES.name}"
    counts = ", ".join(f"{count} {kind}" for kind, count in repairs.most_common())
    return "\n".join(
        [
            "# Inertias of public robot models, before and after `inspect --repair`",
            "",
            f"{before.links} inertials with mass or inertia of {models} URDF files "
            f"(example-robot-data 5.0.0{other}), "
            f"each loaded alone at a joint; {before.massless} more are of massless frames. "
            f"Repaired with `--density {DENSITY:g}`; without a density {statuses[0]} files end "
            f"with status 0 and {statuses[1]} with 1, for links of zero mass with an inertia.",
            "",
            "| program | rejected before | findings of `--for` | rejected, no finding | rejected "
            "after | findings after |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
            f"Repairs: {counts or 'none'}.",
            *([f"Not installed: {', '.join(missing)}."] if missing else []),
            "",
        ]
    )


def _parser() -> argparse.ArgumentParser:
    parser = study_parser("models", __doc__)
    parser.add_argument("--robots", type=Path, default=robots(), help="folder of the models")
    parser.add_argument("--hashes", action="store_true", help="rewrite the list of hashes")
    return parser


if __name__ == "__main__":
    sys.exit(main())
