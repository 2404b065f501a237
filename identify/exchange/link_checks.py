"""Checks of the inertia of a model's links: consistency, plausible size, simulator limits."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Flags, Phi
from identify.errors import ModelError
from identify.exchange.link_geometry import ShapeInertia, com_distance_warning, shape_contradiction
from identify.exchange.link_inertia import (
    AIR_DENSITY,
    MAX_MATERIAL_DENSITY,
    LinkInertia,
    implied_density,
    link_body_kinds,
)
from identify.exchange.model_format import INERTIA_ENTRIES
from identify.exchange.shape_corrections import ONE_NUMBER
from identify.exchange.shape_readings import (
    ShapeReading,
    fit_to_shape,
    read_by_shape,
    shape_warning,
)
from identify.exchange.simulated_bodies import SimulatedBody
from identify.exchange.simulators import Simulator
from identify.inertia.consistency import BodyKind, is_consistent
from identify.inertia.conventions.orders import ENTRY_ORDERS, entries_in_order, matrix_from_entries
from identify.inertia.conventions.simulators import MUJOCO_MIN_FULL_INERTIA
from identify.inertia.matrices import (
    inertia_about_com,
    second_moment_about_com,
    symmetric_from_entries,
)
from identify.inertia.parameters import DEFAULT_DENSITY

_MOMENT_MASK = np.array([True, False, False, True, False, True])
"""Mask of the moments of inertia among ixx, ixy, ixz, iyy, iyz, izz."""

_MIN_FACTOR_OF_CLEAR_TYPO = 2.0
"""Factor by which a suspect number is corrected to see whether the inertia is still inconsistent,
which makes a typo clear."""

_MIN_DEFICIT_OF_CLEAR_TYPO = 0.1
"""Increase of a suspect small number, relative to the largest moment, after which the inertia must
still be inconsistent for a typo to be clear."""

_MIN_REVERSED_LINKS = 4
"""Fewest inconsistent links of a model whose products all have the other sign."""

_MIRROR_TOLERANCE = 0.05
"""Largest relative difference of equal numbers of a left and a right link."""

_MAX_GYRATION = 5.0
"""Radius of gyration [m] up to which a link is of a usual size."""

_SIDE_NAMES = ("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"), ("l", "r"), ("L", "R")
"""Parts of link names that distinguish the left and right side of a robot."""


WITHOUT_INERTIA = "without inertia"
"""Problem of a link with a mass and no inertia."""

MISREAD = "does not fit its shape"
"""Problem of a link that fits its shape in another convention."""


class InertiaTypo(NamedTuple):
    """A typing error whose correction makes an inertia physically consistent.

    Attributes:
        inertia: corrected ixx, ixy, ixz, iyy, iyz, izz [kg m²], in the axes printed, shape (6,).
        text: sentence on the error and the corrected numbers.
        is_conclusive: whether the evidence is clear enough for an automatic repair.
    """

    inertia: Array
    text: str
    is_conclusive: bool


def find_typo(
    link: LinkInertia,
    mirrored_links: Mapping[str, Phi],
    shape: ShapeInertia | None,
    reversed_links: int = 0,
) -> InertiaTypo | None:
    """Return the likeliest typo that explains an inconsistent inertia, or None.

    `mirrored_links` are the consistent bodies of the model as printed, by name of the link, among
    which may be the link of the other side; the corrected body must not contradict the link's
    shape. `reversed_links` is the number of links that `count_reversed_links` returns.
    """
    if link.printed is None or link.line is None or not link.printed[0] > 0.0:
        return None
    mass, six = float(link.printed[0]), link.printed[4:]

    def plausible(typos: Sequence[InertiaTypo]) -> Iterator[InertiaTypo]:
        bodies = _central_bodies([typo.inertia for typo in typos], mass)
        for k in np.flatnonzero(is_consistent(bodies)).tolist():
            second = link.axes @ second_moment_about_com(bodies[k]) @ link.axes.T
            contradicts = shape is not None and shape_contradiction(second, mass, shape)
            if implied_density(bodies[k]) <= MAX_MATERIAL_DENSITY and not contradicts:
                yield typos[k]

    clear = _inconsistent_after_correction(six)
    candidates = [
        *_products_as_of_all(six, reversed_links),
        *(() if link.order == "diagonal" else _wrong_order(six, link.order)),
        *_entries_of_mirrored_link(link.name, link.printed, mirrored_links),
        *_wrong_sign(six),
        *_wrong_power_of_ten(six, clear),
        *_swapped_numbers(six, clear),
    ]
    typos = [*plausible(candidates)] or [*plausible([_outlying_moment(six, clear)])]
    if not typos:
        return None
    typo = next((typo for typo in typos if typo.is_conclusive), typos[0])
    change, *others = dict.fromkeys(_format_changes(six, other.inertia) for other in (typo, *typos))
    text = f"{'likely' if typo.is_conclusive else 'perhaps'} a typo, {typo.text}: {change} kg m²"
    return typo._replace(text="; possible, too: ".join((text, *others[:2])))


def count_reversed_links(printed: Iterable[tuple[Array, bool]]) -> int:
    """Return how many links are inconsistent by the sign of their products, as all such are.

    One sign explains a link by chance, but not `_MIN_REVERSED_LINKS` of one model, while its other
    links remain consistent: its products are printed as CAD programs do, +∫ρ x y dV.
    Zero if that does not explain every one.

    Args:
        printed: of each link ixx, ixy, ixz, iyy, iyz, izz as printed, and whether consistent.
    """
    pairs = list(printed)
    inconsistent = sum(not consistent for _, consistent in pairs)
    reversed_six = [np.where(_MOMENT_MASK, six, -six) for six, _ in pairs]
    if inconsistent < _MIN_REVERSED_LINKS or not is_consistent(_central_bodies(reversed_six)).all():
        return 0
    return inconsistent


def _central_bodies(inertias: Sequence[Array] | Array, mass: float = 1.0) -> Phi:
    """Return bodies with their centres of mass at the origin and these six numbers, (k, 10)."""
    first = np.broadcast_to([mass, 0.0, 0.0, 0.0], (len(inertias), 4))
    return np.concatenate((first, inertias), axis=1)


def _products_as_of_all(six: Array, reversed_links: int) -> Iterator[InertiaTypo]:
    """Yield the inertia with products of the other sign, if that explains all of a model."""
    if reversed_links:
        text = (
            f"the sign of its products, as CAD prints them: so of all {reversed_links} such links"
        )
        yield InertiaTypo(np.where(_MOMENT_MASK, six, -six), text, True)


def _format_changes(before: Array, after: Array) -> str:
    pairs = zip(INERTIA_ENTRIES, before, after, strict=True)
    return ", ".join(f"{name} {a:.6g} → {b:.6g}" for name, a, b in pairs if a != b)


def _wrong_order(six: Array, order: str) -> Iterator[InertiaTypo]:
    """Yield inertias with the numbers in other orders than that of the file's format."""
    written = entries_in_order(symmetric_from_entries(six), order)
    if written[3] == written[1]:  # xx, xy, xz, yx, yy, yz
        xx, yy = written[[0, 4]]
        guess = f"izz is lost, between {abs(xx - yy):.4g} and {xx + yy:.4g}; the middle is a guess"
        new = np.append(written[[0, 1, 2, 4, 5]], max(xx, yy))
        yield InertiaTypo(new, f"the matrix row by row, as iyy repeats ixy ({guess})", True)
    for names, other in {names: other for other, names in ENTRY_ORDERS.items()}.items():
        new = entries_in_order(matrix_from_entries(written, other), "urdf")
        clear = bool((new != six)[_MOMENT_MASK].any())  # more than products changed
        yield InertiaTypo(new, f"written in the order {', '.join(names)}", clear)


