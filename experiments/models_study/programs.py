"""Programs that load robot models, and tests whether each accepts an inertia.

Every program gets a single link at a joint, in its format. It accepts the inertia if it reports no
error and no warning of the inertia, and keeps it.
"""

from __future__ import annotations

import logging
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module, util
from pathlib import Path
from typing import Any

import numpy as np

_NAMES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")

URDF = (
    '<robot name="r"><link name="world_link"/><joint name="j" type="continuous">'
    '<parent link="world_link"/><child link="a"/><axis xyz="0 0 1"/></joint>'
    '<link name="a">{inertial}</link></robot>'
)


def sdf_of(mass: str, six: Mapping[str, str]) -> str:
    """Return an SDF file of one link with this mass and inertia about its origin."""
    entries = "".join(f"<{name}>{six[name]}</{name}>" for name in _NAMES)
    inertial = f"<inertial><mass>{mass}</mass><inertia>{entries}</inertia></inertial>"
    return f'<sdf version="1.9"><model name="m"><link name="a">{inertial}</link></model></sdf>'


def mujoco_accepts(urdf: str) -> bool:
    """Return whether MuJoCo compiles a URDF."""
    mujoco = import_module("mujoco")
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)  # else it writes a log file here
    try:
        return mujoco.MjModel.from_xml_string(urdf) is not None
    except ValueError:
        return False
    finally:
        mujoco.set_mju_user_warning(before)


def pinocchio_accepts(urdf: str) -> bool:
    """Return whether Pinocchio loads a URDF and its forward dynamics are finite."""
    pin = import_module("pinocchio")
    try:
        model = pin.buildModelFromXML(urdf, pin.JointModelFreeFlyer())
    except ValueError:
        return False
    model.inertias[1] += pin.Inertia.Random()  # the root is a frame without mass
    velocity, torque = np.zeros(model.nv), np.ones(model.nv)
    acceleration = pin.aba(model, model.createData(), pin.neutral(model), velocity, torque)
    return bool(np.isfinite(acceleration).all())


def drake_accepts(urdf: str) -> bool:
    """Return whether Drake loads a URDF without a warning of its inertia."""
    return not _drake_messages(urdf, "urdf")


def gazebo_accepts(sdf: str) -> bool:
    """Return whether libsdformat, Gazebo's reader, loads an SDF without "invalid inertia"."""
    return not any("invalid inertia" in text for text in _drake_messages(sdf, "sdf"))


def bullet_accepts(urdf: str) -> bool:
    """Return whether Bullet keeps the inertia of the link of a URDF."""
    bullet = import_module("pybullet")
    client = bullet.connect(bullet.DIRECT)
    try:
        with tempfile.TemporaryDirectory() as folder, _silent():
            path = Path(folder, "robot.urdf")
            path.write_text(urdf, encoding="utf-8")
            body = bullet.loadURDF(str(path), flags=bullet.URDF_USE_INERTIA_FROM_FILE)
            mass, _, moments, *_ = bullet.getDynamicsInfo(body, 0)
        return mass > 0.0 and all(moment > 0.0 for moment in moments)
    except bullet.error:
        return False
    finally:
        bullet.disconnect(client)


PROGRAMS: Mapping[str, tuple[str, str, Callable[[str], bool]]] = {
    "mujoco": ("mujoco", "urdf", mujoco_accepts),
    "drake": ("pydrake", "urdf", drake_accepts),
    "gazebo": ("pydrake", "sdf", gazebo_accepts),
    "pinocchio": ("pinocchio", "urdf", pinocchio_accepts),
    "bullet": ("pybullet", "urdf", bullet_accepts),
}
"""Programs by name: module, format, and test whether it accepts a file."""


def installed() -> dict[str, tuple[str, Callable[[str], bool]]]:
    """Return format and test of the installed programs, by name."""
    return {
        name: (form, accepts)
        for name, (module, form, accepts) in PROGRAMS.items()
        if util.find_spec(module) is not None
    }


def _drake_messages(text: str, form: str) -> list[str]:
    """Load a file in Drake and return the messages of Drake and its libsdformat."""
    parsing = import_module("pydrake.multibody.parsing")
    plants = import_module("pydrake.multibody.plant")
    messages: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())
    logger = logging.getLogger("drake")
    before, propagate = list(logger.handlers), logger.propagate
    logger.handlers, logger.propagate = [handler], False
    try:
        plant = plants.MultibodyPlant(0.0)
        parsing.Parser(plant).AddModelsFromString(text, form)
    except RuntimeError as error:
        messages.append(str(error))
    finally:
        logger.handlers, logger.propagate = before, propagate
    return messages


@contextmanager
def _silent() -> Iterator[None]:
    """Discard the standard output of C code within this context."""
    os: Any = import_module("os")
    sys.stdout.flush()
    stdout, devnull = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    try:
        yield
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)
        os.close(devnull)
