"""Report of the study of designed motions, from made-up errors and half-widths."""

import numpy as np

from experiments.design import MOTIONS, QUANTITIES, Trial, report
from identify.design.prediction import PREDICTED_QUANTITIES


def test_report_compares_errors_with_random_motions_and_half_widths_with_predictions():
    ones = np.ones(len(PREDICTED_QUANTITIES))
    sizes = {"designed": 0.5, "advised": 2.0, "random": 1.0}
    trials = {
        name: [Trial(size * ones, 4.0 * ones, 3.0 * ones)] * 2 for name, size in sizes.items()
    }
    lines = [line for line in report({"an arm": trials}, 2).splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert [row[:2] for row in rows] == [[m, q] for q in QUANTITIES for m in MOTIONS]
    assert [row[3] for row in rows] == [f"{sizes[row[0]]:.2f}" for row in rows]
    assert {row[6] for row in rows} == {"0.75"}


def test_report_has_dashes_where_a_log_does_not_identify_the_inertia():
    errors = np.ones(len(PREDICTED_QUANTITIES))
    fitted = np.where(np.arange(len(errors)) < 4, 1.0, np.nan)
    trials = {name: [Trial(errors, fitted, fitted)] for name in MOTIONS}
    text = report({"an arm": trials}, 1)
    assert text.count("| – | – | – | – | – |") == len(MOTIONS)
