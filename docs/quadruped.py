"""Identify a quadruped from its motion and its contact wrenches, as simulated by MuJoCo.

    python docs/quadruped.py

A trunk with four legs of two links trots on a plane. Logged are the motion of the trunk as an
IMU measures it, the joints' positions, rates, accelerations and torques, and the wrench at each
foot. The six rows of the base and those of the joints are rows of `identify.solve`; links have
priors near the URDF, whose masses are up to a fifth off.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import identify
from identify.estimation.priors import NearBody
from identify.estimation.terms import LinearEquality
from identify.inertia import InertialParameters
from identify.robots import RobotModel, contact_jacobian, floating_base_regressor, read_robot

LEGS = {"fl": (0.2, 0.12), "fr": (0.2, -0.12), "hl": (-0.2, 0.12), "hr": (-0.2, -0.12)}
"""Position of each hip in the trunk [m]."""

LINKS = {
    "trunk": (9.0, (0.01, 0.0, 0.02), (0.07, 0.16, 0.19)),
    "thigh": (1.1, (0.0, 0.0, -0.08), (0.006, 0.006, 0.001)),
    "shank": (0.3, (0.0, 0.0, -0.1), (0.0012, 0.0012, 0.0001)),
}
"""Mass [kg], centre of mass [m] and moments about it [kg m²] of each link."""

LENGTH = 0.2
"""Length of thigh and shank [m]."""

NOISE = 0.1, 0.05
"""Noise of the rows of forces [N], and of those of torques [N m]."""


def urdf() -> str:
    """Return the URDF, with feet as frames."""
    parts = [_link("trunk", "trunk")]
    for leg, (x, y) in LEGS.items():
        parts += [
            _link(f"thigh_{leg}", "thigh"),
            _link(f"shank_{leg}", "shank"),
            f'<link name="foot_{leg}"/>',
            _joint(f"hip_{leg}", "trunk", f"thigh_{leg}", f"{x} {y} 0"),
            _joint(f"knee_{leg}", f"thigh_{leg}", f"shank_{leg}", f"0 0 {-LENGTH}"),
            f'<joint name="sole_{leg}" type="fixed"><parent link="shank_{leg}"/>'
            f'<child link="foot_{leg}"/><origin xyz="0 0 {-LENGTH}"/></joint>',
        ]
    return f'<robot name="quadruped">{"".join(parts)}</robot>'


def _link(name: str, kind: str) -> str:
    mass, com, (xx, yy, zz) = LINKS[kind]
    return (
        f'<link name="{name}"><inertial><origin xyz="{" ".join(map(str, com))}"/>'
        f'<mass value="{mass}"/><inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" '
        'iyz="0"/></inertial></link>'
    )


def _joint(name: str, parent: str, child: str, xyz: str) -> str:
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="0 1 0"/>'
        '<limit lower="-3" upper="3" effort="99" velocity="99"/></joint>'
    )


def simulate(duration: float = 6.0) -> dict[str, np.ndarray]:
    """Return a log of the trot: arrays over samples; vectors of the trunk in its axes."""
    import mujoco

    spec = mujoco.MjSpec.from_string(urdf())
    spec.compiler.fusestatic = False
    spec.option.timestep = 1e-3
    spec.body("trunk").add_freejoint()
    kinds = mujoco.mjtGeom
    spec.worldbody.add_geom(type=kinds.mjGEOM_PLANE, size=[0, 0, 1], friction=[1, 0.01, 0.001])
    for leg in LEGS:
        spec.body(f"foot_{leg}").add_geom(type=kinds.mjGEOM_SPHERE, size=[0.02, 0, 0], mass=0.0)
    model = spec.compile()
    data = mujoco.MjData(model)
    order = [model.joint(f"{kind}_{leg}") for leg in LEGS for kind in ("hip", "knee")]
    places, rates = ([int(getattr(j, k)[0]) for j in order] for k in ("qposadr", "dofadr"))
    rest = np.tile([0.7, -1.4], 4)
    data.qpos[:7], data.qpos[places] = [0, 0, 0.33, 1, 0, 0, 0], rest
    feet = [model.body(f"foot_{leg}").id for leg in LEGS]
    log: dict[str, list[np.ndarray]] = {}
    for step in range(round(duration / 1e-3)):
        t = data.time
        phases = np.repeat([0.0, np.pi, np.pi, 0.0], 2)
        swing = 0.25 * np.sin(2 * np.pi * (1.6 + 0.1 * t) * t + phases) * np.tile([1.0, -1.3], 4)
        torque = 120.0 * (rest + swing - data.qpos[places]) - 3.0 * data.qvel[rates]
        data.qfrc_applied[rates] = np.clip(torque, -40.0, 40.0)
        mujoco.mj_forward(model, data)
        if step % 5 == 0 and t > 0.5:
            row = _sample(mujoco, model, data, feet) | {
                "q": data.qpos[places].copy(),
                "v": data.qvel[rates].copy(),
                "a": data.qacc[rates].copy(),
                "torque": data.qfrc_applied[rates].copy(),
            }
            for name, value in row.items():
                log.setdefault(name, []).append(value)
        mujoco.mj_step(model, data)
    return {name: np.array(values) for name, values in log.items()}


def _sample(mujoco, model, data, feet) -> dict[str, np.ndarray]:
    """Return the motion of the trunk in its axes, and the wrench at each foot in the foot's."""
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, data.qpos[3:7])
    R = R.reshape(3, 3)
    wrenches = np.zeros((len(feet), 6))
    for k in range(data.ncon):
        contact, force = data.contact[k], np.zeros(6)
        mujoco.mj_contactForce(model, data, k, force)
        foot = feet.index(int(model.geom_bodyid[contact.geom2]))
        axes = contact.frame.reshape(3, 3).T  # of the contact, in the world
        at = data.xmat[feet[foot]].reshape(3, 3)
        f, t = at.T @ axes @ force[:3], at.T @ axes @ force[3:]
        arm = at.T @ (contact.pos - data.xpos[feet[foot]])
        wrenches[foot] += np.concatenate((f, t + np.cross(arm, f)))
    return {
        "proper": R.T @ (data.qacc[:3] - model.opt.gravity),
        "w": data.qvel[3:6].copy(),
        "alpha": data.qacc[3:6].copy(),
        "feet": wrenches,
    }


