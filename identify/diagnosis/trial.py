"""`Trial`: logs with some faults corrected, and the sizes of those that fit best.

The likelihood `misfit` is minimised over the sizes η by Gauss and Newton: at weights W and a body φ
the residual r = z M(η) (B0 − B φ) is linear in φ, and nearly so in η, and both step together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from identify.arrays import Array, Indices, Phi
from identify.diagnosis.fault import Fault, logs_with_same_faults
from identify.diagnosis.misfit import (
    BandRows,
    Misfit,
    clear_bands,
    inverse_information,
    misfit,
    stacked,
)
from identify.estimation.least_squares import LeastSquaresFit
from identify.logs.facts import LogFacts
from identify.regressors import FEATURE_TENSOR, SCAN_LAYOUT, WIDE_LAYOUT
from identify.regressors.wrench import DDW, DW, W
from identify.signals.transform import band_middle

STEPS, _HALVINGS = 8, 4
SETTLED = 0.1
"""Standard errors of a step after which no other is taken."""

_UNOBSERVABLE = 1e-6
"""Share of the information on a direction of η that body and offset have to leave."""

_TOGETHER = 4
"""Logs of which a step makes one product: with more, it leaves the processor's cache."""

_WRENCH = slice(W.start - 1, W.stop - 1)
"""Columns of the wrench where the constant is left out."""

