"""Make the logs of two arms without a force sensor: joint angles and joint torques, two runs each.

A 6-axis arm that reports torques from motor currents, and a 7-axis arm with torque sensors in its
joints, each once without and once with a load on its flange. MuJoCo's inverse dynamics gives the
torque of the rigid links; friction that differs between the runs, rotor inertia, coloured noise and
the steps of the encoders are added. The URDF beside the logs is the arm as its maker would draw it:
its masses, centres of mass and inertias differ from those of the arm that was simulated.

    python generate.py [--seed N] [-o DIR]

writes a folder for each arm: `arm.urdf`, `schema.toml`, `empty.parquet`, `loaded.parquet`,
`truth.json`. From Python:

    simulated = simulate(SIX_AXES, seed)   # .empty and .loaded are tables, .truth a dictionary
    write_arm("six_axes", seed, folder)    # the files

SI units. Everything random comes from the seed.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]
Vector = tuple[float, float, float]

GRAVITY = np.array([0.0, 0.0, -9.81])
RATE_HZ = 100.0
DURATION = 30.0
RAMP = 3.0
"""The motion swells and fades over this time [s], so that it starts and ends at rest."""
HARMONICS = 5
"""Harmonics of 1 / DURATION in each joint, drawn without repetition from its band."""
ENCODER_STEPS = 2**17
NOISE_CORRELATION = 0.4
"""Time constant of the coloured part of the torque noise [s]; it has half of the variance. The
torques that a fit leaves of a UR10e's large joints have a correlation of 0.5 at 0.2 s and 0.25 at
0.5 s."""
DRIFT = 0.03
"""Standard deviation of the relative change of a joint's friction from run to run."""
PHI = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


@dataclass(frozen=True, slots=True)
class Joint:
    """A revolute joint about z, its limits, and the link behind it as a homogeneous box.

    Attributes:
        origin, rpy: placement of the joint in the link before it [m], [rad].
        mass, com, box: of the link, in the joint's frame [kg], [m], sides [m].
        limits: lowest and highest angle [rad].
        speed, torque: largest speed [rad/s] and torque [N m].
        viscous, coulomb: friction [N m s/rad], [N m].
        rotor: inertia of the rotor on the joint's side [kg m²].
        noise: standard deviation of the torque's noise [N m].
        band: frequencies of the motion [Hz].
    """

    origin: Vector
    rpy: Vector
    mass: float
    com: Vector
    box: Vector
    limits: tuple[float, float]
    speed: float
    torque: float
    viscous: float
    coulomb: float
    rotor: float
    noise: float
    band: tuple[float, float]
    home: float
    excursion: float


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm: its joints, the flange in the last link's frame, and what it says of itself."""

    name: str
    title: str
    joints: tuple[Joint, ...]
    flange: Vector
    speed: float
    acceleration: float


HALF = np.pi / 2
WIDE = (-2 * np.pi, 2 * np.pi)
SLOW = (1 / 30, 0.3)
"""Frequencies of the motion [Hz]: a UR10e's log turns its joints by 2.4 to 5.9 rad with a root mean
square speed of 0.37 to 0.51 rad/s."""

SIX_AXES = Arm(
    "six_axes",
    "a 6-axis arm, torques from motor currents",
    (
        Joint((0, 0, 0.16), (0, 0, 0), 3.8, (0, -0.02, 0), (0.12, 0.14, 0.13), WIDE,
              3.1, 150, 11.0, 8.0, 1.6, 1.00, SLOW, 0.0, 2.5),
        Joint((0, 0, 0), (HALF, 0, 0), 8.1, (-0.21, 0, 0.11), (0.48, 0.12, 0.12), WIDE,
              3.1, 150, 11.0, 9.0, 1.6, 1.40, SLOW, -1.5, 1.5),
        Joint((-0.43, 0, 0), (0, 0, 0), 2.9, (-0.17, 0, 0.02), (0.42, 0.09, 0.09), WIDE,
              3.1, 150, 7.0, 5.0, 1.0, 0.80, SLOW, 1.5, 1.5),
        Joint((-0.39, 0, 0.13), (0, 0, 0), 1.4, (0, -0.01, -0.01), (0.08, 0.11, 0.1), WIDE,
              3.1, 28, 1.4, 1.6, 0.15, 0.14, SLOW, -1.4, 1.5),
        Joint((0, -0.1, 0), (HALF, 0, 0), 1.3, (0, 0.01, -0.01), (0.08, 0.11, 0.1), WIDE,
              3.1, 28, 1.4, 1.6, 0.15, 0.14, SLOW, -1.6, 1.5),
        Joint((0, 0.1, 0), (-HALF, 0, 0), 0.4, (0, 0, -0.02), (0.07, 0.07, 0.05), WIDE,
              3.1, 28, 1.2, 1.4, 0.15, 0.10, SLOW, 0.0, 2.0),
    ),
    (0.0, 0.0, 0.05),
    speed=1.6,
    acceleration=5.0,
)  # fmt: skip

