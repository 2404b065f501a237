import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.inertia import in_frame, inertia_about_com, spatial_inertia
from identify.regressors import (
    FEATURE_NAMES,
    FEATURE_TENSOR,
    WRENCH_NAMES,
    newton_euler_regressor,
    newton_euler_wrench,
)
from identify.regressors.newton_euler import regressor_from_features
from identify.spatial import (
    BodyMotion,
    Pose,
    coadjoint,
    cross_force,
    exp_rotation,
    quaternion_product,
    rotation_from_quaternion,
)
from tests.close import assert_close
from tests.strategies import bodies, motions, poses, vectors


def parts(motion: BodyMotion) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return motion.proper_acceleration, motion.angular_velocity, motion.angular_acceleration


def wrench_scale(phi: np.ndarray, motion: BodyMotion) -> np.ndarray:
    """What rounding of the wrench is relative to: its largest terms, for force and torque."""
    a = np.linalg.norm(motion.proper_acceleration, axis=-1).max()
    w = np.linalg.norm(motion.angular_velocity, axis=-1).max()
    alpha = np.linalg.norm(motion.angular_acceleration, axis=-1).max()
    h, inertia = np.linalg.norm(phi[1:4]), np.abs(phi[4:]).max()
    force = phi[0] * a + (alpha + w**2) * h
    torque = h * a + 3.0 * inertia * (alpha + w**2)
    return np.maximum(np.repeat([force, torque], 3), 1e-300)


@given(bodies(), motions(3))
def test_regressor_gives_the_newton_euler_wrench(phi, motion):
    wrench = newton_euler_wrench(phi, motion)
    scale = wrench_scale(phi, motion)
    assert_close(newton_euler_regressor(motion) @ phi, wrench, 1e-14, scale=scale)


@given(bodies(), motions())
def test_wrench_about_origin_equals_transported_wrench_about_com(phi, motion):
    """f = m a'_cm, t_cm = I_c α + ω × I_c ω: Newton's and Euler's own forms."""
    a, w, alpha = (x[0] for x in parts(motion))
    com, Ic = phi[1:4] / phi[0], inertia_about_com(phi)
    force = phi[0] * (a + np.cross(alpha, com) + np.cross(w, np.cross(w, com)))
    torque = Ic @ alpha + np.cross(w, Ic @ w) + np.cross(com, force)
    wrench = newton_euler_wrench(phi, motion)[0]
    assert_close(wrench, np.r_[force, torque], 1e-13, scale=wrench_scale(phi, motion))


@given(bodies(), vectors(6, 2.0), vectors(6, 3.0))
def test_wrench_is_the_spatial_equation_of_motion(phi, V, A):
    """F = M A + V ×* M V with the spatial acceleration A; the classical one has ω × v on top."""
    M = spatial_inertia(phi)
    classical = A[:3] + np.cross(V[3:], V[:3])
    motion = BodyMotion(classical[None], V[None, 3:], A[None, 3:])
    expected = M @ A + cross_force(V) @ M @ V
    scale = wrench_scale(phi, motion) + np.abs(M @ V).max() * np.abs(V).max()
    scale = np.maximum(scale, 1e-300)
    assert_close(newton_euler_wrench(phi, motion)[0], expected, 1e-13, scale=scale)


@given(bodies(flat=False, offset=0.5), vectors(3), vectors(3), vectors(3), vectors(6))
def test_wrench_is_the_rate_of_momentum(phi, turn, first, second, v):
    """d/dt of the momentum in world axes about the world's origin, by central differences."""
    length = np.sqrt(np.trace(inertia_about_com(phi)) / phi[0])

    def pose_at(t: float) -> Pose:
        q = quaternion_product(exp_rotation(turn + t * first), exp_rotation(t**2 * second))
        return Pose(rotation_from_quaternion(q), length * (t * v[:3] + 0.5 * t**2 * v[3:]))

    def twist_at(t: float, step: float = 1e-3) -> np.ndarray:
        R = pose_at(t).rotation
        ahead, behind = pose_at(t + step), pose_at(t - step)
        # Sixth order, so that differences of differences keep seven digits.
        far, back = pose_at(t + 2 * step), pose_at(t - 2 * step)
        R_dot = (8.0 * (ahead.rotation - behind.rotation) - far.rotation + back.rotation) / (
            12 * step
        )
        omega = R.T @ R_dot
        w = 0.5 * np.array(
            [omega[2, 1] - omega[1, 2], omega[0, 2] - omega[2, 0], omega[1, 0] - omega[0, 1]]
        )
        return np.r_[R.T @ (length * (v[:3] + t * v[3:])), w]

    def momentum_in_world(t: float) -> np.ndarray:
        return coadjoint(pose_at(t)) @ spatial_inertia(phi) @ twist_at(t)

    t, step = 0.3, 3e-3
    rate = (
        8.0 * (momentum_in_world(t + step) - momentum_in_world(t - step))
        - momentum_in_world(t + 2 * step)
        + momentum_in_world(t - 2 * step)
    ) / (12.0 * step)
    X = pose_at(t)
    wrench_from_momentum = coadjoint(X.inverse()) @ rate

    w = twist_at(t)[3:]
    alpha = (
        8.0 * (twist_at(t + step) - twist_at(t - step))
        - twist_at(t + 2 * step)
        + twist_at(t - 2 * step)
    )[3:] / (12.0 * step)
    motion = BodyMotion((X.rotation.T @ (length * v[3:]))[None], w[None], alpha[None])
    scale = phi[0] * length * np.repeat([1.0, length], 3) * 10.0
    assert_close(newton_euler_wrench(phi, motion)[0], wrench_from_momentum, 1e-6, scale=scale)


