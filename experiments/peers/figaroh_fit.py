"""The direct effort fit of figaroh 1.0, with an LMI for the body, on the rows as efforts."""
# requires: figaroh>=1,<2

import numpy as np
from figaroh.identification.physical_fit import build_problem, solve_direct_effort_fit
from task import answer

ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # m h Ixx Ixy Iyy Ixz Iyz Izz, as Pinocchio
NAMES = [f"{key}_body" for key in ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")]


def estimate(A, b):
    prior = np.array([1.0, 0.0, 0.0, 0.0, 4e-3, 0.0, 4e-3, 0.0, 0.0, 4e-3])
    problem = build_problem(A[:, ORDER], b, NAMES, ["body"], prior=prior)
    record = solve_direct_effort_fit(problem, solver="cvxopt")
    if record.theta is None:
        raise SystemExit(f"figaroh: {record.status}")
    return np.asarray(record.theta)[ORDER]


answer(estimate)