SEVEN_AXES = Arm(
    "seven_axes",
    "a 7-axis arm with torque sensors in its joints",
    (
        Joint((0, 0, 0.33), (0, 0, 0), 3.2, (0, -0.03, -0.08), (0.11, 0.12, 0.28), (-2.9, 2.9),
              2.1, 87, 0.5, 0.7, 0, 0.25, SLOW, 0.0, 2.0),
        Joint((0, 0, 0), (-HALF, 0, 0), 3.1, (0, -0.07, 0.03), (0.11, 0.26, 0.12), (-1.7, 1.7),
              2.1, 87, 0.5, 0.7, 0, 0.25, SLOW, -0.3, 1.2),
        Joint((0, -0.32, 0), (HALF, 0, 0), 2.9, (0.03, 0.02, -0.06), (0.14, 0.12, 0.2),
              (-2.9, 2.9), 2.1, 87, 0.4, 0.5, 0, 0.20, SLOW, 0.0, 2.0),
        Joint((0.08, 0, 0), (HALF, 0, 0), 2.7, (-0.04, 0.04, 0.03), (0.15, 0.18, 0.11),
              (-3.0, -0.1), 2.1, 87, 0.4, 0.5, 0, 0.20, SLOW, -1.7, 1.2),
        Joint((-0.08, 0.38, 0), (-HALF, 0, 0), 3.0, (0, 0.03, -0.1), (0.1, 0.12, 0.3),
              (-2.9, 2.9), 2.6, 12, 0.25, 0.35, 0, 0.10, SLOW, 0.0, 2.0),
        Joint((0, 0, 0), (HALF, 0, 0), 1.6, (0.05, -0.01, -0.01), (0.16, 0.09, 0.1),
              (0.0, 3.7), 2.6, 12, 0.2, 0.3, 0, 0.08, SLOW, 1.8, 1.6),
        Joint((0.09, 0, 0), (HALF, 0, 0), 0.7, (0.01, 0.01, 0.07), (0.08, 0.08, 0.08),
              (-2.9, 2.9), 2.6, 12, 0.15, 0.25, 0, 0.06, SLOW, 0.0, 2.0),
    ),
    (0.0, 0.0, 0.107),
    speed=1.8,
    acceleration=6.0,
)  # fmt: skip

ARMS = (SIX_AXES, SEVEN_AXES)

LOAD_MASS = 2.0
LOAD_COM = np.array([0.021, -0.013, 0.062])
LOAD_INERTIA = np.array([[5.1, 0.4, -0.3], [0.4, 4.4, 0.5], [-0.3, 0.5, 3.2]]) * 1e-3
"""The load in the flange's frame; its inertia is about the centre of mass [kg m²]."""


@dataclass(frozen=True, slots=True)
class Body:
    """Mass [kg], centre of mass [m] and inertia about it [kg m²], in the joint's frame."""

    mass: float
    com: Array
    inertia: Array

    @property
    def phi(self) -> list[float]:
        """Ten parameters about the frame's origin, products as entries of the matrix."""
        c = self.com
        about_origin = self.inertia + self.mass * (c @ c * np.eye(3) - np.outer(c, c))
        return [self.mass, *(self.mass * c), *about_origin[np.triu_indices(3)]]


