#!/usr/bin/env bash
# hebi-py 2.16.1: a RobotModel takes the inertia tensor of each body; its dynamics use point masses.
#
# get_dynamic_comp_efforts sums Jacobian^T * mass * acceleration of the centres of mass. A body that turns
# about its own centre of mass needs no torque there, and two bodies that differ in inertia alone get the
# same efforts. Torque that is logged beyond this compensation still holds the rotational inertia.
#
# Versions: hebi-py 2.16.1, numpy 1.26.4
# Seen: 2 kg 0.2 m beside the axis, Izz 0.03 kg m^2, 1 rad/s^2: 0.08 N m, where 0.11 N m is needed.
set -eu
FINDING=$(mktemp -d)
trap 'rm -rf "$FINDING"' EXIT
"${PYTHON:-python3}" -m venv "$FINDING"
cd "$FINDING"
bin/python -m pip install --quiet hebi-py==2.16.1 numpy==1.26.4
bin/python - <<'PYTHON'
import numpy as np
from hebi.robot_model import RobotModel


def effort(distance, inertia, mass=2.0):
    """Torque of a vertical joint at rest that accelerates a body at 1 rad/s^2."""
    model = RobotModel()
    model.add_joint("rz")
    model.add_rigid_body([distance, 0, 0], inertia, mass, np.eye(4))
    at_rest = np.zeros(1)
    return model.get_dynamic_comp_efforts(at_rest, at_rest, at_rest, np.ones(1))[0]


inertia = [0.01, 0.02, 0.03, 0, 0, 0]
beside, centred = effort(0.2, inertia), effort(0.0, inertia)
print(f"beside the axis: {beside:.4f} N m of {2 * 0.2**2 + 0.03:.4f}")
print(f"about its centre of mass: {centred:.4f} N m of 0.0300")
print(f"without inertia: {effort(0.2, [0] * 6):.4f} N m")
assert np.isclose(beside, 2 * 0.2**2, atol=1e-6)
assert np.isclose(beside, effort(0.2, [0] * 6), atol=1e-9)
assert abs(centred) < 1e-9
PYTHON
