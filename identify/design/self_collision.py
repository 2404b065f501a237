"""Collisions of an arm with itself along a motion, by Pinocchio's collision geometry."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from identify.arrays import Array
from identify.robots import RobotModel


def colliding_links(robot: RobotModel, q: Array) -> str | None:
    """Return the first pair of links that collide along a motion.

    Links of neighbouring joints, and shapes that touch in the first sample, are left out.

    Args:
        robot: with collision shapes in its file.
        q: joint positions, the start first, shape (N, n) [rad or m].

    Returns:
        Names of two shapes, "A and B"; empty if none collide, None if it cannot be checked: no
        shapes of links that are not neighbours, a mesh that is not found, or joints that the model
        has in another number or order.
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
    _add_pairs(pinocchio, model, geometry)
    data, shapes = model.createData(), geometry.createData()
    pinocchio.computeCollisions(model, data, geometry, shapes, q[0], False)
    touching = [
        geometry.collisionPairs[k]
        for k in range(len(geometry.collisionPairs))
        if shapes.collisionResults[k].isCollision()
    ]
    for pair in touching:
        geometry.removeCollisionPair(pair)
    if not len(geometry.collisionPairs):
        return None
    shapes = geometry.createData()
    for sample in q:
        if not pinocchio.computeCollisions(model, data, geometry, shapes, sample, True):
            continue
        for k, result in enumerate(shapes.collisionResults):
            if result.isCollision():
                pair = geometry.collisionPairs[k]
                objects = geometry.geometryObjects
                return f"{objects[pair.first].name} and {objects[pair.second].name}"
    return ""


def _add_pairs(pinocchio: Any, model: Any, geometry: Any) -> None:
    """Add the pairs of shapes whose joints are neither the same nor neighbours."""
    objects = geometry.geometryObjects
    for first in range(len(objects)):
        for second in range(first + 1, len(objects)):
            i, j = objects[first].parentJoint, objects[second].parentJoint
            if i != j and model.parents[i] != j and model.parents[j] != i:
                geometry.addCollisionPair(pinocchio.CollisionPair(first, second))
