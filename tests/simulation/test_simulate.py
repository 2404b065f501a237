import numpy as np
import pytest
from hypothesis import given, settings

from identify.errors import IdentifyError, SimulationError
from identify.exchange import SavedEstimate
from identify.inertia import (
    InertialParameters,
    added_mass_in_frame,
    in_frame,
    phi_from_inertia,
    spatial_momentum,
)
from identify.simulation import (
    INTEGRATORS,
    ConstantLoad,
    Impulse,
    SampledLoad,
    State,
    Trajectory,
    simulate,
)
from identify.spatial import Pose, quaternion_from_rotation
from identify.spatial.rotations import rotate_back, rotation_from_quaternion
from tests.close import assert_close
from tests.recordings import GRAVITY
from tests.simulation.exact import random_added_mass, random_state, state_at
from tests.strategies import bodies, poses, random_body, seeds, vectors

PHI = random_body(np.random.default_rng(0), mass=2.0, size=0.3)
FLUID = random_added_mass(np.random.default_rng(1), PHI)
NO_GRAVITY = np.zeros(3)
FOURTH_ORDER = ("rkmk4", "suzuki")


def twists(state: State | Trajectory) -> np.ndarray:
    v = rotate_back(rotation_from_quaternion(state.quaternion), state.velocity)
    return np.concatenate((v, state.angular_velocity), axis=-1)


@settings(max_examples=10)
@given(bodies(flat=False, offset=1.0), vectors(), vectors(), seeds())
def test_momentum_changes_by_force_times_time(phi, force, torque, seed):
    """World loads: a straight line in the momentum, which each integrator follows to rounding."""
    rng = np.random.default_rng(seed)
    com, size = phi[1:4] / phi[0], np.sqrt((phi[4] + phi[7] + phi[9]) / phi[0])
    state = random_state(rng)
    start = State(size * state.position, state.quaternion, size * state.velocity, 0.3 * com / size)
    force, torque = phi[0] * size * force, 0.02 * phi[0] * size**2 * torque
    load = ConstantLoad(force, torque, com, "world")
    name = tuple(INTEGRATORS)[seed % len(INTEGRATORS)]
    path = simulate(phi, start, duration=0.5, step=0.02, loads=[load], integrator=name)
    P = spatial_momentum(phi, twists(path))
    R = rotation_from_quaternion(path.quaternion)
    p = np.einsum("nij,nj->ni", R, P[:, :3])
    L = np.einsum("nij,nj->ni", R, P[:, 3:] - np.cross(com, P[:, :3]))  # about the com
    weight = phi[0] * np.array([0.0, 0.0, -9.80665])
    assert_close(p, p[0] + np.outer(path.time, force + weight), 1e-12, scale=10.0 * phi[0])
    assert_close(L, L[0] + np.outer(path.time, torque), 1e-11, scale=phi[0] * size**2)


@settings(max_examples=20)
@given(bodies(flat=False, offset=1.0), vectors(), vectors(), vectors(), seeds())
def test_an_impulse_is_the_jump_of_the_momentum(phi, linear, angular, point, seed):
    rng = np.random.default_rng(seed)
    size = np.sqrt((phi[4] + phi[7] + phi[9]) / phi[0])
    state = random_state(rng, spin=0.5)
    start = State(
        size * state.position, state.quaternion, size * state.velocity, state.angular_velocity
    )
    J, H, r = phi[0] * size * linear, 0.1 * phi[0] * size**2 * angular, size * point
    frame = ("body", "world")[seed % 2]
    hit = Impulse(0.0135, J, H, r, frame)
    path = simulate(phi, start, duration=0.05, step=0.001, impulses=[hit], gravity=size * GRAVITY)
    (jump,) = path.jumps
    R = rotation_from_quaternion(jump.before.quaternion)
    if frame == "world":
        J, H = R.T @ J, R.T @ H
    gained = spatial_momentum(phi, twists(jump.after) - twists(jump.before))
    scale = phi[0] * size * np.repeat([1.0, size], 3)
    assert_close(gained, np.r_[J, H + np.cross(r, J)], 1e-9, scale=scale)
    assert_close(jump.after.position, jump.before.position, 1e-12, scale=size)
    np.testing.assert_array_equal(jump.after.quaternion, jump.before.quaternion)
    assert jump.time == 0.0135


