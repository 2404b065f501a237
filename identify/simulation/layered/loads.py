"""Loads of a chunk of time: force at the centre of mass and torque about it, in principal axes."""

from __future__ import annotations

import numpy as np

from identify.simulation.layered.sampled_wrench import SampledWrench
from identify.simulation.layered.vector_rows import bodies_last, transform_into
from identify.simulation.layered.workspace import Workspace
from identify.simulation.principal_axes import PrincipalBody
from identify.spatial import hat
from identify.spatial.rotations import rotation_from_unit_quaternion


class LoadLayer:
    """What moves a block of bodies, in the units of the layers.

    At the samples that steps begin with and, where the load between samples is a straight line, the
    one the last of them ends with.

    Attributes:
        force: φ = (h²/12m) R_BPᵀ f [m], shape (3, nodes, bodies).
        torque: τ = (h²/4) I⁻¹ R_BPᵀ (t − c × f), shape (3, nodes, bodies).
    """

    def __init__(self, body: PrincipalBody, wrench: SampledWrench, step: float, nodes: int) -> None:
        """Make the arrays for bodies of shape (bodies,) and the wrenches on them."""
        R_PB = rotation_from_unit_quaternion(body.quaternion).swapaxes(-1, -2)
        to_force = R_PB * (step**2 / (12.0 * body.mass))[:, None, None]
        of_moment = R_PB * (step**2 / (4.0 * body.moments))[..., None]
        to_torque = np.concatenate((-of_moment @ hat(body.com), of_moment), axis=-1)
        self._wrench = wrench
        self._to_force, self._to_torque = bodies_last(to_force), bodies_last(to_torque)
        self.force, self.torque = np.empty((2, 3, nodes, len(body.mass)))

    def advance(self, first: int, nodes: int, workspace: Workspace) -> None:
        """Fill the first `nodes` of force and torque from the samples `first` and after."""
        samples = self._wrench.rows(first, nodes, workspace)
        transform_into(self.torque[:, :nodes], self._to_torque, samples)
        transform_into(self.force[:, :nodes], self._to_force, samples[:3])
