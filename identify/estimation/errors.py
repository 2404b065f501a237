"""What estimation refuses, with the numbers it refused."""

from __future__ import annotations

from identify.errors import ProblemError


class NegativeMass(ProblemError):
    """Without constraints the data give a mass that is not positive: a sign is wrong.

    Attributes:
        mass: the unconstrained mass [kg].
    """

    def __init__(self, mass: float, advice: str | None = None) -> None:
        self.mass = mass
        advice = advice or (
            "the wrench has the other sign (in the schema, change `acts_on` in [wrench] from "
            '"body" to "sensor" or back), or gravity does ([world] gravity)'
        )
        super().__init__(f"the unconstrained mass is {mass:.4g} kg, so a sign is wrong: {advice}")


class TooLittleMotion(ProblemError):
    """The data do not tell the mass or the centre of mass.

    Attributes:
        untold: names of the parameters among m, hx, hy, hz that the data do not tell.
        advice: what would help.
    """

    def __init__(self, untold: tuple[str, ...], advice: str) -> None:
        self.untold, self.advice = untold, advice
        super().__init__(f"the log does not tell {', '.join(untold)}: {advice}")
