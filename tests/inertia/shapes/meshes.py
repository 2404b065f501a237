"""Closed meshes of simple shapes."""

import numpy as np
from scipy.spatial import ConvexHull

CUBE = 0.5 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
CUBE_FACES = np.array(
    [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]
)  # fmt: skip
"""Faces of the unit cube, counter-clockwise seen from outside."""


def on_sphere(count: int) -> np.ndarray:
    """Unit vectors evenly over the sphere (Fibonacci's spiral)."""
    k = np.arange(count) + 0.5
    z = 1.0 - 2.0 * k / count
    angle = np.pi * (1.0 + np.sqrt(5.0)) * k
    radius = np.sqrt(1.0 - z * z)
    return np.column_stack((radius * np.cos(angle), radius * np.sin(angle), z))


def ball(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and outward faces of a polyhedron in the unit sphere."""
    points = on_sphere(count)
    faces = ConvexHull(points).simplices
    corners = points[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.sum(normals * corners[:, 0], axis=1) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return points, faces


def joined(*parts: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Several meshes as one."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    return (
        np.concatenate([vertices for vertices, _ in parts]),
        np.concatenate([faces + start for (_, faces), start in zip(parts, starts, strict=False)]),
    )
