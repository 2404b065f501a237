"""Agreement of halves and quarters of real logs within their 95 % intervals.

python experiments/parts.py -o reports/parts.md

The log panda_optoforce is read from the folder IDENTIFY_DATA.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np

from experiments.external_data import PUBLIC_LOG, public_log
from experiments.reports import numerics_line, study_parser, write_report
from identify.arrays import Array
from identify.errors import ProblemError
from identify.estimation import EstimatorSettings, estimate_body
from identify.estimation.intervals import ESTIMATED_QUANTITIES
from identify.inertia import PHI
from identify.logs import Recording, read_log
from identify.logs.recording import recording_rows
from identify.pipeline import check_logs
from identify.regressors import block_statistics
from identify.reporting.content import make_table, markdown_table
from identify.signals import prepare

SHIPPED = Path(__file__).resolve().parents[1] / "datasets/payload_arm"

PARTS = (2, 4)


@dataclass(frozen=True, slots=True)
class PairDifferences:
    """Differences between parts of a log: |x1 - x2| / √(h1² + h2²) per parameter and pair.

    Attributes:
        log: name of the log and the range used.
        parts: number of parts.
        failed_parts: number of parts without an estimate.
        ratios: by parameter name, for pairs in which both parts identify it, shape (pairs,).
    """

    log: str
    parts: int
    failed_parts: int
    ratios: dict[str, Array]

    def of(self, names: Sequence[str]) -> Array:
        """Return the ratios of several parameters as one array."""
        return np.concatenate([self.ratios.get(name, np.zeros(0)) for name in names])


def main(arguments: list[str] | None = None) -> int:
    """Fit the parts of the logs, compare them, write the report; returns the exit status."""
    parser = study_parser("parts", __doc__)
    options = parser.parse_args(arguments)
    line = numerics_line("parts", parser, options)
    pairs = [
        compare_parts(name, log, parts)
        for recording in logs()
        for name, log in (("whole", recording), *contact_free_part(recording))
        for parts in PARTS
    ]
    write_report(options.output, report(pairs), line)
    return 0


def logs() -> Iterator[Recording]:
    """Yield the shipped log, and the public one if it is available."""
    yield read_log(SHIPPED / "payload_arm.parquet", SHIPPED / "schema.toml")
    if (files := public_log()) is not None:
        yield replace(read_log(*files), name=PUBLIC_LOG[0])


def contact_free_part(recording: Recording) -> Iterator[tuple[str, Recording]]:
    """Yield the longest contact-free part of a log; nothing for a log without contact."""
    result = check_logs(recording).result
    spans = [] if result is None else [s for s in result.checks.spans[0] if s.code == "contact"]
    if not spans or recording.time is None:
        return
    time = recording.time
    edges = [time[0], *(edge for span in spans for edge in (span.start, span.stop)), time[-1]]
    start, stop = max(zip(edges[::2], edges[1::2], strict=True), key=lambda span: span[1] - span[0])
    first, last = np.searchsorted(time, (start, stop)).tolist()
    yield f"{start:.1f} to {stop:.1f} s, untouched", recording_rows(recording, first, last)


def compare_parts(label: str, recording: Recording, parts: int) -> PairDifferences:
    """Fit equal parts of a log separately and compare all pairs."""
    edges = np.linspace(0, len(recording), parts + 1).astype(int).tolist()
    estimates = []
    for first, last in pairwise(edges):
        try:
            prepared = prepare(recording_rows(recording, first, last))
            estimates.append(estimate_body([block_statistics(prepared)], EstimatorSettings()))
        except ProblemError:  # e.g. too little motion: no interval to compare
            continue
    ratios: dict[str, list[float]] = {}
    for first_part, second_part in combinations([part.intervals for part in estimates], 2):
        for name in ESTIMATED_QUANTITIES:
            a, b = first_part[name], second_part[name]
            if a is not None and b is not None:
                distance = 0.5 * abs((a[0] + a[1]) - (b[0] + b[1]))
                half = 0.5 * np.hypot(a[1] - a[0], b[1] - b[0])
                ratios.setdefault(name, []).append(float(distance / half))
    return PairDifferences(
        f"{recording.name}, {label}",
        parts,
        parts - len(estimates),
        {name: np.array(values) for name, values in ratios.items()},
    )


def report(pairs: Sequence[PairDifferences]) -> str:
    """Return the report as Markdown."""
    heads = [
        "log",
        "parts",
        "without an estimate",
        "pairs of the ten",
        "within [%]",
        "median ratio",
        "pairs with derived ones",
        "within [%]",
        "beyond, by parameter",
    ]
    rows = []
    for log in dict.fromkeys(entry.log for entry in pairs):
        of_log = [entry for entry in pairs if entry.log == log]
        rows += [_row(log, str(entry.parts), [entry]) for entry in of_log]
        rows.append(_row(log, "both", of_log))
    return "\n\n".join(
        [
            "# Agreement of parts of a log",
            "Written by `python experiments/parts.py`; nothing here is entered by hand.",
            "Halves and quarters of logs, each fitted separately; every parameter of every pair of "
            "parts is compared by |x₁ − x₂| / √(h₁² + h₂²), h the half-width of its 95 % interval. "
            "Exact intervals would give 95 % below 1 and a median of 0.34. Pairs of one log are "
            "not independent: a part with a large error is in several of them.",
            markdown_table(make_table(heads, rows)),
        ]
    )


def _row(log: str, parts: str, pairs: Sequence[PairDifferences]) -> list[str]:
    ten = np.concatenate([entry.of(PHI) for entry in pairs])
    all_ratios = np.concatenate([entry.of(ESTIMATED_QUANTITIES) for entry in pairs])
    beyond = {
        name: number
        for name in PHI
        if (number := sum(int(np.sum(entry.of([name]) > 1.0)) for entry in pairs))
    }
    return [
        log,
        parts,
        str(sum(entry.failed_parts for entry in pairs)),
        str(len(ten)),
        _percent(ten),
        f"{np.median(ten):.2f}" if len(ten) else "–",
        str(len(all_ratios)),
        _percent(all_ratios),
        ", ".join(f"{name} {number}" for name, number in beyond.items()),
    ]


def _percent(ratios: Array) -> str:
    return f"{100.0 * np.mean(ratios <= 1.0):.1f}" if len(ratios) else "–"


if __name__ == "__main__":
    sys.exit(main())
