"""Fast forward simulation in three layers: angular velocity, attitude, translation."""
