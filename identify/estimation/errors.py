"""Errors of estimation, with the values that caused them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from identify.errors import ProblemError
from identify.findings import Finding

if TYPE_CHECKING:
    from identify.inertia import BaseColumns


class NegativeMass(ProblemError):
    """The mass of the unconstrained fit is not positive: a sign in the schema is wrong.

    Attributes:
        mass: the unconstrained mass [kg].
        body: name of the body if there are several.
        finding: the error as a finding: `wrench_sign`, or another cause that explains the log.
    """

    def __init__(
        self,
        mass: float,
        advice: str | None = None,
        body: str | None = None,
        code: str = "wrench_sign",
        meaning: str = "a sign is wrong",
        evidence: Mapping[str, object] | None = None,
    ) -> None:
        self.mass, self.body = mass, body
        advice = advice or (
            "the wrench has the other sign (in the schema, change `acts_on` in [wrench] from "
            '"body" to "sensor" or back), or gravity does ([world] gravity)'
        )
        owner = "" if body is None else f" of the {body}"
        text = f"the unconstrained mass{owner} is {mass:.4g} kg, so {meaning}"
        details = {**(evidence or {}), "mass": mass}
        self.finding = Finding(code, "error", f"{text}.", _as_sentence(advice), details)
        super().__init__(f"{text}: {advice}")


class TooLittleMotion(ProblemError):
    """The data do not identify the mass or the centre of mass.

    Attributes:
        unidentifiable: names of the parameters among m, hx, hy, hz that the data do not identify.
        advice: remedy.
        finding: the error as a finding, `little_motion`.
    """

    def __init__(
        self, unidentifiable: tuple[str, ...], advice: str, subject: str = "the log does"
    ) -> None:
        self.unidentifiable, self.advice = unidentifiable, advice
        text = f"{subject} not identify {', '.join(unidentifiable)}"
        self.finding = Finding("little_motion", "error", f"{text}.", _as_sentence(advice))
        super().__init__(f"{text}: {advice}")


class DependentColumns(TooLittleMotion):
    """Linearly dependent columns of a regressor leave a mass or centre of mass undetermined.

    Attributes:
        base_parameters: combinations of the unknowns that the rows identify, as text.
        kept: numbers of their independent columns, ascending, shape (k,).
        dependence: D, with A = A[:, kept] D and base parameters β = D x, shape (k, p).
    """

    def __init__(
        self, unidentifiable: tuple[str, ...], base: BaseColumns, names: Sequence[str]
    ) -> None:
        self.kept, self.dependence = base.independent, base.dependence
        self.base_parameters = base.describe(names)
        listed = "; ".join(self.base_parameters[:_LISTED_BASE_PARAMETERS])
        more = len(self.base_parameters) - _LISTED_BASE_PARAMETERS
        listed += f"; and {more} more, in `base_parameters` of this error" if more > 0 else ""
        super().__init__(
            unidentifiable,
            f"of {len(names)} columns {len(base.independent)} are independent, and only these base "
            f"parameters are identifiable: {listed}. For the links of a robot no motion changes "
            "that: give each body a prior, or a default, ParameterSpace(…, defaults={name: ten "
            "parameters}), such as its link of the URDF, for what the rows leave open",
            subject="the rows do",
        )


_LISTED_BASE_PARAMETERS = 40
"""Largest number of base parameters in a message: those of an arm of six joints."""


def _as_sentence(advice: str) -> str:
    return advice[:1].upper() + advice[1:]


class TermError(ProblemError):
    """A constraint that no body can meet."""

    exit_code = 2


class ContradictoryTerms(TermError):
    """Two constraints that no body can meet together, whatever the data.

    Attributes:
        terms: descriptions of the constraints.
    """

    def __init__(self, terms: tuple[str, ...]) -> None:
        self.terms = terms
        super().__init__(
            f"no body meets both {' and '.join(terms)}: correct or leave out one of them"
        )
