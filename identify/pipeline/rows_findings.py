"""Findings on a fit of a regressor's rows, and its verdict by quantity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dtrcon
from scipy.special import chdtrc, fdtrc, ndtri

from identify.arrays import Array, Indices
from identify.estimation import Estimate
from identify.estimation.certified_solution import CertifiedSolution
from identify.estimation.irls import has_positive_masses
from identify.estimation.posterior import OBJECTIVE_DATA
from identify.findings import Finding
from identify.pipeline.precision_findings import precision_findings, precision_levels
from identify.pipeline.required_precision import WRENCH_LIMITS
from identify.pipeline.row_orders import (
    better_order,
    column_norms,
    consistent_excess,
    excess_by_chance,
    free_solution,
)
from identify.pipeline.rows import Rows
from identify.regressors import LinearSystem, ParameterSpace
from identify.regressors.triangular import qr_factor
from identify.significance import (
    BODY_CHANGE_P,
    NOISE_POWER_RATIO,
    PRIOR_EXCLUDED_P,
    REPORTED_CONSTRAINT_SIGMA,
    SIGNIFICANT_SIGMA,
)

_ROWS_LIMITS = replace(
    WRENCH_LIMITS,
    scale_remedy="Give the mass as a constraint, or the noise of the rows.",
    motion_remedy="Add rows of faster or other motions.",
    design_command="`identify design`",
)
"""Precision limits of bodies fitted to rows: those of a log, with remedies that speak of rows."""

MIN_RELATIVE_EXCESS = 1e-6
"""Residual of the consistent body beyond that of free least squares, relative to the measured
values, below which it is rounding."""

_MIN_RELATIVE_RESIDUAL = 1e-12
"""Residual relative to the measured values below which it is rounding, and not tested."""

_RANK_TOLERANCE = 1e-9
"""Singular value, relative to the largest, below which a direction is not excited."""

_OUTLIER_P = 1e-4
"""Probability that some row without a fault is named as outlying."""

_MIN_CORRELATION = 0.1
"""Correlation of neighbouring residuals below which they count as independent."""

_SYSTEMATIC_CORRELATION = 0.5
"""Correlation of neighbouring residuals above which they are not noise."""

_MIN_DEGREES_OF_GROUP = 8
"""Smallest number of rows of a group beyond the rank of its own fit that tell its noise."""

_OTHER_NOISE_P = 1e-3
"""Probability that residuals without a fault count as of another size than the noise given."""

_MIN_NOISE_RATIO = 1.1
"""Ratio of a residual to the noise given up to which it is no warning."""

_LISTED = 8
"""Largest number of rows, columns or groups that a message names."""


def row_correlations(solution: CertifiedSolution, rows: Rows) -> Array:
    """Estimate the correlation of neighbouring residuals of each group, their names sorted, (G,).

    It is zero where it is insignificant.
    """
    correlations = []
    for _, r, measured in _residuals_by_group(solution, rows):
        power, least = float(r @ r), _MIN_RELATIVE_RESIDUAL**2 * float(measured @ measured)
        rho = float(r[1:] @ r[:-1]) / power if power > least else 0.0
        surely = max(_MIN_CORRELATION, SIGNIFICANT_SIGMA / np.sqrt(len(r)))
        correlations.append(min(rho, 0.99) if rho > surely else 0.0)
    return np.array(correlations)


def _residuals_by_group(
    solution: CertifiedSolution, rows: Rows
) -> Iterator[tuple[Indices, Array, Array]]:
    """Yield the numbers, residuals of least squares and measured values of the rows of a group."""
    residual = rows.b - rows.A @ solution.posterior.fit.x
    for name in np.unique(rows.groups):
        numbers = np.flatnonzero(rows.groups == name)
        yield numbers, residual[numbers], rows.b[numbers]


def rows_findings(
    solution: CertifiedSolution, order: str | Sequence[str], ratios: Array, rows: Rows | None = None
) -> Iterator[Finding]:
    """Yield findings on rows: order of columns, consistency, parts that differ, outlying rows.

    `order`: of the columns, as given; `ratios`: of `noise_ratios`; `rows`: not given if only their
    statistics are at hand.
    """
    consistency = list(_consistency_findings(solution, order))
    yield from consistency
    if all(finding.code != "column_order" for finding in consistency):
        yield from _part_findings(solution)
    yield from _noise_findings(solution, ratios)
    if rows is not None:
        yield from _residual_findings(solution, rows)


def with_verdict(estimate: Estimate, findings: Sequence[Finding]) -> Estimate:
    """Return an estimate with findings on its rows, and with the verdict by quantity."""
    others = {
        name: replace(body, precision=precision_levels(body, "", _ROWS_LIMITS))
        for name, body in estimate.others.items()
    }
    if findings or others:
        estimate = replace(estimate, findings=(*findings, *estimate.findings), others=others)
    widths = precision_findings(estimate, "", _ROWS_LIMITS)
    if others:  # a link may be known poorly without a fault of the rows
        widths = (replace(finding, severity="info") for finding in widths)
    return replace(
        estimate,
        findings=(*estimate.findings, *widths),
        precision=precision_levels(estimate, "", _ROWS_LIMITS),
    )


def _consistency_findings(
    solution: CertifiedSolution, order: str | Sequence[str]
) -> Iterator[Finding]:
    """Yield findings on the distance of the best consistent body from free least squares."""
    fit = solution.posterior.fit
    problem, system = fit.problem, fit.data.system
    terms = solution.terms
    if solution.posterior.optimal_for == OBJECTIVE_DATA:
        apart = problem.A @ (solution.x - solution.posterior.x)
        excess = float(apart @ apart)  # least squares is the minimum, and the data are all
    else:
        free = problem.A @ free_solution(problem.A, problem.b) - problem.b
        excess = float(np.sum((problem.A @ solution.x - problem.b) ** 2) - free @ free)
        # A smaller excess shows that a consistent body fits.
        if excess > excess_by_chance(system.space):
            excess = consistent_excess(problem.A, problem.b, system.space, terms) or 0.0
    measured = float(np.hypot(np.linalg.norm(problem.b), problem.min_residual))
    sigmas = float(np.sqrt(max(excess, 0.0)))
    if sigmas < max(REPORTED_CONSTRAINT_SIGMA, MIN_RELATIVE_EXCESS * measured):
        return
    better = better_order(problem, system.space, terms, order, excess)
    evidence = {"standard_errors": sigmas}
    if better is not None:
        yield Finding(
            "column_order",
            "error",
            f"the columns are in another order: by the order given the best consistent body is "
            f"{sigmas:.3g} standard errors from the rows, by that of {better.text} "
            f"{np.sqrt(better.excess):.2g}.",
            f"Give order={better.orders[0]!r}"
            + (", or that of your tool among these." if len(better.orders) > 1 else "."),
            evidence | {"orders": list(better.orders), "gain": excess - better.excess},
        )
        return
    rank = solution.certificate.rank
    known = " and ".join(dict.fromkeys(map(str, terms)))
    if chdtrc(rank, excess) < PRIOR_EXCLUDED_P:
        yield Finding(
            "unexplained",
            "error",
            f"no body with {known} explains the rows: the best one is {sigmas:.3g} standard errors "
            "from them.",
            "Check the order, signs and units of the columns and of b, and the constraints.",
            evidence,
        )
    elif solution.posterior.agreement is None:  # with a prior the estimate is elsewhere anyway
        yield Finding(
            "at_the_edge",
            "info",
            f"least squares violates {known}: the best body that does not is {sigmas:.2g} standard "
            "errors from the rows, on the boundary, where intervals are less reliable.",
            "Add rows of faster or other motions.",
            evidence,
        )


def _part_findings(solution: CertifiedSolution) -> Iterator[Finding]:
    """Yield findings on halves of the rows, and on groups, that are of other bodies (Chow 1960)."""
    fit = solution.posterior.fit
    statistics, _ = fit.data.system.data[0]
    p = len(fit.data.space)
    median = np.quantile(np.repeat(statistics.block, statistics.samples.astype(int)), 0.5)
    late = statistics.block >= median
    cells, cell = np.unique(2 * statistics.group + late, return_inverse=True)
    merged = [qr_factor(np.concatenate(statistics.factors[cell == k])) for k in range(len(cells))]
    factors = np.sqrt(fit.weights[cells // 2, 0, 0])[:, None, None] * merged
    scaled = np.concatenate((factors[..., :p] @ fit.scaling.to_x, factors[..., p:]), axis=2)
    parts = {"the halves of the rows": cells % 2 == 0} | {
        f"the rows of group {group.name!r} and the others": cells // 2 == g
        for g, group in enumerate(statistics.layout.groups)
    }
    whole, count = _least_squares_cost(scaled)
    if whole <= _MIN_RELATIVE_RESIDUAL**2 * float(np.sum(scaled[..., p] ** 2)):
        return
    likeliest: dict[str, tuple[float, str]] = {}
    costs_by_part: dict[bytes, tuple[float, int]] = {}  # of two groups each is the others
    for text, part in parts.items():
        if not part.any() or part.all():
            continue
        for half in (part, ~part):
            if half.tobytes() not in costs_by_part:
                costs_by_part[half.tobytes()] = _least_squares_cost(scaled[half])
        costs, ranks = zip(*(costs_by_part[k.tobytes()] for k in (part, ~part)), strict=True)
        degrees, rest = sum(ranks) - count, fit.problem.equations - sum(ranks)
        if degrees < 1 or rest < 1:
            continue
        noise = max(sum(costs) / rest, np.finfo(float).tiny)
        ratio = max(whole - sum(costs), 0.0) / degrees / noise
        code = "bodies_differ" if "group" in text else "body_changed"
        tested = float(fdtrc(degrees, rest, ratio)), text
        likeliest[code] = min(likeliest.get(code, tested), tested)
    agreement = agreement_of_groups(fit.data.system)
    if agreement.text:
        tested = agreement.p_value, agreement.text
        likeliest["bodies_differ"] = min(likeliest.get("bodies_differ", tested), tested)
    for code, (probability, text) in likeliest.items():
        if probability >= BODY_CHANGE_P / len(parts):
            continue
        group = agreement.other_sign if code == "bodies_differ" else None
        text = f"{text} are not of the same bodies (p = {probability:.1g})"
        evidence: dict[str, object] = {"p": probability}
        remedy = "Check the columns, units and sign of these rows, or fit the parts separately."
        if group is not None:
            text = f"b of group {group!r} has the other sign: as given, {text}, else they are"
            remedy = "Change the sign of these rows of b, or of their rows of A."
            evidence["group"] = group
        yield Finding(code, "error", f"{text}.", remedy, evidence)


class AgreementOfGroups(NamedTuple):
    """Test whether groups are of the same bodies, each in units of the noise of its own fit.

    A common fit gives a group that contradicts the others large residuals, and little weight.

    Attributes:
        p_value: of the residual that a common fit adds to the fits of each group (Chow 1960).
        text: groups that differ.
        other_sign: group whose b has the other sign; None if none has.
    """

    p_value: float = 1.0
    text: str = ""
    other_sign: str | None = None


def agreement_of_groups(system: LinearSystem) -> AgreementOfGroups:
    """Compare groups that have rows enough for fits of their own.

    The sign of each is changed in turn: if only with that of one group they are all of the same
    bodies, of positive masses, its sign is wrong.
    """
    statistics, space = system.data[0][0], system.space
    p, groups = len(space), len(statistics.layout.groups)
    if groups < 2:
        return AgreementOfGroups()
    cells = [statistics.factors[statistics.group == g] for g in range(groups)]
    factors = np.array([qr_factor(np.concatenate(factor)) for factor in cells])
    costs, ranks = map(np.array, zip(*map(_least_squares_cost, factors[:, None]), strict=True))
    degrees = np.bincount(statistics.group, statistics.samples) - ranks
    if degrees.min() < _MIN_DEGREES_OF_GROUP:
        return AgreementOfGroups()
    rounding = _MIN_RELATIVE_RESIDUAL**2 * np.sum(factors[..., p] ** 2, axis=1)
    factors /= np.sqrt(np.maximum(costs, rounding) / degrees)[:, None, None]

    def probability(common: Array) -> float:
        cost, rank = _least_squares_cost(common)
        between = max(int(ranks.sum()) - rank, 1)
        ratio = max(cost - float(degrees.sum()), 0.0) / between
        return float(fdtrc(between, degrees.min(), ratio))

    p_value = probability(factors)
    if p_value > BODY_CHANGE_P:
        return AgreementOfGroups(p_value)
    names, of_other_sign, costs_of_others = statistics.layout.groups, [], []
    for g, group in enumerate(names):
        changed = factors.copy()
        changed[g, :, p] *= -1.0
        rows = qr_factor(changed.reshape(-1, p + 1))
        masses_positive = has_positive_masses(space, free_solution(rows[:, :p], rows[:, p]))
        if masses_positive and probability(changed) > BODY_CHANGE_P:
            of_other_sign.append(group.name)
        costs_of_others.append(_least_squares_cost(np.delete(factors, g, axis=0))[0])
    # Of two groups each is the others: their costs differ by rounding alone.
    odd = int(np.argmin(costs_of_others)) if groups > 2 else 0
    return AgreementOfGroups(
        p_value,
        f"the rows of group {names[odd].name!r} and the others",
        of_other_sign[0] if len(of_other_sign) == 1 else None,
    )


def _least_squares_cost(factors: Array) -> tuple[float, int]:
    """Return the squared residual and the rank of the least squares of rows [A | b]."""
    p = factors.shape[2] - 1
    reduced = qr_factor(factors.reshape(-1, p + 1))
    A, b = reduced[:, :p] / column_norms(reduced[:, :p]), reduced[:, p]
    if dtrcon(A[:p])[0] > _RANK_TOLERANCE:  # reciprocal of the condition number
        return float(reduced[p, p] ** 2), p
    x, _, rank, _ = np.linalg.lstsq(A, b, rcond=_RANK_TOLERANCE)
    return float(np.sum((A @ x - b) ** 2)), int(rank)


def noise_ratios(solution: CertifiedSolution, share: Array) -> Array:
    """Return the mean squared residual of each group in units of the noise given, shape (G,).

    It is one where chance explains the difference. Residuals are those of least squares without
    constraints. Groups that do not differ alone are tested together.

    `share`: of independent rows in each group, shape (G,).
    """
    fit = solution.posterior.fit
    system, problem, samples = fit.data.system, fit.problem, fit.data.system.padded.samples
    degrees = np.maximum(samples - fit.leverages, 1.0)
    ratios = system.residual_moments(free_solution(problem.A, problem.b))[:, 0, 0] / degrees
    independent, p_value = share * degrees, _OTHER_NOISE_P / len(ratios)
    cost = independent * ratios
    surely = np.maximum(1.0 - SIGNIFICANT_SIGMA * np.sqrt(2.0 / independent), 0.0)
    smaller = ratios < np.minimum(surely, 1.0 / NOISE_POWER_RATIO)
    rest = ~smaller & (chdtrc(independent, cost) >= p_value)
    total, together = independent[rest].sum(), cost[rest].sum()
    common = together / total if chdtrc(total, together) < _OTHER_NOISE_P else 1.0
    return np.where(rest, common, ratios)


def _noise_findings(solution: CertifiedSolution, ratios: Array) -> Iterator[Finding]:
    """Yield a finding if residuals are larger, or far smaller, than the noise given."""
    groups, sizes = solution.posterior.fit.data.system.padded.groups, np.sqrt(ratios)
    size = float(sizes.max() if sizes.max() > 1.0 else sizes.min())
    if size == 1.0:
        return
    names = [f"{g.name}: {r:.3g}" for g, r in zip(groups, sizes, strict=True) if r != 1.0]
    of_groups = f" (groups {', '.join(names[:_LISTED])})" if len(groups) > 1 else ""
    cause, remedy = "intervals are too wide", "Check the noise and its unit"
    if size > 1.0:
        cause = "that is too small, or the model lacks something; intervals are wider by as much"
        remedy += "; if they are right, add columns for what is left out, such as friction"
    yield Finding(
        "unexplained" if size > 1.0 else "at_the_edge",
        "warning" if size > _MIN_NOISE_RATIO else "info",
        f"the residual is {size:.3g} times the noise given{of_groups}: {cause}.",
        f"{remedy}.",
        {"ratio": size},
    )


def unexcited_columns(space: ParameterSpace, A: Array) -> list[str]:
    """Return the names of the columns that are zero in every row."""
    return [space.names[k] for k in np.flatnonzero(np.linalg.norm(A, axis=0) == 0.0).tolist()]


def _residual_findings(solution: CertifiedSolution, rows: Rows) -> Iterator[Finding]:
    """Yield findings on outlying rows, correlated residuals, and columns that no row excites."""
    sizes, limit = np.zeros(len(rows.b)), float(-ndtri(_OUTLIER_P / len(rows.b) / 2.0))
    for numbers, r, measured in _residuals_by_group(solution, rows):
        spread = float(np.median(np.abs(r))) / 0.6745
        if spread > _MIN_RELATIVE_RESIDUAL * float(np.sqrt(np.mean(measured**2))):
            sizes[numbers] = np.abs(r) / spread
    count = int((sizes > limit).sum())
    if count:
        listed = rows.numbers[np.argsort(-sizes)[: min(count, _LISTED)]].tolist()
        yield Finding(
            "wrong_rows",
            "warning",
            f"{count} of {len(rows.b)} rows are outliers of their group: rows "
            f"{', '.join(map(str, listed))}{' and others' if count > _LISTED else ''}.",
            "Leave them out if they are wrong; rows with more noise are a group of their own.",
            {"rows": count},
        )
    correlation = row_correlations(solution, rows)
    if correlation.max() > _SYSTEMATIC_CORRELATION:
        name = np.unique(rows.groups)[int(correlation.argmax())]
        yield Finding(
            "unexplained",
            "warning",
            f"neighbouring residuals of group {name!s} are correlated by {correlation.max():.2f}: "
            "they are not noise alone; the intervals count fewer rows.",
            "Add columns for what the model leaves out, such as friction or an offset.",
            {"correlation": float(correlation.max())},
        )
    zero = unexcited_columns(solution.posterior.fit.data.space, rows.A)
    if zero:
        more = f" and {len(zero) - _LISTED} more" if len(zero) > _LISTED else ""
        text = f"no row excites the columns {', '.join(zero[:_LISTED])}{more}."
        yield Finding("little_motion", "info", text, "Add rows of other motions.")
