import numpy as np
import pytest

from identify.simulation.poinsot import poinsot_motion
from identify.simulation.poinsot_curves import MAX_PERIODS, herpolhode_curve, polhode_curve
from tests.close import assert_close
from tests.simulation.free_rotation.cases import ALL, QUATERNION, body

MOVING = [name for name in ALL if name != "at rest"]


def made(name: str, time: np.ndarray):
    inertia, w = body(ALL[name], turned=True)
    return poinsot_motion(inertia, QUATERNION, w, time)


def gap(points: np.ndarray, curve: np.ndarray) -> float:
    """The largest distance of a point from the polygon through a curve's points."""
    if len(curve) == 1:
        return float(np.linalg.norm(points - curve, axis=1).max())
    a, d = curve[:-1], np.diff(curve, axis=0)
    square = np.maximum(np.sum(d**2, axis=1), 1e-300)
    share = np.clip(np.einsum("nki,ki->nk", points[:, None] - a, d) / square, 0.0, 1.0)
    nearest = a + share[..., None] * d
    return float(np.linalg.norm(points[:, None] - nearest, axis=-1).min(axis=1).max())


@pytest.mark.parametrize("name", MOVING)
def test_the_polhode_holds_the_motion_and_closes(name):
    p = made(name, np.linspace(0.0, 40.0, 201))
    curve = polhode_curve(p)
    assert_close(curve**2 @ p.moments, np.ones(len(curve)), 1e-12)
    if p.invariants.period < 1e4:
        assert_close(curve[0], curve[-1], 1e-9)
    assert len(curve) < 1500
    steps = np.linalg.norm(np.diff(curve, axis=0), axis=1)
    assert steps.max(initial=0.0) <= 0.02 * p.semi_axes.max()
    assert gap(p.polhode @ p.axes, curve) < 1e-3 * p.semi_axes.max()


@pytest.mark.parametrize("name", MOVING)
def test_sparse_times_leave_the_herpolhode_smooth(name):
    p = made(name, np.arange(0.0, 1e5, 777.0))
    curve = herpolhode_curve(p)
    assert len(curve.time) < 8000
    assert (np.diff(curve.time) > 0.0).all()
    assert_close(curve.points @ p.momentum, np.full(len(curve.time), p.root_of_twice_energy), 1e-12)
    step = np.linalg.norm(np.diff(curve.points, axis=0), axis=1).max()
    assert step < 0.11 * np.linalg.norm(curve.points @ p.plane_axes[:, :2], axis=1).max() + 1e-12
    exact = made(name, curve.time[::50])
    assert_close(curve.points[::50], exact.herpolhode, 1e-9)


def test_the_herpolhode_is_of_a_bounded_number_of_periods():
    p = made("about the largest", np.arange(0.0, 1e5, 1.0))
    curve, period = herpolhode_curve(p), float(p.invariants.period)
    assert curve.periods == MAX_PERIODS
    assert not curve.is_complete
    assert curve.time[-1] == pytest.approx(MAX_PERIODS * period)
    whole = herpolhode_curve(made("about the largest", np.array([1.0, 2.0, 6.0])))
    assert whole.is_complete
    assert [whole.time[0], whole.time[-1]] == [1.0, 6.0]
    assert whole.periods == pytest.approx(5.0 / period)