Candidate = Sequence[Fault]
"""One fault as it is of each log."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Logs with some faults corrected, and the bodies that explain them so.

    Attributes:
        rows: of each log, extended.
        bodies: numbers of the logs of each body.
        candidates: the faults that are corrected.
        sizes: of each.
        misfits: of each body.
        directions: of η that the logs tell.
    """

    rows: tuple[BandRows, ...]
    bodies: tuple[tuple[int, ...], ...]
    candidates: tuple[Candidate, ...] = ()
    sizes: tuple[Array, ...] = ()
    misfits: tuple[Misfit, ...] = ()
    directions: int = 0

    @classmethod
    def of(cls, fit: LeastSquaresFit, facts: Sequence[LogFacts]) -> Trial:
        """Of the logs of a fit; logs with a payload and those without it are of two bodies."""
        rows: list[BandRows] = []
        bodies: list[tuple[int, ...]] = []
        for statistics, _ in fit.data.system.data:
            first = len(rows)
            for log in range(len(statistics.logs)):
                bands = clear_bands(statistics, facts[len(rows)].gravity, log)
                rows.append(BandRows.of(statistics, bands, log))
            bodies.append(tuple(range(first, len(rows))))
        now = cls(tuple(rows), tuple(bodies))
        return now.at((), ()) if now.measured else now

    def at(self, candidates: Sequence[Candidate], sizes: Sequence[Array]) -> Trial:
        """The same logs with other faults corrected, or sizes of them."""
        maps = self.maps(candidates, sizes)
        mapped = [
            rows.mapped(M[:, : len(SCAN_LAYOUT.columns)])
            for rows, M in zip(self.rows, maps, strict=True)
        ]
        misfits = tuple(misfit([mapped[log] for log in of_body]) for of_body in self.bodies)
        directions = sum(len(size) for size in sizes)
        return replace(
            self,
            candidates=tuple(candidates),
            sizes=tuple(sizes),
            misfits=misfits,
            directions=directions,
        )

    def maps(self, candidates: Sequence[Candidate], sizes: Sequence[Array]) -> Array:
        """M of all faults for each log, shape (logs, 43, 43)."""
        kinds, kind_of = _kinds(candidates, len(self.rows))
        return _maps(kinds, candidates, sizes)[kind_of]

    @property
    def widths(self) -> list[int]:
        """How many components each size has."""
        return [len(size) for size in self.sizes]

    @property
    def measured(self) -> bool:
        """Whether every body has a wrench to be explained."""
        return all(
            any(len(self.rows[log].samples) and self.rows[log].measures_wrench for log in of_body)
            for of_body in self.bodies
        )

    @property
    def phi(self) -> Phi:
        """The first body."""
        return self.misfits[0].phi

    @property
    def cost(self) -> float:
        """Minus twice the log-likelihood of the wrench as it was read, sizes paid for."""
        kinds, kind_of = _kinds(self.candidates, len(self.rows))
        middles = [band_middle(band) for rows in self.rows for band in rows.bands]
        bands, band_of = np.unique(middles, return_inverse=True)
        powers = log_powers(_maps(kinds, self.candidates, self.sizes), bands)
        of_rows = np.repeat(kind_of, [len(rows.bands) for rows in self.rows])
        samples = np.concatenate([rows.samples for rows in self.rows])
        total = sum(each.cost for each in self.misfits) - samples @ powers[of_rows, band_of]
        return float(total) + self.price(self.directions)

    def price(self, numbers: int) -> float:
        """What so many numbers of a fault have to gain."""
        samples = sum(float(rows.samples.sum()) for rows in self.rows)
        return numbers * float(np.log(6.0 * max(samples, 1.0)))

    def tangents(self) -> Array:
        """∂M/∂η of all sizes, of the columns as read, shape (logs, 43, 19, Σd)."""
        kinds, kind_of = _kinds(self.candidates, len(self.rows))
        return self._tangents(kinds)[kind_of]

    def _tangents(self, kinds: Sequence[int]) -> Array:
        """The same of some logs."""
        width, columns = len(SCAN_LAYOUT.columns), []
        for number, (candidate, size) in enumerate(zip(self.candidates, self.sizes, strict=True)):
            sizes = candidate[0].sizes
            assert sizes is not None
            for step in 1e-4 * sizes.matters * np.eye(len(size)):
                ends = []
                for end in (size + step, size - step):
                    moved = [*self.sizes[:number], end, *self.sizes[number + 1 :]]
                    ends.append(_maps(kinds, self.candidates, moved))
                columns.append(((ends[0] - ends[1]) / (2.0 * step.sum()))[..., :width])
        return np.stack(columns, axis=-1)

    def step(self) -> tuple[Array, Array, int]:
        """The Gauss-Newton step of all sizes, its covariance, and how many directions are told."""
        kinds, kind_of = _kinds(self.candidates, len(self.rows))
        maps, tangents = _maps(kinds, self.candidates, self.sizes), self._tangents(kinds)
        d = tangents.shape[-1]
        S, s, whole = np.zeros((d, d)), np.zeros(d), np.zeros(d)
        for of_body, found in zip(self.bodies, self.misfits, strict=True):
            C = np.concatenate((-FEATURE_TENSOR @ found.phi, np.eye(6)))
            N, g, first = np.zeros((10 + d, 10 + d)), np.zeros(10 + d), 0
            for logs in _stacks(of_body, kind_of):
                Z = stacked([self.rows[log] for log in logs])
                weights, kind = found.weights[first : first + len(Z)], kind_of[logs[0]]
                first += len(Z)
                base = Z @ maps[kind, 1 : 1 + Z.shape[2], 1 : len(SCAN_LAYOUT.columns)]
                r = base @ C
                # What η does to the wrench is worked out with the predicted one: the noise of the
                # measured one is that of the residual, and a smaller wrench explains no more.
                predicted = Z.copy()
                predicted[..., _WRENCH] -= r
                of_body_part = -(base[..., :12] @ FEATURE_TENSOR.reshape(12, -1))
                slope = C.T @ tangents[kind, 1 : 1 + Z.shape[2], 1:]
                of_sizes = predicted @ slope.reshape(Z.shape[2], -1)
                J = np.concatenate(
                    (of_body_part.reshape(*r.shape, 10), of_sizes.reshape(*r.shape, d)), axis=-1
                )
                weighted = (weights[:, None] @ J).reshape(-1, 10 + d)
                N += J.reshape(-1, 10 + d).T @ weighted
                g += weighted.T @ r.reshape(-1)
            to_phi = inverse_information(N[:10, :10]) @ N[:10, 10:]
            S += N[10:, 10:] - N[10:, :10] @ to_phi
            s += g[10:] - to_phi.T @ g[:10]
            whole += np.diag(N)[10:]
        scale = np.sqrt(np.maximum(whole, np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(S / np.outer(scale, scale))
        told = values > _UNOBSERVABLE
        along = vectors[:, told] / scale[:, None]
        covariance = (along / values[told]) @ along.T
        return -covariance @ s, covariance, int(told.sum())


def _kinds(candidates: Sequence[Candidate], logs: int) -> tuple[list[int], Indices]:
    """One log of each kind, those of a kind having the same faults, and the kind of every log."""
    if not candidates:
        return [0], np.zeros(logs, dtype=np.intp)
    kinds, kind_of = np.unique(logs_with_same_faults(candidates), return_inverse=True)
    return kinds.tolist(), kind_of


def _maps(logs: Sequence[int], candidates: Sequence[Candidate], sizes: Sequence[Array]) -> Array:
    """M of all faults for some logs, shape (logs, 43, 43)."""
    whole = np.tile(np.eye(len(WIDE_LAYOUT.columns)), (len(logs), 1, 1))
    for candidate, size in zip(candidates, sizes, strict=True):
        whole = whole @ np.array([candidate[log].map_at(size) for log in logs])
    return whole


def _stacks(logs: Sequence[int], kind_of: Indices) -> Iterator[list[int]]:
    """Logs in order, as many together as one product is made of, those of a kind alone."""
    for _, alike in groupby(logs, key=lambda log: kind_of[log]):
        coming = list(alike)
        yield from (coming[k : k + _TOGETHER] for k in range(0, len(coming), _TOGETHER))


def log_powers(maps: Array, frequencies: Array) -> Array:
    """log |det C|² of what maps make of the wrench's noise at frequencies ω, (maps, frequencies).

    Args:
        maps: shape (maps, 43, 43).
        frequencies: shape (frequencies,).
    """
    omega, M = frequencies[:, None, None], maps[:, None]
    C = M[..., W, W] + 1j * omega * M[..., DW, W] - omega**2 * M[..., DDW, W]
    return 2.0 * np.linalg.slogdet(C)[1]


def stepped(now: Trial) -> Trial | None:
    """Steps of all sizes together until they are small or gain nothing; None without a way on."""
    origin = now.sizes
    for _ in range(STEPS):
        try:
            step, covariance, directions = now.step()
        except np.linalg.LinAlgError:
            return None
        if directions < len(step):
            return None
        now = replace(now, directions=directions)
        after = None
        for _ in range(_HALVINGS):
            sizes = np.split(np.concatenate(now.sizes) + step, np.cumsum(now.widths)[:-1])
            if any(
                np.abs(size - start).max() > c[0].sizes.farthest * c[0].sizes.matters
                for c, size, start in zip(now.candidates, sizes, origin, strict=True)
                if c[0].sizes is not None
            ):
                return None
            trial = replace(now.at(now.candidates, sizes), directions=directions)
            if trial.cost < now.cost:
                after = trial
                break
            step = 0.5 * step
        if after is None:
            break
        now = after
        if (np.abs(step) <= SETTLED * np.sqrt(np.diag(covariance))).all():
            break
    return now
