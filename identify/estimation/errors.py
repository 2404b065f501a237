"""What estimation refuses, with the numbers it refused."""

from __future__ import annotations

from collections.abc import Mapping

from identify.errors import ProblemError
from identify.findings import Finding


class NegativeMass(ProblemError):
    """Without constraints the data give a mass that is not positive: a sign is wrong.

    Attributes:
        mass: the unconstrained mass [kg].
        body: its name, where there are several.
        finding: the same as a finding: `wrench_sign`, or what else explains the log.
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
        of = "" if body is None else f" of the {body}"
        text = f"the unconstrained mass{of} is {mass:.4g} kg, so {meaning}"
        found = {**(evidence or {}), "mass": mass}
        self.finding = Finding(code, "error", f"{text}.", _sentence(advice), found)
        super().__init__(f"{text}: {advice}")


class TooLittleMotion(ProblemError):
    """The data do not identify the mass or the centre of mass.

    Attributes:
        unidentifiable: names of the parameters among m, hx, hy, hz that the data do not identify.
        advice: what would help.
        finding: the same as a finding, `little_motion`.
    """

    def __init__(self, unidentifiable: tuple[str, ...], advice: str) -> None:
        self.unidentifiable, self.advice = unidentifiable, advice
        text = f"the log does not identify {', '.join(unidentifiable)}"
        self.finding = Finding("little_motion", "error", f"{text}.", _sentence(advice))
        super().__init__(f"{text}: {advice}")


def _sentence(advice: str) -> str:
    return advice[:1].upper() + advice[1:]


class TermError(ProblemError):
    """What is said of a body cannot be true of any."""

    exit_code = 2


class ContradictoryTerms(TermError):
    """Two things that are said of a body cannot both be true, whatever the data.

    Attributes:
        terms: what was said, in words.
    """

    def __init__(self, terms: tuple[str, ...]) -> None:
        self.terms = terms
        super().__init__(
            f"no body meets both {' and '.join(terms)}: correct or leave out one of them"
        )
