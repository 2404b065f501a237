"""Programs that load robot models, each asked whether it takes one inertia.

Every program is given a link alone, at the end of a joint, as its format has it. What counts as
loading: no error, no warning that the inertia is wrong, and the inertia kept.
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
    """An SDF file of one link with these numbers about its origin."""
    entries = "".join(f"<{name}>{six[name]}</{name}>" for name in _NAMES)
    inertial = f"<inertial><mass>{mass}</mass><inertia>{entries}</inertia></inertial>"
    return f'<sdf version="1.9"><model name="m"><link name="a">{inertial}</link></model></sdf>'


def mujoco_takes(urdf: str) -> bool:
    """Whether MuJoCo compiles a URDF."""
    mujoco = import_module("mujoco")
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)  # else it writes a log file here
    try:
        return mujoco.MjModel.from_xml_string(urdf) is not None
    except ValueError:
        return False
    finally:
        mujoco.set_mju_user_warning(before)


def pinocchio_takes(urdf: str) -> bool:
    """Whether Pinocchio loads a URDF and its forward dynamics, free, are numbers."""
    pin = import_module("pinocchio")
    try:
        model = pin.buildModelFromXML(urdf, pin.JointModelFreeFlyer())
    except ValueError:
        return False
    model.inertias[1] += pin.Inertia.Random()  # the root is a frame without mass
    still, push = np.zeros(model.nv), np.ones(model.nv)
    acceleration = pin.aba(model, model.createData(), pin.neutral(model), still, push)
    return bool(np.isfinite(acceleration).all())


def drake_takes(urdf: str) -> bool:
    """Whether Drake loads a URDF without warning of its inertia."""
    return not _drake_says(urdf, "urdf")


def gazebo_takes(sdf: str) -> bool:
    """Whether libsdformat, Gazebo's reader, loads an SDF without calling an inertia invalid."""
    return not any("invalid inertia" in text for text in _drake_says(sdf, "sdf"))


def bullet_takes(urdf: str) -> bool:
    """Whether Bullet keeps the inertia of the link of a URDF."""
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
    "mujoco": ("mujoco", "urdf", mujoco_takes),
    "drake": ("pydrake", "urdf", drake_takes),
    "gazebo": ("pydrake", "sdf", gazebo_takes),
    "pinocchio": ("pinocchio", "urdf", pinocchio_takes),
    "bullet": ("pybullet", "urdf", bullet_takes),
}
"""By name: the module that it is in, the format that it is given, and the question."""


def installed() -> dict[str, tuple[str, Callable[[str], bool]]]:
    """The programs that are installed: format and question, by name."""
    return {
        name: (form, takes)
        for name, (module, form, takes) in PROGRAMS.items()
        if util.find_spec(module) is not None
    }


def _drake_says(text: str, form: str) -> list[str]:
    """Return the messages of Drake and its libsdformat on a file, besides loading it."""
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
    """Standard output of C code goes nowhere."""
    os: Any = import_module("os")
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
