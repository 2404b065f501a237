"""Collisions of an arm with itself along a motion, by Pinocchio's collision geometry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from identify.arrays import Array
from identify.design.workspace import LIMIT_MARGIN
from identify.robots import RobotModel

_RANDOM_POSITIONS = 20
"""Random positions of which a pair of shapes touches in every one if the shapes overlap by
construction, as covers of a joint do; such pairs are left out."""

_CLEARANCE = 0.02
"""Distance of shapes below which it is penalized [m]: between samples of the search, shapes may
come closer by about as much. Of shapes that are close by construction, as those of a wrist, half
of their largest distance at random positions, if that is less."""


@dataclass(frozen=True, slots=True)
class SelfCollision:
    """Pairs of shapes of an arm that must not touch.

    Attributes:
        robot: the arm.
        model, geometry: of Pinocchio; a joint for each moving link of the robot.
        hulls: the same shapes with the convex hulls of meshes, whose distances are a hundred times
            faster and have a depth where they overlap.
        clearances: distance of each pair of hulls below which it is penalized, shape (pairs,) [m].
        moved: 1 for joints that move the second shape of a pair alone, −1 the first alone, else 0,
            shape (pairs, L).
    """

    robot: RobotModel
    model: Any
    geometry: Any
    hulls: Any
    clearances: Array
    moved: Array

    @classmethod
    def of(cls, robot: RobotModel) -> SelfCollision | None:
        """Read the shapes of links that are not neighbours.

        Returns None if collisions cannot be checked: no such shapes, or a mesh that is not found.
        """
        try:
            model, geometry = _model_with_shapes(robot)
        except (ValueError, RuntimeError):
            return None
        pinocchio = import_module("pinocchio")
        for pair in _distant_pairs(model, geometry.geometryObjects):
            geometry.addCollisionPair(pinocchio.CollisionPair(*pair))
        low, high = np.clip(robot.position_limits.T, -np.pi, np.pi)
        q = np.random.default_rng(0).uniform(low, high, (_RANDOM_POSITIONS, len(low)))
        positions = _positions(robot, model, q)
        _remove_overlaps(model, geometry, positions)
        hulls = _with_hulls(geometry)
        _remove_overlaps(model, hulls, positions)
        if not len(geometry.collisionPairs):
            return None
        distances = [
            [result.min_distance for result in results]
            for results in _distances(model, hulls, positions)
        ]
        clearances = np.clip(0.5 * np.max(distances, axis=0), 0.0, _CLEARANCE)
        return cls(robot, model, geometry, hulls, clearances, _moved_joints(model, hulls))

    def proximity(self, q: Array) -> tuple[Array, Array]:
        """Return how much closer than their clearance hulls of shapes are, in tenths of a metre.

        `q`: joint positions, shape (N, n) [rad or m].
        Returns zero of shapes further apart, shape (N, pairs), and derivatives, shape (N, pairs,
        n).
        """
        pinocchio, data = import_module("pinocchio"), self.model.createData()
        count = (len(q), len(self.hulls.collisionPairs))
        closer = np.zeros(count)
        points = np.zeros((*count, 3))
        normals = np.zeros((*count, 3))
        jacobians = np.empty((len(q), 6, self.model.nv))
        positions = _positions(self.robot, self.model, q)
        for k, results in enumerate(_distances(self.model, self.hulls, positions)):
            jacobians[k] = pinocchio.computeJointJacobians(self.model, data, positions[k])
            for pair, (result, clearance) in enumerate(zip(results, self.clearances, strict=True)):
                if result.min_distance < clearance:
                    closer[k, pair] = (clearance - result.min_distance) / LIMIT_MARGIN
                    points[k, pair] = result.getNearestPoint1()
                    normals[k, pair] = result.normal
        # A distance grows by the velocity of the second shape relative to the first on the normal.
        wrenches = np.concatenate((normals, np.cross(points, normals)), axis=-1)
        of_joints = (wrenches @ jacobians) * self.moved / -LIMIT_MARGIN
        return closer, of_joints @ _couplings(self.robot)

    def first_pair(self, q: Array) -> str:
        """Return the first pair of shapes that touch along positions, "A and B".

        `q`: joint positions, shape (N, n) [rad or m].
        Returns empty if no shapes touch.
        """
        positions = _positions(self.robot, self.model, q)
        for k in _touching(self.model, self.geometry, positions, stop=True):
            pair, objects = self.geometry.collisionPairs[k], self.geometry.geometryObjects
            return f"{objects[pair.first].name} and {objects[pair.second].name}"
        return ""


def _model_with_shapes(robot: RobotModel) -> tuple[Any, Any]:
    """Read model and collision shapes, with the locked joints of the robot locked."""
    pinocchio, path = import_module("pinocchio"), str(robot.path)
    folders = [str(folder) for folder in robot.path.absolute().parents]
    model = pinocchio.buildModelFromUrdf(path)
    geometry = pinocchio.buildGeomFromUrdf(
        model, path, pinocchio.GeometryType.COLLISION, package_dirs=folders
    )
    neutral, locked = pinocchio.neutral(model), []
    for name, value in robot.locked.items():
        locked.append(model.getJointId(name))
        _set_position(model.joints[locked[-1]], neutral, value)
    return pinocchio.buildReducedModel(model, geometry, locked, neutral)


def _positions(robot: RobotModel, model: Any, q: Array) -> Array:
    """Return positions of the model's joints, (N, nq), with those that mimic another one."""
    offsets = np.array([link.offset for link in robot.tree])
    moved = q @ _couplings(robot).T + offsets
    positions = np.empty((len(q), model.nq))
    for joint, values in zip(model.joints[1:], moved.T, strict=True):
        _set_position(joint, positions.T, values)
    return positions