@pytest.mark.parametrize("name", tuple(INTEGRATORS))
def test_impulses_act_exactly_at_their_time(name):
    """At the start, between steps, twice at once, on the grid and at the end: as run in pieces."""
    rng = np.random.default_rng(5)
    hits = [
        Impulse(t, *rng.normal(size=(2, 3)) * [[1.0], [0.1]], rng.normal(size=3) * 0.1, frame)
        for t, frame in [
            (0.0, "body"), (0.0137, "world"), (0.0137, "body"), (0.02, "world"), (0.03, "body")
        ]
    ]  # fmt: skip
    start = random_state(rng)
    settings = {"gravity": GRAVITY, "integrator": name}
    path = simulate(PHI, start, duration=0.03, step=0.01, impulses=hits, **settings)
    state = start
    now = 0.0
    for stop, ends in [(0.0, [0]), (0.01, []), (0.0137, [1, 2]), (0.02, [3]), (0.03, [4])]:
        if stop > now:
            part = simulate(PHI, state, duration=stop - now, step=0.01, **settings)
            state, now = State.from_vector(state_at(part)), stop
        for k in ends:
            again = Impulse(0.0, hits[k].linear, hits[k].angular, hits[k].point, hits[k].frame)
            tiny = simulate(PHI, state, duration=1e-9, step=1e-9, impulses=[again], **settings)
            state = tiny.jumps[0].after
            assert_close(state.vector, path.jumps[k].after.vector, 1e-12)
    assert_close(state_at(path), state.vector, 1e-12)
    assert_close(state_at(path, 0), path.jumps[0].after.vector, 1e-15)
    assert_close(path.jumps[0].before.vector, start.vector, 1e-14)
    assert [jump.time for jump in path.jumps] == [0.0, 0.0137, 0.0137, 0.02, 0.03]
    assert_close(path.time, [0.0, 0.01, 0.02, 0.03], 1e-15)


@pytest.mark.parametrize("frame", ["body", "world"])
def test_a_load_acts_from_its_start_to_its_end(frame):
    """Off the grid both: what it adds to the momentum is force times exactly that time."""
    start = State(np.zeros(3), np.r_[0, 0, 0, 1.0], np.zeros(3), np.zeros(3))
    com = PHI[1:4] / PHI[0]
    load = ConstantLoad([0.0, 4.0, 0.0], np.zeros(3), com, frame, start=0.0123, end=0.0877)
    path = simulate(PHI, start, duration=0.1, step=0.01, loads=[load], gravity=NO_GRAVITY)
    assert_close(path.velocity[-1], [0.0, 4.0 * 0.0754 / PHI[0], 0.0], 1e-12)
    assert_close(path.velocity[1], np.zeros(3), 0.0)
    late = ConstantLoad(load.force, point=com, start=5.0)
    path = simulate(PHI, start, duration=0.1, step=0.01, loads=[late], gravity=NO_GRAVITY)
    assert_close(path.velocity[-1], np.zeros(3), 0.0)


@settings(max_examples=4)
@given(seeds(), poses(0.3))
def test_the_motion_does_not_depend_on_the_body_frame(seed, X_CB):
    """The same body, fluid, loads, impulse and start told of another frame fixed in the body."""
    rng = np.random.default_rng(seed)
    start, name = random_state(rng), FOURTH_ORDER[seed % 2]
    vectors_ = rng.normal(size=(9, 3))

    def acting(R: np.ndarray, move) -> dict:
        f, t, J, H = (R @ v for v in vectors_[:4])
        return {
            "loads": [
                ConstantLoad(f, 0.2 * t, move(0.1 * vectors_[4])),
                ConstantLoad(vectors_[5], 0.2 * vectors_[6], move(0.1 * vectors_[4]), "world"),
            ],
            "impulses": [
                Impulse(0.05, J, 0.2 * H, move(0.1 * vectors_[7])),
                Impulse(0.1, vectors_[8], 0.2 * vectors_[7], move(0.1 * vectors_[7]), "world"),
            ],
        }

    times = {"duration": 0.12, "step": 4e-3, "gravity": GRAVITY, "integrator": name}
    one = simulate(PHI, start, added_mass=FLUID, **acting(np.eye(3), lambda point: point), **times)
    X_BC = X_CB.inverse()
    R_WB = rotation_from_quaternion(start.quaternion)
    X_WC = Pose(R_WB, start.position) @ X_BC
    start_C = State(
        X_WC.position,
        quaternion_from_rotation(X_WC.rotation),
        start.velocity + R_WB @ np.cross(start.angular_velocity, X_BC.position),
        X_CB.rotation @ start.angular_velocity,
    )
    other = simulate(
        in_frame(PHI, X_CB),
        start_C,
        added_mass=added_mass_in_frame(FLUID, X_CB),
        **acting(X_CB.rotation, X_CB.apply),
        **times,
    )
    back = Pose(rotation_from_quaternion(other.quaternion[-1]), other.position[-1]) @ X_CB
    assert_close(back.position, one.position[-1], 2e-7, scale=1.0)
    assert_close(back.rotation, rotation_from_quaternion(one.quaternion[-1]), 2e-7)


