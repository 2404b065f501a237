"""One body or two: logs, and parts of a log."""

from __future__ import annotations

import numpy as np
import pytest

from identify.diagnosis import changed
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


def test_logs_of_one_body_agree_and_its_parts_do():
    assert changed(fitted(moving(1, 20.0), moving(2, 20.0), moving(3, 20.0))[0]) == ()
    assert changed(fitted(moving(4, 60.0))[0]) == ()


def test_the_log_of_another_body_is_named_with_both_bodies():
    heavier = 1.02 * PHI
    logs = moving(1, 20.0), moving(2, 20.0, phi=heavier), moving(3, 20.0)
    (change,) = changed(fitted(*logs)[0])
    assert (change.code, change.log, change.block) == ("bodies_differ", 1, 0)
    assert change.p_value < 1e-6
    assert (np.abs(change.first - PHI) < 5.0 * change.first_errors).all()
    assert (np.abs(change.second - heavier) < 5.0 * change.second_errors).all()
    assert change.second[0] - change.first[0] == pytest.approx(0.02 * PHI[0], rel=0.1)


def test_the_time_at_which_a_body_changes_is_named():
    (change,) = changed(fitted(switched(1.05))[0])
    assert (change.code, change.log, change.block) == ("body_changed", 0, 3)
    assert change.first[0] == pytest.approx(PHI[0], rel=2e-3)
    assert change.second[0] == pytest.approx(1.05 * PHI[0], rel=2e-3)
