"""What is wrong with the links of a model: impossible, without inertia, or not what is asked."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Phi
from identify.errors import ModelError
from identify.exchange.link_geometry import Filled, contradiction, far_from_shape
from identify.exchange.link_inertia import DENSEST_LINK, LinkInertia, implied_density, link_kinds
from identify.exchange.model_format import SIX
from identify.exchange.simulators import Simulator
from identify.inertia.consistency import BodyKind, is_consistent
from identify.inertia.conventions.orders import SIX_ORDERS, matrix_from_six, six_in_order
from identify.inertia.conventions.simulators import MIN_FULL_INERTIA
from identify.inertia.matrices import inertia_about_com, second_moment_about_com, symmetric_from_six

_IS_MOMENT = np.array([True, False, False, True, False, True])
"""Which of ixx, ixy, ixz, iyy, iyz, izz are moments of inertia."""

_FACTOR, _SHORTFALL, _SAME_SIDES = 2.0, 0.1, 0.05
"""From which factor beyond what the others allow, and by which share of the largest moment, a
number is wrong by a power of ten; and relative difference of a left and a right link."""

_SIDES = ("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"), ("l", "r"), ("L", "R")


class Slip(NamedTuple):
    """A change of few numbers that makes an impossible inertia possible.

    Attributes:
        six: ixx, ixy, ixz, iyy, iyz, izz after it [kg m²], in the axes printed, shape (6,).
        text: what may have been meant, in a sentence with the numbers.
        clear: whether the numbers speak for it so clearly that a repair takes it.
    """

    six: Array
    text: str
    clear: bool


def find_slip(link: LinkInertia, twins: Mapping[str, Phi], shape: Filled | None) -> Slip | None:
    """The likeliest slip behind a link that is impossible by more than rounding, or none.

    Among `twins`, the possible bodies of its model as printed, by name of the link, may be that of
    the other side; the body must not contradict the link's shape.
    """
    if link.printed is None or link.line is None or not link.printed[0] > 0.0:
        return None
    mass, six = float(link.printed[0]), link.printed[4:]

    def fits(slip: Slip) -> bool:
        body = np.concatenate(([mass, 0.0, 0.0, 0.0], slip.six))
        if not (is_consistent(body) and implied_density(body) <= DENSEST_LINK):
            return False
        second = link.axes @ second_moment_about_com(body) @ link.axes.T
        return shape is None or not contradiction(second, mass, shape)

    orders = [] if link.order == "diagonal" else [*_of_order(six, link.order)]
    candidates = [
        *orders,
        *_of_twin(link.name, link.printed, twins),
        *_of_sign(six),
        *_of_power(six),
        *_of_swap(six),
    ]
    slips = list(filter(fits, candidates)) or list(filter(fits, _of_outlier(six)))
    if not slips:
        return None
    slip = next((slip for slip in slips if slip.clear), slips[0])
    change, *others = dict.fromkeys(_changes(six, other.six) for other in (slip, *slips))
    text = f"{'likely' if slip.clear else 'perhaps'} a slip, {slip.text}: {change} kg m²"
    return slip._replace(text="; possible, too: ".join((text, *others[:2])))


def _changes(before: Array, after: Array) -> str:
    pairs = zip(SIX, before, after, strict=True)
    return ", ".join(f"{name} {a:.6g} → {b:.6g}" for name, a, b in pairs if a != b)


def _of_order(six: Array, order: str) -> Iterator[Slip]:
    """The numbers as they are written, taken in another order than the file's."""
    written = six_in_order(symmetric_from_six(six), order)
    if written[3] == written[1]:  # xx, xy, xz, yx, yy, yz
        xx, yy = written[[0, 4]]
        lost = f"izz is lost, between {abs(xx - yy):.4g} and {xx + yy:.4g}, and the middle a guess"
        new = np.append(written[[0, 1, 2, 4, 5]], max(xx, yy))
        yield Slip(new, f"the matrix row by row, as iyy repeats ixy ({lost})", True)
    for names, other in {names: other for other, names in SIX_ORDERS.items()}.items():
        new = six_in_order(matrix_from_six(written, other), "urdf")
        clear = bool((new != six)[_IS_MOMENT].any())  # not products alone
        yield Slip(new, f"written in the order {', '.join(names)}", clear)