@given(bodies(), motions())
def test_power_of_the_wrench_is_the_rate_of_kinetic_energy_for_gravity_free_motion(phi, motion):
    """With V = [v; ω], F·V = V·(M A) since V ×* M V does no work."""
    a, w, alpha = (x[0] for x in parts(motion))
    v = np.array([0.3, -0.4, 0.5])
    M = spatial_inertia(phi)
    V, A = np.r_[v, w], np.r_[a - np.cross(w, v), alpha]
    scale = wrench_scale(phi, motion) @ np.abs(np.r_[[1.0] * 3, [7.0] * 3])
    scale = max(scale, np.abs(M).max() * np.abs(V).max() * np.abs(A).max(), 1e-300)
    assert_close(newton_euler_wrench(phi, motion)[0] @ V, V @ M @ A, 1e-13, scale=scale)


@given(bodies(), motions(), poses())
def test_wrench_moves_with_the_frame(phi, motion, X_CB):
    """The motion of another point of the body, and the body about it, give the moved wrench."""
    R = X_CB.rotation
    p = X_CB.inverse().position
    a, w, alpha = parts(motion)
    a_C = (a + np.cross(alpha, p) + np.cross(w, np.cross(w, p))) @ R.T
    moved = BodyMotion(a_C, w @ R.T, alpha @ R.T)
    wrench = newton_euler_wrench(in_frame(phi, X_CB), moved)
    expected = newton_euler_wrench(phi, motion) @ coadjoint(X_CB).T
    scale = wrench_scale(in_frame(phi, X_CB), moved) + wrench_scale(phi, motion).max()
    assert_close(wrench, expected, 1e-13, scale=scale)


@given(motions())
def test_regressor_matches_pinocchio(pinocchio, motion):
    a, w, alpha = (x[0] for x in parts(motion))
    v = np.array([1.0, -2.0, 0.5])
    theirs = pinocchio.bodyRegressor(
        pinocchio.Motion(v, w), pinocchio.Motion(a - np.cross(w, v), alpha)
    )
    # Pinocchio orders the inertia xx, xy, yy, xz, yz, zz.
    theirs = np.array(theirs)[:, [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]]
    assert_close(newton_euler_regressor(motion)[0], theirs, 1e-14, scale=200.0)


@given(motions())
def test_regressor_matches_rigeo(rigeo, motion):
    a, w, alpha = (x[0] for x in parts(motion))
    v = np.array([-0.3, 0.7, 1.1])
    theirs = rigeo.RigidBody.regressor(
        rigeo.SV(linear=v, angular=w), rigeo.SV(linear=a - np.cross(w, v), angular=alpha)
    )
    angular_first = np.r_[3:6, 0:3]
    assert_close(newton_euler_regressor(motion)[0], theirs[angular_first], 1e-14, scale=200.0)


def test_a_body_at_rest_is_held_up_against_gravity():
    phi = np.array([2.0, 0.2, 0, 0, 1, 0, 0, 1, 0, 1])
    still = BodyMotion(np.array([[0.0, 0.0, 9.81]]), np.zeros((1, 3)), np.zeros((1, 3)))
    assert_close(newton_euler_wrench(phi, still)[0], [0, 0, 19.62, 0, -1.962, 0], 1e-15)


def test_feature_tensor_is_the_derivative_of_the_regressor_and_cannot_be_changed():
    psi = np.random.default_rng(0).normal(size=12)
    assert_close(
        regressor_from_features(psi), np.einsum("j,jik->ik", psi, FEATURE_TENSOR), 1e-15, scale=5.0
    )
    assert len(FEATURE_NAMES) == 12
    assert len(WRENCH_NAMES) == 6
    with pytest.raises(ValueError, match="read-only"):
        FEATURE_TENSOR[0, 0, 0] = 2.0


@given(motions(2), st.integers(1, 3))
def test_regressor_takes_batches(motion, repeats):
    shape = (repeats, 2, 3)
    batch = BodyMotion(*(np.broadcast_to(x, shape) for x in parts(motion)))
    Y = newton_euler_regressor(batch)
    assert Y.shape == (repeats, 2, 6, 10)
    assert_close(Y[-1], newton_euler_regressor(motion), 0.0)
