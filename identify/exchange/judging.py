"""What is wrong with the links of a model: impossible, without inertia, or not what is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Phi
from identify.errors import ModelError
from identify.exchange.link_geometry import Filled, contradiction, far_from_shape
from identify.exchange.link_inertia import DENSEST, LinkInertia, implied_density, link_kinds
from identify.exchange.simulators import Simulator
from identify.exchange.slips import Slip, find_slip
from identify.inertia.consistency import BodyKind
from identify.inertia.conventions.simulators import SMALLEST_FULL_INERTIA
from identify.inertia.matrices import inertia_about_com, second_moment_about_com

_PRINTED = 1e-6
"""Share of a margin that digits may lose."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """What links have to be besides possible.

    Attributes:
        simulator: a program whose own limits they have to keep.
        margin: smallest second moment about the centre of mass, of the sum of the three: 0 for the
            edge of what is possible, 1/3 for a ball.
    """

    simulator: Simulator | None = None
    margin: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.margin < 1.0 / 3.0:
            raise ModelError(
                f"margin: expected 0 (the edge) or more and below 1/3 (a ball), got {self.margin:g}"
            )


class JudgedLink(NamedTuple):
    """A link, and what is wrong with it.

    Attributes:
        link: which.
        kind: of the body; None where the file does not say it.
        fault: what is wrong, in a word or two; nothing where the link is as asked.
        reasons: why, a sentence each.
        warning: how a possible body contradicts the link's shape or looks like a placeholder.
        note: that of the link, without what the fault or the warning says.
        slip: what may have been meant by an impossible inertia, or None.
    """

    link: LinkInertia
    kind: BodyKind | None
    fault: str = ""
    reasons: tuple[str, ...] = ()
    warning: str = ""
    note: str = ""
    slip: Slip | None = None


def judge(
    links: Sequence[LinkInertia],
    asked: Requirement | None = None,
    shapes: Mapping[str, Filled] | None = None,
) -> tuple[JudgedLink, ...]:
    """Every link with what is wrong with it, in their order.

    A link of a model file that has a mass and no inertia about some axis counts as wrong, where the
    mass is not so small that its inertia is below what programs tell from zero. With the shapes
    of links, by name, it is also said where a possible body contradicts them.
    """
    asked = Requirement() if asked is None else asked
    kinds = link_kinds(links)
    sized = [
        i
        for i, (link, kind) in enumerate(zip(links, kinds, strict=True))
        if link.judged is not None and kind not in (BodyKind.IMPOSSIBLE, BodyKind.MASSLESS)
    ]
    bodies = np.array([links[i].judged for i in sized]).reshape(-1, 10)
    moments = dict(zip(sized, np.linalg.eigvalsh(inertia_about_com(bodies)), strict=True))
    possible = {links[i].name: body for i, body in zip(sized, bodies, strict=True)}
    return tuple(
        _judged(link, kind, moments.get(i), asked, (shapes or {}).get(link.name), twins=possible)
        for i, (link, kind) in enumerate(zip(links, kinds, strict=True))
    )


def moments_text(moments: Iterable[float], digits: int = 4) -> str:
    """Moments [kg m²] in so many digits; rounding of the largest is zero."""
    values = [float(moment) for moment in moments]
    noise = 1e-14 * max(map(abs, values))
    return ", ".join(f"{0.0 if abs(value) <= noise else value:.{digits}g}" for value in values)


def _judged(
    link: LinkInertia,
    kind: BodyKind | None,
    moments: Array | None,
    asked: Requirement,
    shape: Filled | None,
    *,
    twins: Mapping[str, Phi],
) -> JudgedLink:
    """A link of a kind; of a possible body with its ascending moments about the centre of mass."""
    fault, reasons, warning, note, slip = "", [], "", link.note, None
    body, flat = link.judged, kind in (BodyKind.POINT, BodyKind.ROD)
    if body is not None and body[0] > 0.0 and not link.massless:
        least = np.abs(body[4:]).max() if moments is None else moments[0]
        flat = link.line is not None and (flat or least < SMALLEST_FULL_INERTIA)
    if link.unreadable:
        fault, reasons, note = "unreadable", [note], ""
    elif body is not None and flat and implied_density(body) > DENSEST:
        fault = "without inertia"
        reason = f"a mass of {body[0]:.6g} kg, but no inertia"
        reason += " about its axis" * (kind == BodyKind.ROD)
        reasons, note = [": ".join(filter(None, (reason, link.note_beyond_size)))], ""
    elif kind == BodyKind.IMPOSSIBLE and (verdict := link.verdict) is not None:
        fault = "impossible by rounding" if verdict.by_rounding else "impossible"
        # The rules of an inertia that are broken after the first say the same.
        first = {v.rule == "mass": v.message for v in reversed(verdict.violations)}
        reasons += [first[of_mass] for of_mass in sorted(first, reverse=True)]
        slip = None if verdict.by_rounding else find_slip(link, twins, shape)
        reasons += [] if slip is None else [slip.text]
    elif body is not None and link.phi is not None and moments is not None:
        second = second_moment_about_com(link.phi)
        against = contradiction(second, float(link.phi[0]), shape) if shape else ""
        away = "" if against else far_from_shape(link.phi, shape)
        warning = "; ".join(filter(None, (link.placeholder, against, away)))
        note = link.note_beyond_size if warning else note
        total = float(0.5 * moments.sum())
        share = float(total - moments[2]) / total if total > 0.0 else 0.0
        if share < (1.0 - _PRINTED) * asked.margin:
            fault = "too near the edge"
            reasons.append(
                f"the smallest second moment is {share:.3g} of their sum; asked for is "
                f"{asked.margin:g}"
            )
    if asked.simulator is not None and kind is not None:
        refusals = tuple(asked.simulator.refusals(link))
        if refusals and fault.startswith(("impossible", "without")):  # which is why
            refusals = (f"{asked.simulator.title} {asked.simulator.refusal}",)
        fault = fault or f"not for {asked.simulator.title}" * bool(refusals)
        reasons += refusals
    return JudgedLink(link, kind, fault, tuple(reasons), warning, note, slip)
