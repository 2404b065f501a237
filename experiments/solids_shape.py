"""Value of the shape of a body as a prior, on simple solids.

python experiments/solids_shape.py -o reports/solids_shape.md

A cuboid, a hammer of two densities, a plate, a rod with a cube and a hollow cylinder, as points and
as meshes, have an oblique pose in B and move slowly, with the noise of the study `stars_shape`; the
mass is not given.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

import numpy as np

from experiments.reports import numerics_line, study_parser, write_report
from identify.arrays import Array, Vec3
from identify.errors import IdentifyError
from identify.inertia.shapes import Mesh, PointMasses, convex_hull
from identify.inertia.shapes.interior import sample_interior
from identify.logs import Recording, synthetic_recording
from identify.logs.synthetic import random_motion
from identify.reporting.content import make_table, markdown_table
from identify.spatial import Pose
from identify.spatial.rotations import exp_rotation
from identify.studies.estimator import Estimator, TrialData
from identify.studies.estimators import ConsistentLeastSquares, KnownShape
from identify.studies.metrics import central_inertia_error, inertia_error, interval_coverage
from identify.studies.perturbations.noise import StarsNoise
from identify.studies.study import Truth
from identify.studies.study_log import StudyLog

STEEL, ALUMINIUM, PLASTIC, WOOD = 7850.0, 2700.0, 1200.0, 650.0
"""Densities [kg/m³]."""

LEVELS = ("low", "moderate", "high")
BANDWIDTH_HZ = 0.2
FACETS, POINTS = 48, 2000


def main(arguments: list[str] | None = None) -> int:
    """Fit the solids with and without their shapes, write the report; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    line = numerics_line("solids_shape", parser, options, "motions", "seeds", "seed")
    lines = [
        [name, known, *_shown(scores_of(name, known, options))]
        for name in solids()
        for known in ("points", "mesh")
    ]
    write_report(options.output, report(lines, options), line)
    return 0


def box(sides: Sequence[float], at: Sequence[float] = (0.0, 0.0, 0.0)) -> Mesh:
    """Return a box centred at a point."""
    corners = np.stack(np.meshgrid(*[(-0.5, 0.5)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    return convex_hull(corners * np.array(sides) + np.array(at))


def _ring(radius: float, z: float) -> Vec3:
    angle = 2.0 * np.pi * np.arange(FACETS) / FACETS
    return np.column_stack((radius * np.cos(angle), radius * np.sin(angle), np.full(FACETS, z)))


def pipe(outer: float, inner: float, length: float) -> Mesh:
    """Return a hollow cylinder along z, open at both ends."""
    half, k, after = 0.5 * length, np.arange(FACETS), np.roll(np.arange(FACETS), -1)
    corners = ((outer, -half), (outer, half), (inner, half), (inner, -half))
    faces = []
    for here, following in zip(range(4), (1, 2, 3, 0), strict=True):
        a, b = FACETS * here, FACETS * following
        faces += [(a + k, a + after, b + after), (a + k, b + after, b + k)]
    rings = np.concatenate([_ring(radius, z) for radius, z in corners])
    return Mesh(rings, np.concatenate([np.stack(face, axis=1) for face in faces]))


def solids() -> Mapping[str, tuple[tuple[Mesh, float], ...]]:
    """Return the parts of each solid with their densities."""
    rod = convex_hull(np.concatenate((_ring(0.006, -0.125), _ring(0.006, 0.125))))
    return {
        "cuboid": ((box((0.16, 0.10, 0.06)), 800.0),),
        "hammer": (
            (box((0.03, 0.10, 0.03), (0.25, 0.0, 0.0)), STEEL),
            (box((0.22, 0.03, 0.02), (0.12, 0.0, 0.0)), WOOD),
        ),
        "plate": ((box((0.25, 0.18, 0.002)), STEEL),),
        "rod and cube": ((rod, STEEL), (box((0.05, 0.05, 0.05), (0.0, 0.0, 0.16)), PLASTIC)),
        "hollow cylinder": ((pipe(0.04, 0.035, 0.2), ALUMINIUM),),
    }


def log_of(name: str, known: str, seed: int) -> tuple[Recording, Truth]:
    """Return a noise-free log of a solid and its truth; the motion does not depend on `known`."""
    rng = np.random.default_rng([seed, list(solids()).index(name)])
    pose = Pose.from_quaternion(exp_rotation(rng.uniform(-2.0, 2.0, 3)), rng.uniform(-0.1, 0.1, 3))
    parts = [(Mesh(pose.apply(m.vertices), m.faces), density) for m, density in solids()[name]]
    phi = np.sum([mesh.body(density=density).phi for mesh, density in parts], axis=0)
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh, _ in parts[:-1])])
    faces = [mesh.faces + start for (mesh, _), start in zip(parts, starts, strict=True)]
    union = Mesh(np.concatenate([mesh.vertices for mesh, _ in parts]), np.concatenate(faces))
    motion = random_motion(rng, bandwidth_hz=BANDWIDTH_HZ, reach=0.2, turn=1.0)
    log = synthetic_recording(
        phi, rng=rng, motion=motion, duration=10.0, rate_hz=100.0, include="all"
    )
    interior = sample_interior(union, POINTS)
    shape = union if known == "mesh" else PointMasses(interior.points, interior.volumes)
    return log, Truth(phi, np.ptp(union.corners, axis=0), shape)


