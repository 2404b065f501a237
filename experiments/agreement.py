"""Whether separate fits agree: how often logs of one body are said to differ, and of two bodies.

python experiments/agreement.py -o reports/agreement.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.reports import numerics_line, write_report
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
LEVELS = (0.5, 0.1, 0.05, 0.01)
SETS = (2, 4, 10, 40)
SETS_DRAWN = 200
HEAVIER = (1.002, 1.005, 1.01)


def main(arguments: list[str] | None = None) -> int:
    """Fit the logs, compare sets of them, write the report; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    line = numerics_line("agreement", parser, options, "logs", "seed")
    rng = np.random.default_rng(options.seed)
    same = [fitted(rng, 1.0) for _ in range(options.logs)]
    of_one = [_false_alarms(rng, same, count) for count in SETS if count <= len(same)]
    of_two = [_found(rng, same, factor) for factor in HEAVIER]
    write_report(options.output, report(options.logs, of_one, of_two), line)
    return 0


def fitted(rng: np.random.Generator, factor: float) -> SavedEstimate:
    """The estimate of a body so many times as heavy, of a log of 4, 8 or 12 s."""
    log = synthetic_recording(
        factor * BODY.phi,
        rng=rng,
        duration=float(rng.choice([4.0, 8.0, 12.0])),
        rate_hz=float(rng.choice([50.0, 100.0])),
        noise=NOISE,
        bias=rng.normal(size=6),
    )
    return estimate_body([block_statistics(prepare(log))], EstimatorSettings())


def report(logs: int, of_one: Sequence[Sequence[str]], of_two: Sequence[Sequence[str]]) -> str:
    """The report as Markdown."""
    heads = ["logs in a set", "sets", *(f"p < {level:g}" for level in LEVELS), "said to differ"]
    headings = ["heavier by", "sets", "named, and no other", "said to agree"]
    return "\n\n".join(
        [
            "# Whether separate fits agree",
            "Written by `python experiments/agreement.py`; nothing here is entered by hand.",
            f"{logs} synthetic logs of one body, 4 to 12 s at 50 or 100 Hz, noise of 0.1 N, "
            "0.01 N m, 0.1 mm and 1 mrad. Sets of them, drawn anew, and how often `pool_estimates` "
            "gives a probability below a level; were it exact, as often as the level says.",
            markdown_table(make_table(heads, of_one, words=0)),
            "Ten logs, one of them of a body that is heavier:",
            markdown_table(make_table(headings, of_two, words=0)),
        ]
    )


def _false_alarms(rng: np.random.Generator, same: Sequence[SavedEstimate], count: int) -> list[str]:
    pooled = [_pooled([same[k] for k in some]) for some in _sets(rng, len(same), count)]
    p = np.array([one.p for one in pooled], dtype=np.float64)
    shares = [f"{100.0 * np.mean(p < level):.1f} %" for level in LEVELS]
    alarms = sum(one.verdict == "differ" for one in pooled)
    return [str(count), str(len(pooled)), *shares, str(alarms)]


def _found(rng: np.random.Generator, same: Sequence[SavedEstimate], factor: float) -> list[str]:
    pooled = [
        _pooled([fitted(rng, factor), *(same[k] for k in some)])
        for some in _sets(rng, len(same), 9)[:50]
    ]
    named = sum(one.differing == ("0",) for one in pooled)
    agree = sum(one.verdict == "agree" for one in pooled)
    return [f"{100.0 * (factor - 1.0):.1f} %", str(len(pooled)), str(named), str(agree)]


def _sets(rng: np.random.Generator, logs: int, count: int) -> list[list[int]]:
    """Sets of logs that share none, shuffled and cut again until there are enough."""
    groups: list[list[int]] = []
    while len(groups) < SETS_DRAWN:
        order = rng.permutation(logs)
        groups += [order[k : k + count].tolist() for k in range(0, logs - count + 1, count)]
    return groups[:SETS_DRAWN]


def _pooled(estimates: Sequence[SavedEstimate]) -> PooledEstimates:
    return pool_estimates({str(k): one for k, one in enumerate(estimates)})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="agreement", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("reports/agreement.md"))
    parser.add_argument("--logs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    return parser


if __name__ == "__main__":
    sys.exit(main())