def _of_twin(name: str, printed: Phi, twins: Mapping[str, Phi]) -> Iterator[Slip]:
    """The numbers of a link of the other side where they differ, if two moments are the same."""
    for old, new in (*_SIDES, *(pair[::-1] for pair in _SIDES)):
        parts = [(name[:i], name[i:]) for i in range(len(name))]
        names = {start + end.replace(old, new, n) for start, end in parts for n in (1, -1)}
        for other in sorted(names & twins.keys()):
            same = np.isclose(abs(printed), abs(twins[other]), rtol=_SAME_SIDES, atol=0.0)
            six, twin = printed[4:], twins[other][4:]
            if same[0] and same[4:][_IS_MOMENT].sum() >= 2:
                # Two products of a mirrored link have the other sign.
                mirrored = np.where(_IS_MOMENT | (six == 0.0), twin, np.copysign(twin, six))
                yield Slip(np.where(same[4:], six, mirrored), f"as its twin {other} has it", True)


def _of_sign(six: Array) -> Iterator[Slip]:
    """Negative moments made positive, or the products of inertia of the other sign."""
    yield Slip(np.where(_IS_MOMENT, np.abs(six), six), "a sign", True)
    yield Slip(np.where(_IS_MOMENT, six, -six), "the sign of one product or of all", False)


def _of_power(six: Array) -> Iterator[Slip]:
    """One number a power of ten too large or too small, the smallest powers first."""
    signed = [(i, sign) for some in ((0, 3, 5), (1, 2, 4)) for sign in (-1, 1) for i in some]
    for size, (i, sign) in itertools.product(range(1, 10), signed):
        why = f"{SIX[i]} {10**size} times too {'large' if sign < 0 else 'small'}"
        new = np.where(np.arange(6) == i, six * 10.0 ** (sign * size), six)
        yield Slip(new, why, _is_wrong(six, i, small=sign > 0))


def _of_swap(six: Array) -> Iterator[Slip]:
    """A moment and a product of inertia under each other's name, where a letter tells them."""
    for i, k in ((0, 1), (0, 2), (3, 1), (3, 4), (5, 2), (5, 4)):
        new = six.copy()
        new[[i, k]] = six[[k, i]]
        yield Slip(new, f"{SIX[k]} and {SIX[i]} swapped", _is_wrong(six, i, small=True))


def _of_outlier(six: Array) -> Iterator[Slip]:
    """The moment that is far from both others in the middle of what these allow."""
    sizes = np.log(np.maximum(six[_IS_MOMENT], 1e-300))
    far = np.abs(sizes - np.median(sizes))
    i = (0, 3, 5)[int(far.argmax())]
    a, b = np.sort(six[_IS_MOMENT & (np.arange(6) != i)])
    allowed = (
        f"the {b - a:.4g} to {a + b:.4g} that the others allow, the middle of which is a guess"
    )
    clear = bool(far.max() >= 2.0 * np.sort(far)[1]) and _is_wrong(six, i, small=six[i] < a)
    yield Slip(np.where(np.arange(6) == i, b, six), f"{SIX[i]} far from {allowed}", clear)


def _is_wrong(six: Array, i: int, *, small: bool) -> bool:
    """Whether a number is impossible beside the others even if it were less small or large."""
    raised = _FACTOR * six[i] + _SHORTFALL * six.max()
    less = np.where(np.arange(6) == i, raised if small else six[i] / _FACTOR, six)
    return not is_consistent(np.concatenate(([1.0, 0.0, 0.0, 0.0], less)))


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
        flat = link.line is not None and (flat or least < MIN_FULL_INERTIA)
    if link.unreadable:
        fault, reasons, note = "unreadable", [note], ""
    elif body is not None and flat and implied_density(body) > DENSEST_LINK:
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
