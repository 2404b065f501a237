"""Findings, verdicts and coverage of `identify.solve` on random rows with and without faults.

python experiments/rows.py -o reports/rows.md
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.reports import numerics_line, study_parser, write_report
from identify import Estimate, ParameterSpace, solve
from identify.arrays import Array
from identify.errors import IdentifyError
from identify.inertia import PHI, InertialParameters
from identify.inertia.conventions import REGRESSOR_ORDERS, ColumnOrder
from identify.logs.synthetic import random_box
from identify.pipeline.row_orders import consistent_excess
from identify.reporting.content import make_table, markdown_table

BODIES = (1, 1, 1, 1, 2, 2, 3, 5, 8, 12, 20)
ROWS_PER_UNKNOWN, OUTLYING_SIGMA = 6, 30.0
NOISE_OF_GROUP = {"a": 1.0, "b": 3.0, "c": 0.3}
CLEAR_EXCESS = 100.0  # squared residual by which the order of the columns counts as tellable


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows A x = b + noise of bodies, with the true x, and the noise and group of each row."""

    truth: Array
    A: Array
    b: Array
    sigma: Array
    groups: np.ndarray
    space: ParameterSpace

    @classmethod
    def random(cls, rng: np.random.Generator) -> Problem:
        """Draw bodies, a condition number from 1 to 1e8, and noise that it leaves decided."""
        bodies, condition = int(rng.choice(BODIES)), 10.0 ** rng.uniform(0.0, 8.0)
        truth = np.concatenate([random_body(rng) for _ in range(bodies)])
        p = len(truth)
        n = ROWS_PER_UNKNOWN * p
        U, V = (np.linalg.qr(rng.normal(size=(rows, p)))[0] for rows in (n, p))
        sizes = np.abs(truth.reshape(-1, 10))
        units = np.maximum(sizes, 1e-2 * sizes[:, 4:].max(axis=1)[:, None]).ravel()
        A = (U * np.geomspace(1.0, 1.0 / condition, p)) @ V.T / units
        groups = np.array(list(NOISE_OF_GROUP))[np.arange(n) % len(NOISE_OF_GROUP)]
        sigma = 10.0 ** rng.uniform(-4.0, -0.5) / condition / np.sqrt(n)
        sigma = sigma * np.array([NOISE_OF_GROUP[name] for name in groups])
        b = A @ truth + sigma * rng.normal(size=n)
        return cls(truth, A, b, sigma, groups, ParameterSpace(tuple(map(str, range(bodies)))))

    def solved(self, **changes: Any) -> Estimate | IdentifyError:
        """Return the estimate, of changed rows, or the error that it ends with."""
        options = {"A": self.A, "b": self.b, "groups": self.groups, "space": self.space} | changes
        try:
            return solve(options.pop("A"), options.pop("b"), **options)
        except IdentifyError as error:
            return error


def random_body(rng: np.random.Generator) -> Array:
    """Return a box of 0.1 to 20 kg, with its centre up to twice its size from the origin."""
    mass = float(10.0 ** rng.uniform(-1.0, 1.3))
    size = float(0.4 * np.cbrt(mass) * rng.uniform(0.5, 1.0))
    box, _ = random_box(rng, mass, size)
    com = size * rng.uniform(-2.0, 2.0, 3)
    return InertialParameters.from_com(mass, com, box.inertia_about_com).phi


