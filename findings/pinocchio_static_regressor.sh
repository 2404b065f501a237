#!/usr/bin/env bash
# Pinocchio 4.1.0: two regressors that are not what rnea and a fit need.
#
# computeStaticRegressor divides by the model's own mass: times the parameters it is the centre of
# mass, so its rows change with the parameters that are sought. computeJointTorqueRegressor leaves
# out the armature, which buildModelFromMJCF reads and rnea adds: the rest is armature times
# acceleration, which a fit puts into the inertia. Neither has the damping that the file has.
#
# Versions: pin 4.1.0, numpy 2.4.6
# Seen: rnea -1.694, regressor -1.794, armature times acceleration 0.100 N m; rows halved at twice the mass.
set -eu
FINDING=$(mktemp -d)
trap 'rm -rf "$FINDING"' EXIT
"${PYTHON:-python3}" -m venv "$FINDING"
cd "$FINDING"
bin/python -m pip install --quiet pin==4.1.0 numpy==2.4.6
cat > arm.xml <<'MJCF'
<mujoco model="arm"><worldbody><body name="upper">
  <joint name="j1" axis="0 1 0" armature=".05" damping=".7" frictionloss=".4"/>
  <inertial pos=".1 0 0" mass="2" diaginertia=".01 .02 .025"/>
</body></worldbody></mujoco>
MJCF
bin/python - <<'PYTHON'
import numpy as np
import pinocchio

model = pinocchio.buildModelFromMJCF("arm.xml")
q, v, a = np.array([0.3]), np.array([0.5]), np.array([2.0])
torque = float(np.squeeze(pinocchio.rnea(model, model.createData(), q, v, a)))
rows = pinocchio.computeJointTorqueRegressor(model, model.createData(), q, v, a)
by_rows = float(np.squeeze(rows @ model.inertias[1].toDynamicParameters()))
print(f"rnea {torque:.3f} N m, regressor {by_rows:.3f} N m, armature x acceleration {0.05 * a[0]:.3f} N m")
assert abs(torque - by_rows - 0.05 * a[0]) < 1e-12 and model.damping[0] == 0.7


def static_rows():
    return pinocchio.computeStaticRegressor(model, model.createData(), q).copy()


light, parameters = static_rows(), model.inertias[1].toDynamicParameters()[:4]
assert np.allclose(light @ parameters, pinocchio.centerOfMass(model, model.createData(), q))
model.inertias[1] = pinocchio.Inertia(4.0, model.inertias[1].lever, model.inertias[1].inertia)
heavy = static_rows()
print(f"static rows at 2 and 4 kg, of h_x: {light[:, 1].round(4)} and {heavy[:, 1].round(4)}")
assert np.allclose(light, 2.0 * heavy) and not np.allclose(light, heavy)
PYTHON
