"""Directions: over the sphere, and to the farthest points of round shapes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Vec3

_BLOCK = 2_000_000
"""Products of directions and corners that are formed at once."""


def towards(directions: Vec3, mask: ArrayLike = (1.0, 1.0, 1.0)) -> Vec3:
    """Unit vectors along the masked part of directions; zero where that part is zero.

    Args:
        directions: shape (..., 3).
        mask: ones for the coordinates that count, [1, 1, 0] for the radial part about z.

    Returns:
        Shape (..., 3).
    """
    part = np.asarray(directions, dtype=np.float64) * np.asarray(mask)
    largest = np.abs(part).max(axis=-1, keepdims=True)
    part = part / np.where(largest > 0.0, largest, 1.0)
    length = np.linalg.norm(part, axis=-1, keepdims=True)
    return part / np.where(length > 0.0, length, 1.0)


def along_z(directions: Vec3, half: float) -> Vec3:
    """The end (0, 0, ±half) on the side that directions (..., 3) point to."""
    d = np.asarray(directions, dtype=np.float64)
    return np.where(d[..., 2:] < 0.0, -half, half) * np.array([0.0, 0.0, 1.0])


def directions_of_sphere(count: int) -> Vec3:
    """The six axes and `count` unit vectors evenly over the sphere (Fibonacci's spiral)."""
    k = np.arange(count) + 0.5
    z = 1.0 - 2.0 * k / count
    angle = np.pi * (1.0 + np.sqrt(5.0)) * k
    radius = np.sqrt(1.0 - z * z)
    spiral = np.column_stack((radius * np.cos(angle), radius * np.sin(angle), z))
    return np.concatenate((np.eye(3), -np.eye(3), spiral))


def farthest_corners(corners: Vec3, directions: Vec3) -> Vec3:
    """The corner that reaches farthest in each direction.

    Args:
        corners: shape (n, d).
        directions: shape (..., d).

    Returns:
        Shape (..., d).
    """
    flat = np.asarray(directions, dtype=np.float64).reshape(-1, corners.shape[1])
    rows = max(1, _BLOCK // len(corners))
    best = [
        np.argmax(flat[start : start + rows] @ corners.T, axis=1)
        for start in range(0, len(flat), rows)
    ]
    indices = np.concatenate(best) if best else np.zeros(0, dtype=np.intp)
    return corners[indices].reshape(np.shape(directions))