def box_body(joint: Joint) -> Body:
    """The link as its maker draws it: a homogeneous box, axes of the joint."""
    x2, y2, z2 = np.square(joint.box)
    inertia = joint.mass / 12 * np.diag([y2 + z2, x2 + z2, x2 + y2])
    return Body(joint.mass, np.array(joint.com, dtype=float), inertia)


def built_body(drawn: Body, joint: Joint, rng: np.random.Generator) -> Body:
    """The link as it was built: 15 % of its mass and 12 % of its sides away from the drawing.

    The links of a URDF leave 7 % of the moving torque of a UR10e's links, and 11 % of a TX40's.
    Two parts of .85 and .15 of the mass, each a turned box, so that the body is a possible one.
    """
    mass = drawn.mass * np.exp(rng.normal(0.0, 0.15))
    sides = np.array(joint.box)
    parts = []
    for share, size in ((0.85, 1.0), (0.15, 0.4)):
        center = drawn.com + sides * rng.uniform(-0.12, 0.12, 3) / np.sqrt(share)
        x2, y2, z2 = np.square(sides * size * rng.uniform(0.85, 1.0, 3))
        R = Rotation.from_rotvec(rng.normal(0.0, 0.15, 3)).as_matrix()
        inertia = share * mass / 12 * R @ np.diag([y2 + z2, x2 + z2, x2 + y2]) @ R.T
        parts.append(Body(share * mass, center, inertia))
    return combined(parts)


