"""Make the log of a 6-axis arm that shakes a payload behind a wrist force-torque sensor.

MuJoCo is given the joint motion exactly and says which wrench crosses the sensor; a Newton-Euler
calculation of its own checks it. Then the clean signals are measured as a real cell would:
quantised encoders, a noisy, biased and quantised sensor, time stamps that jitter.

    python generate.py [--noise-seed N] [--motion-seed N] [-o DIR]

writes `payload_arm.parquet` and `truth.json`. From Python, simulate once and measure often:

    clean = simulate(DEFAULT_MOTION_SEED)
    tables = [measure(clean, noise_seed).table for noise_seed in range(10)]

Frames: W world (the arm's base, z up), B body = the frame of the sensor on its tool side.
SI units; quaternions x, y, z, w. Everything random comes from the two seeds.
"""

import argparse
import itertools
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import mujoco
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

DEFAULT_MOTION_SEED = 0
DEFAULT_NOISE_SEED = 0
PHI = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
GRAVITY = np.array([0.0, 0.0, -9.81])

# --- the arm ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Link:
    """One link: its Denavit-Hartenberg row (standard convention), mass and a rough shape.

    The shape is a chain of points joined by capsules, in the frame that the link's joint turns.
    """

    a: float
    d: float
    alpha: float
    mass: float
    points: tuple[tuple[float, float, float], ...]
    radius: float


# Kinematics and masses published by Universal Robots for the UR5e ("DH parameters for calculations
# of kinematics and dynamics"); the shapes are rough and only serve masses and the clearance check.
LINKS = (
    Link(0.0, 0.1625, np.pi / 2, 3.761, ((0, 0, 0.05), (0, 0, 0.1625)), 0.06),
    Link(-0.425, 0.0, 0.0, 8.058, ((0, 0, 0), (0, 0, 0.138), (-0.425, 0, 0.138)), 0.055),
    Link(-0.3922, 0.0, 0.0, 2.846, ((0, 0, 0.138), (0, 0, 0.007), (-0.3922, 0, 0.007)), 0.045),
    Link(0.0, 0.1333, np.pi / 2, 1.37, ((0, 0, 0), (0, 0, 0.1333)), 0.04),
    Link(0.0, 0.0997, -np.pi / 2, 1.3, ((0, 0, 0), (0, 0, 0.0997)), 0.04),
    Link(0.0, 0.0996, 0.0, 0.365, ((0, 0, 0), (0, 0, 0.062)), 0.0375),
)

# The sensor sits on the flange; B is its tool side, turned about the flange's axis.
SENSOR_RADIUS, SENSOR_HEIGHT, SENSOR_MASS = 0.0377, 0.0333, 0.255
MOUNT_TURN = np.deg2rad(30.0)

FLOOR = -0.7  # the arm stands on a column of this height
CLEARANCE = 0.01  # least distance allowed between parts that are not neighbours


# --- the payload --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Solid:
    """A homogeneous box (three side lengths) or cylinder (radius, length; axis z) placed in B."""

    name: str
    size: tuple[float, ...]
    density: float
    center: tuple[float, float, float]
    rotation_vector: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def is_box(self) -> bool:
        """Whether it is a box; else a cylinder."""
        return len(self.size) == 3


# A small spindle unit: plate on the sensor, motor housing, steel spindle, battery, camera. The
# solids touch or leave a few millimetres; what holds them together weighs nothing.
PAYLOAD = (
    Solid("plate", (0.0375, 0.010), 2700.0, (0.0, 0.0, 0.005)),
    Solid("housing", (0.060, 0.050, 0.090), 1400.0, (0.008, 0.0, 0.055), (0.0, 0.0, 0.35)),
    Solid("spindle", (0.011, 0.120), 7800.0, (0.030, -0.005, 0.162), (0.25, 0.35, 0.0)),
    Solid("battery", (0.090, 0.040, 0.045), 2200.0, (0.030, 0.067, 0.060), (0.3, -0.4, 0.5)),
    Solid("camera", (0.030, 0.030, 0.060), 1600.0, (-0.052, -0.025, 0.080), (-0.4, 0.2, 0.0)),
)


