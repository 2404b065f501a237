"""Fast forward simulation: angular velocity, attitude and translation are decoupled."""
