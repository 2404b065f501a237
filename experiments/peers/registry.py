"""Registry of the compared methods, one file each."""

from experiments.peers import least_squares, mujoco_sysid, ours, rigeo_problem, weighted_cvxpy

METHODS = (
    least_squares.METHOD,
    weighted_cvxpy.METHOD,
    rigeo_problem.METHOD,
    mujoco_sysid.METHOD,
    ours.SOLVE,
    ours.FIT,
)