def outcomes(problem: Problem, rng: np.random.Generator) -> Counter[str]:
    """Solve a problem with and without faults; return counts by name."""
    counts: Counter[str] = Counter()
    for name, options in (("given", {"noise": problem.sigma}), ("estimated", {})):
        _count_intervals(counts, problem, problem.solved(**options), f"noise {name}")
    _count_order(counts, problem, rng)
    b, n = problem.b, len(problem.b)
    group = str(rng.choice(list(NOISE_OF_GROUP)))
    in_group = problem.groups == group
    outlying = np.isin(np.arange(n), rng.choice(n, max(n // 50, 1), replace=False))
    spiked = b + np.where(outlying, OUTLYING_SIGMA, 0.0) * problem.sigma
    faults = (
        ("sign of a group", np.where(in_group, -b, b), f"b of group {group!r}"),
        ("sign of all rows", -b, "b has the other sign"),
        ("unit of a group", np.where(in_group, 1e3 * b, b), "not of the same bodies"),
        ("outlying rows", spiked, "are outliers of their group"),
    )
    for fault, changed, words in faults:
        _count_named(counts, fault, problem.solved(b=changed), words)
    twice = {name: np.repeat(getattr(problem, name), 2, axis=0) for name in ("A", "b", "groups")}
    _count_named(counts, "repeated rows", problem.solved(**twice), "repeat others in every digit")
    return counts


def _count_intervals(
    counts: Counter[str], problem: Problem, result: Estimate | IdentifyError, name: str
) -> None:
    if isinstance(result, IdentifyError):
        return
    counts[f"{name}: estimated"] += 1
    for body, phi in zip(result.bodies, problem.truth.reshape(-1, 10), strict=True):
        far = False
        for parameter, true in zip(PHI, phi.tolist(), strict=True):
            interval = body.intervals[parameter]
            if interval is None or body.decided_by[parameter] != "data":
                continue
            low, high = interval
            counts[f"{name}: intervals"] += 1
            counts[f"{name}: with the truth"] += low <= true <= high
            far |= abs(true - 0.5 * (low + high)) > (high - low)
        counts[f"{name}: bodies of yes"] += body.verdict.usable == "yes"
        counts[f"{name}: far ones"] += far and body.verdict.usable == "yes"


def _count_order(counts: Counter[str], problem: Problem, rng: np.random.Generator) -> None:
    order = str(rng.choice([name for name, of in REGRESSOR_ORDERS.items() if of != PHI]))
    columns = ColumnOrder.of(order, len(problem.space.bodies))
    given = np.empty_like(problem.A)
    given[:, columns.columns] = problem.A
    A, b = given / problem.sigma[:, None], problem.b / problem.sigma
    excess = consistent_excess(A, b, problem.space, ())
    if excess is not None and excess < CLEAR_EXCESS:
        counts["order not tellable"] += 1
        return
    for noise, options in (("given", {"noise": problem.sigma}), ("estimated", {})):
        result = problem.solved(A=given, **options)
        orders = [
            REGRESSOR_ORDERS[each] if isinstance(each, str) else tuple(each)
            for finding in getattr(result, "findings", ())
            for each in finding.evidence.get("orders", ())
        ]
        counts[f"order, noise {noise}: problems"] += 1
        counts[f"order, noise {noise}: named"] += REGRESSOR_ORDERS[order] in orders or (
            isinstance(result, IdentifyError) and f"{order!r}" in str(result)
        )
        counts[f"order, noise {noise}: yes"] += _is_usable(result)


def _count_named(
    counts: Counter[str], fault: str, result: Estimate | IdentifyError, words: str
) -> None:
    texts = [finding.text for finding in getattr(result, "findings", ())] or [str(result)]
    counts[f"{fault}: problems"] += 1
    counts[f"{fault}: named"] += any(words in text for text in texts)
    counts[f"{fault}: yes"] += _is_usable(result)


def _is_usable(result: Estimate | IdentifyError) -> bool:
    return isinstance(result, Estimate) and result.verdict.usable == "yes"


def report(counts: Mapping[str, int], problems: int) -> str:
    """Return the report as Markdown."""
    heads = ["noise", "estimated", "intervals", "with the truth [%]", "yes", "far from it"]
    covered = []
    for name in ("given", "estimated"):
        keys = "estimated", "intervals", "bodies of yes", "far ones"
        estimated, intervals, *verdicts = (counts[f"noise {name}: {key}"] for key in keys)
        share = 100.0 * counts[f"noise {name}: with the truth"] / intervals
        covered.append([name, *map(str, (estimated, intervals, f"{share:.1f}", *verdicts))])
    faults = (key.removesuffix(": problems") for key in counts if key.endswith(": problems"))
    heads_of_faults = ["fault", "problems", "named", "yes"]
    rows = [
        [fault, *(str(counts[f"{fault}: {k}"]) for k in heads_of_faults[1:])] for fault in faults
    ]
    return "\n\n".join(
        [
            "# Rows of random regressors",
            "Written by `python experiments/rows.py`; nothing here is entered by hand.",
            f"{problems} problems of 1 to 20 bodies and condition numbers of 1 to 1e8, in three "
            "groups of rows of different noise. Intervals are those of the ten parameters that the "
            "rows decide; a body is far from the truth if one of them is beyond two half-widths.",
            markdown_table(make_table(heads, covered)),
            "Faults, whether a finding or error names them, and how often the verdict is yes all "
            f"the same. In {counts['order not tellable']} problems the order cannot be told: a "
            "consistent body fits nearly as well.",
            markdown_table(make_table(heads_of_faults, rows)),
        ]
    )


def main(arguments: list[str] | None = None) -> int:
    """Solve the problems and write the report; returns the exit status."""
    parser = study_parser("rows", __doc__)
    parser.add_argument("--problems", type=int, default=200)
    options = parser.parse_args(arguments)
    line = numerics_line("rows", parser, options, "problems")
    counts: Counter[str] = Counter()
    for rng in np.random.default_rng(71).spawn(options.problems):
        counts.update(outcomes(Problem.random(rng), rng))
    write_report(options.output, report(counts, options.problems), line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