def rows(robot: RobotModel, log: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the regressor and the measured wrenches and torques of all samples."""
    base = identify.BodyMotion(log["proper"], log["w"], log["alpha"])
    joints = [f"{kind}_{leg}" for leg in LEGS for kind in ("hip", "knee")]
    index = [joints.index(name) for name in robot.joints]
    q, v, a, torque = (log[name][:, index] for name in ("q", "v", "a", "torque"))
    Y = floating_base_regressor(robot, base, q, v, a)
    b = np.concatenate((np.zeros((len(q), 6)), torque), axis=1)
    for number, leg in enumerate(LEGS):
        J = contact_jacobian(robot, f"foot_{leg}", q)
        b += np.einsum("nij,ni->nj", J, log["feet"][:, number])
    return Y, b


def main(duration: float = 6.0, seed: int = 0) -> identify.Estimate:
    """Return the estimate of the trunk, with those of the links in `others`."""
    rng = np.random.default_rng(seed)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "quadruped.urdf"
        path.write_text(urdf())
        robot = read_robot(path)
    Y, b = rows(robot, simulate(duration))
    groups = np.repeat(["force", "torque"], [3, b.shape[1] - 3])
    noise = dict(zip(("force", "torque"), NOISE, strict=True))
    b = b + np.array([noise[name] for name in groups]) * rng.normal(size=b.shape)
    priors = {
        name: NearBody(true_body(name) * rng.uniform(0.8, 1.2), weight=20.0, name="the URDF")
        for name in ("trunk", *robot.links)
    }
    pairs = (("fl", "fr"), ("hl", "hr"))
    same = [
        LinearEquality.mirrored(f"{kind}_{one}", f"{kind}_{other}")
        for kind in ("thigh", "shank")
        for one, other in pairs
    ]
    return identify.solve(
        Y.reshape(-1, Y.shape[2]),
        b.ravel(),
        space=identify.ParameterSpace(("trunk", *robot.links)),
        groups=np.tile(groups, len(b)),
        noise=noise,
        prior=priors,
        terms=same,
    )


def true_body(name: str) -> np.ndarray:
    """Return the ten parameters of a link."""
    mass, com, moments = LINKS[name.split("_")[0]]
    return InertialParameters.from_com(mass, com, np.diag(moments)).phi


if __name__ == "__main__":
    estimate = main()
    for body in estimate.bodies:
        low, high = body.intervals["m"]
        print(f"{body.body}: {body.mass:.3f} kg ({low:.3f} to {high:.3f}), {body.decided_by['m']}")
    print("total", sum(body.mass for body in estimate.bodies), "kg;", estimate.verdict.usable)
