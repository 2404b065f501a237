"""Integrators of the forward simulation: measured order, drift and time of each.

python experiments/integrators.py -o reports/integrators.md
"""

from __future__ import annotations

import argparse
import sys

from experiments.integrators_study.cases import DRIFTING, FLUID, FREE, LOADED
from experiments.integrators_study.measure import (
    CASES_OF,
    FREE_INTEGRATOR_NAMES,
    INTEGRATOR_NAMES,
    measure_costs,
    measure_drift,
    measure_order,
)
from experiments.integrators_study.write import report, tables
from experiments.reports import numerics_line, study_parser, write_report


def main(arguments: list[str] | None = None) -> int:
    """Run the study and write its report; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    line = numerics_line("integrators", parser, options, "duration")
    orders = [
        measure_order(name, case)
        for name in FREE_INTEGRATOR_NAMES
        for case in CASES_OF.get(name, (FREE, LOADED, FLUID))
    ]
    drifts = [
        measure_drift(name, case, options.duration)
        for name in FREE_INTEGRATOR_NAMES
        for case in CASES_OF.get(name, (FREE, DRIFTING))
    ]
    body = tables(orders, drifts, measure_costs(INTEGRATOR_NAMES), options.duration)
    write_report(options.output, report(body), line)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = study_parser("integrators", __doc__)
    parser.add_argument(
        "--duration", type=_seconds, default=100.0, help="duration of the drift measurement [s]"
    )
    return parser


def _seconds(text: str) -> float:
    value = float(text)
    if not 1.0 <= value < 1e6:
        raise argparse.ArgumentTypeError(f"expected 1 to 1e6 seconds, got {text}")
    return value


if __name__ == "__main__":
    sys.exit(main())
