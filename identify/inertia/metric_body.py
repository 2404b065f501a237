"""The body that gives a metric of pseudo-inertias its units of mass, length and direction."""

from __future__ import annotations

import numpy as np

from identify.arrays import Phi
from identify.errors import ModelError
from identify.inertia.central_spectrum import CentralSpectrum
from identify.inertia.kinds import BodyKind, body_kinds, which_body


def metric_body(
    phi: Phi, spectrum: CentralSpectrum, nominal: Phi | None, *, needs_size: bool = False
) -> Phi:
    """The nominal body, or without one each body's own size as a ball about Bo: m diag(L², 1).

    Args:
        phi: bodies of positive mass, shape (..., 10).
        spectrum: theirs, as of `central_spectrum`.
        nominal: a solid body, shape (..., 10), or None.
        needs_size: refuse point masses, of L = 0.

    Returns:
        One for each of the bodies, of the batch of both, shape (..., 10).

    Raises:
        ModelError: a nominal body that is not solid; a mass so small that the centre of mass is
            beyond numbers; a point mass where a size is needed.
    """
    values, limit = spectrum
    if np.isneginf(values).any():
        where = np.argwhere(np.isneginf(values[..., 0]))[0]
        raise ModelError(
            f"nearest body: {which_body(where)} has a mass too small for its first moment, "
            f"{phi[tuple(where)][:4].tolist()}"
        )
    if nominal is None:
        spread = np.abs(values).sum(axis=-1)
        points = np.argwhere(np.abs(values).max(axis=-1) <= limit)
        if needs_size and len(points):
            raise ModelError(
                f"nearest body: {which_body(points[0])} is a point mass, which has no size of its "
                f"own to take a margin of; give a nominal body"
            )
        ball = np.zeros(phi.shape)
        ball[..., 0] = phi[..., 0]
        ball[..., [4, 7, 9]] = 2.0 * spread[..., None]
        return ball
    nominal = np.asarray(nominal, dtype=np.float64)
    kinds = body_kinds(nominal)
    outside = np.argwhere(kinds != BodyKind.SOLID)
    if len(outside):
        raise ModelError(
            f"nearest body: expected a solid nominal body, got one of kind "
            f"{str(kinds[tuple(outside[0])])!r} ({which_body(outside[0])})"
        )
    shape = np.broadcast_shapes(phi.shape, nominal.shape)
    return np.broadcast_to(nominal, shape)
