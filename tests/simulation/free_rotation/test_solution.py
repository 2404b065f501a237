import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.integrate import solve_ivp

from identify.errors import SimulationError
from identify.inertia import inertia_about_com
from identify.simulation.free_rotation import angular_momentum, rotate_freely
from identify.spatial import quaternion_product, rotation_from_quaternion
from identify.spatial.rotations import quaternion_conjugate, rotation_angle
from tests.close import assert_close
from tests.simulation.free_rotation.cases import ALL, OTHERS, QUATERNION, body
from tests.slow import mostly_slow
from tests.strategies import quaternions, random_body, vectors

Q = QUATERNION / np.linalg.norm(QUATERNION)


def integrated(inertia: np.ndarray, q: np.ndarray, w: np.ndarray, times: np.ndarray):
    """Attitude and ω by DOP853 at 1e-13."""
    inverse = np.linalg.inv(inertia)

    def rate(_, y):
        q, w = y[:4], y[4:]
        turn = 0.5 * np.r_[q[3] * w + np.cross(q[:3], w), -q[:3] @ w]
        return np.r_[turn, inverse @ np.cross(inertia @ w, w)]

    done = solve_ivp(rate, (0.0, times[-1]), np.r_[q, w], "DOP853", times, rtol=1e-13, atol=1e-15)
    q = done.y[:4].T
    return q / np.linalg.norm(q, axis=1, keepdims=True), done.y[4:].T


@st.composite
def moments(draw: st.DrawFn) -> np.ndarray:
    """Principal moments of a body: any, and such as are nearly or wholly equal, in any order."""
    spread = np.sort(np.array([draw(st.floats(0.01, 1.0)) for _ in range(3)]))
    near = draw(st.sampled_from([None, 0.0, 1e-14, 1e-9, 1e-5]))
    equal = draw(st.sampled_from(["lower", "upper", "all"]))
    if near is not None:
        if equal != "upper":
            spread[1] = spread[0] * (1.0 + near)
        if equal != "lower":
            spread[2] = spread[1] * (1.0 + 3.0 * near)
    order = draw(st.permutations([0, 1, 2]))
    return (spread.sum() - spread)[list(order)] * 10.0 ** draw(st.integers(-6, 6))


@st.composite
def spins(draw: st.DrawFn, moments: np.ndarray) -> np.ndarray:
    """Angular velocities: any, near or at an axis, near or at the separatrix."""
    w = draw(vectors(3))
    near = draw(st.sampled_from([0.0, 1e-200, 1e-15, 1e-9, 1e-3]))
    kind = draw(st.sampled_from(["any", "axis", "separatrix"]))
    low, middle, high = np.argsort(moments, kind="stable")
    if kind == "axis":
        w = near * w
        w[draw(st.integers(0, 2))] = 1.0
    elif kind == "separatrix":
        a = moments[low] * (moments[middle] - moments[low])
        b = moments[high] * (moments[high] - moments[middle])
        w[low], w[high] = np.sqrt(b), np.sqrt(a) * (1.0 + near)
        w /= max(np.abs(w).max(), 1e-300)
    return w * 10.0 ** draw(st.integers(-3, 3))


