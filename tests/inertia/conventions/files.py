"""Whole model files around one inertial, for the readers of other tools."""

import numpy as np

from identify.inertia.conventions import MassProperties, MujocoInertial, SdfInertial

SIX = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def digits(values: np.ndarray) -> str:
    """Numbers as text that reads back as the same numbers."""
    return " ".join(repr(float(x)) for x in np.ravel(values))


def urdf_text(inertial: SdfInertial, *, moving: bool = False) -> str:
    """A model of one link, or of one that moves beside a base."""
    six = " ".join(f'{n}="{float(x)!r}"' for n, x in zip(SIX, inertial.inertia, strict=True))
    joint = (
        '<link name="base"/><joint name="j" type="continuous"><parent link="base"/>'
        '<child link="body"/><axis xyz="0 0 1"/></joint>'
    )
    return f"""<robot name="r">{joint if moving else ""}<link name="body"><inertial>
        <origin xyz="{digits(inertial.pose[:3])}" rpy="{digits(inertial.pose[3:])}"/>
        <mass value="{digits(inertial.mass)}"/><inertia {six}/></inertial></link></robot>"""


def sdf_text(inertial: SdfInertial) -> str:
    six = "".join(f"<{n}>{float(x)!r}</{n}>" for n, x in zip(SIX, inertial.inertia, strict=True))
    attributes = f'rotation_format="{inertial.rotation_format}"'
    attributes += ' degrees="true"' if inertial.degrees else ""
    return f"""<sdf version="1.11"><model name="m"><link name="body"><inertial>
        <pose {attributes}>{digits(inertial.pose)}</pose><mass>{digits(inertial.mass)}</mass>
        <inertia>{six}</inertia></inertial></link></model></sdf>"""


def mjcf_text(inertial: MujocoInertial | MassProperties) -> str:
    if isinstance(inertial, MujocoInertial):
        pos = inertial.pos
        shape = f'quat="{digits(inertial.quat_wxyz)}" diaginertia="{digits(inertial.diaginertia)}"'
    else:
        pos = inertial.com
        shape = f'fullinertia="{digits(inertial.inertia)}"'
    return f"""<mujoco model="m"><worldbody><body name="body"><freejoint/>
        <inertial pos="{digits(pos)}" mass="{digits(inertial.mass)}" {shape}/>
        </body></worldbody></mujoco>"""
