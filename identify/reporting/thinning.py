"""Long signals thinned for a plot so that their peaks stay."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array


def thin(x: Array, y: Array, buckets: int) -> tuple[Array, Array]:
    """The least and the largest of each bucket of neighbouring samples, in their order.

    With a bucket as wide as a pixel the picture is that of the whole signal. First and last sample
    stay as well.

    Args:
        x: shape (n,).
        y: finite, shape (n,).
        buckets: how many; signals of up to two samples a bucket are returned as they are.
    """
    count = len(y)
    if buckets < 1 or count <= 2 * buckets:
        return x, y
    size = -(-count // buckets)
    full = -(-count // size)
    padded = np.pad(y, (0, full * size - count), mode="edge").reshape(full, size)
    starts = size * np.arange(full)
    kept = np.concatenate(
        ([0, count - 1], starts + padded.argmin(axis=1), starts + padded.argmax(axis=1))
    )
    kept = np.unique(np.minimum(kept, count - 1))
    return x[kept], y[kept]
