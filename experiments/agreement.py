"""Agreement of separate fits: rates of "differ" for logs of the same body and of two bodies.

python experiments/agreement.py -o reports/agreement.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from experiments.reports import numerics_line, study_parser, write_report
from identify.estimation import EstimatorSettings, estimate_body
from identify.exchange import SavedEstimate
from identify.inertia import InertialParameters
from identify.logs import Noise, synthetic_recording
from identify.regressors import block_statistics
from identify.reporting.content import make_table, markdown_table
from identify.signals import prepare
from identify.validation import PooledEstimates, pool_estimates

BODY = InertialParameters.from_com(1.2, [0.01, -0.02, 0.05], np.diag([3e-3, 2e-3, 4e-3]))
NOISE = Noise(force=0.1, torque=0.01, position=1e-4, orientation=1e-3)
SIGNIFICANCE_LEVELS = (0.5, 0.1, 0.05, 0.01)
SET_SIZES = (2, 4, 10, 40)
SETS_DRAWN = 200
MASS_FACTORS = (1.002, 1.005, 1.01)


def main(arguments: list[str] | None = None) -> int:
    """Fit the logs, compare sets of them, write the report; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    line = numerics_line("agreement", parser, options, "logs", "seed")
    rng = np.random.default_rng(options.seed)
    same = [fit_simulated_log(rng, 1.0) for _ in range(options.logs)]
    false_alarms = [_false_alarms(rng, same, count) for count in SET_SIZES if count <= len(same)]
    detections = [_detections(rng, same, factor) for factor in MASS_FACTORS]
    write_report(options.output, report(options.logs, false_alarms, detections), line)
    return 0


def fit_simulated_log(rng: np.random.Generator, factor: float) -> SavedEstimate:
    """Fit a simulated log of 4, 8 or 12 s of the body with its mass and inertia scaled."""
    log = synthetic_recording(
        factor * BODY.phi,
        rng=rng,
        duration=float(rng.choice([4.0, 8.0, 12.0])),
        rate_hz=float(rng.choice([50.0, 100.0])),
        noise=NOISE,
        bias=rng.normal(size=6),
    )
    return estimate_body([block_statistics(prepare(log))], EstimatorSettings())


def report(
    logs: int, false_alarms: Sequence[Sequence[str]], detections: Sequence[Sequence[str]]
) -> str:
    """Return the report as Markdown."""
    heads = [
        "logs in a set",
        "sets",
        *(f"p < {level:g}" for level in SIGNIFICANCE_LEVELS),
        "verdict differ",
    ]
    headings = ["heavier by", "sets", "named, and no other", "verdict agree"]
    return "\n\n".join(
        [
            "# Agreement of separate fits",
            "Written by `python experiments/agreement.py`; nothing here is entered by hand.",
            f"{logs} synthetic logs of one body, 4 to 12 s at 50 or 100 Hz, noise of 0.1 N, "
            "0.01 N m, 0.1 mm and 1 mrad. Share of random sets of them for which the p-value of "
            "`pool_estimates` is below a level; an exact test would give the level itself.",
            markdown_table(make_table(heads, false_alarms, word_columns=0)),
            "Ten logs, of which one is of a heavier body:",
            markdown_table(make_table(headings, detections, word_columns=0)),
        ]
    )


def _false_alarms(rng: np.random.Generator, same: Sequence[SavedEstimate], count: int) -> list[str]:
    pooled = [_pooled([same[k] for k in members]) for members in _sets(rng, len(same), count)]
    p = np.array([result.p for result in pooled], dtype=np.float64)
    shares = [f"{100.0 * np.mean(p < level):.1f} %" for level in SIGNIFICANCE_LEVELS]
    alarms = sum(result.verdict == "differ" for result in pooled)
    return [str(count), str(len(pooled)), *shares, str(alarms)]


def _detections(
    rng: np.random.Generator, same: Sequence[SavedEstimate], factor: float
) -> list[str]:
    pooled = [
        _pooled([fit_simulated_log(rng, factor), *(same[k] for k in members)])
        for members in _sets(rng, len(same), 9)[:50]
    ]
    named = sum(result.differing == ("0",) for result in pooled)
    agree = sum(result.verdict == "agree" for result in pooled)
    return [f"{100.0 * (factor - 1.0):.1f} %", str(len(pooled)), str(named), str(agree)]


def _sets(rng: np.random.Generator, logs: int, count: int) -> list[list[int]]:
    """Draw sets of logs: shuffle and split into disjoint sets, again until there are enough."""
    groups: list[list[int]] = []
    while len(groups) < SETS_DRAWN:
        order = rng.permutation(logs)
        groups += [order[k : k + count].tolist() for k in range(0, logs - count + 1, count)]
    return groups[:SETS_DRAWN]


def _pooled(estimates: Sequence[SavedEstimate]) -> PooledEstimates:
    return pool_estimates({str(k): estimate for k, estimate in enumerate(estimates)})


def _parser() -> argparse.ArgumentParser:
    parser = study_parser("agreement", __doc__)
    parser.add_argument("--logs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    return parser


if __name__ == "__main__":
    sys.exit(main())