def _set_position(joint: Any, positions: Array, value: Array | float) -> None:
    """Set a joint's position; Pinocchio has cosine and sine of joints without limits."""
    exact = (np.cos(value), np.sin(value)) if joint.nq == 2 else (value,)
    positions[joint.idx_q : joint.idx_q + joint.nq] = exact


def _couplings(robot: RobotModel) -> Array:
    """Return derivatives of the joints of all links in those of the robot, shape (L, n)."""
    couplings = np.zeros((len(robot.tree), len(robot.joints)))
    for row, link in zip(couplings, robot.tree, strict=True):
        row[link.joint] = link.multiplier
    return couplings


def _moved_joints(model: Any, hulls: Any) -> Array:
    """Return 1 for joints that move the second shape of a pair alone, −1 the first alone."""
    moved = np.zeros((len(hulls.collisionPairs), model.njoints))
    for row, pair in zip(moved, hulls.collisionPairs, strict=True):
        for shape, sign in ((pair.first, -1.0), (pair.second, 1.0)):
            row[list(model.supports[hulls.geometryObjects[shape].parentJoint])] += sign
    return moved[:, 1:]


def _with_hulls(geometry: Any) -> Any:
    """Return a copy whose meshes are their convex hulls."""
    hulls = geometry.copy()
    for shape in hulls.geometryObjects:
        if hasattr(shape.geometry, "buildConvexHull"):
            shape.geometry.buildConvexHull(True, "Qt")
            shape.geometry = shape.geometry.convex
    return hulls


def _remove_overlaps(model: Any, geometry: Any, q: Array) -> None:
    """Remove the pairs that touch at all positions."""
    touching = set.intersection(*(set(_touching(model, geometry, [sample])) for sample in q))
    for pair in [geometry.collisionPairs[k] for k in touching]:
        geometry.removeCollisionPair(pair)


def _distances(model: Any, geometry: Any, q: Iterable[Array]) -> Iterator[Any]:
    """Yield the distances of all pairs at each position, as results of Pinocchio."""
    pinocchio = import_module("pinocchio")
    data, shapes = model.createData(), geometry.createData()
    for sample in q:
        pinocchio.computeDistances(model, data, geometry, shapes, sample)
        yield shapes.distanceResults


def _touching(
    model: Any, geometry: Any, q: Iterable[Array], *, stop: bool = False
) -> Iterator[int]:
    """Yield numbers of pairs that touch at each position; the first one alone with `stop`."""
    pinocchio = import_module("pinocchio")
    data, shapes = model.createData(), geometry.createData()
    for sample in q:
        if pinocchio.computeCollisions(model, data, geometry, shapes, sample, stop):
            results = enumerate(shapes.collisionResults)
            yield from (k for k, result in results if result.isCollision())


def _distant_pairs(model: Any, objects: Any) -> Iterator[tuple[int, int]]:
    """Yield pairs of shapes whose joints are neither the same nor neighbours."""
    for first in range(len(objects)):
        for second in range(first + 1, len(objects)):
            i, j = objects[first].parentJoint, objects[second].parentJoint
            if i != j and model.parents[i] != j and model.parents[j] != i:
                yield first, second
