"""Mass properties as a program prints them, and the body that they are.

Programs print products of inertia with either sign. Their heading may say which; if not, two other
parts of a text tell: the inertia about both points, as for matrix entries

    I_origin − I_com = m (|c|² 1 − c cᵀ),

and the principal moments P with their axes a, as I_com = Σ P a aᵀ. Each is compared within what the
last printed digits leave open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from identify.arrays import Array, Mat33
from identify.errors import ModelError
from identify.exchange.body_formats.answers import BodyAnswers, UnstatedProperty
from identify.exchange.body_formats.printed_numbers import RoundedNumbers
from identify.inertia import InertialParameters
from identify.inertia.conventions.orders import convert_product_sign
from identify.inertia.matrices import phi_from_inertia, symmetric_from_entries

Sign: TypeAlias = Literal["negative", "positive"]

_OFF_DIAGONAL = ~np.eye(3, dtype=bool)

_ROUNDING_MARGIN = 1.5
"""Factor on the effect of the last printed digits, for a program's own rounding before."""

_OWN_PRECISION = 1e-9
"""Relative error of numbers that are printed with all their digits."""

_COARSE_DIGITS = 0.01
"""Half unit of the last digit of the moments, relative to the largest, that a note reports."""


@dataclass(frozen=True, slots=True)
class MassReport:
    """Mass properties of one body in SI, as printed.

    Attributes:
        name: of the part, or empty.
        mass: one number [kg].
        com: centre of mass from the origin [m], shape (3,).
        about_com, about_origin: inertia matrices with the printed signs [kg m²], shape (3, 3).
        principal_moments: about the centre of mass [kg m²], shape (3,).
        principal_axes: a row for each of them, shape (3, 3).
        stated_sign: sign of the products of inertia, if the text has it in words.
        point_is_stated: whether the text has the point of its inertia in words.
    """

    name: str
    mass: RoundedNumbers
    com: RoundedNumbers
    about_com: RoundedNumbers | None = None
    about_origin: RoundedNumbers | None = None
    principal_moments: RoundedNumbers | None = None
    principal_axes: RoundedNumbers | None = None
    stated_sign: Sign | None = None
    point_is_stated: bool = True


class ReportedBody(NamedTuple):
    """Body of a report, with notes on how its numbers were read."""

    parameters: InertialParameters
    notes: tuple[str, ...]


class _PrintedInertia(NamedTuple):
    """Inertia matrix of a report, its point, and what tells the point."""

    matrix: RoundedNumbers
    point: Literal["com", "origin"]
    source: str


class _SignEvidence(NamedTuple):
    """Signs of the products of inertia that a part of a report agrees with, and how it differs."""

    source: str
    signs: tuple[Sign, ...]
    comparison: str


def body_of_report(report: MassReport, answers: BodyAnswers, habit: str = "") -> ReportedBody:
    """Return the body of a report.

    `habit`: what texts of the program had that were seen, as a hint where the sign is asked for.

    Raises `UnstatedProperty`: nothing in the text tells the sign of the products of inertia;
    `ModelError`: parts of the report contradict each other, or it has no mass or inertia.
    """
    mass, com = float(report.mass.values), report.com.values
    if not mass > 0.0:
        raise ModelError(
            f"a mass of {mass:g}; a body needs a positive one: assign a material to the part"
        )
    printed, point, source = _printed_inertia(report, answers)
    _require_digits(printed)
    sign, reason = _sign_of_products(report, printed, answers, habit)
    inertia = convert_product_sign(printed.values, sign)
    if point == "origin":
        inertia = inertia - _parallel_axis_terms(mass, com)
    notes = (
        f"inertia about the {'centre of mass' if point == 'com' else 'origin'}, by {source}",
        reason,
        *_coarse_digits_note(printed),
    )
    return ReportedBody(InertialParameters.from_com(mass, com, inertia), notes)


def _printed_inertia(report: MassReport, answers: BodyAnswers) -> _PrintedInertia:
    """Return the inertia of a report, about the centre of mass if it has two, and its point.

    Raises `UnstatedProperty`: nothing tells the point; `ModelError`: no inertia, or an answer that
    contradicts the text.
    """
    if report.about_com is not None:
        printed = _PrintedInertia(report.about_com, "com", "its heading")
    elif report.about_origin is not None:
        printed = _PrintedInertia(report.about_origin, "origin", "its heading")
    else:
        raise ModelError(
            "no moments of inertia: copy the whole text, with the inertia and its heading"
        )
    if report.point_is_stated:
        if report.about_origin is None and answers.point == "origin":
            raise ModelError("--about origin contradicts the heading of the inertia: leave it out")
        if report.about_com is None and answers.point == "com":
            raise ModelError("--about com contradicts the heading of the inertia: leave it out")
        return printed
    if report.about_com is not None and report.about_origin is not None:
        return printed._replace(source="comparison of both points")
    if answers.point is not None:
        return printed._replace(point=answers.point, source="--about")
    if printed.point == "com" and report.principal_axes is not None:
        return printed._replace(source="the principal moments")
    raise UnstatedProperty(
        "the text does not say about which point the moments of inertia are: the line 'Taken at …' "
        "is missing",
        "--about com|origin",
    )


def _require_digits(printed: RoundedNumbers) -> None:
    """Reject moments of inertia of which the text shows no digit."""
    moments = np.diag(printed.values)
    if (moments <= np.diag(printed.half_units)).all():
        raise ModelError(
            f"the moments of inertia are printed as {', '.join(f'{x:g}' for x in moments)} kg m²: "
            "let the program print more decimals, or smaller units"
        )


