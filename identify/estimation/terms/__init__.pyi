from identify.estimation.terms.com_in_box import ComInBox as ComInBox
from identify.estimation.terms.com_in_hull import ComInHull as ComInHull
from identify.estimation.terms.consistent import Consistent as Consistent
from identify.estimation.terms.known_com import KnownCom as KnownCom
from identify.estimation.terms.known_mass import KnownMass as KnownMass
from identify.estimation.terms.linear_equality import LinearEquality as LinearEquality
from identify.estimation.terms.mass_at_points import MassAtPoints as MassAtPoints
from identify.estimation.terms.mass_between import MassBetween as MassBetween
from identify.estimation.terms.mass_in_box import MassInBox as MassInBox
from identify.estimation.terms.mass_in_ellipsoid import MassInEllipsoid as MassInEllipsoid
from identify.estimation.terms.registry import TERM_CLASSES as TERM_CLASSES
from identify.estimation.terms.scalar_bounds import ScalarBounds as ScalarBounds
from identify.estimation.terms.term import (
    ScaledBody as ScaledBody,
    ScaledSpace as ScaledSpace,
    Term as Term,
)
