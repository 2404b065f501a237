"""Collisions of an arm with itself along a motion, by Pinocchio's collision geometry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from identify.arrays import Array
from identify.robots import RobotModel

_RANDOM_POSITIONS = 20
"""Random positions of which a pair of shapes touches in every one if the shapes overlap by
construction, as covers of a joint do; such pairs are left out."""


@dataclass(frozen=True, slots=True)
class SelfCollision:
    """Pairs of shapes of an arm that must not touch.

    Attributes:
        model, geometry: of Pinocchio.
    """

    model: Any
    geometry: Any

    @classmethod
    def of(cls, robot: RobotModel) -> SelfCollision | None:
        """Read the shapes of links that are not neighbours.

        Returns:
            None if collisions cannot be checked: no such shapes, a mesh that is not found, or
            joints that the model has in another number or order.
        """
        pinocchio = import_module("pinocchio")
        path = str(robot.path)
        folders = [str(folder) for folder in robot.path.absolute().parents]
        try:
            model = pinocchio.buildModelFromUrdf(path)
            geometry = pinocchio.buildGeomFromUrdf(
                model, path, pinocchio.GeometryType.COLLISION, package_dirs=folders
            )
        except (ValueError, RuntimeError):
            return None
        if tuple(model.names)[1:] != robot.joints or model.nq != len(robot.joints):
            return None
        for pair in _distant_pairs(model, geometry.geometryObjects):
            geometry.addCollisionPair(pinocchio.CollisionPair(*pair))
        check = cls(model, geometry)
        rng = np.random.default_rng(0)
        low, high = np.clip(robot.position_limits.T, -np.pi, np.pi)
        touching = [
            set(check._touching([q])) for q in rng.uniform(low, high, (_RANDOM_POSITIONS, len(low)))
        ]
        for pair in [geometry.collisionPairs[k] for k in set.intersection(*touching)]:
            geometry.removeCollisionPair(pair)
        return check if len(geometry.collisionPairs) else None

    def first_pair(self, q: Array) -> str:
        """Return the first pair of shapes that touch along positions, "A and B".

        Args:
            q: joint positions, shape (N, n) [rad or m].

        Returns:
            Empty if no shapes touch.
        """
        for k in self._touching(q, stop=True):
            pair, objects = self.geometry.collisionPairs[k], self.geometry.geometryObjects
            return f"{objects[pair.first].name} and {objects[pair.second].name}"
        return ""

    def _touching(self, q: Iterable[Array], *, stop: bool = False) -> Iterator[int]:
        """Yield numbers of pairs that touch at each position; the first one alone with `stop`."""
        pinocchio = import_module("pinocchio")
        data, shapes = self.model.createData(), self.geometry.createData()
        for sample in q:
            if pinocchio.computeCollisions(self.model, data, self.geometry, shapes, sample, stop):
                results = enumerate(shapes.collisionResults)
                yield from (k for k, result in results if result.isCollision())


def _distant_pairs(model: Any, objects: Any) -> Iterator[tuple[int, int]]:
    """Yield pairs of shapes whose joints are neither the same nor neighbours."""
    for first in range(len(objects)):
        for second in range(first + 1, len(objects)):
            i, j = objects[first].parentJoint, objects[second].parentJoint
            if i != j and model.parents[i] != j and model.parents[j] != i:
                yield first, second