@dataclass(frozen=True, slots=True)
class Inertia:
    """Mass, centre of mass in B, and inertia matrix about the centre of mass in B's axes."""

    mass: float
    com: Array
    inertia_about_com: Array

    @property
    def phi(self) -> Array:
        """The ten parameters about B's origin, products as the matrix's off-diagonal entries."""
        about_origin = self.inertia_about_com + self.mass * _steiner(self.com)
        return np.concatenate([[self.mass], self.mass * self.com, about_origin[np.triu_indices(3)]])


def _steiner(offset: Array) -> Array:
    """Inertia of a unit mass at `offset`: |r|² 1 − r rᵀ."""
    return offset @ offset * np.eye(3) - np.outer(offset, offset)


def solid_inertia(solid: Solid) -> Inertia:
    """Inertia of one homogeneous solid, by the formulas of the textbooks."""
    if solid.is_box:
        mass = solid.density * np.prod(solid.size)
        x2, y2, z2 = np.square(solid.size)
        principal = mass / 12.0 * np.array([y2 + z2, x2 + z2, x2 + y2])
    else:
        radius, length = solid.size
        mass = solid.density * np.pi * radius**2 * length
        across = mass * (3.0 * radius**2 + length**2) / 12.0
        principal = np.array([across, across, mass * radius**2 / 2.0])
    R = Rotation.from_rotvec(solid.rotation_vector).as_matrix()
    inertia = R @ np.diag(principal) @ R.T
    return Inertia(float(mass), np.array(solid.center), (inertia + inertia.T) / 2.0)


