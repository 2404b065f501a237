"""Change of frame of the parameters of a million bodies, compared with the 6×6 algebra.

With a separate pose for each body three more rows give the limit of NumPy on the machine: the
numbers are transposed to component arrays and back, and each operation is a pass over an array. A
body takes some 120 operations:

    R S Rᵀ, six entries of it                 27 + 18 products, 18 + 12 sums
    R h and h' = R h + m p                     9 + 3 products, 6 + 3 sums
    the shift of six entries                   9 products, 9 sums, and tr S' 1 − S'
"""

from __future__ import annotations

from importlib import import_module

import numpy as np

from experiments.benchmarks.measure import Contender, Effort, ReportLine, Spread, race
from identify.arrays import Array, Phi
from identify.inertia import in_frame, spatial_inertia, spatial_inertia_in_frame
from identify.inertia.conventions import find_convention
from identify.inertia.matrices import entries_from_symmetric
from identify.inertia.shapes import Box
from identify.spatial import Pose, coadjoint, rotation_from_quaternion, vee

BODIES = 1_000_000
OPERATIONS = 120
"""Minimum number of products and sums per body with a separate pose."""

_CHUNK = 8192
_LOOPED_BODIES = 20_000
"""Number of bodies in the Python loop over Pinocchio."""


def run(effort: Effort) -> list[ReportLine]:
    """Measure one common pose, separate poses, and Pinocchio's `SE3.act` in a loop."""
    count = effort.scaled(BODIES, minimum=100)
    rng = np.random.default_rng(0)
    phi = bodies(rng, count)
    rotations = rotation_from_quaternion(rng.normal(size=(count, 4)))
    poses = Pose(rotations, rng.normal(size=(count, 3)))
    common_pose = Pose(poses.rotation[0], poses.position[0])
    return [
        *_compare_with_product(phi, common_pose, "one pose for all", effort),
        *_compare_with_product(phi, poses, "a pose each", effort),
        *_compare_with_pinocchio(phi[:_LOOPED_BODIES], common_pose, effort),
    ]


def bodies(rng: np.random.Generator, count: int) -> Phi:
    """Return boxes of random sides, about random points outside them."""
    sides, mass = rng.uniform(0.05, 0.3, (count, 3)), rng.uniform(0.1, 10.0, count)
    unit = Box(1.0, 1.0, 1.0).body(mass=1.0)
    phi = np.tile(unit.phi, (count, 1))
    phi[:, 0] = mass
    squares = sides**2
    phi[:, [4, 7, 9]] = (mass[:, None] / 12.0) * (squares.sum(axis=1)[:, None] - squares)
    return in_frame(phi, Pose(np.eye(3), rng.normal(size=(count, 3))))


def in_frame_by_coadjoint(phi: Phi, X_AB: Pose) -> Phi:
    """Change the frame by way of 6×6 matrices: m, h and I are read from their blocks."""
    M = spatial_inertia_in_frame(spatial_inertia(phi), X_AB)
    mass = np.trace(M[..., :3, :3], axis1=-2, axis2=-1)[..., None] / 3.0
    h = 0.5 * (vee(M[..., 3:, :3]) - vee(M[..., :3, 3:]))
    return np.concatenate((mass, h, entries_from_symmetric(M[..., 3:, 3:])), axis=-1)


def _compare_with_product(phi: Phi, X: Pose, which: str, effort: Effort) -> list[ReportLine]:
    M, C = spatial_inertia(phi), coadjoint(X)
    np.testing.assert_allclose(in_frame(phi, X), in_frame_by_coadjoint(phi, X), atol=1e-10)
    contenders: dict[str, Contender] = {
        "ten": lambda: in_frame(phi, X)[0],
        "product": lambda: (C @ M @ C.swapaxes(-1, -2))[0],
        "dense": lambda: in_frame_by_coadjoint(phi, X)[0],
    }
    if X.position.ndim > 1:
        contenders["moves"] = lambda: by_component_and_back(phi, X)[0]
        contenders["operations"] = lambda: operations_in_cache(len(phi))
    seconds = race(contenders, effort)
    ours = seconds["ten"]
    rate = Spread.of(1e-6 * len(phi) / ours)
    label = f"change of frame of {len(phi)} bodies, {which}"
    lines = [
        ReportLine(label, rate.text("M bodies/s")),
        ReportLine.of_ratio(
            f"{label}: faster than the bare 6×6 product C M Cᵀ by",
            seconds["product"] / ours,
            at_least=2.0 if X.position.ndim > 1 else 5.0,  # NumPy's limit with a pose each is 3
        ),
        ReportLine.of_ratio(f"{label}: faster than phi → 6×6 → phi by", seconds["dense"] / ours),
    ]
    return lines + (_bound_of_numpy(seconds, len(phi)) if "moves" in seconds else [])


def _bound_of_numpy(seconds: dict[str, Array], bodies: int) -> list[ReportLine]:
    """Return NumPy's times for the memory moves only and for the operations only."""
    moves, operations = seconds["moves"], seconds["operations"]
    a_body = "ns a body"
    return [
        ReportLine(
            "… transposing the numbers to component arrays and back, alone",
            Spread.of(1e9 * moves / bodies).text(a_body),
        ),
        ReportLine(
            f"… {OPERATIONS} operations on arrays in the cache, alone",
            Spread.of(1e9 * operations / bodies).text(a_body),
        ),
        ReportLine.of_ratio(
            "… both together are faster than the product by",
            seconds["product"] / (moves + operations),
        ),
    ]


def by_component_and_back(phi: Phi, X: Pose) -> Phi:
    """Copy parameters and poses into component arrays, and the parameters back."""
    sources = (phi, X.rotation.reshape(-1, 9), X.position)
    parts = [np.empty((source.shape[1], _CHUNK)) for source in sources]
    out = np.empty(phi.shape)
    for start in range(0, len(phi), _CHUNK):
        rows = slice(start, min(start + _CHUNK, len(phi)))
        n = rows.stop - start
        for part, source in zip(parts, sources, strict=True):
            np.copyto(part[:, :n], source[rows].T)
        out[rows] = parts[0][:, :n].T
    return out


def operations_in_cache(bodies: int) -> Array:
    """Run the number of operations as products of three components, on the same arrays."""
    a, b, c = np.ones((3, 3, _CHUNK))
    for start in range(0, bodies, _CHUNK):
        n = min(_CHUNK, bodies - start)
        x, y, z = a[:, :n], b[:, :n], c[:, :n]
        for _ in range(OPERATIONS // 3):
            np.multiply(x, y, out=z)
    return c[:, 0]


def _compare_with_pinocchio(phi: Phi, X: Pose, effort: Effort) -> list[ReportLine]:
    pinocchio = import_module("pinocchio")
    numbers = find_convention("pinocchio").from_phi(phi)
    theirs = [pinocchio.Inertia.FromDynamicParameters(ten) for ten in numbers]
    pose = pinocchio.SE3(X.rotation, X.position)
    contenders: dict[str, Contender] = {
        "ours": lambda: in_frame(phi, X)[0],
        "theirs": lambda: sum(pose.act(inertia).mass for inertia in theirs),
    }
    seconds = race(contenders, effort)
    label = f"change of frame of {len(phi)} bodies: faster than a Python loop over Pinocchio's by"
    return [ReportLine.of_ratio(label, seconds["theirs"] / seconds["ours"])]
