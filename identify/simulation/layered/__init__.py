"""The fast forward simulation: angular velocity, attitude and translation, one after the other."""

from identify.simulation.layered.rollout import fast_rollout
from identify.simulation.layered.single_shot import SingleShot, single_shot

__all__ = ["SingleShot", "fast_rollout", "single_shot"]
