import numpy as np
import pytest
from hypothesis import given, settings

from identify.errors import SimulationError
from identify.inertia import inertia_about_com
from identify.simulation.poinsot import poinsot_motion, polhode_curves
from identify.spatial.rotations import cross, rotate, rotation_from_quaternion
from tests.close import assert_close
from tests.simulation.free_rotation.cases import ALL, QUATERNION, body
from tests.strategies import random_body, seeds

MOVING = {name: case for name, case in ALL.items() if name != "at rest"}


def made(name: str, duration: float = 40.0, count: int = 401, turned: bool = True):
    inertia, w = body(MOVING[name], turned)
    return poinsot_motion(inertia, QUATERNION, w, np.linspace(0.0, duration, count))


@pytest.mark.parametrize("name", MOVING)
def test_r_lies_on_the_ellipsoid_and_on_the_plane(name):
    """rᵀ I r = 1, r · L = √(2K), I r ∥ L: the ellipsoid touches the plane at r."""
    p = made(name)
    r, L = p.polhode, p.momentum
    assert_close(np.einsum("ni,ij,nj->n", r, p.inertia, r), np.ones(len(r)), 1e-13)
    assert_close(p.herpolhode @ L, np.full(len(r), p.root_of_twice_energy), 1e-13)
    assert_close(p.herpolhode @ p.normal, np.full(len(r), p.distance), 1e-13)
    R = rotation_from_quaternion(p.quaternion)
    normals = rotate(R, r @ p.inertia) * p.root_of_twice_energy
    assert_close(normals, np.broadcast_to(L, r.shape), 1e-12)
    assert_close(rotate(R, r), p.herpolhode, 1e-15)


@settings(max_examples=15)
@given(seeds())
def test_r_is_omega_over_the_root_of_twice_the_energy(seed):
    rng = np.random.default_rng(seed)
    phi, q, w = random_body(rng), rng.normal(size=4), rng.normal(size=3)
    p, I = poinsot_motion(phi, q, w, [0.0, 3.0]), inertia_about_com(phi)
    twice = w @ I @ w
    assert_close(p.polhode[0], w / np.sqrt(twice), 1e-13)
    assert_close(p.root_of_twice_energy, np.sqrt(twice), 1e-13)
    assert_close(p.distance, np.sqrt(twice) / np.linalg.norm(I @ w), 1e-13)
    assert_close(p.semi_axes, 1.0 / np.sqrt(np.linalg.eigvalsh(I)), 1e-12)
    assert_close(p.axes @ np.diag(p.moments) @ p.axes.T, I, 1e-13)
    assert np.linalg.det(p.axes) == pytest.approx(1.0)
    assert ((p.polhode[0] @ p.axes)[[0, 2]] >= 0.0).all()


def test_poinsot_ellipsoid_rolls_without_slipping():
    """The body's point at the contact is at rest, and both curves are as long as each other."""
    p = made("about the largest", 10.0, 20001)
    contact, w = p.herpolhode, rotate(rotation_from_quaternion(p.quaternion), p.polhode)
    assert_close(cross(w, contact), np.zeros_like(contact), 1e-14, scale=1.0)
    lengths = [np.linalg.norm(np.diff(x, axis=0), axis=1) for x in (p.polhode, p.herpolhode)]
    assert_close(lengths[0], lengths[1], 1e-6)


@pytest.mark.parametrize("name", ["about the smallest", "about the largest", "tennis racket"])
def test_the_herpolhode_runs_between_its_circles(name):
    p = made(name, 300.0, 300001)
    radii = np.linalg.norm(p.herpolhode @ p.plane_axes[:, :2], axis=1)
    low, high = p.herpolhode_radii
    assert low * (1.0 - 1e-9) - 1e-12 <= radii.min()
    assert radii.max() <= high * (1.0 + 1e-9)
    assert radii.min() == pytest.approx(low, rel=1e-3)
    assert radii.max() == pytest.approx(high, rel=1e-3)


@pytest.mark.parametrize(
    ("moments", "effective"),
    [
        *(([1.0, 2.0, 2.5], e) for e in (1.0, 1.3, 2.0 - 1e-9, 2.0, 2.0 + 1e-9, 2.2, 2.5)),
        *(([1.0, 1.0, 1.8], e) for e in (1.0, 1.4, 1.8)),
        *(([0.3, 2.0, 2.0], e) for e in (0.3, 1.15, 2.0)),
        ([1.5, 1.5, 1.5], 1.5),
    ],
)
def test_curves_lie_on_both_surfaces(moments, effective):
    moments = np.array(moments)
    (pair,) = polhode_curves(moments, [effective])
    assert pair.shape == (2, 181, 3)
    assert_close(pair**2 @ moments, np.ones((2, 181)), 1e-12)
    assert_close(pair**2 @ moments**2, np.full((2, 181), effective), 1e-12)
    assert_close(pair[:, 0], pair[:, -1], 1e-12)


def test_poinsot_rejects_invalid_input():
    I, q, w, t = np.diag([1.0, 2.0, 2.5]), QUATERNION, [1.0, 0.0, 0.1], [0.0, 1.0]
    with pytest.raises(SimulationError, match="at rest"):
        poinsot_motion(I, q, [0.0, 0.0, 0.0], t)
    with pytest.raises(SimulationError, match="of one body"):
        poinsot_motion([I, I], q, w, t)
    with pytest.raises(SimulationError, match="of one body"):
        poinsot_motion(I, q, w, 1.0)
    with pytest.raises(SimulationError, match="triangle inequality"):
        poinsot_motion(np.diag([1.0, 1.0, 2.5]), q, w, t)


def test_polhode_curves_reject_unreachable_motion():
    with pytest.raises(SimulationError, match=r"I_eff = .* = 3 kg m² is not between"):
        polhode_curves(np.array([1.0, 2.0, 2.5]), [3.0])