def _entries_of_mirrored_link(
    name: str, printed: Phi, mirrored_links: Mapping[str, Phi]
) -> Iterator[InertiaTypo]:
    """Replace numbers that differ from the mirrored link, if mass and two moments agree."""
    for old, new in (*_SIDE_NAMES, *(pair[::-1] for pair in _SIDE_NAMES)):
        parts = [(name[:i], name[i:]) for i in range(len(name))]
        names = {start + end.replace(old, new, n) for start, end in parts for n in (1, -1)}
        for other in sorted(names & mirrored_links.keys()):
            same = np.isclose(
                abs(printed), abs(mirrored_links[other]), rtol=_MIRROR_TOLERANCE, atol=0.0
            )
            six, twin = printed[4:], mirrored_links[other][4:]
            if same[0] and same[4:][_MOMENT_MASK].sum() >= 2:
                # Two products of a mirrored link have the other sign.
                mirrored = np.where(_MOMENT_MASK | (six == 0.0), twin, np.copysign(twin, six))
                new = np.where(same[4:], six, mirrored)
                yield InertiaTypo(new, f"the mirrored link {other} differs", True)


def _wrong_sign(six: Array) -> Iterator[InertiaTypo]:
    """Make negative moments positive, or negate products of inertia."""
    yield InertiaTypo(np.where(_MOMENT_MASK, np.abs(six), six), "a sign", True)
    yield InertiaTypo(np.where(_MOMENT_MASK, six, -six), "the sign of one product or of all", False)


