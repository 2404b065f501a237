"""Forward simulation of a free rigid body from its ten parameters."""

from identify.simulation.dynamics import RigidBodyDynamics
from identify.simulation.rollout import rollout
from identify.simulation.state import State, Trajectory

__all__ = ["RigidBodyDynamics", "State", "Trajectory", "rollout"]
