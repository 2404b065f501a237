"""The links of a model judged at once: a verdict of each takes its time, and few need one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from identify.exchange.link_inertia import LinkInertia
from identify.inertia.consistency import BodyKind, body_kinds


def link_kinds(links: Sequence[LinkInertia]) -> tuple[BodyKind | None, ...]:
    """What `verdict.kind` of each link is; None where the file does not say it."""
    known = [(i, link.judged) for i, link in enumerate(links) if link.judged is not None]
    kinds = [BodyKind.MASSLESS if link.massless else None for link in links]
    if not known:
        return tuple(kinds)
    bodies = np.array([body for _, body in known])
    units = np.array([_half_units(links[i]) for i, _ in known])
    massless = np.all(np.abs(bodies) <= units, axis=-1)
    judged = np.where(massless, np.str_(BodyKind.MASSLESS), body_kinds(bodies))
    for (i, _), kind in zip(known, judged.tolist(), strict=True):
        kinds[i] = BodyKind(kind)
    return tuple(kinds)


def impossible_links(links: Sequence[LinkInertia]) -> tuple[LinkInertia, ...]:
    """The links whose verdict is that no density has their numbers."""
    return tuple(
        link
        for link, kind in zip(links, link_kinds(links), strict=True)
        if kind == BodyKind.IMPOSSIBLE
    )


def _half_units(link: LinkInertia) -> np.ndarray:
    return np.zeros(10) if link.half_units is None else link.half_units
