"""Registry of the classes of constraints."""

from collections.abc import Mapping

from identify.estimation.terms.com_in_box import ComInBox
from identify.estimation.terms.com_in_hull import ComInHull
from identify.estimation.terms.consistent import Consistent
from identify.estimation.terms.known_com import KnownCom
from identify.estimation.terms.known_mass import KnownMass
from identify.estimation.terms.linear_equality import LinearEquality
from identify.estimation.terms.mass_at_points import MassAtPoints
from identify.estimation.terms.mass_between import MassBetween
from identify.estimation.terms.mass_in_box import MassInBox
from identify.estimation.terms.mass_in_ellipsoid import MassInEllipsoid
from identify.estimation.terms.scalar_bounds import ScalarBounds
from identify.estimation.terms.term import Term

TERM_CLASSES: Mapping[str, type[Term]] = {
    term.kind: term
    for term in (
        Consistent,
        KnownMass,
        MassBetween,
        KnownCom,
        ComInBox,
        ComInHull,
        MassInBox,
        MassInEllipsoid,
        MassAtPoints,
        LinearEquality,
        ScalarBounds,
    )
}
"""Class of each constraint by its name in provenance and studies."""
