"""Integrals over the inside and the surface of a triangle mesh, and whether it has an inside."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Indices, Mat33, Vec3


class Moments(NamedTuple):
    """Integrals of 1, r and r rᵀ of an even density.

    Attributes:
        measure: volume [m³] or area [m²], shape ().
        centroid: [m], shape (3,).
        covariance: about the centroid [m²], shape (3, 3).
    """

    measure: float
    centroid: Vec3
    covariance: Mat33


def volume_moments(vertices: Vec3, faces: Indices) -> Moments:
    """Moments of the inside of a closed surface, exactly, as a sum of signed tetrahedra.

    Over the tetrahedron (0, a, b, c) of volume V = a · (b × c) / 6, with s = a + b + c:
    ∫ r dV = V s / 4 and ∫ r rᵀ dV = V (a aᵀ + b bᵀ + c cᵀ + s sᵀ) / 20. Faces wound
    counter-clockwise seen from outside give positive volumes.
    """
    reference = vertices.mean(axis=0)
    corners = (vertices - reference)[faces]
    return _moments(corners, _signed_volumes(vertices, faces), 4.0, 20.0, reference)


def surface_moments(vertices: Vec3, faces: Indices) -> Moments:
    """Moments of a surface of triangles, exactly.

    Over the triangle (a, b, c) of area A, with s = a + b + c: ∫ r dA = A s / 3 and
    ∫ r rᵀ dA = A (a aᵀ + b bᵀ + c cᵀ + s sᵀ) / 12.
    """
    reference = vertices.mean(axis=0)
    corners = (vertices - reference)[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return _moments(corners, 0.5 * np.linalg.norm(normals, axis=1), 3.0, 12.0, reference)


def _moments(
    corners: Array, weights: Array, first: float, second: float, reference: Vec3
) -> Moments:
    total = float(weights.sum())
    sums = corners.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = weights @ sums / first / total
        squares = np.einsum("i,ijk,ijl->kl", weights, corners, corners)
        squares += (sums * weights[:, None]).T @ sums
        return Moments(total, reference + mean, squares / second / total - np.outer(mean, mean))


class Edges(NamedTuple):
    """What the edges of a mesh say of its being closed.

    Attributes:
        open: edges with an odd number of faces: the mesh has a gap there.
        twisted: other edges along which neighbouring faces are wound against each other.
    """

    open: int
    twisted: int


def places_of(vertices: Vec3) -> Indices:
    """For each vertex the first one in a sorted order at the same place, as a number from zero."""
    order = np.lexsort(vertices.T)
    new = (vertices[order][1:] != vertices[order][:-1]).any(axis=1)
    places = np.empty(len(vertices), dtype=np.int64)
    places[order] = np.concatenate(([0], np.cumsum(new)))
    return places


def edges_of(vertices: Vec3, faces: Indices) -> Edges:
    """Counts the edges that keep a mesh from being closed; vertices at one place are one vertex.

    A surface bounds a volume where each edge is run through as often forwards as backwards.
    """
    corners = places_of(vertices)[faces]
    start, end = corners.reshape(-1), np.roll(corners, -1, axis=1).reshape(-1)
    forwards = np.sign(end - start)
    keys = np.minimum(start, end) * len(vertices) + np.maximum(start, end)
    _, index = np.unique(keys[forwards != 0], return_inverse=True)
    forwards = forwards[forwards != 0]
    count = np.bincount(index)
    odd = count % 2 == 1
    net = np.bincount(index, weights=forwards) != 0
    return Edges(int(odd.sum()), int((net & ~odd).sum()))


def parts_wound_inwards(vertices: Vec3, faces: Indices) -> int:
    """How many connected parts of a closed mesh enclose a negative volume and are no cavities.

    A cavity is wound inwards and lies in the bounding box of a part that is wound outwards.
    """
    from scipy.sparse import coo_array  # slow to import, and rarely needed
    from scipy.sparse.csgraph import connected_components

    places = places_of(vertices)
    corners = places[faces]
    start, end = corners[:, [0, 1]].reshape(-1), corners[:, [1, 2]].reshape(-1)
    size = int(places.max()) + 1
    links = coo_array((np.ones(len(start)), (start, end)), shape=(size, size))
    count, part_of = connected_components(links, directed=False)
    part = part_of[corners[:, 0]]
    volumes = np.bincount(part, weights=_signed_volumes(vertices, faces), minlength=count)
    lower, upper = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(lower, part_of[places], vertices)
    np.maximum.at(upper, part_of[places], vertices)
    outward, inward = np.flatnonzero(volumes > 0.0), np.flatnonzero(volumes < 0.0)
    above = (lower[inward, None] >= lower[outward]).all(axis=-1)
    below = (upper[inward, None] <= upper[outward]).all(axis=-1)
    return len(inward) - int(np.count_nonzero((above & below).sum(axis=-1)))


def _signed_volumes(vertices: Vec3, faces: Indices) -> Array:
    corners = (vertices - vertices.mean(axis=0))[faces]
    normals = np.cross(corners[:, 1], corners[:, 2])
    return np.einsum("ij,ij->i", corners[:, 0], normals) / 6.0
