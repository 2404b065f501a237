"""The fast forward simulation: angular velocity, attitude and translation, one after the other."""
