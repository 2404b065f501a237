"""Conventions of other tools for the inertia of a rigid body, converted to and from phi.

    find_convention("mujoco").from_phi(phi)    MujocoInertial(mass, pos, quat_wxyz, diaginertia)
    MujocoInertial(...).to_phi()               phi

Every order, sign and reference point that differs from phi is defined here and nowhere else.
Nothing imports the tools themselves; names are loaded when first used.
"""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
