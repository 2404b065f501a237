"""A spring with a damper: by its transfer function, by Newton's law, and by the regressor."""

import numpy as np
import pytest

from identify.diagnosis.resonance import ResonanceSeries, fit_resonance
from identify.regressors import FEATURE_TENSOR
from identify.signals.wrench_resonance import WrenchResonance, passed_on, resonant_force
from identify.spatial.columns import FEATURES, WRENCH
from tests.close import assert_close
from tests.small_faults import PHI, exact, still, swinging, wrench_of

PERIOD = 2e-3


@pytest.mark.parametrize("hertz", [0.5, 2.0, 4.0])
def test_a_sine_is_passed_on_by_the_transfer_function(hertz):
    t, natural, damping = np.arange(0.0, 40.0, PERIOD), 2.0, 0.1
    s, w = 2j * np.pi * hertz, 2.0 * np.pi * natural
    H = (2.0 * damping * w * s + w**2) / (s**2 + 2.0 * damping * w * s + w**2)
    settled = t > 20.0
    passed = passed_on(np.sin(2.0 * np.pi * hertz * t), natural, damping, PERIOD)
    assert_close(passed[settled], np.imag(H * np.exp(s * t))[settled], 1e-3)


def test_a_constant_is_passed_on_as_it_is():
    assert_close(passed_on(np.full((50, 3), 2.5), 3.0, 0.05, PERIOD), np.full((50, 3), 2.5), 1e-12)


def test_columns_are_those_of_the_regressor_for_the_force():
    features = np.random.default_rng(2).normal(size=(200, 12))
    added = resonant_force(features, None, 3.0, 0.1, PERIOD)
    force = np.einsum("nf,fap->nap", features, FEATURE_TENSOR[:, :3, :4])
    assert_close(added, passed_on(force, 3.0, 0.1, PERIOD) - force, 1e-12)


def test_what_a_mass_on_a_spring_adds_is_taken_off():
    log = exact(5)
    hertz, damping, share, at = 2.2, 0.08, 0.1, np.array([0.02, 0.03, 0.08])
    swung = swinging(log, share, hertz, damping, at)
    part = share * PHI[0] * np.append(1.0, at)
    removed = WrenchResonance(hertz, damping, tuple(part.tolist()), True, 6.0)
    left = wrench_of(removed.removed_from(swung)) - wrench_of(log)
    added = wrench_of(swung) - wrench_of(log)
    settled = slice(3000, -250)  # rows at the start, without derivatives, are not passed on
    assert_close(left[settled], np.zeros_like(left[settled]), 0.01, scale=np.ptp(added, axis=0))


def test_a_log_of_static_poses_stays_as_it_is():
    poses = still(5)
    removed = WrenchResonance(2.0, 0.1, (0.1, 0.0, 0.0, 0.0), True, None)
    assert_close(wrench_of(removed.removed_from(poses)), wrench_of(poses), 1e-12)


def test_no_resonance_is_sought_where_rows_are_too_far_apart_for_any():
    rng = np.random.default_rng(1)
    time, rows = np.arange(60.0), rng.normal(size=(60, 43))
    segments = np.zeros(60, dtype=np.intp)
    series = [*ResonanceSeries.of(time, rows, segments, has_attitude=False)]
    assert series == []  # nor interpolated, as 75 rows a second would be
    assert fit_resonance(series) is None


def test_a_resonance_is_fitted_where_the_body_never_turns():
    """What the first moment of the part adds comes from turns alone: its error is infinite."""
    rng = np.random.default_rng(3)
    t = np.arange(0.0, 40.0, 0.01)
    waves = rng.uniform(0.2, 2.0, (6, 1)) * t + rng.uniform(size=(6, 1))
    rows = np.zeros((len(t), 43))
    rows[:, 0] = 1.0
    rows[:, FEATURES][:, :3] = np.sin(2.0 * np.pi * waves).T @ rng.normal(size=(6, 3))
    rows[:, FEATURES][:, 2] += 9.81
    features = rows[:, FEATURES]
    body = np.einsum("nf,fap,p->na", features, FEATURE_TENSOR, PHI)
    force = resonant_force(features, None, 2.2, 0.08, 0.01)[:, :, 0] * 0.1 * PHI[0]
    place = np.tile([0.02, 0.03, 0.08], (len(t), 1))
    added = np.concatenate((force, np.cross(place, force)), axis=1)
    rows[:, WRENCH] = body + added + rng.normal(size=(len(t), 6)) * [*[0.02] * 3, *[0.002] * 3]
    series = [*ResonanceSeries.of(t, rows, np.zeros(len(t), dtype=np.intp), has_attitude=False)]
    found = fit_resonance(series)
    assert found is not None
    assert abs(found.frequency_hz - 2.2) < 0.05
    assert abs(found.part[0] - 0.1 * PHI[0]) < 0.01 * PHI[0]
    assert 0.0 < found.errors[0] < 0.01 * PHI[0]
    assert not np.isfinite(found.errors[1:4]).any()
