"""The proof that the body is possible and that it is the best one, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from identify.reporting.content import Head, Row, Section, Table, Text, row
from identify.reporting.rounding import significant

if TYPE_CHECKING:
    from identify.estimation import Certificate, Estimate
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult

_HEAD = (Head("Check", "prose"), Head("Value", "number"), Head("What it says", "prose"))


def certificate(result: FitResult, truth: InertialParameters | None) -> Section:
    """What was checked of the estimate, apart from the solver's own word, and what it means."""
    proof = result.estimate.certificate
    intro = Text(
        "A body is possible if some density of mass, nowhere negative, has these ten parameters. "
        "That is so exactly when its 4 × 4 pseudo-inertia has no negative eigenvalue. The numbers "
        "below were worked out afterwards from the data, whatever the solver said; an estimate "
        "that fails them is not reported at all."
    )
    if proof.solver == "none":
        solver = (
            "Solver: none was needed. Weighted least squares met all terms at once, and that is "
            "then the optimum."
        )
    else:
        versions = ", ".join(f"{name} {version}" for name, version in proof.versions)
        solver = (
            f"Solver: {proof.solver} ({versions}), status {proof.status!r} after "
            f"{proof.iterations} iterations; {1e3 * proof.build_time:.1f} ms to build the problem, "
            f"{1e3 * proof.solve_time:.1f} ms to solve it. The body is at the edge of "
            f"{' and '.join(proof.active) or 'no term'}."
        )
    table = Table(_HEAD, _checks(proof, result.estimate.bodies))
    blocks = (intro, table, Text(solver, "muted"))
    return Section("certificate", "Consistency certificate", blocks)


def _eigenvalues(estimate: Estimate) -> Row:
    values = estimate.certificate.eigenvalues
    possible = "None negative: the body is possible, and flat or thin in at least one direction."
    if values[0] > 1e-6:
        possible = "All positive: the body is possible, with room to spare."
    return row(
        f"Eigenvalues of the scaled pseudo-inertia{estimate.of_body}",
        ", ".join(significant(value, 3) for value in values),
        f"{possible} In units of the body's own mass and size; least asked for: "
        f"{estimate.certificate.margin:.0e}.",
    )


def _checks(proof: Certificate, bodies: Sequence[Estimate]) -> tuple[Row, ...]:
    parameters = 10 * len(bodies)
    others = (
        "." if proof.rank == parameters else "; the others are given or come from the default body."
    )
    return (
        *map(_eigenvalues, bodies),
        row(
            "Violated terms",
            _tiny(proof.primal_residual),
            "How far the body is outside any term, in the same units. Zero, or rounding.",
        ),
        row(
            "Distance to the optimum",
            f"{_tiny(proof.distance_to_optimum)} σ",
            f"No body that meets all terms and is better for {proof.optimal_for} is further away "
            "than this, in standard errors of the parameters.",
        ),
        row(
            "Duality gap",
            _tiny(proof.gap),
            "What the fit could still gain at the most, as a share of the data's own power.",
        ),
        row(
            "Dual residual",
            _tiny(proof.dual_residual),
            "How far the solver's multiplier was from being admissible; cut off before the bound "
            "above was computed.",
        ),
        row(
            "Identifiable directions",
            f"{proof.rank} of {parameters}",
            f"Combinations of the {parameters} parameters that stand out of the noise of the "
            f"motion{others}",
        ),
        row(
            "Condition number",
            significant(proof.condition, 2),
            "Best over worst determined of those directions. Up to some thousands is harmless.",
        ),
    )


def _tiny(value: float) -> str:
    return "0" if value == 0.0 else f"{value:.1e}"