def combined(parts: list[Body]) -> Body:
    """Several rigidly joined bodies as one, by the parallel-axis theorem."""
    mass = sum(part.mass for part in parts)
    com = sum((part.mass * part.com for part in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        d = part.com - com
        inertia += part.inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Body(float(mass), com, (inertia + inertia.T) / 2)


# --- the model ----------------------------------------------------------------------------------


def _text(values: object) -> str:
    return " ".join(f"{float(v):.10g}" for v in np.ravel(values))


def urdf(arm: Arm, bodies: list[Body]) -> str:
    """URDF of an arm whose links have these inertias; the flange is a fixed link, `tool0`."""
    lines = [f'<?xml version="1.0"?>\n<robot name="{arm.name}">', '  <link name="base_link"/>']
    for number, (joint, body) in enumerate(zip(arm.joints, bodies, strict=True), start=1):
        Ixx, Ixy, Ixz, Iyy, Iyz, Izz = body.inertia[np.triu_indices(3)]
        parent = f"link{number - 1}" if number > 1 else "base_link"
        lines += [
            f'  <joint name="joint{number}" type="revolute">',
            f'    <parent link="{parent}"/><child link="link{number}"/>',
            f'    <origin xyz="{_text(joint.origin)}" rpy="{_text(joint.rpy)}"/>',
            '    <axis xyz="0 0 1"/>',
            f'    <limit lower="{joint.limits[0]:.6g}" upper="{joint.limits[1]:.6g}" '
            f'velocity="{joint.speed:g}" effort="{joint.torque:g}"/>',
            "  </joint>",
            f'  <link name="link{number}">',
            f'    <inertial><origin xyz="{_text(body.com)}"/><mass value="{body.mass:.10g}"/>',
            f'      <inertia ixx="{Ixx:.10g}" ixy="{Ixy:.10g}" ixz="{Ixz:.10g}" iyy="{Iyy:.10g}" '
            f'iyz="{Iyz:.10g}" izz="{Izz:.10g}"/></inertial>',
            "  </link>",
        ]
    lines += [
        '  <joint name="flange" type="fixed">',
        f'    <parent link="link{len(bodies)}"/><child link="tool0"/>',
        f'    <origin xyz="{_text(arm.flange)}"/>',
        "  </joint>",
        '  <link name="tool0"/>',
        "</robot>\n",
    ]
    return "\n".join(lines)


def schema(arm: Arm) -> str:
    """Schema of the logs."""
    numbers = range(1, len(arm.joints) + 1)

    def names(prefix: str) -> str:
        return "[" + ", ".join(f'"{prefix}{number}"' for number in numbers) + "]"

    return (
        f"# {arm.title[0].upper()}{arm.title[1:]}: angles and torques of the joints.\n"
        '[log]\ntime = "t"\n\n[world]\ngravity = [0, 0, -9.81]\n\n'
        f"[joints]\nnames = {names('joint')}\nposition = {names('q')}\neffort = {names('tau')}\n"
    )


# --- the motion ---------------------------------------------------------------------------------


def joint_motion(arm: Arm, t: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Random Fourier series about a home position, with derivatives, each (samples, joints).

    Scaled in each joint to the first of its excursion and the arm's speed and acceleration.
    """
    s = np.clip(np.minimum(t, DURATION - t) / RAMP, 0.0, 1.0)
    rate = np.where(t < DURATION / 2, 1.0, -1.0) / RAMP
    w = s**3 * (10 - 15 * s + 6 * s**2)
    wd = rate * 30 * s**2 * (1 - s) ** 2
    wdd = rate**2 * 60 * s * (1 - s) * (1 - 2 * s)
    motions = []
    for joint in arm.joints:
        low, high = np.array(joint.band) * DURATION
        omega = 2 * np.pi / DURATION * rng.choice(
            np.arange(np.ceil(low), np.floor(high) + 1), HARMONICS, replace=False
        )  # fmt: skip
        amplitude = rng.uniform(0.5, 1.0, HARMONICS) / omega
        angle = np.outer(t, omega) + rng.uniform(0.0, 2 * np.pi, HARMONICS)
        f = np.sin(angle) @ amplitude
        fd = np.cos(angle) @ (amplitude * omega)
        fdd = -np.sin(angle) @ (amplitude * omega**2)
        q, qd = w * f, wd * f + w * fd
        qdd = wdd * f + 2 * wd * fd + w * fdd
        scale = min(
            joint.excursion / np.abs(q).max(),
            arm.speed / np.abs(qd).max(),
            arm.acceleration / np.abs(qdd).max(),
        )
        motions.append((joint.home + scale * q, scale * qd, scale * qdd))
    q, qd, qdd = np.moveaxis(np.array(motions), 0, -1)
    low, high = np.array([joint.limits for joint in arm.joints]).T
    if not np.all((low < q) & (q < high)):
        raise SystemExit(f"{arm.name}: the motion leaves the limits of its joints")
    return q, qd, qdd


def rigid_torque(arm: Arm, bodies: list[Body], q: Array, qd: Array, qdd: Array) -> Array:
    """MuJoCo's inverse dynamics of the links and rotors, (samples, joints) [N m]."""
    model = mujoco.MjModel.from_xml_string(urdf(arm, bodies))
    model.opt.gravity[:] = GRAVITY
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    model.dof_armature[:] = [joint.rotor for joint in arm.joints]
    data = mujoco.MjData(model)
    torque = np.empty_like(q)
    for k in range(len(q)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[k], qd[k], qdd[k]
        mujoco.mj_inverse(model, data)
        torque[k] = data.qfrc_inverse
    return torque


@dataclass(frozen=True, slots=True)
class Simulated:
    """Logs of an arm without and with its load, the arm as drawn, and the truth.

    Attributes:
        empty, loaded: tables with columns t, q1 …, tau1 …
        urdf: the arm as its maker draws it.
        truth: the load, links, friction and rotors of the arm that was simulated.
    """

    empty: pd.DataFrame
    loaded: pd.DataFrame
    urdf: str
    truth: dict[str, object]


def simulate(
    arm: Arm,
    seed: int = 0,
    motion: tuple[Array, Array, Array] | None = None,
    load: Body | None = None,
) -> Simulated:
    """Simulate an arm without and with its load; both runs follow the same joint motion.

    Args:
        arm: to be simulated.
        seed: of links, friction and noise, and of the motion.
        motion: angles, rates and second derivatives, (samples, joints); random if not given.
        load: about the origin of the last joint's frame; that of the data set if not given.
    """
    rng = np.random.default_rng([seed, len(arm.joints)])
    drawn = [box_body(joint) for joint in arm.joints]
    built = [built_body(body, joint, rng) for body, joint in zip(drawn, arm.joints, strict=True)]
    load = load or Body(LOAD_MASS, LOAD_COM + arm.flange, LOAD_INERTIA)
    t = np.arange(round(DURATION * RATE_HZ)) / RATE_HZ
    drawn_motion = joint_motion(arm, t, rng)
    q, qd, qdd = motion or drawn_motion
    viscous = np.array([joint.viscous for joint in arm.joints])
    coulomb = np.array([joint.coulomb for joint in arm.joints])
    offset = rng.normal(0.0, 0.05, len(arm.joints)) * coulomb
    tables, friction = [], []
    for bodies in (built, [*built[:-1], combined([built[-1], load])]):
        fv = viscous * (1 + rng.normal(0.0, DRIFT, len(viscous)))
        fc = coulomb * (1 + rng.normal(0.0, DRIFT, len(coulomb)))
        torque = rigid_torque(arm, bodies, q, qd, qdd)
        torque += fv * qd + fc * np.tanh(qd / 0.01) + offset
        torque += torque_noise(arm, len(t), rng)
        step = 2 * np.pi / ENCODER_STEPS
        angles = np.round((q + rng.normal(0.0, step / 2, q.shape)) / step) * step
        columns = {"t": np.round(t, 6)}
        columns |= {f"q{j + 1}": np.round(angles[:, j], 7) for j in range(q.shape[1])}
        columns |= {f"tau{j + 1}": np.round(torque[:, j], 4) for j in range(q.shape[1])}
        tables.append(pd.DataFrame(columns))
        friction.append({"viscous": list(fv), "coulomb": list(fc)})
    truth: dict[str, object] = {
        "seed": seed,
        "frame": "tool0",
        "mass": load.mass,
        "com": list(load.com - arm.flange),
        "inertia_about_com": load.inertia.tolist(),
        "links": {f"link{k + 1}": dict(zip(PHI, b.phi, strict=True)) for k, b in enumerate(built)},
        "rotor_inertia": [joint.rotor for joint in arm.joints],
        "torque_offset": list(offset),
        "friction": dict(zip(("empty", "loaded"), friction, strict=True)),
    }
    return Simulated(*tables, urdf(arm, drawn), truth)


def torque_noise(arm: Arm, count: int, rng: np.random.Generator) -> Array:
    """Noise of the torques: half of its variance white, half with a correlation in time."""
    sigma = np.array([joint.noise for joint in arm.joints])
    decay = np.exp(-1 / (RATE_HZ * NOISE_CORRELATION))
    white, driver = rng.normal(size=(2, count, len(sigma)))
    start = rng.normal(size=(1, len(sigma))) * decay
    gain = np.sqrt(1 - decay**2)
    coloured = lfilter([gain], [1, -decay], driver, axis=0, zi=start)[0]
    return sigma * np.sqrt(0.5) * (white + coloured)


def write_arm(name: str, seed: int, folder: Path) -> None:
    """Write the files of an arm, as studies read them (source `simulated_arm`)."""
    arm = next(arm for arm in ARMS if arm.name == name)
    simulated = simulate(arm, seed)
    folder.mkdir(parents=True, exist_ok=True)
    simulated.empty.to_parquet(folder / "empty.parquet", compression="zstd", index=False)
    simulated.loaded.to_parquet(folder / "loaded.parquet", compression="zstd", index=False)
    (folder / "arm.urdf").write_text(simulated.urdf, encoding="utf-8")
    (folder / "schema.toml").write_text(schema(arm), encoding="utf-8")
    truth = json.dumps(simulated.truth, indent=2) + "\n"
    (folder / "truth.json").write_text(truth, encoding="utf-8")


def main() -> None:
    """Write a folder for each arm."""
    parser = argparse.ArgumentParser(description="make the logs of two arms and their truth")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).parent)
    options = parser.parse_args()
    for arm in ARMS:
        write_arm(arm.name, options.seed, options.output / arm.name)
        print(f"wrote {options.output / arm.name}")


if __name__ == "__main__":
    main()