def _coarse_digits_note(printed: RoundedNumbers) -> Iterator[str]:
    share = float(printed.half_units.max() / np.diag(printed.values).max())
    if share > _COARSE_DIGITS:
        yield (
            f"the last printed digit of the inertia leaves up to {100.0 * share:.2g} % of the "
            "largest moment open: print more decimals"
        )


def _sign_of_products(
    report: MassReport, printed: RoundedNumbers, answers: BodyAnswers, habit: str
) -> tuple[Sign, str]:
    """Return the sign of the products of inertia, and how it is known."""
    evidence = list(_sign_evidence(report, answers))
    for name, signs, comparison in evidence:
        if not signs:
            raise ModelError(
                f"the inertia contradicts {name} with either sign of the products of inertia, "
                f"beyond the last digits ({comparison}): is a number or a unit of another part?"
            )
    decisive: list[tuple[str, Sign]] = [
        (part.source, part.signs[0]) for part in evidence if len(part.signs) == 1
    ]
    if len({sign for _, sign in decisive}) > 1:
        raise ModelError(
            "the sign of the products of inertia is contradictory: "
            + ", ".join(f"{sign} by {name}" for name, sign in decisive)
        )
    if decisive:
        return decisive[0][1], _sign_note(decisive[0][1], [name for name, _ in decisive])
    negligible = printed.half_units + _OWN_PRECISION * np.diag(printed.values).max()
    if (np.abs(printed.values) <= negligible)[_OFF_DIAGONAL].all():
        return "negative", "products of inertia are zero"
    raise UnstatedProperty(
        "the text does not say whether products of inertia are entries of the matrix (negative "
        f"integrals, −∫xy dm) or positive integrals{habit}",
        "--products negative|positive",
    )


def _sign_evidence(report: MassReport, answers: BodyAnswers) -> Iterator[_SignEvidence]:
    if report.stated_sign is not None:
        yield _SignEvidence("the heading", (report.stated_sign,), "")
    if answers.products is not None:
        yield _SignEvidence("--products", (answers.products,), "")
    yield from _parallel_axis_evidence(report)
    yield from _principal_axes_evidence(report)


def _sign_note(sign: Sign, sources: list[str]) -> str:
    kind = "positive integrals" if sign == "positive" else "entries of the matrix"
    return f"products of inertia are {kind}, by {', '.join(sources)}"


def _parallel_axis_evidence(report: MassReport) -> Iterator[_SignEvidence]:
    """Compare the inertia about both points with mass and centre of mass."""
    if report.about_com is None or report.about_origin is None:
        return
    mass, com = float(report.mass.values), np.abs(report.com.values)
    difference = report.about_origin.values - report.about_com.values
    open_com, open_mass = report.com.half_units, float(report.mass.half_units)
    open_product = np.outer(com, open_com) + np.outer(open_com, com) + np.outer(open_com, open_com)
    products = np.outer(com, com)
    open_terms = mass * open_product + open_mass * (products + open_product)
    on_diagonal = open_terms.trace() - open_terms.diagonal()
    tolerance = np.where(_OFF_DIAGONAL, open_terms, np.diag(on_diagonal))
    tolerance = tolerance + report.about_origin.half_units + report.about_com.half_units
    size = np.abs(report.about_origin.values).max()
    expected = _parallel_axis_terms(mass, report.com.values)
    signs = _agreeing_signs(difference, expected, tolerance, size)
    ratio = float(np.trace(difference) / max(np.trace(expected), 1e-300))
    text = f"between origin and centre of mass it changes by {ratio:.4g} times m (|c|² 1 − c cᵀ)"
    yield _SignEvidence("the inertia about both points", signs, text)


def _principal_axes_evidence(report: MassReport) -> Iterator[_SignEvidence]:
    """Compare the inertia about the centre of mass with principal moments and axes."""
    if (
        report.about_com is None
        or report.principal_moments is None
        or report.principal_axes is None
    ):
        return
    moments, axes = report.principal_moments.values, report.principal_axes.values
    expected = (axes.T * moments) @ axes
    spread, open_axes = np.abs(moments - moments.mean()), report.principal_axes.half_units
    size_of_axes = np.abs(axes)
    open_products = np.einsum("ki,kj->kij", size_of_axes + open_axes, size_of_axes + open_axes)
    open_products -= np.einsum("ki,kj->kij", size_of_axes, size_of_axes)
    tolerance = np.einsum("k,kij->ij", spread, open_products)
    norms = float(np.abs(axes @ axes.T - np.eye(3)).max()) * abs(float(moments.mean()))
    tolerance = tolerance + norms + report.principal_moments.half_units.max()
    tolerance = tolerance + report.about_com.half_units
    signs = _agreeing_signs(report.about_com.values, expected, tolerance, moments.max())
    ratio = float(np.trace(report.about_com.values) / max(moments.sum(), 1e-300))
    text = f"its trace is {ratio:.4g} times the sum of the principal moments"
    yield _SignEvidence("the principal axes", signs, text)


def _agreeing_signs(
    printed: Mat33, expected: Mat33, tolerance: Array, size: float
) -> tuple[Sign, ...]:
    """Return the signs with which printed entries agree with those of a matrix."""
    tolerance = _ROUNDING_MARGIN * tolerance + _OWN_PRECISION * size
    signs: tuple[Sign, ...] = ("negative", "positive")
    return tuple(
        sign
        for sign in signs
        if (np.abs(convert_product_sign(printed, sign) - expected) <= tolerance).all()
    )


def _parallel_axis_terms(mass: float, com: Array) -> Mat33:
    """Return m (|c|² 1 − c cᵀ)."""
    return symmetric_from_entries(phi_from_inertia(mass, com, np.zeros((3, 3)))[4:])