@pytest.mark.parametrize("fluid", [None, FLUID], ids=["free", "fluid"])
@pytest.mark.parametrize("name", tuple(INTEGRATORS))
def test_a_batch_is_a_loop_over_its_bodies(name, fluid):
    rng = np.random.default_rng(11)
    phis = np.stack([random_body(rng, mass=m, size=0.3) for m in (1.0, 2.0, 3.0)])
    starts = State(
        rng.normal(size=(3, 3)), rng.normal(size=(3, 4)), rng.normal(size=(3, 3)),
        rng.normal(size=(3, 3)),
    )  # fmt: skip
    forces, samples = rng.normal(size=(3, 3)), 0.3 * rng.normal(size=(3, 5, 6))
    gravity = rng.normal(size=(3, 3))
    blows = rng.normal(size=(3, 3))

    def run(k) -> Trajectory:
        return simulate(
            phis[k],
            State(*(getattr(starts, n)[k] for n in State.__dataclass_fields__)),
            duration=0.1,
            step=0.01,
            loads=[
                ConstantLoad(forces[k], point=[0.1, 0, 0], frame="world"),
                SampledLoad(np.linspace(0, 0.1, 5), samples[k]),
            ],
            impulses=[Impulse(0.033, blows[k])],
            gravity=gravity[k],
            integrator=name,
            added_mass=fluid,
            every=3,
        )

    batch = run(slice(None))
    assert batch.position.shape == (3, 5, 3)
    assert_close(batch.time, [0, 0.03, 0.06, 0.09, 0.1], 1e-15)
    for k in range(3):
        assert_close(state_at(batch)[k], state_at(run(k)), 1e-12)
        assert_close(batch.jumps[0].after.velocity[k], run(k).jumps[0].after.velocity, 1e-12)


@pytest.mark.parametrize("name", ["rkmk4", "exact"])
def test_an_estimate_is_simulated_as_its_body(name):
    saved = SavedEstimate(InertialParameters(PHI))
    times = {"duration": 0.3, "step": 0.05, "integrator": name}
    start = random_state(np.random.default_rng(4))
    path, of_body = (simulate(body, start, **times) for body in (saved, PHI))
    assert path.position.tolist() == of_body.position.tolist()


REST = State(np.zeros(3), np.r_[0, 0, 0, 1.0], np.zeros(3), np.zeros(3))
TOP = phi_from_inertia(1.0, np.zeros(3), np.diag([1.0, 2.0, 3.0]))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"body": -PHI}, "not physically possible"),
        ({"body": phi_from_inertia(1.0, np.ones(3), np.diag([0.0, 1, 1]))}, "a point or a rod"),
        ({"body": np.ones(9)}, r"expected shape \(..., 10\)"),
        ({"step": 1e-12}, r"1e\+12 steps"),
        ({"every": 0}, "every: expected a whole number of steps, 1 or more, got 0"),
        ({"every": 1.5}, "every: expected a whole number"),
        ({"integrator": "rkmk5"}, "did you mean 'rkmk4'"),
        ({"integrator": "exakt"}, "did you mean 'exact'"),
        (
            {"integrator": "exact", "loads": [ConstantLoad(np.ones(3))]},
            '"exact" is for a body without loads, impulses or fluid; use "rkmk4"',
        ),
        ({"integrator": "exact", "added_mass": FLUID}, "without loads, impulses or fluid"),
        ({"gravity": [0, 0, np.nan]}, r"gravity: entry \(2,\) is nan"),
        ({"gravity": [0, 9.81]}, r"gravity: expected shape \(..., 3\), got \(2,\)"),
        ({"added_mass": np.eye(3)}, r"added mass: expected shape \(..., 6, 6\)"),
        ({"added_mass": -np.eye(6)}, "added mass: linear x has -1 on the diagonal"),
        (
            {"loads": [SampledLoad([0.0, 0.5], np.zeros((2, 6)), name="w.csv")]},
            r"w.csv: the samples reach from 0 to 0.5 s, but the load acts from 0 to 1 s",
        ),
        (
            {"loads": [SampledLoad([0.1, 2.0], np.zeros((2, 6)))]},
            "samples reach from 0.1 to 2 s",
        ),
        (
            {"loads": [ConstantLoad(np.ones((2, 3))), ConstantLoad(np.ones((3, 3)))]},
            r"batches do not broadcast with each other: load 0 \(2,\), load 1 \(3,\)",
        ),
    ],
)
def test_invalid_simulations_are_rejected(changed, message):
    arguments = {"body": TOP, "start": REST, "duration": 1.0, "step": 0.1} | changed
    with pytest.raises(IdentifyError, match=message):
        simulate(**arguments)


@pytest.mark.parametrize("name", tuple(INTEGRATORS))
def test_too_long_step_reports_time_and_body(name):
    """Torques that spin the second body of two up: 1 rad a step is passed before 2 s."""
    torque = np.array([[0.0, 0, 0], [0.0, 0, 15.3]])
    with pytest.raises(
        SimulationError,
        match=r"the body \(batch index 1\) turns by 1.02 rad in a step of 0.1 s at 2 s, more "
        r"than the 1 rad .* take a step of 0.01 s or less",
    ):
        simulate(
            TOP, REST, duration=9.0, step=0.1, loads=[ConstantLoad(torque=torque)], integrator=name
        )


def test_overflowing_motion_reports_time():
    load = ConstantLoad([1e308, 0, 0])
    with pytest.raises(SimulationError, match=r"the body moved beyond all bounds at \d"):
        simulate(TOP, REST, duration=100.0, step=1.0, loads=[load])