def _wrong_power_of_ten(six: Array, clear: Flags) -> Iterator[InertiaTypo]:
    """Multiply one number by a power of ten, the smallest powers first."""
    signed = [(i, sign) for some in ((0, 3, 5), (1, 2, 4)) for sign in (-1, 1) for i in some]
    for size, (i, sign) in itertools.product(range(1, 10), signed):
        text = f"{INERTIA_ENTRIES[i]} {10**size} times too {'large' if sign < 0 else 'small'}"
        new = np.where(np.arange(6) == i, six * 10.0 ** (sign * size), six)
        yield InertiaTypo(new, text, bool(clear[int(sign > 0), i]))


def _swapped_numbers(six: Array, clear: Flags) -> Iterator[InertiaTypo]:
    """Swap a moment with a product of inertia whose name differs by one letter."""
    for i, k in ((0, 1), (0, 2), (3, 1), (3, 4), (5, 2), (5, 4)):
        new = six.copy()
        new[[i, k]] = six[[k, i]]
        text = f"{INERTIA_ENTRIES[k]} and {INERTIA_ENTRIES[i]} swapped"
        yield InertiaTypo(new, text, bool(clear[1, i]))


def _outlying_moment(six: Array, clear: Flags) -> InertiaTypo:
    """Replace the moment far from both others by the middle of its feasible range."""
    sizes = np.log(np.maximum(six[_MOMENT_MASK], 1e-300))
    distances = np.abs(sizes - np.median(sizes))
    i = (0, 3, 5)[int(distances.argmax())]
    a, b = np.sort(six[_MOMENT_MASK & (np.arange(6) != i)])
    allowed = (
        f"the {b - a:.4g} to {a + b:.4g} that the others allow, the middle of which is a guess"
    )
    is_far = distances.max() >= 2.0 * np.sort(distances)[1]
    new, text = np.where(np.arange(6) == i, b, six), f"{INERTIA_ENTRIES[i]} far from {allowed}"
    return InertiaTypo(new, text, bool(is_far and clear[int(six[i] < a), i]))


def _inconsistent_after_correction(six: Array) -> Flags:
    """Return whether an inertia is inconsistent even after a number is corrected by a factor.

    Shape (2, 6): of each number if it is too large, and if it is too small.
    """
    raised = _MIN_FACTOR_OF_CLEAR_TYPO * six + _MIN_DEFICIT_OF_CLEAR_TYPO * six.max()
    corrected = np.stack((six / _MIN_FACTOR_OF_CLEAR_TYPO, raised))[:, :, None]
    inertias = np.where(np.eye(6, dtype=bool), corrected, six).reshape(12, 6)
    return ~is_consistent(_central_bodies(inertias)).reshape(2, 6)


_MARGIN_ROUNDING = 1e-6
"""Part of a margin that the rounding of printed digits may lose, relative to the margin."""


@dataclass(frozen=True, slots=True)
class LinkRequirements:
    """Requirements on links beyond physical consistency: a simulator's limits, a margin.

    Attributes:
        simulator: program whose limits they have to keep.
        margin: smallest second moment about the centre of mass, as a share of the sum of the three:
            0 for the boundary of the consistent set, 1/3 for a ball.
    """

    simulator: Simulator | None = None
    margin: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.margin < 1.0 / 3.0:
            raise ModelError(
                f"margin: expected from 0 (the consistency boundary) to below 1/3 (a ball), got "
                f"{self.margin:g}"
            )


