"""Rounds of several fits in step: they ask for weights, which are worked out for all at once."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from identify.arrays import Array
from identify.errors import IdentifyError
from identify.estimation.initial_estimate import Channels, FitData
from identify.estimation.residual_weights import Bands, noise_fraction, residual_weights

T = TypeVar("T")


class Asked(NamedTuple):
    """What a round asks for: the weights of a fit that its residuals at x say.

    Attributes:
        data: system and equalities.
        x: the unknowns, shape (p,).
        leverage: of each group, after the last round, shape (G,).
        spread: whether what they have beyond the weights is asked for too.
    """

    data: FitData
    x: Array
    leverage: Array
    spread: bool = False


class Weighted(NamedTuple):
    """What it gets.

    Attributes:
        weights: W of each group, shape (G, m, m).
        fraction: share of the noise read off the signals that was taken to be there.
        beyond: what the covariance of residuals of each group by itself has beyond W⁻¹; of none
            where it was not asked for.
    """

    weights: Array
    fraction: float
    beyond: Array


Rounds: TypeAlias = Generator[Asked, Weighted, T]
"""The rounds of a fit, up to its result: they ask for weights, and go on with those they get. Those
of many fits are worked out in one go, along the axis of the groups."""


def in_turn(rounds: Rounds[T]) -> T:
    """The result of the rounds of one fit."""
    (found,) = together([rounds])
    if isinstance(found, IdentifyError):
        raise found
    return found


_IN_STEP = 48
"""Fits whose rounds go in step: with more, their statistics leave the processor's cache."""


def together(several: Iterable[Rounds[T]]) -> list[T | IdentifyError]:
    """The results of the rounds of several fits, or the error that each raised.

    Some go in step at a time; the next ones begin as others end.
    """
    found: dict[int, T | IdentifyError] = {}
    asking: dict[int, tuple[Rounds[T], Asked]] = {}

    def go_on(number: int, rounds: Rounds[T], weighted: Weighted | Exception | None) -> None:
        try:
            if isinstance(weighted, Exception):
                asking[number] = rounds, rounds.throw(weighted)
            else:
                asked = next(rounds) if weighted is None else rounds.send(weighted)
                asking[number] = rounds, asked
        except StopIteration as done:
            found[number] = done.value
        except IdentifyError as error:
            found[number] = error

    coming = enumerate(several)
    while True:
        new = list(islice(coming, _IN_STEP - len(asking)))
        for number, rounds in new:
            go_on(number, rounds, None)
        if not (new or asking):
            return [found[number] for number in range(len(found))]
        now, asking = asking, {}
        answers = _weighted([asked for _, asked in now.values()])
        for (number, (rounds, _)), weighted in zip(now.items(), answers, strict=True):
            go_on(number, rounds, weighted)


def _weighted(asked: Sequence[Asked]) -> list[Weighted | Exception]:
    """Weights of several fits, those with as many channels and kinds at once."""
    shapes = [one.data.channels.kinds.shape[1:] for one in asked]
    found: dict[int, Weighted | Exception] = {}
    for shape in dict.fromkeys(shapes):
        alike = [k for k, other in enumerate(shapes) if other == shape]
        try:
            found |= zip(alike, _weighted_alike([asked[k] for k in alike]), strict=True)
        except (np.linalg.LinAlgError, IdentifyError) as error:  # of one of them: each by itself
            each = [error] if len(alike) == 1 else (_weighted([asked[k]])[0] for k in alike)
            found |= zip(alike, each, strict=True)
    return [found[k] for k in range(len(asked))]


def _weighted_alike(asked: Sequence[Asked]) -> Iterator[Weighted]:
    of = Channels.joined([one.data.channels for one in asked])
    moments = np.concatenate(
        [one.data.system.residual_moments(one.x, one.data.scale_weights) for one in asked]
    )
    made = np.concatenate([one.data.system.noise_moments(one.x) for one in asked])
    left = of.effective_samples - np.concatenate([one.leverage for one in asked])
    found = moments / np.maximum(left, 1.0)[:, None, None]
    predicted = made / of.effective_samples[:, None, None]
    bands = Bands(found, predicted, of.wrench_noise, of.of_kind)
    fractions = noise_fraction(of, bands, left)
    if (fractions < 1.0).any():
        bands = replace(bands, predicted=fractions[of.fit][:, None, None] * predicted)
    weights, covariance = residual_weights(of, bands)
    beyond = np.zeros((0, *weights.shape[1:]))
    if any(one.spread for one in asked):
        beyond = bands.own_covariance(of.sensors) - covariance
    first = 0
    for one, fraction in zip(asked, fractions.tolist(), strict=True):
        own = slice(first, first := first + len(one.leverage))
        yield Weighted(weights[own], fraction, beyond[own])
