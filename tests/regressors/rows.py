"""Rows of several logs and groups, and the least squares of all of them with nothing eliminated."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from identify.regressors import (
    WRENCH_LAYOUT,
    ChannelGroup,
    Equations,
    Offsets,
    ParameterSpace,
    RowLayout,
    ScalarUnknown,
    Statistics,
    join_logs,
)
from identify.regressors.statistics import MAX_TIME_BLOCKS, factor_of_rows

SPACE = ParameterSpace(("body",), (ScalarUnknown("friction"), ScalarUnknown("gain")))


@dataclass(frozen=True, slots=True)
class Linear(Equations):
    """Any coefficients [B0 | B], of each log and group where `alike` is not said."""

    coefficients: np.ndarray
    offsets: Offsets = "per_log"
    alike: bool = False
    space: ParameterSpace = SPACE

    def residual_coefficients(self, log: int, group: int) -> np.ndarray:
        return self.coefficients[0 if self.alike else log, group].copy()

    def equation_key(self, log: int, group: int) -> object:
        return group if self.alike else (log, group)


@dataclass(frozen=True)
class Data:
    """Rows z of each log and group, with the statistics and equations of them.

    `sensors` says which offset acts on the rows of a group.
    """

    rows: list[list[np.ndarray]]
    statistics: Statistics
    equations: Linear
    sensors: tuple[int, ...]

    def coefficients(self, log: int, group: int) -> np.ndarray:
        return self.equations.residual_coefficients(log, group)


def layout_of(channels: Sequence[Sequence[str]], columns: int, constant: bool = True) -> RowLayout:
    names = tuple(f"z{k}" for k in range(columns))
    return RowLayout(
        columns=("1", *names[1:]) if constant else names,
        groups=tuple(
            ChannelGroup(f"group {g}", tuple(names_), ("kind",) * len(names_))
            for g, names_ in enumerate(channels)
        ),
        fit=columns - 1,
    )


def random_data(
    rng: np.random.Generator,
    offsets: Offsets,
    *,
    logs: int = 2,
    channels: Sequence[Sequence[str]] = (("x", "y"), ("x", "y")),
    alike: bool = False,
    constant: bool = True,
    means: bool = False,
    empty: Sequence[int] = (),
) -> Data:
    """Rows that no unknowns explain exactly, their constant what a filter leaves of one.

    Groups of the same channels are of one sensor. The last column is one that no fit reads. With
    `means` the constant is in the first group alone; `empty` are groups without rows.
    """
    K = 18
    layout = layout_of(channels, K, constant)
    names = list(dict.fromkeys(map(tuple, channels)))
    rows = [[_rows(rng, K, constant) for _ in channels] for _ in range(logs)]
    for of_log in rows:
        for g, of_group in enumerate(of_log):
            if means and g > 0:
                of_group[:, 0] = 0.0
            if g in empty:
                of_log[g] = of_group[:0]
    widest = max(map(len, channels))
    C = rng.normal(size=(logs, len(channels), K - 1, widest, 1 + len(SPACE)))
    cut = [[C[n, g, :, : len(names_)] for g, names_ in enumerate(channels)] for n in range(logs)]
    coefficients = np.empty((logs, len(channels)), dtype=object)
    for n in range(logs):
        for g in range(len(channels)):
            coefficients[n, g] = cut[n][g]
    return Data(
        rows,
        join_logs([statistics_of(layout, of_log, str(n)) for n, of_log in enumerate(rows)]),
        Linear(coefficients, offsets, alike),
        tuple(names.index(tuple(channels_)) for channels_ in channels),
    )


def _rows(rng: np.random.Generator, K: int, constant: bool) -> np.ndarray:
    rows = rng.normal(1.0, 1.0, (int(rng.integers(40, 90)), K))
    if constant:
        rows[:, 0] = rng.uniform(0.3, 1.0, len(rows))
    return rows


BLOCK = 10


def statistics_of(layout: RowLayout, groups: Sequence[np.ndarray], log: str = "") -> Statistics:
    """Cells of blocks of ten rows, written out by hand; a row is worth 0.4 of a sample."""
    K = len(layout.columns)
    cells = [
        (b, g, part)
        for g, rows in enumerate(groups)
        for b, part in enumerate(np.split(rows, range(BLOCK, len(rows), BLOCK)))
        if len(part)
    ]
    samples = np.array([float(len(part)) for *_, part in cells])
    return Statistics(
        layout=layout,
        factors=np.array([factor_of_rows(part) for *_, part in cells]),
        log=np.zeros(len(cells), dtype=int),
        block=np.array([b for b, *_ in cells]),
        group=np.array([g for _, g, _ in cells]),
        samples=samples,
        effective_samples=0.4 * samples,
        noise=np.zeros((1, len(groups), K, K)),
        logs=(log,),
    )


@dataclass(frozen=True)
class Brute:
    """All weighted rows r = target − columns [x, offsets], nothing eliminated."""

    columns: np.ndarray
    target: np.ndarray
    unknowns: int
    widths: tuple[int, ...]
    where: dict[tuple[int, int], slice]

    @property
    def solution(self) -> np.ndarray:
        return np.linalg.lstsq(self.columns, self.target, rcond=None)[0]

    def best_offsets(self, x: np.ndarray) -> np.ndarray:
        rest = self.target - self.columns[:, : self.unknowns] @ x
        return np.linalg.lstsq(self.columns[:, self.unknowns :], rest, rcond=None)[0]

    def cost(self, values: np.ndarray) -> float:
        return float(np.linalg.norm(self.columns @ values - self.target))


def brute(data: Data, weights: Sequence[np.ndarray]) -> Brute:
    """The least squares of every row, with a column for each number of each offset."""
    p, offsets = len(data.equations.space), data.equations.offsets
    constant = data.statistics.layout.has_constant
    width = {s: data.coefficients(0, g).shape[1] for g, s in enumerate(data.sensors)}
    where: dict[tuple[int, int], slice] = {}
    total = p
    if offsets != "none" and constant:
        for n in range(len(data.rows)):
            for sensor, m in width.items():
                if offsets == "shared" and n > 0:
                    where[n, sensor] = where[0, sensor]
                    continue
                where[n, sensor] = slice(total, total + m)
                total += m
    columns, target = [], []
    for n, of_log in enumerate(data.rows):
        for g, rows in enumerate(of_log):
            L = np.linalg.cholesky(weights[g]).T
            full = np.zeros((len(rows), len(L), total))
            Z = np.tensordot(rows[:, : data.statistics.layout.fit], data.coefficients(n, g), 1)
            full[..., :p] = Z[..., 1:]
            at = where.get((n, data.sensors[g]))
            if at is not None:
                full[..., at] = rows[:, 0, None, None] * np.eye(len(L))
            columns.append((L @ full).reshape(-1, total))
            target.append((Z[..., 0] @ L.T).ravel())
    return Brute(np.concatenate(columns), np.concatenate(target), p, tuple(width.values()), where)


def residuals_of(data: Data, x: np.ndarray, offsets: dict[tuple[int, int], np.ndarray]):
    """r of every row by log and group, at x with these offsets by (log, sensor)."""
    lever = np.concatenate(([1.0], -x))
    found = []
    for n, of_log in enumerate(data.rows):
        for g, rows in enumerate(of_log):
            C = data.coefficients(n, g)
            r = np.tensordot(rows[:, : data.statistics.layout.fit], C, 1) @ lever
            offset = offsets.get((n, data.sensors[g]))
            if offset is not None:
                r = r - rows[:, :1] * offset
            found.append(((n, g), r))
    return dict(found)


def random_weights(rng: np.random.Generator, data: Data) -> list[np.ndarray]:
    weights = []
    for g in range(len(data.sensors)):
        m = data.coefficients(0, g).shape[1]
        B = rng.normal(size=(m, m))
        weights.append(B @ B.T + 0.1 * np.eye(m))
    return weights


def padded(weights: Sequence[np.ndarray]) -> np.ndarray:
    """Weights of groups as `LinearSystem` takes them: one on the diagonal of missing channels."""
    m = max(map(len, weights))
    found = np.tile(np.eye(m), (len(weights), 1, 1))
    for own, weight in zip(found, weights, strict=True):
        own[: len(weight), : len(weight)] = weight
    return found


def statistics_of_rows(
    rows: np.ndarray,
    effective: float | None = None,
    *,
    layout: RowLayout = WRENCH_LAYOUT,
    noise: np.ndarray | None = None,
    still: bool = False,
    log: str = "",
) -> Statistics:
    """Statistics of rows z of one log and group, in order of time, in blocks of equal length.

    Args:
        rows: shape (n, K).
        effective: how many of them count as independent in all; n where not given.
        layout: of one group.
        noise: variance of the noise in each of the K columns; zero where not given.
        still: whether each row is a static pose, and so a block of its own.
        log: name of the log.
    """
    count, K = rows.shape
    effective = float(count) if effective is None else effective
    wanted = count if still else min(MAX_TIME_BLOCKS, int(effective / 5.0))
    edges = np.linspace(0, count, max(1, min(wanted, count)) + 1).astype(int)
    parts = [rows[start:stop] for start, stop in pairwise(edges.tolist())]
    samples = np.diff(edges).astype(np.float64)
    zeros = np.zeros(len(parts), dtype=np.intp)
    return Statistics(
        layout=layout,
        factors=np.array([factor_of_rows(part)[: min(K, int(samples.max()))] for part in parts]),
        log=zeros,
        block=np.arange(len(parts)),
        group=zeros,
        samples=samples,
        effective_samples=samples * (effective / count),
        noise=np.diag(np.sqrt(np.zeros(K) if noise is None else noise))[None, None],
        logs=(log,),
    )
