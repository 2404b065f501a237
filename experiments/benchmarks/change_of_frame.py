"""The ten parameters of a million bodies moved to another frame, against the 6×6 algebra."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from experiments.benchmarks.measure import Contender, Effort, Line, Spread, race
from identify.arrays import Phi
from identify.inertia import in_frame, spatial_inertia, spatial_inertia_in_frame
from identify.inertia.conventions import find_convention
from identify.inertia.matrices import six_from_symmetric
from identify.inertia.shapes import Box
from identify.spatial import Pose, coadjoint, rotation_from_quaternion, vee

BODIES = 1_000_000
REACH = 5.0
_LOOPED = 20_000
"""Bodies of the loop over single ones, which is timed by the body."""


def run(effort: Effort) -> list[Line]:
    """One pose for all bodies, a pose each, and Pinocchio's `SE3.act` in a loop."""
    count = effort.scaled(BODIES, least=100)
    rng = np.random.default_rng(0)
    phi = bodies(rng, count)
    rotations = rotation_from_quaternion(rng.normal(size=(count, 4)))
    each = Pose(rotations, rng.normal(size=(count, 3)))
    one = Pose(each.rotation[0], each.position[0])
    return [
        *_against_the_product(phi, one, "one pose for all", effort),
        *_against_the_product(phi, each, "a pose each", effort),
        *_against_pinocchio(phi[:_LOOPED], one, effort),
    ]


def bodies(rng: np.random.Generator, count: int) -> Phi:
    """Boxes of random sides, each about a point outside of it."""
    sides, mass = rng.uniform(0.05, 0.3, (count, 3)), rng.uniform(0.1, 10.0, count)
    unit = Box(1.0, 1.0, 1.0).body(mass=1.0)
    phi = np.tile(unit.phi, (count, 1))
    phi[:, 0] = mass
    squares = sides**2
    phi[:, [4, 7, 9]] = (mass[:, None] / 12.0) * (squares.sum(axis=1)[:, None] - squares)
    return in_frame(phi, Pose(np.eye(3), rng.normal(size=(count, 3))))


def in_frame_by_coadjoint(phi: Phi, X_AB: Pose) -> Phi:
    """phi → 6×6 → phi: m of the upper left block, h of both beside it, I of the lower right."""
    M = spatial_inertia_in_frame(spatial_inertia(phi), X_AB)
    mass = np.trace(M[..., :3, :3], axis1=-2, axis2=-1)[..., None] / 3.0
    h = 0.5 * (vee(M[..., 3:, :3]) - vee(M[..., :3, 3:]))
    return np.concatenate((mass, h, six_from_symmetric(M[..., 3:, 3:])), axis=-1)


def _against_the_product(phi: Phi, X: Pose, which: str, effort: Effort) -> list[Line]:
    M, C = spatial_inertia(phi), coadjoint(X)
    np.testing.assert_allclose(in_frame(phi, X), in_frame_by_coadjoint(phi, X), atol=1e-10)
    seconds = race(
        {
            "ten": lambda: in_frame(phi, X)[0],
            "product": lambda: (C @ M @ C.swapaxes(-1, -2))[0],
            "dense": lambda: in_frame_by_coadjoint(phi, X)[0],
        },
        effort,
    )
    ours = seconds["ten"]
    product, dense = Spread.of(seconds["product"] / ours), Spread.of(seconds["dense"] / ours)
    rate = Spread.of(1e-6 * len(phi) / ours)
    label = f"change of frame of {len(phi)} bodies, {which}"
    return [
        Line(label, rate.written("M bodies/s")),
        Line(
            f"{label}: faster than the bare 6×6 product C M Cᵀ by",
            product.written("×"),
            f"≥ {REACH:g} ×",
            product.median >= REACH,
        ),
        Line(f"{label}: faster than phi → 6×6 → phi by", dense.written("×")),
    ]


def _against_pinocchio(phi: Phi, X: Pose, effort: Effort) -> list[Line]:
    pinocchio = import_module("pinocchio")
    numbers = find_convention("pinocchio").from_phi(phi)
    theirs = [pinocchio.Inertia.FromDynamicParameters(ten) for ten in numbers]
    place = pinocchio.SE3(X.rotation, X.position)
    contenders: dict[str, Contender] = {
        "ours": lambda: in_frame(phi, X)[0],
        "theirs": lambda: sum(place.act(inertia).mass for inertia in theirs),
    }
    seconds = race(contenders, effort)
    ratio = Spread.of(seconds["theirs"] / seconds["ours"])
    what = f"change of frame of {len(phi)} bodies: faster than a Python loop over Pinocchio's by"
    return [Line(what, ratio.written("×"))]
