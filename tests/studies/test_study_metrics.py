import numpy as np
import pytest

from identify.errors import ProblemError
from identify.estimation.intervals import ESTIMATED_QUANTITIES
from identify.inertia import PHI, InertialParameters
from identify.inertia.shapes import Box, PointMasses
from identify.inertia.shapes.interior import sample_interior
from identify.logs.synthetic import Noise, synthetic_recording
from identify.studies import metrics
from identify.studies.estimator import EstimatorOutput, TrialData
from identify.studies.estimators import ESTIMATORS, ConsistentLeastSquares
from identify.studies.metrics import METRICS
from identify.studies.study import Truth
from identify.studies.study_log import StudyLog
from tests.close import assert_close

TRUE = InertialParameters.from_com(0.6, (0.02, -0.03, 0.05), np.diag([9e-4, 7e-4, 5e-4]))
SIDES = np.array([0.12, 0.15, 0.2])
TRUTH = Truth(TRUE.phi, SIDES)
_EVEN = sample_interior(Box(0.0548, 0.0837, 0.1049), 1000)  # of the same inertia
BOX = PointMasses(_EVEN.points + TRUE.com, _EVEN.volumes)
OF_ARMS = ("arm_ols", "arm_wls", "arm_psd", "payload")
OFF = TRUE.phi * np.linspace(0.95, 1.05, 10)


def score(
    name: str, output: EstimatorOutput, truth: Truth | None = TRUTH
) -> dict[str, float | None]:
    return dict(METRICS[name].compute(output, truth))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mass_error", metrics.mass_error(OFF, TRUE.phi)),
        ("first_moment_error", metrics.first_moment_error(OFF, TRUE.phi)),
        ("com_error", metrics.com_error(OFF, TRUE.phi, SIDES)),
        ("inertia_error", metrics.inertia_error(OFF, TRUE.phi, SIDES)),
        ("central_inertia_error", metrics.central_inertia_error(OFF, TRUE.phi, SIDES)),
        ("riemannian", metrics.riemannian_distance(OFF, TRUE.phi)),
        ("consistent", 1.0),
        ("n_identifiable", 10.0),
    ],
)
def test_scores_are_of_the_answer_and_the_truth(name: str, expected: float) -> None:
    assert expected > 0.0
    assert score(name, EstimatorOutput(OFF)) == {name: expected}


def test_intervals_are_counted_and_measured() -> None:
    bounds = {"m": (0.5, 0.7), "hx": (1.0, 2.0), "cx": (0.0, 0.1), "Ixx": None}
    output = EstimatorOutput(OFF, intervals=bounds)
    covered, widths = score("covered", output), score("half_width", output)
    assert (covered["covered_m"], covered["covered_hx"], covered["covered_cx"]) == (1.0, 0.0, 1.0)
    assert covered["covered_Ixx"] is covered["covered_hy"] is None
    assert_close(widths["half_width_m"], 0.1)
    assert widths["half_width_Ixx"] is None


def test_errors_are_signed_and_by_parameter() -> None:
    errors = score("error", EstimatorOutput(OFF))
    assert list(errors) == [f"error_{name}" for name in ESTIMATED_QUANTITIES]
    assert_close([errors[f"error_{name}"] for name in PHI], OFF - TRUE.phi)
    assert_close(errors["error_cx"], OFF[1] / OFF[0] - TRUE.com[0])


def test_metrics_without_true_body_have_estimate_only() -> None:
    output = EstimatorOutput(OFF, intervals={"m": (0.5, 0.7)})
    filled = {
        name
        for name in METRICS
        if any(value is not None for value in score(name, output, None).values())
    }
    assert filled == {"consistent", "n_identifiable", "half_width", "estimate"}


def test_a_metric_fills_the_columns_it_names_and_no_two_the_same() -> None:
    for name, metric in METRICS.items():
        assert list(score(name, EstimatorOutput(OFF))) == list(metric.columns)
    columns = [column for metric in METRICS.values() for column in metric.columns]
    assert len(set(columns)) == len(columns)


@pytest.fixture(scope="module")
def data() -> TrialData:
    recording = synthetic_recording(
        TRUE.phi,
        rng=np.random.default_rng(2),
        duration=20.0,
        rate_hz=100.0,
        include="all",
        noise=Noise(force=0.02, torque=0.002),
    )
    return TrialData(StudyLog.of(recording), TRUE.mass, shape=BOX)


@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS if kind not in (*OF_ARMS, "command")])
def test_every_estimator_finds_the_body(kind: str, data: TrialData) -> None:
    output = ESTIMATORS[kind]().estimate(data)
    assert score("mass_error", output)["mass_error"] < 0.5
    assert score("relative_inertia_error", output)["relative_inertia_error"] < 20.0


def test_given_parameters_are_excluded_from_coverage() -> None:
    output = EstimatorOutput(TRUE.phi, intervals={"m": (TRUE.mass, TRUE.mass), "hx": (-1.0, 1.0)})
    covered = score("covered", output)
    assert covered["covered_m"] is None
    assert covered["covered_hx"] == 1.0


def test_estimator_with_known_mass_needs_true_mass(data: TrialData) -> None:
    unknown = TrialData(data.log)
    with pytest.raises(ProblemError, match="has no mass"):
        ConsistentLeastSquares(mass="known").estimate(unknown)


def test_the_central_error_is_that_about_the_centre_of_the_box() -> None:
    """A body whose centre alone is off has none of it, and one of another size has both."""
    c = TRUE.com + np.array([0.01, 0.0, 0.0])
    moved = InertialParameters.from_com(TRUE.mass, c, TRUE.inertia_about_com).phi
    assert metrics.central_inertia_error(moved, TRUE.phi, SIDES) < 1e-10
    assert metrics.inertia_error(moved, TRUE.phi, SIDES) > 1.0
    box = TRUE.mass / 12.0 * (SIDES @ SIDES - SIDES**2)
    larger = TRUE.inertia_about_com + np.diag(0.01 * box)
    found = InertialParameters.from_com(TRUE.mass, TRUE.com, larger).phi
    assert_close(metrics.central_inertia_error(found, TRUE.phi, SIDES), 0.5, 1e-9)