@st.composite
def rotations_of_bodies(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    I = draw(moments())
    w = draw(spins(I))
    q = draw(quaternions())
    inertia = np.diag(I)
    if draw(st.booleans()):
        R = np.linalg.qr(draw(vectors(9)).reshape(3, 3) + np.eye(3) * 1e-3)[0]
        inertia, w = R @ inertia @ R.T, R @ w
        inertia = 0.5 * (inertia + inertia.T)
    return inertia, q, w


times = st.floats(-1e4, 1e4)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", mostly_slow(ALL, OTHERS))
def test_exact_rotation_agrees_with_high_order_integrator(name, turned):
    inertia, w = body(ALL[name], turned)
    t = np.linspace(0.0, 0.05 if "rod" in name else 15.0, 31)
    q, spin = integrated(inertia, Q, w, t)
    found = rotate_freely(inertia, Q, w, t)
    # An inverse with a condition of 1e6 costs the integrator, not the closed form.
    # About the middle axis the integrator's own rounding grows.
    tolerance = 2e-8 if "rod" in name or "middle" in name else 1e-11
    assert rotation_angle(found.quaternion, q).max() < tolerance
    assert_close(found.angular_velocity, spin, tolerance, scale=max(np.abs(w).max(), 1e-300))


@given(rotations_of_bodies(), times)
def test_momentum_and_energy_stay(rotation, share):
    inertia, q, w = rotation
    t = share / max(np.linalg.norm(w), 1e-9)
    found = rotate_freely(inertia, q, w, t)
    L = angular_momentum(inertia, [q, found.quaternion], [w, found.angular_velocity])
    K = [0.5 * v @ inertia @ v for v in (w, found.angular_velocity)]
    assert_close(L[1], L[0], 1e-13)
    assert_close(K[1], K[0], 1e-13)
    assert abs(np.linalg.norm(found.quaternion) - 1.0) < 1e-14


def test_free_rotation_satisfies_group_property_and_time_reversal():
    """Group property and time reversal, to what the rounded state in between leaves of them."""
    rng = np.random.default_rng(5)
    for _ in range(30):
        inertia = inertia_about_com(random_body(rng))
        w, q = rng.normal(size=3), rng.normal(size=4)
        first, second = rng.uniform(0.0, 20.0, 2)
        there = rotate_freely(inertia, q, w, first)
        onward = rotate_freely(inertia, there.quaternion, there.angular_velocity, second)
        whole = rotate_freely(inertia, q, w, first + second)
        back = rotate_freely(inertia, there.quaternion, there.angular_velocity, -first)
        assert rotation_angle(onward.quaternion, whole.quaternion) < 1e-12
        assert_close(onward.angular_velocity, whole.angular_velocity, 1e-12)
        assert rotation_angle(back.quaternion, q / np.linalg.norm(q)) < 1e-12
        assert_close(back.angular_velocity, w, 1e-12)


@given(quaternions(), quaternions(), st.integers(0, 100))
def test_other_axes_of_body_and_world_give_the_same_motion(q_CB, q_VW, seed):
    """In axes of C of the body and V of the world it is the same rotation."""
    rng = np.random.default_rng(seed)
    inertia = inertia_about_com(random_body(rng))
    q_WB, w, t = rng.normal(size=4), rng.normal(size=3), np.linspace(-9.0, 30.0, 5)
    q_WB /= np.linalg.norm(q_WB)
    R = rotation_from_quaternion(q_CB)
    q_BC = quaternion_conjugate(q_CB)
    here = rotate_freely(inertia, q_WB, w, t)
    turned = R @ inertia @ R.T
    q_VC = quaternion_product(quaternion_product(q_VW, q_WB), q_BC)
    there = rotate_freely(0.5 * (turned + turned.T), q_VC, R @ w, t)
    expected = quaternion_product(quaternion_product(q_VW, here.quaternion), q_BC)
    assert rotation_angle(there.quaternion, expected).max() < 1e-12
    assert_close(there.angular_velocity, here.angular_velocity @ R.T, 1e-12)


@pytest.mark.parametrize("name", ALL)
def test_quaternions_are_continuous(name):
    inertia, w = body(ALL[name], turned=True)
    times = np.linspace(-60.0, 60.0, 4001)
    q = rotate_freely(inertia, Q, w, times).quaternion
    largest = 0.5 * np.linalg.norm(w) * (times[1] - times[0]) * np.linalg.cond(inertia) ** 0.5
    assert np.abs(np.diff(q, axis=0)).max() <= min(largest, 0.2) + 1e-15


def test_separatrix_motion_ends_about_middle_axis():
    inertia, w = body(ALL["on the separatrix"], turned=False)
    late = rotate_freely(inertia, Q, w, [1e3, 1e9])
    speed = np.linalg.norm(inertia @ w) / 2.0
    assert_close(late.angular_velocity, [[0.0, speed, 0.0]] * 2, 1e-15)


def test_times_and_bodies_broadcast():
    rng = np.random.default_rng(0)
    bodies = np.array([[inertia_about_com(random_body(rng)) for _ in range(3)] for _ in range(2)])
    q, w = rng.normal(size=(3, 4)), rng.normal(size=(2, 1, 3))
    t = np.array([0.0, 1.0, -2.0, 30.0])
    whole = rotate_freely(bodies, q, w, t)
    assert whole.quaternion.shape == (2, 3, 4, 4)
    assert whole.angular_velocity.shape == (2, 3, 4, 3)
    for i in range(2):
        for j in range(3):
            one = rotate_freely(bodies[i, j], q[j], w[i, 0], t)
            assert_close(whole.quaternion[i, j], one.quaternion, 1e-15)
            assert_close(whole.angular_velocity[i, j], one.angular_velocity, 1e-15)
    own = rotate_freely(bodies, q, w, np.broadcast_to(t, (2, 3, 4)))
    assert_close(own.quaternion, whole.quaternion, 1e-15)
    each = rotate_freely(bodies[0, 0], q[0], w[0, 0], 1.0)
    assert each.quaternion.shape == (4,)
    assert_close(each.quaternion, whole.quaternion[0, 0, 1], 1e-15)
    assert rotate_freely(bodies, q, w, []).quaternion.shape == (2, 3, 0, 4)
    assert rotate_freely(bodies[:0], q, w[:0], t).quaternion.shape == (0, 3, 4, 4)


TRIAXIAL = np.diag([1.0, 2.0, 2.5])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"body": np.diag([1.0, 1.0, 2.5])}, "triangle inequality"),
        ({"body": np.diag([1.0, -1.0, 0.5])}, "negative"),
        ({"body": np.zeros((3, 3))}, "no inertia about some axis"),
        ({"body": np.diag([0.0, 1.0, 1.0])}, "no inertia about some axis"),
        ({"body": [1.0, 0, 0, 0, 1, 0, 0, 1, 0, 0]}, "no inertia about some axis"),
        ({"body": [-1.0, 0, 0, 0, 1, 0, 0, 1, 0, 1]}, "mass is -1 kg, not positive"),
        ({"body": [[TRIAXIAL] * 2, [TRIAXIAL, -TRIAXIAL]]}, r"batch index 1, 1.*not physically"),
        ({"body": TRIAXIAL + np.eye(3, k=1)}, "not symmetric"),
        ({"body": TRIAXIAL * np.nan}, r"body: entry \(0, 0\) is nan"),
        ({"body": np.eye(4)}, r"body: expected an inertia.*got \(4, 4\)"),
        ({"body": "heavy"}, "body: expected numbers"),
        ({"quaternion": [0, 0, 0, 0]}, "quaternion: all four numbers are zero"),
        ({"quaternion": [[0, 0, 0, 1], [0, 0, 0, 0]]}, r"quaternion \(batch index 1\)"),
        ({"quaternion": [0, 0, 1]}, r"quaternion: expected shape \(..., 4\), got \(3,\)"),
        ({"angular_velocity": [0, np.inf, 0]}, r"angular velocity: entry \(1,\) is inf"),
        ({"angular_velocity": 1.0}, r"angular velocity: expected shape"),
        ({"angular_velocity": np.ones((2, 3)), "quaternion": np.ones((3, 4))}, "do not broadcast"),
        ({"time": 1e18}, "time: the body turns by more than 5e.15 rad"),
        ({"time": [0.0, -1e308], "angular_velocity": [9.0, 0.0, 1.0]}, "more than 1e.20 rad"),
        ({"time": 1e25, "angular_velocity": [9.0, 0.0, 0.0]}, "more than 1e.20 rad"),
        ({"time": [0.0, np.nan]}, r"time: entry \(1,\) is nan"),
        ({"time": np.zeros((2, 5)), "quaternion": np.ones((3, 4))}, "do not broadcast"),
    ],
)
def test_invalid_solution_input_is_rejected(changed, message):
    given_ = {
        "body": TRIAXIAL,
        "quaternion": [0.0, 0.0, 0.0, 1.0],
        "angular_velocity": [1.0, 0.2, 0.3],
        "time": [0.0, 1.0],
    }
    with pytest.raises(SimulationError, match=message):
        rotate_freely(**(given_ | changed))