class LinkCheck(NamedTuple):
    """Result of the check of a link.

    Attributes:
        link: the link.
        kind: of the body; None if the file does not determine it.
        problem: a word or two; empty if the link meets the requirement.
        reasons: of the problem, a sentence each.
        warning: sentence if a consistent body contradicts the link's shape or looks like a
            placeholder.
        note: that of the link, without the parts that repeat the problem or the warning.
        typo: likely typing error behind an inconsistent inertia, or None.
        reading: convention under which the numbers fit the link's shape, which they do not as
            written, or None.
        simulated: body that the required simulator makes of the link, or None.
    """

    link: LinkInertia
    kind: BodyKind | None
    problem: str = ""
    reasons: tuple[str, ...] = ()
    warning: str = ""
    note: str = ""
    typo: InertiaTypo | None = None
    reading: ShapeReading | None = None
    simulated: SimulatedBody | None = None


def check_links(
    links: Sequence[LinkInertia],
    requirement: LinkRequirements | None = None,
    shapes: Mapping[str, ShapeInertia] | None = None,
    simulated: Mapping[str, SimulatedBody] | None = None,
) -> tuple[LinkCheck, ...]:
    """Check the inertia of every link, in the order of the links.

    A link of a model file with a mass and no inertia about some axis has a problem, unless the mass
    is so small that programs take its inertia for zero. With the shapes of links, by name, bodies
    that contradict their shape get a warning. `simulated` are the bodies that the required
    simulator makes of the links, by name.
    """
    simulated = simulated or {}
    requirement = LinkRequirements() if requirement is None else requirement
    kinds = link_body_kinds(links)
    sized = [
        i
        for i, (link, kind) in enumerate(zip(links, kinds, strict=True))
        if link.phi_as_printed is not None and kind not in (BodyKind.IMPOSSIBLE, BodyKind.MASSLESS)
    ]
    bodies = np.array([links[i].phi_as_printed for i in sized]).reshape(-1, 10)
    moments = dict(zip(sized, np.linalg.eigvalsh(inertia_about_com(bodies)), strict=True))
    consistent = {links[i].name: body for i, body in zip(sized, bodies, strict=True)}
    shapes = shapes or {}
    reversed_links = count_reversed_links(
        (link.printed[4:], kind != BodyKind.IMPOSSIBLE)
        for link, kind in zip(links, kinds, strict=True)
        if link.printed is not None and kind not in (None, BodyKind.MASSLESS)
    )
    return tuple(
        _check_link(
            link,
            kind,
            moments.get(i),
            requirement,
            shapes.get(link.name),
            simulated.get(link.name),
            mirrored_links=consistent,
            reversed_links=reversed_links,
        )
        for i, (link, kind) in enumerate(zip(links, kinds, strict=True))
    )


def format_moments(moments: Iterable[float], digits: int = 4) -> str:
    """Format moments [kg m²]; values within rounding of the largest moment become zero."""
    values = [float(moment) for moment in moments]
    noise = 1e-14 * max(map(abs, values))
    return ", ".join(f"{0.0 if abs(value) <= noise else value:.{digits}g}" for value in values)


