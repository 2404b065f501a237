"""Robots as URDF text, and their torques by Pinocchio's full model, joint by joint."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
from hypothesis import strategies as st

LIMIT = '<limit lower="-2" upper="2.5" velocity="3" effort="40"/>'
INERTIAL = """<inertial><origin xyz="0.01 -0.02 0.15" rpy="0.3 0 0.2"/><mass value="2.5"/>
  <inertia ixx="0.03" ixy="0.002" ixz="-0.001" iyy="0.028" iyz="0.0015" izz="0.012"/></inertial>"""


@dataclass(frozen=True)
class Joint:
    """A joint of the text, and the position that Pinocchio's full model gets for it."""

    name: str
    kind: str
    parent: str
    leader: str | None = None
    multiplier: float = 1.0
    offset: float = 0.0

    @property
    def child(self) -> str:
        return self.name.replace("joint", "link")

    def text(self, rng: np.random.Generator) -> str:
        """The joint and the link behind it, at a random place with a random inertia."""
        xyz, rpy, axis = rng.normal(size=(3, 3)) * [[0.3], [1.0], [1.0]]
        mimic = (
            f'<mimic joint="{self.leader}" multiplier="{self.multiplier}" offset="{self.offset}"/>'
            if self.leader
            else ""
        )
        limit = LIMIT if self.kind in ("revolute", "prismatic") else ""
        return f"""<joint name="{self.name}" type="{self.kind}">
          <parent link="{self.parent}"/><child link="{self.child}"/>
          <origin xyz="{_words(xyz)}" rpy="{_words(rpy)}"/><axis xyz="{_words(axis)}"/>
          {limit}{mimic}</joint>{link_text(self.child, inertial_text(rng))}"""


def _words(numbers: np.ndarray) -> str:
    return " ".join(map(repr, map(float, numbers)))


def link_text(name: str, inertial: str = INERTIAL) -> str:
    return f'<link name="{name}">{inertial}</link>'


def inertial_text(rng: np.random.Generator) -> str:
    mass, (c, rpy) = rng.uniform(0.2, 5.0), rng.normal(size=(2, 3)) * 0.2
    A = rng.normal(size=(3, 3)) * 0.1
    S = mass * A @ A.T
    I = np.trace(S) * np.eye(3) - S
    six = zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), I[np.triu_indices(3)], strict=True)
    inertia = " ".join(f'{key}="{float(value)!r}"' for key, value in six)
    return (
        f'<inertial><origin xyz="{_words(c)}" rpy="{_words(rpy)}"/><mass value="{mass!r}"/>'
        f"<inertia {inertia}/></inertial>"
    )


def robot_text(joints: str) -> str:
    return f'<robot name="r">{link_text("base")}{joints}</robot>'


def arm_text(count: int = 3, **attributes: str) -> str:
    """A chain of revolute joints that turn about y."""
    joints = "".join(
        f"""<joint name="joint_{i}" type="revolute">
          <parent link="{f"link_{i - 1}" if i else "base"}"/><child link="link_{i}"/>
          <origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>{LIMIT}</joint>{link_text(f"link_{i}")}"""
        for i in range(count)
    )
    return robot_text(joints)


