"""Report of the study of designed motions, from made-up errors and half-widths."""

import numpy as np

from experiments.design import (
    MOTIONS,
    NOISE,
    QUANTITIES,
    Trial,
    predicted_widths,
    random_body,
    report,
)
from identify.design import PeriodicBasis, WristProblem, wrist_limits
from identify.design.d_optimal import random_motion
from identify.design.prediction import PREDICTED_QUANTITIES
from identify.spatial.vectors import GRAVITY_W
from tests.close import assert_close


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


def test_predicted_half_widths_are_those_of_the_normal_equations():
    reach = np.full(3, 0.8)
    limits = wrist_limits(reach, 1.6, 3.2)
    problem = WristProblem(limits, np.array(GRAVITY_W), NOISE, np.ones(10))
    motion = random_motion(problem, PeriodicBasis(5.0, 5), np.random.default_rng(1))
    samples = motion.at(np.arange(0.0, 5.0, 0.05))
    body = random_body(np.random.default_rng(2))
    widths = dict(
        zip(PREDICTED_QUANTITIES, predicted_widths(problem, samples, body, 30.0), strict=True)
    )
    rows = problem.rows(samples).regressor
    flat = rows.reshape(-1, rows.shape[-1]) * np.sqrt(30.0 * NOISE.rate_hz / len(rows))
    covariance = np.linalg.inv(flat.T @ flat)[:10, :10]
    mass, c = body.mass, body.com
    by_phi = np.array([-c[2] / mass, 0.0, 0.0, 1.0 / mass, *np.zeros(6)])
    expected = 1.96 * np.sqrt([covariance[0, 0], by_phi @ covariance @ by_phi])
    assert_close(np.array([widths["m"], widths["cz"]]), expected, 1e-3)
