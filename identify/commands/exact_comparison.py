"""Comparison of a body with an exact one, such as that of a CAD program: its errors in a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from identify.commands.bodies import exit_status, verdict_messages
from identify.commands.command import Outcome

if TYPE_CHECKING:
    from identify.exchange import SavedEstimate


def has_exact_body(bodies: Sequence[SavedEstimate]) -> bool:
    """Return whether one of two bodies has no intervals, and so counts as exact."""
    return len(bodies) == 2 and any(body.covariance is None for body in bodies)


def compare_with_exact(
    names: Sequence[str], bodies: Sequence[SavedEstimate], notes: Sequence[str]
) -> Outcome:
    """Return the parameters of one of two bodies beside those of the exact one.

    A value of the exact body outside the interval of the other is marked by a star.
    """
    from identify.reporting.parameter_table import parameter_rich_table

    (name, body), (exact_name, exact) = zip(names, bodies, strict=True)
    if body.covariance is None and exact.covariance is not None:
        (exact_name, exact), (name, body) = (name, body), (exact_name, exact)
    table = parameter_rich_table(body, exact.parameters, title=f"{name}, and {exact_name} as true")
    difference = body.parameters.phi - exact.parameters.phi
    return Outcome(
        lines=[table, *notes],
        messages=verdict_messages(body),
        document=lambda: {"estimate": body.to_dict(), "difference": difference.tolist()},
        files=[],
        status=exit_status(body.verdict),
    )
