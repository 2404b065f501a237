"""Four arms and their logs: links that differ from the model, gear friction, gains of the torques.

Built on `datasets/arms/generate.py`, whose own two arms are not used here.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from datasets.arms import generate
from datasets.arms.generate import HALF, WIDE, Arm, Body, Joint, Vector
from identify.arrays import Array
from identify.logs import Recording, read_log
from identify.robots import RobotModel, read_robot

DURATION = generate.DURATION


def _arm(
    name: str,
    title: str,
    fastest: float,
    band: tuple[float, float],
    flange: Vector,
    speed: float,
    acceleration: float,
    *rows: tuple[Any, ...],
) -> Arm:
    """Return an arm by the rows of its joints, which have limits, speed and band in common."""
    joints = (Joint(*row[:5], WIDE, fastest, *row[5:10], band, *row[10:]) for row in rows)
    return Arm(name, title, tuple(joints), flange, speed, acceleration)


FOUR_AXES = Arm(
    "four_axes",
    "a 4-axis arm",
    (
        Joint((0, 0, 0.12), (0, 0, 0), 1.9, (0, 0.01, 0.02), (0.13, 0.11, 0.12), WIDE,
              3.0, 40, 1.2, 1.4, 0.20, 0.15, (1 / 30, 0.4), 0.0, 2.0),
        Joint((0.03, 0, 0.08), (-HALF, 0, 0), 2.2, (0.13, 0.01, 0.03), (0.32, 0.08, 0.09), WIDE,
              3.0, 40, 1.3, 1.5, 0.25, 0.18, (1 / 30, 0.4), -0.7, 1.1),
        Joint((0.28, 0, 0), (0, 0, 0), 1.3, (0.05, -0.06, 0), (0.18, 0.16, 0.07), WIDE,
              3.0, 25, 0.8, 0.9, 0.12, 0.10, (1 / 30, 0.4), 0.8, 1.3),
        Joint((0.06, -0.24, 0), (HALF, 0, 0), 0.6, (0.01, 0, 0.03), (0.07, 0.06, 0.09), WIDE,
              3.0, 10, 0.2, 0.25, 0.03, 0.03, (1 / 30, 0.5), 0.0, 2.4),
    ),
    (0.0, 0.0, 0.06),
    speed=1.7,
    acceleration=6.0,
)  # fmt: skip

SEVEN_AXES = _arm(
    "light_seven_axes", "a light 7-axis arm",
    2.5, (1 / 30, 0.3), (0.0, 0.0, 0.062), 1.6, 5.0,
    ((0, 0, 0.28), (0, 0, 0), 1.5, (0, 0.02, -0.05), (0.1, 0.1, 0.2), 60,
     1.5, 2.0, 0.30, 0.20, 0.0, 2.2),
    ((0, 0, 0), (HALF, 0, 0), 1.3, (0, 0.10, 0.02), (0.1, 0.24, 0.1), 60,
     1.5, 2.0, 0.30, 0.22, 0.5, 1.2),
    ((0, 0.21, 0), (-HALF, 0, 0), 1.2, (0.01, 0.02, 0.10), (0.09, 0.1, 0.22), 40,
     1.0, 1.2, 0.20, 0.15, 0.0, 2.0),
    ((0, 0, 0.21), (HALF, 0, 0), 1.1, (0, 0.09, 0.01), (0.09, 0.22, 0.09), 40,
     1.0, 1.2, 0.20, 0.15, 1.5, 1.2),
    ((0, 0.2, 0), (-HALF, 0, 0), 0.8, (0, 0.02, 0.08), (0.08, 0.08, 0.18), 15,
     0.5, 0.6, 0.10, 0.08, 0.0, 2.2),
    ((0, 0, 0.16), (HALF, 0, 0), 0.8, (0, 0.05, 0.01), (0.08, 0.13, 0.08), 15,
     0.5, 0.6, 0.10, 0.08, 1.0, 1.5),
    ((0, 0.11, 0), (-HALF, 0, 0), 0.5, (0, 0.01, 0.03), (0.08, 0.08, 0.06), 15,
     0.4, 0.5, 0.08, 0.06, 0.0, 2.4),
)  # fmt: skip

LOW_COST = _arm(
    "low_cost", "a low-cost 6-axis arm of servos",
    3.0, (1 / 30, 0.4), (0.0, 0.0, 0.07), 1.7, 6.0,
    ((0, 0, 0.11), (0, 0, 0), 0.60, (0, 0, 0.03), (0.09, 0.09, 0.10), 12,
     0.25, 0.35, 0.030, 0.06, 0.0, 2.0),
    ((0, 0, 0.05), (HALF, 0, 0), 0.75, (0.14, 0.01, 0), (0.32, 0.07, 0.06), 12,
     0.30, 0.40, 0.030, 0.08, 1.0, 1.0),
    ((0.28, 0, 0), (0, 0, 0), 0.50, (0.08, 0.03, 0), (0.22, 0.08, 0.05), 10,
     0.22, 0.30, 0.020, 0.06, -1.6, 1.1),
    ((0.22, 0.04, 0), (0, 0, 0), 0.30, (0.03, 0.01, 0), (0.09, 0.05, 0.05), 4,
     0.08, 0.12, 0.006, 0.02, 0.5, 1.3),
    ((0.07, 0, 0), (HALF, 0, 0), 0.22, (0, 0, 0.02), (0.05, 0.06, 0.06), 4,
     0.06, 0.10, 0.006, 0.02, 0.3, 1.3),
    ((0, 0, 0.05), (0, HALF, 0), 0.15, (0, 0.004, 0.03), (0.05, 0.05, 0.06), 3,
     0.05, 0.08, 0.004, 0.015, 0.0, 2.2),
)  # fmt: skip

SIX_AXES = _arm(
    "spherical_wrist", "a 6-axis arm with a spherical wrist",
    3.5, (1 / 30, 0.35), (0.0, 0.0, 0.03), 1.7, 5.5,
    ((0, 0, 0.29), (0, 0, 0), 6.0, (0.03, -0.02, -0.04), (0.22, 0.2, 0.22), 150,
     8.0, 7.0, 1.4, 0.90, 0.0, 2.2),
    ((0.05, 0, 0), (-HALF, -HALF, 0), 4.5, (0.13, 0, 0.02), (0.36, 0.13, 0.12), 150,
     8.0, 8.0, 1.4, 1.00, 0.2, 0.9),
    ((0.30, 0, 0), (0, 0, 0), 4.0, (0.03, 0.02, 0.03), (0.17, 0.15, 0.13), 90,
     5.0, 5.0, 0.9, 0.70, -0.2, 1.0),
    ((0.07, 0.15, 0), (-HALF, 0, 0), 2.2, (0, 0.01, 0.08), (0.09, 0.09, 0.26), 25,
     1.2, 1.4, 0.12, 0.12, 0.0, 2.4),
    ((0, 0, 0.16), (HALF, 0, 0), 1.1, (0, 0.03, 0), (0.08, 0.12, 0.08), 25,
     1.0, 1.2, 0.10, 0.12, 0.6, 1.5),
    ((0, 0.07, 0), (-HALF, 0, 0), 0.3, (0, 0, 0.01), (0.06, 0.06, 0.03), 20,
     0.8, 0.9, 0.08, 0.08, 0.0, 2.4),
)  # fmt: skip

_GEAR_FRICTION = {"low_cost": 0.06, "four_axes": 0.02}
"""Coulomb friction by the torque that a gear carries."""

_ENCODER_STEPS = {"low_cost": 2**12}

_LOAD_SHARE = 0.09
"""Mass of a load by that of the links, in the middle of the range that is drawn."""


@dataclass(frozen=True, slots=True)
class Build:
    """One arm as it was built, with the model that its maker gives.

    Attributes:
        arm: as drawn.
        links: as built, some per cent from the drawing.
        drawn: links of the URDF.
        gains: of the logged torques; those of currents are [A/N m].
        has_unit: whether efforts are torques.
        rate_hz: of the logs.
        friction: viscous and Coulomb friction, and offset, shape (3, n).
        gear_friction: Coulomb friction by the torque that a gear carries.
    """

    arm: Arm
    links: tuple[Body, ...]
    drawn: tuple[Body, ...]
    gains: Array
    has_unit: bool
    rate_hz: float
    friction: Array
    gear_friction: float

    @classmethod
    def random(
        cls,
        arm: Arm,
        rng: np.random.Generator,
        *,
        gains: Array | None = None,
        has_unit: bool = True,
        rate_hz: float = 100.0,
    ) -> Build:
        drawn = tuple(generate.box_body(joint) for joint in arm.joints)
        pairs = zip(drawn, arm.joints, strict=True)
        viscous, coulomb = np.array([(j.viscous, j.coulomb) for j in arm.joints]).T
        return cls(
            arm=arm,
            links=tuple(generate.built_body(body, joint, rng) for body, joint in pairs),
            drawn=drawn,
            gains=np.ones(len(arm.joints)) if gains is None else gains,
            has_unit=has_unit,
            rate_hz=rate_hz,
            friction=np.array([viscous, coulomb, 0.1 * coulomb * rng.normal(size=len(coulomb))]),
            gear_friction=_GEAR_FRICTION.get(arm.name, 0.0),
        )

    def load(self, rng: np.random.Generator) -> Body:
        """Draw a load, about the flange: a box of up to 30 cm that is fixed beside its middle."""
        mass = _LOAD_SHARE * sum(link.mass for link in self.drawn) * rng.uniform(0.7, 1.4)
        x, y, z = rng.uniform(0.06, 0.16, 3) * (mass / 1.5) ** (1.0 / 3.0)
        inertia = mass / 12 * np.diag([y**2 + z**2, x**2 + z**2, x**2 + y**2])
        com = np.array([*rng.uniform(-0.35, 0.35, 2), rng.uniform(0.3, 0.8)]) * max(x, y, z)
        return Body(float(mass), com, inertia)

    def log(self, name: str, rng: np.random.Generator, load: Body | None = None) -> pd.DataFrame:
        """Simulate a run with motion and friction of its own; `load` is about the flange."""
        arm, bodies = self.arm, list(self.links)
        t = np.arange(round(DURATION * self.rate_hz)) / self.rate_hz
        q, qd, qdd = generate.joint_motion(arm, t, rng)
        if load is not None:
            moved = replace(load, com=load.com + arm.flange)
            bodies[-1] = generate.combined([bodies[-1], moved])
        rigid = generate.rigid_torque(arm, bodies, q, qd, qdd)
        viscous, coulomb, offset = self.friction
        viscous, coulomb = (
            f * (1 + rng.normal(0.0, generate.DRIFT, len(f))) for f in (viscous, coulomb)
        )
        sign = np.tanh(qd / 0.01)
        torque = rigid + viscous * qd + (coulomb + self.gear_friction * abs(rigid)) * sign + offset
        torque = self.gains * (torque + generate.torque_noise(arm, len(t), rng))
        step = 2 * np.pi / _ENCODER_STEPS.get(arm.name, generate.ENCODER_STEPS)
        angles = np.round((q + rng.normal(0.0, step / 4, q.shape)) / step) * step
        columns = {"t": np.round(t, 6)}
        columns |= {f"q{j + 1}": angles[:, j] for j in range(q.shape[1])}
        columns |= {f"tau{j + 1}": np.round(torque[:, j], 5) for j in range(q.shape[1])}
        frame = pd.DataFrame(columns)
        frame.attrs["name"] = name
        return frame

    def schema(self) -> dict[str, object]:
        """Return the schema of its logs."""
        schema = tomllib.loads(generate.schema(self.arm))
        if not self.has_unit:
            schema["joints"]["effort_unit"] = "A"
        return schema

    def read(self, table: pd.DataFrame) -> Recording:
        """Return a table as a recording with its name."""
        return replace(read_log(table, self.schema()), name=str(table.attrs["name"]))

    def model(self, folder: Path) -> RobotModel:
        """Write the URDF and read it."""
        path = folder / "arm.urdf"
        path.write_text(generate.urdf(self.arm, list(self.drawn)))
        names = [f"joint{number + 1}" for number in range(len(self.arm.joints))]
        return read_robot(path, names, gravity=generate.GRAVITY)


ARMS = (FOUR_AXES, SEVEN_AXES, LOW_COST, SIX_AXES)
