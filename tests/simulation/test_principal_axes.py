import numpy as np
import pytest
from hypothesis import given, settings

from identify.errors import ModelError
from identify.inertia import inertia_about_com, phi_from_inertia
from identify.simulation import ConstantLoad, Impulse, PrincipalBody, simulate
from identify.simulation.principal_axes import rotate_by_quaternion
from identify.spatial.rotations import rotation_angle, rotation_from_quaternion
from tests.close import assert_close, assert_same_body
from tests.simulation.exact import random_added_mass, random_state
from tests.strategies import bodies, quaternions, random_body, seeds, vectors


@given(bodies(flat=False))
def test_principal_moments_and_quaternion_determine_inertia(phi):
    body = PrincipalBody.of(phi)
    assert_same_body(body.phi, phi, 1e-12)
    R = rotation_from_quaternion(body.quaternion)
    assert_close(np.linalg.det(R), 1.0, 1e-13)
    Ic = R.T @ inertia_about_com(phi) @ R
    assert_close(Ic, np.diag(body.moments), 1e-11)


@pytest.mark.parametrize("moments", [(1.0, 1.0, 1.5), (2.0, 1.2, 1.2), (1.0, 1.0, 1.0)])
@given(q=quaternions())
def test_repeated_moments_have_right_handed_axes(moments, q):
    R = rotation_from_quaternion(q)
    phi = phi_from_inertia(1.0, np.zeros(3), R @ np.diag(moments) @ R.T)
    body = PrincipalBody.of(phi)
    assert_same_body(body.phi, phi, 1e-13)
    assert_close(np.linalg.norm(body.quaternion), 1.0, 1e-14)


@given(quaternions(), vectors())
def test_turning_by_a_quaternion_is_the_rotation_matrix(q, v):
    assert_close(rotate_by_quaternion(q, v), rotation_from_quaternion(q) @ v, 1e-14, scale=1.0)


@settings(max_examples=6)
@given(seeds())
def test_a_body_moves_the_same_in_its_principal_axes(seed):
    rng = np.random.default_rng(seed)
    phi = random_body(rng, mass=2.0, size=0.3)
    if seed % 3 == 0:  # repeated moments, turned
        R = rotation_from_quaternion(rng.normal(size=4))
        phi = phi_from_inertia(2.0, 0.2 * rng.normal(size=3), R @ np.diag([0.1, 0.1, 0.15]) @ R.T)
    name = ("rkmk4", "suzuki", "semi-implicit-euler")[seed % 3]
    settings_ = {
        "duration": 0.2,
        "step": 5e-3,
        "loads": [
            ConstantLoad(rng.normal(size=3), 0.1 * rng.normal(size=3), 0.1 * rng.normal(size=3)),
            ConstantLoad(rng.normal(size=3), point=0.1 * rng.normal(size=3), frame="world"),
        ],
        "impulses": [Impulse(0.1, rng.normal(size=3), 0.1 * rng.normal(size=3))],
        "integrator": name,
        "added_mass": random_added_mass(rng, phi) if seed % 2 else None,
    }
    start = random_state(rng)
    full = simulate(phi, start, **settings_)
    diagonal = simulate(PrincipalBody.of(phi), start, **settings_)
    assert_close(diagonal.position, full.position, 1e-11)
    assert rotation_angle(diagonal.quaternion, full.quaternion).max() < 1e-10
    assert_close(diagonal.velocity, full.velocity, 1e-10)
    assert_close(diagonal.angular_velocity, full.angular_velocity, 1e-10)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"quaternion": np.zeros(4)}, "no length"),
        (
            {"moments": [1.0, np.nan, 1.0]},
            r"moments: entry \(1,\) is nan; every entry",
        ),
        ({"com": [0.0, 0.0]}, r"com: expected shape \(..., 3\), got \(2,\)"),
    ],
)
def test_invalid_principal_body_is_rejected(changed, message):
    given_ = {"mass": 1.0, "com": np.zeros(3), "moments": np.ones(3), "quaternion": [0, 0, 0, 1]}
    with pytest.raises(ModelError, match=message):
        PrincipalBody(**(given_ | changed))


def test_a_massless_body_has_no_principal_axes():
    with pytest.raises(ModelError, match="has no mass"):
        PrincipalBody.of(np.zeros(10))