@dataclass(frozen=True)
class Tree:
    """A random robot: its text, its joints, and those that a log has, in its order."""

    text: str
    joints: tuple[Joint, ...]
    logged: tuple[str, ...]


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Trees of up to seven joints of every kind, some locked, some that mimic another."""
    count = draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    joints: list[Joint] = []
    for index in range(count):
        parent = draw(st.sampled_from(["base", *(joint.child for joint in joints)]))
        kinds = ["revolute", "prismatic", "continuous", "fixed"] if index else ["revolute"]
        kind = draw(st.sampled_from(kinds))
        leaders = [joint.name for joint in joints if joint.kind != "fixed"]
        leader = draw(st.sampled_from([None, *leaders])) if kind != "fixed" else None
        if leader:
            joints.append(Joint(f"joint_{index}", kind, parent, leader, *rng.normal(size=2)))
        else:
            joints.append(Joint(f"joint_{index}", kind, parent))
    free = [joint.name for joint in joints if joint.kind != "fixed" and joint.leader is None]
    logged = draw(st.lists(st.sampled_from(free), min_size=1, unique=True))
    text = robot_text("".join(joint.text(rng) for joint in joints))
    return Tree(text, tuple(joints), tuple(logged))


def tree_of(path: Path) -> Tree:
    """A URDF file as a tree, with every joint that does not mimic another in the log."""
    root = ElementTree.fromstring(path.read_bytes())
    joints = []
    for element in root.findall("joint"):
        mimic = element.find("mimic")
        follows = {} if mimic is None else dict(mimic.attrib)
        joints.append(
            Joint(
                element.attrib["name"],
                element.attrib["type"],
                element.find("parent").attrib["link"],
                follows.get("joint"),
                float(follows.get("multiplier", 1.0)),
                float(follows.get("offset", 0.0)),
            )
        )
    logged = [each.name for each in joints if each.kind != "fixed" and each.leader is None]
    return Tree(path.read_text(), tuple(joints), tuple(logged))


class FullModel:
    """Pinocchio's model of a tree with every joint moving, and its motion from that of a log."""

    def __init__(self, pinocchio: ModuleType, tree: Tree, gravity: np.ndarray) -> None:
        self.pinocchio = pinocchio
        self.model = pinocchio.buildModelFromXML(tree.text)
        self.model.gravity = pinocchio.Motion(gravity, np.zeros(3))
        self.data = self.model.createData()
        self.G, self.shift = np.zeros((self.model.nv, len(tree.logged))), np.zeros(self.model.nv)
        by_name = {joint.name: joint for joint in tree.joints}
        for joint in tree.joints:
            if joint.kind == "fixed":
                continue
            row = self.model.joints[self.model.getJointId(joint.name)].idx_v
            leader, factor = joint, 1.0
            while leader.leader is not None:
                self.shift[row] += factor * leader.offset
                factor, leader = factor * leader.multiplier, by_name[leader.leader]
            if leader.name in tree.logged:
                self.G[row, tree.logged.index(leader.name)] = factor

    def states(self, *motion: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
        """Positions, velocities and accelerations of all joints, sample by sample."""
        for q, v, a in zip(*motion, strict=True):
            full, positions = self.G @ q + self.shift, self.pinocchio.neutral(self.model)
            for joint in list(self.model.joints)[1:]:
                angle = full[joint.idx_v]
                exact = [math.cos(angle), math.sin(angle)] if joint.nq == 2 else [angle]
                positions[joint.idx_q : joint.idx_q + joint.nq] = exact
            yield positions, self.G @ v, self.G @ a

    def torques(self, *motion: np.ndarray) -> np.ndarray:
        """Torques (N, n) of the logged joints by `rnea`."""
        rnea = self.pinocchio.rnea
        return np.array(
            [self.G.T @ rnea(self.model, self.data, *state) for state in self.states(*motion)]
        )


def wrist_text() -> str:
    """An arm of three crossed joints with a frame "tool0", and a gripper's finger."""
    axes = {"pan": "0 0 1", "lift": "0 1 0", "roll": "1 0 0"}
    parents = ("base", "pan_link", "lift_link")
    joints = "".join(
        f"""<joint name="{name}" type="revolute"><parent link="{parent}"/>
          <child link="{name}_link"/><origin xyz="0.05 0 0.3" rpy="0.2 0 0.1"/>
          <axis xyz="{axis}"/>{LIMIT}</joint>{link_text(f"{name}_link")}"""
        for (name, axis), parent in zip(axes.items(), parents, strict=True)
    )
    return robot_text(
        joints
        + """<joint name="tool_joint" type="fixed"><parent link="roll_link"/><child link="tool0"/>
          <origin xyz="0 0 0.1" rpy="0 0 0.4"/></joint><link name="tool0"/>
          <joint name="finger" type="prismatic"><parent link="tool0"/><child link="finger_link"/>
          <axis xyz="0 1 0"/><limit lower="0.01" upper="0.04" velocity="1" effort="20"/></joint>
          <link name="finger_link"/>"""
    )