def payload_inertia() -> Inertia:
    """The truth of the log: the inertia of all solids of the payload together."""
    parts = [solid_inertia(solid) for solid in PAYLOAD]
    mass = sum(part.mass for part in parts)
    com = sum((part.mass * part.com for part in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        inertia += part.inertia_about_com + part.mass * _steiner(part.com - com)
    return Inertia(mass, com, inertia)


# --- the motion ---------------------------------------------------------------------------------

RATE_HZ = 500.0
DURATION = 60.0
RAMP = 3.0  # the motion swells and fades over this time, so that it starts and ends at rest
HARMONICS = 5  # a joint, drawn without repetition from its band of multiples of 1/60 Hz
SAMPLING_JITTER = 20e-6  # standard deviation of the instants at which the cell samples

HOME = np.array([0.0, -1.75, 1.65, -1.45, -1.57, 0.0])
BAND_HZ = np.array([(0.12, 0.6), (0.12, 0.6), (0.12, 0.6), (0.2, 1.4), (0.2, 1.4), (0.2, 1.4)])
EXCURSION = np.array([0.8, 0.4, 0.45, 1.2, 1.2, 2.5])

# Each joint's motion is scaled until it meets the first of its excursion and these two limits.
# Universal Robots states 180 deg/s and the maximum torque of every joint, and no acceleration:
# ours are moderate (the joint torques stay below a quarter of theirs).
MOTION_SPEED = np.array([1.2, 1.2, 1.2, 2.7, 2.7, 2.7])
MOTION_ACCELERATION = np.array([4.0, 4.0, 4.0, 12.0, 12.0, 12.0])
ARM_SPEED = np.full(6, np.pi)
ARM_ACCELERATION = np.array([5.0, 5.0, 5.0, 15.0, 15.0, 15.0])
ARM_TORQUE = np.array([150.0, 150.0, 150.0, 28.0, 28.0, 28.0])  # maximum joint torques of a UR5e


@dataclass(frozen=True, slots=True)
class JointMotion:
    """Joint angles and their exact first and second derivatives, each (samples, 6)."""

    q: Array
    qd: Array
    qdd: Array


def _ramp(t: Array) -> JointMotion:
    """A window with its two derivatives, (samples, 1): quintic smooth steps up and down."""
    s = np.clip(np.minimum(t, DURATION - t) / RAMP, 0.0, 1.0)[:, None]
    rate = np.where(t < DURATION / 2, 1.0, -1.0)[:, None] / RAMP
    return JointMotion(
        s**3 * (10 - 15 * s + 6 * s**2),
        rate * 30 * s**2 * (1 - s) ** 2,
        rate**2 * 60 * s * (1 - s) * (1 - 2 * s),
    )


def _fourier(t: Array, rng: np.random.Generator) -> JointMotion:
    """A random finite Fourier series a joint: amplitudes fall with frequency, phases are free."""
    base = 2 * np.pi / DURATION
    joints = []
    for low, high in BAND_HZ * DURATION:
        multiples = np.arange(np.ceil(low), np.floor(high) + 1)
        omega = base * rng.choice(multiples, HARMONICS, replace=False)
        amplitude = rng.uniform(0.5, 1.0, HARMONICS) / omega
        angle = np.outer(t, omega) + rng.uniform(0.0, 2 * np.pi, HARMONICS)
        joints.append(
            (
                np.sin(angle) @ amplitude,
                np.cos(angle) @ (amplitude * omega),
                -np.sin(angle) @ (amplitude * omega**2),
            )
        )
    return JointMotion(*np.moveaxis(np.array(joints), 0, -1))


def joint_motion(t: Array, rng: np.random.Generator) -> JointMotion:
    """The exciting motion: q = home + scale · ramp(t) · fourier(t), with its derivatives."""
    w, s = _ramp(t), _fourier(t, rng)
    q = w.q * s.q
    qd = w.qd * s.q + w.q * s.qd
    qdd = w.qdd * s.q + 2 * w.qd * s.qd + w.q * s.qdd
    used = [np.abs(x).max(axis=0) for x in (q, qd, qdd)]
    allowed = [EXCURSION, MOTION_SPEED, MOTION_ACCELERATION]
    scale = np.min(np.divide(allowed, used), axis=0)
    return JointMotion(HOME + scale * q, scale * qd, scale * qdd)


# --- MuJoCo, the source of the wrench -----------------------------------------------------------


def _text(values: object) -> str:
    return " ".join(repr(float(v)) for v in np.ravel(values))


def _quaternion_wxyz(rotation: Rotation) -> str:
    return _text(np.roll(rotation.as_quat(), 1))


def _link_geoms(link: Link) -> str:
    pieces = list(itertools.pairwise(link.points))
    return "".join(
        f'<geom type="capsule" fromto="{_text([start, end])}" size="{link.radius}" '
        f'mass="{link.mass / len(pieces)}"/>'
        for start, end in pieces
    )


def _payload_geom(solid: Solid) -> str:
    kind = "box" if solid.is_box else "cylinder"
    size = np.divide(solid.size, 2.0) if solid.is_box else (solid.size[0], solid.size[1] / 2.0)
    quaternion = _quaternion_wxyz(Rotation.from_rotvec(solid.rotation_vector))
    return (
        f'<geom name="{solid.name}" type="{kind}" size="{_text(size)}" pos="{_text(solid.center)}" '
        f'quat="{quaternion}" density="{solid.density}"/>'
    )


def mjcf() -> str:
    """The MuJoCo model. MuJoCo itself forms the payload's inertia, from the shapes."""
    mount = (0.0, 0.0, LINKS[-1].d + SENSOR_HEIGHT)
    body = (
        f'<geom type="cylinder" fromto="{_text([(0, 0, LINKS[-1].d), mount])}" '
        f'size="{SENSOR_RADIUS}" mass="{SENSOR_MASS}"/>'
        f'<body name="payload" pos="{_text(mount)}" '
        f'quat="{_quaternion_wxyz(Rotation.from_rotvec([0, 0, MOUNT_TURN]))}">'
        f'<site name="sensor"/>{"".join(map(_payload_geom, PAYLOAD))}</body>'
    )
    for number, link in reversed(list(enumerate(LINKS, start=1))):
        before = LINKS[number - 2] if number > 1 else Link(0.0, 0.0, 0.0, 0.0, (), 0.0)
        turn = _quaternion_wxyz(Rotation.from_rotvec([before.alpha, 0, 0]))
        body = (
            f'<body name="link{number}" pos="{_text([before.a, 0, before.d])}" quat="{turn}">'
            f'<joint name="q{number}" axis="0 0 1"/>{_link_geoms(link)}{body}</body>'
        )
    return (
        '<mujoco model="payload_arm">'
        f'<option gravity="{_text(GRAVITY)}"><flag contact="disable"/></option>'
        f'<worldbody><geom type="box" size="2 2 .05" pos="0 0 {FLOOR - 0.05}"/>'
        f'<geom type="cylinder" fromto="0 0 {FLOOR} 0 0 0" size=".09"/>{body}</worldbody>'
        '<sensor><force site="sensor"/><torque site="sensor"/></sensor></mujoco>'
    )


@dataclass(frozen=True, slots=True)
class Clean:
    """What happened, at the instants the cell sampled; arrays are read-only.

    Attributes:
        motion_seed: the seed of the motion and of the sampling instants.
        t: true sampling instants, shape (n,), [s].
        q, qd, qdd: joint angles, speeds, accelerations, (n, 6).
        position: of B in W, (n, 3).
        quaternion: of B in W, (n, 4), x y z w.
        wrench_on_body: MuJoCo's wrench on the payload at Bo in B, force first, (n, 6).
        joint_torque: MuJoCo's torques of the joints, (n, 6).
    """

    motion_seed: int
    t: Array
    q: Array
    qd: Array
    qdd: Array
    position: Array
    quaternion: Array
    wrench_on_body: Array
    joint_torque: Array

    def __post_init__(self) -> None:
        """Seal the arrays: one simulation serves many measurements."""
        for field in fields(self)[1:]:
            getattr(self, field.name).setflags(write=False)


def simulate(motion_seed: int = DEFAULT_MOTION_SEED) -> Clean:
    """Prescribe the motion and let MuJoCo's inverse dynamics say the wrench at the sensor.

    MuJoCo's force and torque sensors give the wrench that the parent (the sensor) exerts on the
    child (the payload), in the axes of the site: at rest, with B upright, they read +m g on z.
    """
    rng = np.random.default_rng(motion_seed)
    count = round(DURATION * RATE_HZ)
    jitter = np.clip(rng.normal(0.0, SAMPLING_JITTER, count), -1e-4, 1e-4)
    t = np.arange(count) / RATE_HZ + jitter
    motion = joint_motion(t, rng)

    model = mujoco.MjModel.from_xml_string(mjcf())
    data = mujoco.MjData(model)
    site = data.site("sensor")
    position, rotation = np.empty((count, 3)), np.empty((count, 9))
    wrench, torque = np.empty((count, 6)), np.empty((count, 6))
    for k in range(count):
        data.qpos[:], data.qvel[:], data.qacc[:] = motion.q[k], motion.qd[k], motion.qdd[k]
        mujoco.mj_inverse(model, data)
        position[k], rotation[k] = site.xpos, site.xmat
        wrench[k], torque[k] = data.sensordata, data.qfrc_inverse
    return Clean(
        motion_seed=motion_seed,
        t=t,
        **asdict(motion),
        position=position,
        quaternion=Rotation.from_matrix(rotation.reshape(-1, 3, 3)).as_quat(canonical=True),
        wrench_on_body=wrench,
        joint_torque=torque,
    )


# --- a second route, without MuJoCo -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SensorMotion:
    """Pose of B in W, and angular velocity, angular and proper acceleration of Bo in B's axes."""

    position: Array
    rotation: Rotation
    w: Array
    alpha: Array
    a_proper: Array


def sensor_motion(q: Array, qd: Array | None = None, qdd: Array | None = None) -> SensorMotion:
    """Kinematics of the arm from its Denavit-Hartenberg rows, link by link in world axes."""
    qd, qdd = np.zeros_like(q) if qd is None else qd, np.zeros_like(q) if qdd is None else qdd
    p, w, alpha, a = (np.zeros((len(q), 3)) for _ in range(4))
    R = Rotation.identity(len(q))
    for i, link in enumerate(LINKS):
        z = R.apply([0.0, 0.0, 1.0])
        alpha = alpha + z * qdd[:, [i]] + np.cross(w, z * qd[:, [i]])
        w = w + z * qd[:, [i]]
        R = R * Rotation.from_rotvec(q[:, [i]] * [0.0, 0.0, 1.0])
        height = link.d + (SENSOR_HEIGHT if link is LINKS[-1] else 0.0)
        r = R.apply([link.a, 0.0, height])
        p = p + r
        a = a + np.cross(alpha, r) + np.cross(w, np.cross(w, r))
        R = R * Rotation.from_rotvec([link.alpha, 0.0, 0.0])
    R = R * Rotation.from_rotvec([0.0, 0.0, MOUNT_TURN])
    into_body = R.inv()
    return SensorMotion(
        p, R, into_body.apply(w), into_body.apply(alpha), into_body.apply(a - GRAVITY)
    )


def newton_euler_wrench(motion: SensorMotion, body: Inertia) -> Array:
    """Wrench on the body at Bo in B from f = m a' + (α× + ω×ω×) h, t = h × a' + I α + ω × I ω."""
    m, h = body.mass, body.mass * body.com
    inertia = body.inertia_about_com + m * _steiner(body.com)
    w, alpha, a = motion.w, motion.alpha, motion.a_proper
    force = m * a + np.cross(alpha, h) + np.cross(w, np.cross(w, h))
    torque = np.cross(h, a) + alpha @ inertia + np.cross(w, w @ inertia)
    return np.hstack([force, torque])


def clearance(q: Array) -> float:
    """Least distance between parts of the cell that are not neighbours, over the postures `q`."""
    model = mujoco.MjModel.from_xml_string(mjcf())
    data = mujoco.MjData(model)
    level = model.geom_bodyid  # 0 world, 1-6 links, 7 payload: a chain, so neighbours differ by 1
    pairs = [
        (i, j)
        for i, j in itertools.combinations(range(model.ngeom), 2)
        if abs(int(level[i]) - int(level[j])) > 1
    ]
    nearest = np.inf
    for row in q:
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        distances = (mujoco.mj_geomDistance(model, data, i, j, 0.5, None) for i, j in pairs)
        nearest = min(nearest, *distances)
    return nearest


def check(clean: Clean) -> dict[str, float]:
    """Check the simulation against Newton-Euler, and the motion against what the arm can do.

    Returns:
        Each figure that was checked, by name.

    Raises:
        ValueError: if one is out of bounds, with its name and both numbers.
    """
    second = sensor_motion(clean.q, clean.qd, clean.qdd)
    wrench = newton_euler_wrench(second, payload_inertia())
    gap = np.abs(wrench - clean.wrench_on_body).max(axis=0) / np.abs(wrench).max(axis=0)
    figures = {
        "wrench, MuJoCo against Newton-Euler": (gap, 1e-9),
        "position, MuJoCo against DH [m]": (second.position - clean.position, 1e-12),
        "joint speed / limit": (clean.qd / ARM_SPEED, 1.0),
        "joint acceleration / limit": (clean.qdd / ARM_ACCELERATION, 1.0),
        "joint torque / limit": (clean.joint_torque / ARM_TORQUE, 1.0),
        "clearance missing [m]": (max(0.0, CLEARANCE - clearance(clean.q[::50])), 0.0),
    }
    worst = {name: float(np.abs(values).max()) for name, (values, _) in figures.items()}
    for name, (_, bound) in figures.items():
        if not worst[name] <= bound:
            raise ValueError(
                f"motion seed {clean.motion_seed}: {name} is {worst[name]:.3g}, expected at most "
                f"{bound:g}; choose another motion seed or a smaller EXCURSION"
            )
    return worst


# --- the measurement ----------------------------------------------------------------------------

# ATI Gamma, calibration SI-65-5, data sheet: range and resolution of Fx, Fy, Fz, Tx, Ty, Tz.
SENSOR_RANGE = np.array([65.0, 65.0, 200.0, 5.0, 5.0, 5.0])
SENSOR_RESOLUTION = np.array([1 / 80, 1 / 80, 1 / 40, *[10 / 13333] * 3])
BIAS_LOW = np.array([1.0, 1.0, 1.0, 0.1, 0.1, 0.1])
BIAS_HIGH = np.array([4.0, 4.0, 4.0, 0.3, 0.3, 0.3])

ENCODER_STEP = 2 * np.pi / 2**17
ENCODER_NOISE = ENCODER_STEP / 2

STAMP_STEP_US = 100
STAMP_LATENCY = 60e-6  # mean of the exponential delay before the clock is read
STAMP_LATENCY_MAX = 1e-3  # below the period: stamps always increase

POSE_DECIMALS = 9


@dataclass(frozen=True, slots=True)
class Measured:
    """One log: its table, and the bias its sensor had, as reported, [N, N m]."""

    noise_seed: int
    table: pd.DataFrame
    reported_bias: Array


def measure(clean: Clean, noise_seed: int = DEFAULT_NOISE_SEED) -> Measured:
    """Measure a simulated motion: what the robot cell would have logged.

    The pose comes from the encoders by forward kinematics; the sensor reports the wrench that the
    payload exerts **on the sensor**, in its own axes.

    Raises:
        ValueError: if the sensor's range is exceeded.
    """
    rng = np.random.default_rng([clean.motion_seed, noise_seed])
    stamps = _stamps(clean.t, rng)
    q = _encoders(clean.q, rng)
    bias = rng.choice([-1.0, 1.0], 6) * rng.uniform(BIAS_LOW, BIAS_HIGH)
    wrench = _force_torque_sensor(-clean.wrench_on_body + bias, rng)
    pose = sensor_motion(q)
    columns = {
        "t_us": stamps,
        **_named("px py pz", np.round(pose.position, POSE_DECIMALS)),
        **_named("qx qy qz qw", np.round(pose.rotation.as_quat(canonical=True), POSE_DECIMALS)),
        **_named("fx fy fz tx ty tz", wrench),
        **_named("q1 q2 q3 q4 q5 q6", q),
    }
    return Measured(noise_seed, pd.DataFrame(columns), bias)


def _named(names: str, values: Array) -> dict[str, Array]:
    return dict(zip(names.split(), values.T, strict=True))


def _stamps(t: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    """Read the clock a little late and cut the reading to its step, in microseconds."""
    latency = np.minimum(rng.exponential(STAMP_LATENCY, t.shape), STAMP_LATENCY_MAX)
    late = np.maximum(t + latency, 0.0) * 1e6
    return (np.floor(late / STAMP_STEP_US) * STAMP_STEP_US).astype(np.int64)


def _encoders(q: Array, rng: np.random.Generator) -> Array:
    """Joint angles as 17-bit encoders say them, half a step of noise before rounding."""
    return np.round((q + rng.normal(0.0, ENCODER_NOISE, q.shape)) / ENCODER_STEP) * ENCODER_STEP


def _force_torque_sensor(wrench: Array, rng: np.random.Generator) -> Array:
    """Add white noise of one resolution step and round to the resolution."""
    noisy = wrench + rng.normal(0.0, SENSOR_RESOLUTION, wrench.shape)
    reading = np.round(noisy / SENSOR_RESOLUTION) * SENSOR_RESOLUTION
    used = np.abs(reading).max(axis=0) / SENSOR_RANGE
    if used.max() > 1.0:
        raise ValueError(f"sensor overloaded: share of the range used, fx..tz, {used.round(2)}")
    return reading


# --- files --------------------------------------------------------------------------------------


def truth(clean: Clean, measured: Measured) -> dict[str, object]:
    """Everything an estimate can be compared with, ready for JSON."""
    body = payload_inertia()
    reported = measured.reported_bias
    return {
        "frame": "B = sensor frame, tool side; SI units",
        "mass": body.mass,
        "com": body.com.tolist(),
        "inertia_about_com": body.inertia_about_com.tolist(),
        "phi_order": list(PHI),
        "phi": body.phi.tolist(),
        "phi_convention": "about the origin of B, axes of B; h = mass * com; products of inertia "
        "are the off-diagonal entries of the inertia matrix",
        "sensor_bias": {
            "as_reported": reported.tolist(),
            "acts_on_body": (-reported).tolist(),
            "convention": "force first, axes of B; columns fx..tz = -(wrench on the body) + "
            "as_reported + noise, hence -(fx..tz) = wrench on the body + acts_on_body - noise",
        },
        "seeds": {"motion": clean.motion_seed, "noise": measured.noise_seed},
    }


def write(directory: Path, clean: Clean, measured: Measured) -> None:
    """Write `payload_arm.parquet` and `truth.json` into an existing folder."""
    table = pa.Table.from_pandas(measured.table, preserve_index=False)
    smooth = ["t_us", "px", "py", "pz", "qx", "qy", "qz", "qw"]
    pq.write_table(
        table.replace_schema_metadata(None),
        directory / "payload_arm.parquet",
        compression="zstd",
        compression_level=19,
        use_dictionary=[name for name in table.column_names if name not in smooth],
        use_byte_stream_split=smooth,
    )
    text = json.dumps(truth(clean, measured), indent=2) + "\n"
    (directory / "truth.json").write_text(text, encoding="utf-8")


def peaks(clean: Clean, measured: Measured) -> dict[str, Array]:
    """Largest magnitudes of the motion and of the readings, as the data card states them."""
    motion = sensor_motion(clean.q, clean.qd, clean.qdd)
    wrench = measured.table[["fx", "fy", "fz", "tx", "ty", "tz"]].to_numpy()
    signals = {
        "joint speed [rad/s]": clean.qd,
        "joint acceleration [rad/s^2]": clean.qdd,
        "joint torque [N m]": clean.joint_torque,
        "angular velocity of B [rad/s]": motion.w,
        "angular acceleration of B [rad/s^2]": motion.alpha,
        "acceleration of Bo less gravity [m/s^2]": motion.a_proper,
        "wrench read [N, N m]": wrench,
    }
    largest = {name: np.abs(values).max(axis=0) for name, values in signals.items()}
    return largest | {"least clearance [m]": np.array(clearance(clean.q[::50]))}


def main() -> None:
    """Simulate, check, measure, write, and print what the data card states."""
    parser = argparse.ArgumentParser(description="make the payload_arm log and its truth")
    parser.add_argument("--noise-seed", "--seed", type=int, default=DEFAULT_NOISE_SEED)
    parser.add_argument("--motion-seed", type=int, default=DEFAULT_MOTION_SEED)
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).parent)
    options = parser.parse_args()

    clean = simulate(options.motion_seed)
    for name, value in check(clean).items():
        print(f"{name:42s} {value:.3g}")
    measured = measure(clean, options.noise_seed)
    for name, values in peaks(clean, measured).items():
        print(f"{name:42s} {np.array2string(values, precision=3)}")
    options.output.mkdir(parents=True, exist_ok=True)
    write(options.output, clean, measured)
    print(f"wrote {options.output / 'payload_arm.parquet'} and truth.json")


if __name__ == "__main__":
    main()
