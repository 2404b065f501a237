"""What estimation refuses, with the numbers it refused."""

from __future__ import annotations

from identify.errors import ProblemError


class NegativeMass(ProblemError):
    """Without constraints the data give a mass that is not positive: a sign is wrong.

    Attributes:
        mass: the unconstrained mass [kg].
    """

    def __init__(self, mass: float) -> None:
        self.mass = mass
        super().__init__(
            f"the unconstrained mass is {mass:.4g} kg: the wrench has the other sign (in the "
            f'schema, change `acts_on` in [wrench] from "body" to "sensor" or back), or gravity '
            f"does ([world] gravity)"
        )


class TooLittleMotion(ProblemError):
    """The data do not tell the mass or the centre of mass.

    Attributes:
        untold: names of the parameters among m, hx, hy, hz that the data do not tell.
    """

    def __init__(self, untold: tuple[str, ...], advice: str) -> None:
        self.untold = untold
        super().__init__(f"the log does not tell {', '.join(untold)}: {advice}")