PRIOR_OPTIONS: Mapping[str, Estimator] = {
    "log": ConsistentLeastSquares(),
    "uniform density": KnownShape(alone=True),
    "shape": KnownShape(),
    "box": KnownShape(of="box"),
}


def scores_of(name: str, known: str, options: argparse.Namespace) -> Mapping[str, Array]:
    """Return inertia errors about Bo and the centre of mass, and coverage, one row per fit [%]."""
    rows_by_way: dict[str, list[list[float]]] = {way: [] for way in PRIOR_OPTIONS}
    for motion in range(options.motions):
        log, truth = log_of(name, known, options.seed + motion)
        for level in LEVELS:
            for number in range(options.seeds):
                noise = np.random.default_rng([options.seed, motion, number])
                noisy = StarsNoise(level=level).apply(log, noise)
                data = TrialData(StudyLog.of(noisy), shape=truth.shape)
                for way, estimator in PRIOR_OPTIONS.items():
                    try:
                        output = estimator.estimate(data)
                    except IdentifyError:
                        rows_by_way[way].append([np.nan] * 3)
                        continue
                    errors = (error(output.phi, truth.phi, truth.sides) for error in _ERRORS)
                    inside = list(interval_coverage(output, truth.phi).values())
                    rows_by_way[way].append([*errors, 100 * np.mean(inside) if inside else np.nan])
    return {way: np.array(rows) for way, rows in rows_by_way.items()}


_ERRORS = inertia_error, central_inertia_error


def _shown(scores: Mapping[str, Array]) -> list[str]:
    mean = {way: rows.mean(axis=0) for way, rows in scores.items()}
    cells = [f"{errors[0]:.3g} / {errors[1]:.3g}" for errors in mean.values()]
    ratio = f"{mean['shape'][1] / mean['log'][1]:.2f}"
    return [*cells, ratio, *(f"{mean[way][2]:.0f}" for way in ("log", "shape", "box"))]


def report(lines: Sequence[Sequence[str]], options: argparse.Namespace) -> str:
    """Return the report as Markdown."""
    coverages = (f"coverage, {way}" for way in ("log", "shape", "box"))
    heads = ("solid", "known by", *PRIOR_OPTIONS, "shape : log", *coverages)
    fits = options.motions * options.seeds * len(LEVELS)
    about = " ".join((__doc__ or "").split(".md")[1].split())
    return (
        f"# Shape as a prior, on simple solids\n\n{about} Each line is for {fits} fits. Errors of "
        "the inertia in per cent of the box, as in the study `stars_shape`, about the sensor / "
        "about the centre of mass: from the log alone, from uniform density and the mass of the "
        "log, from both together, and with the bounding box of the solid along the axes of B. "
        "Coverage: of 95 % intervals.\n\n"
        + markdown_table(make_table(heads, lines, word_columns=2))
    )


def _parser() -> argparse.ArgumentParser:
    parser = study_parser("solids_shape", __doc__)
    parser.add_argument("--motions", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=7)
    return parser


if __name__ == "__main__":
    sys.exit(main())