def _check_link(
    link: LinkInertia,
    kind: BodyKind | None,
    moments: Array | None,
    requirement: LinkRequirements,
    shape: ShapeInertia | None,
    simulated: SimulatedBody | None,
    *,
    mirrored_links: Mapping[str, Phi],
    reversed_links: int,
) -> LinkCheck:
    """Check one link; `moments` are the ascending principal moments of a consistent body."""
    problem = ""
    reasons = []
    warning = ""
    note = link.note
    typo = None
    fit = None if shape is None else fit_to_shape(link, shape)
    reading = None if fit is None else read_by_shape(link, fit)
    if kind == BodyKind.IMPOSSIBLE and (reading is None or reading.text.startswith(ONE_NUMBER)):
        typo = find_typo(link, mirrored_links, shape, reversed_links)
        reading = None if typo is not None and typo.is_conclusive else reading
    body, flat = link.phi_as_printed, kind in (BodyKind.POINT, BodyKind.ROD)
    if body is not None and body[0] > 0.0 and not link.massless:
        smallest = np.abs(body[4:]).max() if moments is None else moments[0]
        flat = link.line is not None and (flat or smallest < MUJOCO_MIN_FULL_INERTIA)
    if link.unreadable:
        problem = "unreadable"
        reasons = [note]
        note = ""
    elif reading is not None:
        problem = "impossible" if kind == BodyKind.IMPOSSIBLE else MISREAD
        reasons = [f"likely {reading.text}", reading.fit]
        note = link.note_without_size
    elif body is not None and flat and implied_density(body) > MAX_MATERIAL_DENSITY:
        problem = WITHOUT_INERTIA
        reason = f"a mass of {body[0]:.6g} kg, but no inertia"
        reason += " about its axis" * (kind == BodyKind.ROD)
        reasons, note = [": ".join(filter(None, (reason, link.note_without_size)))], ""
    elif kind == BodyKind.IMPOSSIBLE and (verdict := link.verdict) is not None:
        problem = "impossible by rounding" if verdict.by_rounding else "impossible"
        # Further violated rules of the inertia repeat the first one.
        first = {v.rule == "mass": v.message for v in reversed(verdict.violations)}
        reasons += [first[of_mass] for of_mass in sorted(first, reverse=True)]
        typo = None if verdict.by_rounding else typo
        reasons += [] if typo is None else [typo.text]
    elif link.filled_by_programs and shape is not None:
        mass = DEFAULT_DENSITY * float(shape.phi[0])
        warning = (
            f"it has no <inertial>: MuJoCo and Newton simulate {mass:.4g} kg of "
            f"{shape.description}, DART and Bullet 1 kg, Drake and Pinocchio none"
        )
    elif body is not None and link.phi is not None and moments is not None:
        second = second_moment_about_com(link.phi)
        contradiction = shape_contradiction(second, float(link.phi[0]), shape) if shape else ""
        distance = "" if contradiction else com_distance_warning(link.phi, shape)
        by_shape = shape_warning(fit) if fit and not contradiction else ""
        texts = link.placeholder_warning, contradiction, distance, by_shape
        warning = "; ".join(filter(None, texts)) or _size_warning(link.phi, moments)
        note = link.note_without_size if warning else note
        total = float(0.5 * moments.sum())
        share = float(total - moments[2]) / total if total > 0.0 else 0.0
        if share < (1.0 - _MARGIN_ROUNDING) * requirement.margin:
            problem = "too near the edge"
            reasons.append(
                f"the smallest second moment is {share:.3g} of their sum, expected "
                f"{requirement.margin:g} or more"
            )
    simulator = requirement.simulator
    if simulator is not None and kind is not None:
        refusals = tuple(simulator.refusals(_judged_link(link, simulated)))
        if refusals and problem.startswith(("impossible", "without")):  # the same reason
            refusals = (f"{simulator.title} {simulator.refusal}",)
        problem = problem or f"not for {simulator.title}" * bool(refusals)
        reasons += refusals
    return LinkCheck(link, kind, problem, tuple(reasons), warning, note, typo, reading, simulated)


def _size_warning(phi: Phi, moments: Array) -> str:
    """Return a warning of a link that is larger than machines are, or lighter than air."""
    radius, density = float(np.sqrt(0.5 * moments.sum() / phi[0])), implied_density(phi, moments)
    if radius <= _MAX_GYRATION and density >= AIR_DENSITY:
        return ""
    lightness = f", which makes it lighter than air ({density:.2g} kg/m³)"
    lightness = lightness if density < AIR_DENSITY else ""
    return f"its radius of gyration is {radius:.3g} m{lightness}: are the units kg, m and kg m²?"


def _judged_link(link: LinkInertia, simulated: SimulatedBody | None) -> LinkInertia:
    """Return a link with the body that a simulator judges, in place of the numbers in the file."""
    if simulated is None or simulated.judged is None:
        return link
    massless = not simulated.judged.any()
    return replace(
        link, phi=simulated.judged, printed=None, rounding_errors=None, massless=massless
    )
