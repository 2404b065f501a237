"""Layer 1 for one body, parallel in time: segments of a window, joined by Newton's method.

All segments of a window are integrated at once from estimated starts s_j, by the batched method of
`angular_velocity`. What is missing between the end of one and the start of the next,

    r_j = end_j − s_{j+1},

is driven to zero by d_{j+1} = M_j d_j + r_j, d_0 = 0, with M_j = ∂end_j/∂s_j. The initial estimate
is a sequential run with ten times the step. The window's own start is exact, so that windows follow
each other without error; a motion in which neighbours part quickly makes the method diverge, and is
then stepped through one by one (multiple shooting; Bellen and Zennaro 1989).
"""

from __future__ import annotations

import numpy as np

from identify.arrays import Array
from identify.simulation.layered.angular_velocity import (
    BatchSteps,
    StageTorques,
    by_floats,
    runge_kutta,
    stages_of,
)

WINDOW = 20_000
"""Steps of a window."""

_SEGMENT, _COARSE = 50, 10
"""Steps of a segment, and of one step of the initial estimate."""

_FEWEST_SEGMENTS = 20
_MOST_PASSES = 12
_MOST_FAILURES = 2
"""After so many windows the log is taken to be unstable, and no more of them are tried."""

_CLOSED, _ROUNDING, _HOPELESS = 2e-15, 1e-12, 10.0
"""Defects relative to the largest θ: joined; as good as it gets, if they shrink no more; lost."""

_PROBE = 1e-5
"""Length of the differences, relative to θ."""

_FRESH = 1e-9
"""Defects that are larger are corrected with new derivatives."""


class WindowedShooting:
    """Shoots one window after the other; what cannot be shot is stepped through.

    Attributes:
        windows: how many were tried.
        passes: over all segments of a window, in all.
        not_converged: the first step of each window that did not converge.
        sequential: steps that were taken one by one.
    """

    def __init__(self, ratios: Array, theta: Array, torques: StageTorques | None) -> None:
        """Prepare for chunks that are windows; arguments as of `by_floats`, for one body."""
        self._ratios, self._theta, self._torques = ratios, theta, torques
        self._one_by_one = by_floats(ratios, theta, torques)
        self.windows = self.passes = self.sequential = self._done = 0
        self.not_converged: list[int] = []

    def advance(self, steps: int) -> None:
        """Fill the nodes 1 … steps of θ."""
        segments = steps // _SEGMENT
        hopeful = len(self.not_converged) < _MOST_FAILURES and segments >= _FEWEST_SEGMENTS
        first = 0
        if hopeful:
            window = _Window(self._ratios, self._theta, self._torques, segments)
            self.windows += 1
            if window.converge():
                first = segments * _SEGMENT
            else:
                self.not_converged.append(self._done)
            self.passes += window.passes
        if first == 0:
            self.sequential += steps
        self._one_by_one(steps, first)
        self._done += steps


class _Window:
    """The segments of one window, beside each other: component, step, [probe,] segment."""

    def __init__(
        self, ratios: Array, theta: Array, torques: StageTorques | None, segments: int
    ) -> None:
        self._ratios, self._theta, self._torques = ratios, theta, torques
        self._segments, self.passes = segments, 0
        self._samples = None
        if torques is not None:  # where the steps of each segment begin, and the last one ends
            nodes = np.arange(_SEGMENT + int(torques.linear))[:, None]
            self._samples = torques.samples[:, nodes + _SEGMENT * np.arange(segments), 0]
        self._nominal = self._prepared((segments,))
        self._probes = self._prepared((4, segments))

    def converge(self) -> bool:
        """Newton's iteration; fills the window's θ and returns whether it converged."""
        starts = self._coarse_starts()
        scale = max(np.abs(starts).max(), np.finfo(float).tiny)
        M, before = np.empty((3, 3, 0)), np.inf
        while self.passes < _MOST_PASSES:
            self.passes += 1
            if before > _FRESH:
                ends, M = self._ends_and_derivatives(starts)
            else:
                self._nominal.path[0] = starts
                self._nominal.march(_SEGMENT)
                ends = self._nominal.path[-1]
            defects = ends[:, :-1] - starts[:, 1:]
            defect = np.abs(defects).max() / scale
            stalled = defect < _ROUNDING and defect > 0.5 * before
            if before <= _FRESH and (defect <= _CLOSED or stalled):
                path = self._nominal.path[1:].transpose(1, 2, 0)  # component, segment, step
                filled = self._segments * _SEGMENT
                self._theta[:, 1 : filled + 1, 0] = path.reshape(3, filled)
                return True
            if not defect < min(before, _HOPELESS):
                return False
            before = defect
            starts[:, 1:] += _propagated(M, defects)
        return False

    def _coarse_starts(self) -> Array:
        """θ at the beginning of each segment, by steps ten times as long: θ there is ten times."""
        count = self._segments * _SEGMENT // _COARSE
        stages = stages_of(None, slice(0))
        if self._torques is not None:
            middle = self._torques.middle[: count * _COARSE, :, 0].reshape(count, _COARSE, 3)
            mean = (_COARSE**2 * middle.mean(axis=1)).tolist()
            stages = ((*t, *t, *t) for t in mean)
        first = (_COARSE * self._theta[:, 0, 0]).tolist()
        path = [first, *runge_kutta(first, self._ratios[:, 0].tolist(), stages, count)]
        return np.array(path[: count : _SEGMENT // _COARSE]).T / _COARSE

    def _prepared(self, batch: tuple[int, ...]) -> BatchSteps:
        """The steps of segments beside each other, in a batch whose last axis they are."""
        torques = None
        if self._samples is not None and self._torques is not None:
            nodes = self._samples.shape[1]
            samples = self._samples.reshape(3, nodes, *(1,) * (len(batch) - 1), -1)
            samples = np.broadcast_to(samples, (3, nodes, *batch))
            torques = StageTorques(samples, linear=self._torques.linear)
            torques.refresh()
        ratios = np.broadcast_to(self._ratios.reshape(3, *(1,) * len(batch)), (3, *batch))
        return BatchSteps(ratios, _SEGMENT, torques)

    def _ends_and_derivatives(self, starts: Array) -> tuple[Array, Array]:
        """Ends, shape (3, segments), and ∂end/∂start by differences, shape (3, 3, segments)."""
        path = self._probes.path
        length = np.linalg.norm(starts, axis=0)
        probe = _PROBE * np.maximum(length, _PROBE * length.max()).clip(np.finfo(float).tiny)
        path[0] = starts[:, None]
        for k in range(3):
            path[0, k, k + 1] += probe
        self._probes.march(_SEGMENT)
        ends = path[-1, :, 0]
        return ends, (path[-1, :, 1:] - ends[:, None]) / probe


def _propagated(M: Array, defects: Array) -> Array:
    """The d of d_{j+1} = M_j d_j + r_j, d_0 = 0, of all starts but the first.

    Args:
        M: shape (3, 3, segments); that of the last segment has no use.
        defects: r, shape (3, segments − 1).
    """
    x = y = z = 0.0
    found = []
    rows = zip(*M[:, :, :-1].reshape(9, -1).tolist(), *defects.tolist(), strict=True)
    for xx, xy, xz, yx, yy, yz, zx, zy, zz, rx, ry, rz in rows:
        x, y, z = (
            xx * x + xy * y + xz * z + rx,
            yx * x + yy * y + yz * z + ry,
            zx * x + zy * y + zz * z + rz,
        )
        found.append((x, y, z))
    return np.array(found).T
