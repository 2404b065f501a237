import numpy as np
import pytest

from identify.diagnosis import body_changes, detect_body_changes
from tests.close import assert_close
from tests.diagnosis.logs import PHI, fitted, moving, time_of, with_signals


def switched(heavier: float):
    """A log whose body is another from half-time on."""
    first, second = moving(5, 60.0), moving(5, 60.0, phi=heavier * PHI)
    late = (time_of(first) > 30.0)[:, None]
    loads = {
        name: np.where(late, second.signals[name], first.signals[name])
        for name in ("force", "torque")
    }
    return with_signals(first, **loads)


def test_equal_bodies_agree_between_and_within_logs():
    assert detect_body_changes(fitted(moving(1, 20.0), moving(2, 20.0), moving(3, 20.0))) == ()
    assert detect_body_changes(fitted(moving(4, 60.0))) == ()


def test_the_log_of_another_body_is_named_with_both_bodies():
    heavier = 1.02 * PHI
    logs = moving(1, 20.0), moving(2, 20.0, phi=heavier), moving(3, 20.0)
    (change,) = detect_body_changes(fitted(*logs))
    assert (change.code, change.log, change.block) == ("bodies_differ", 1, 0)
    assert change.p_value < 1e-6
    assert (np.abs(change.first_phi - PHI) < 5.0 * change.first_phi_errors).all()
    assert (np.abs(change.second_phi - heavier) < 5.0 * change.second_phi_errors).all()
    assert change.second_phi[0] - change.first_phi[0] == pytest.approx(0.02 * PHI[0], rel=0.1)


def test_the_time_at_which_a_body_changes_is_named():
    (change,) = detect_body_changes(fitted(switched(1.05)))
    assert (change.code, change.log, change.block) == ("body_changed", 0, 3)
    assert change.fraction_bounds[0] < 0.5 < change.fraction_bounds[1]
    assert change.fraction_bounds == pytest.approx((1 / 3, 2 / 3), abs=0.01)
    assert change.first_phi[0] == pytest.approx(PHI[0], rel=2e-3)
    assert change.second_phi[0] == pytest.approx(1.05 * PHI[0], rel=2e-3)


def test_log_with_changing_body_is_named():
    """Another log is too short for its body to change in it."""
    fit = fitted(moving(1, 60.0), moving(2, 20.0), switched(1.05), moving(4, 60.0))
    (change,) = detect_body_changes(fit)
    assert (change.code, change.log, change.block) == ("body_changed", 2, 3)


def test_screening_is_the_test_of_chow():
    """By residuals of rows: one body, or one mass and first moment, against two of each."""
    from scipy.stats import f

    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(2, 60, 10)), rng.normal(size=(2, 60))
    b[1] += A[1] @ np.r_[0.2, 0.1, np.zeros(8)]

    def squares(X):
        return np.linalg.lstsq(X, b.ravel(), rcond=None)[1][0]

    zero = np.zeros((60, 10))
    apart = squares(np.block([[A[0], zero], [zero, A[1]]]))
    together = squares(np.vstack(A))
    one_com = squares(np.block([[A[0], zero[:, 4:]], [A[1, :, :4], zero[:, 4:], A[1, :, 4:]]]))
    expected = min(
        f.sf((joint - apart) / k * 100.0 / apart, k, 100)
        for joint, k in ((together, 10), (one_com, 4))
    )
    parts = [
        body_changes._PartMoments(rows.T @ rows, 60.0) for rows in np.dstack((A, b[..., None]))
    ]
    assert_close(body_changes._chow_p_value(*parts), expected, 1e-9)


def test_scalar_comparison_is_welch_test():
    """Two samples of unequal spread: the test of their means is the t test of Welch (1947)."""
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(2)
    first, second = rng.normal(0.0, 1.0, 9), rng.normal(1.5, 4.0, 14)
    away = np.array([first.mean() - second.mean()])
    covariances = [np.array([[np.var(x, ddof=1) / len(x)]]) for x in (first, second)]
    found = np.exp(
        body_changes._log_p_value(away, covariances, [len(first) - 1.0, len(second) - 1.0])
    )
    assert_close(found, ttest_ind(first, second, equal_var=False).pvalue, 1e-9)


def test_equal_spreads_are_compared_as_by_hotelling():
    """Of p unknowns with one covariance of ν degrees each, T² has the sum of both."""
    from scipy.stats import f

    rng = np.random.default_rng(3)
    root, away = rng.normal(size=(3, 3)), rng.normal(size=3)
    covariance = root @ root.T
    distance = float(away @ np.linalg.solve(2.0 * covariance, away))
    expected = f.sf(distance * (40 - 2) / (40 * 3), 3, 40 - 2)
    assert_close(
        np.exp(body_changes._log_p_value(away, [covariance] * 2, [20.0] * 2)), expected, 1e-9
    )
    assert body_changes._log_p_value(0.0 * away, [covariance] * 2, [20.0] * 2) == 0.0


@pytest.mark.parametrize("degrees", [3.0, 4.9])
def test_probability_of_fewer_degrees_than_unknowns_is_of_one_degree(degrees):
    """Ten unknowns of 2ν < 10 degrees leave one degree to F, and T² is scaled by that one."""
    from scipy.stats import f

    for away in (0.1, 2.0, 50.0):
        log_p = body_changes._log_p_value(np.full(10, away), [np.eye(10)] * 2, [degrees] * 2)
        expected = f.sf(5.0 * away**2 / (2.0 * degrees * 10), 10, 1)
        assert_close(np.exp(log_p), expected, 1e-9)


def test_a_probability_below_all_numbers_still_orders():
    """Its logarithm goes on as by the logarithm of the survival function of F."""
    from scipy.stats import f

    found = [
        body_changes._log_p_value(np.array([away, 0.0]), [np.eye(2)] * 2, [300.0] * 2)
        for away in (60.0, 90.0, 1000.0)
    ]
    assert found[0] == pytest.approx(f.logsf(60.0**2 / 2 * 599 / (600 * 2), 2, 599), rel=1e-9)
    for away, log_p in zip((90.0, 1000.0), found[1:], strict=True):  # closed form of two unknowns
        assert log_p == pytest.approx(-299.5 * np.log1p(away**2 / 2 / 600), rel=1e-3)


@pytest.mark.slow
def test_separate_fits_of_many_logs_are_limited_to_differing_ones(monkeypatch):
    """Fitted apart the few that are farthest, or all of them: the same is found."""
    bodies = {3: 1.003 * PHI, 13: 1.006 * PHI}
    fit = fitted(*(moving(k, 10.0, phi=bodies.get(k, PHI)) for k in range(16)))
    found = detect_body_changes(fit)
    assert {(change.code, change.log) for change in found} == {
        ("bodies_differ", 3),
        ("bodies_differ", 13),
    }
    monkeypatch.setattr(body_changes, "_MAX_LOGS_FITTED_SEPARATELY", 16)
    for one, other in zip(found, detect_body_changes(fit), strict=True):
        assert (one.code, one.log) == (other.code, other.log)
        assert_close(one.second_phi, other.second_phi, 1e-12)
        assert one.p_value == pytest.approx(other.p_value, rel=1e-9)
