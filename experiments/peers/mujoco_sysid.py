"""Optimiser of MuJoCo's system identification in its parameters of the pseudo-inertia.

Out of the box only mass and centre of mass are identified in 4.0.0; hence its parts on the rows.
"""
# requires: mujoco[sysid]>=4

import io
from contextlib import redirect_stdout

import numpy as np
from mujoco.sysid import Parameter, ParameterDict, optimize
from mujoco.sysid._src.model_modifier import pi_from_theta, theta_from_pseudoinertia
from task import answer, second_moment


def phi_of(theta):
    m, h, inertia = np.split(pi_from_theta(theta), [1, 4])
    return np.concatenate((m, h, inertia[[0, 1, 2, 4, 5, 8]]))


def estimate(A, b):
    def residual(theta, parameters):
        bodies = np.array([phi_of(column) for column in np.atleast_2d(theta.T)])
        residuals = A @ bodies.T - b[:, None]
        return [residuals if theta.ndim == 2 else residuals[:, 0]], None, None

    free = np.linalg.lstsq(A, b, rcond=None)[0]
    m, c = free[0], free[1:4] / free[0]
    moment = 0.4 * m * 0.1**2 * np.eye(3) + m * (c @ c * np.eye(3) - np.outer(c, c))
    start = np.array([m, *free[1:4], *moment[np.triu_indices(3)]])
    theta = theta_from_pseudoinertia(second_moment(start))
    parameters = ParameterDict({"body": Parameter("body", theta, theta - 5.0, theta + 5.0)})
    with redirect_stdout(io.StringIO()):
        solution, _ = optimize(parameters, residual, verbose=False)
    return phi_of(solution.as_vector())


answer(estimate)
