"""Optimiser and parametrisation of MuJoCo's system identification, on the same rows."""

import io
from contextlib import redirect_stdout

import numpy as np

from experiments.peers.method import BodyEstimate, Method, NotInstalled
from experiments.peers.rows import Rows
from identify.inertia import default_body, pseudo_inertia


def estimate(rows: Rows) -> BodyEstimate:
    """Estimate by nonlinear least squares in MuJoCo's parameters of the pseudo-inertia."""
    try:
        from mujoco.sysid import Parameter, ParameterDict, optimize
        from mujoco.sysid._src.model_modifier import pi_from_theta, theta_from_pseudoinertia
    except ImportError as error:
        raise NotInstalled("pip install 'mujoco[sysid]>=4'") from error

    def phi_of(theta):
        m, h, I = np.split(pi_from_theta(theta), [1, 4])
        return np.concatenate((m, h, I[[0, 1, 2, 4, 5, 8]]))

    def residual(theta, parameters):
        """Return residuals for parameters of shape (10,), or several sets (10, k)."""
        bodies = np.array([phi_of(column) for column in np.atleast_2d(theta.T)])
        residuals = A @ bodies.T - b[:, None]
        return [residuals if theta.ndim == 2 else residuals[:, 0]], None, None

    A, b = rows.whitened()
    free = np.linalg.lstsq(A, b, rcond=None)[0]
    start = theta_from_pseudoinertia(pseudo_inertia(default_body(free[0], free[1:4] / free[0])))
    parameters = ParameterDict({"body": Parameter("body", start, start - 5.0, start + 5.0)})
    with redirect_stdout(io.StringIO()):  # it prints its result even if not verbose
        solution, _ = optimize(parameters, residual, verbose=False)
    return BodyEstimate(phi_of(solution.as_vector()))


METHOD = Method("MuJoCo sysid", "`optimize` in its pseudo-inertia parameters, by channel", estimate)
