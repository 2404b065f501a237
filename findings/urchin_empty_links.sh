#!/usr/bin/env bash
# urchin 0.0.30: loading and saving a URDF gives each link without <inertial> a mass of 1 kg and 1 kg m^2.
#
# Frames such as a base, a flange or a tool's tip become bodies, each a solid ball of 1.6 m radius by its
# moments: an arm of 0.5 kg is saved with 2.5 kg.
#
# Versions: urchin 0.0.30, pin 4.1.0, numpy 2.4.6
# Seen: total mass of the moving links 0.5 kg before, 1.5 kg after saving; moment about the joint
# 0.00125 before, 1.01125 kg m^2 after.
set -eu
FINDING=$(mktemp -d)
trap 'rm -rf "$FINDING"' EXIT
"${PYTHON:-python3}" -m venv "$FINDING"
cd "$FINDING"
bin/python -m pip install --quiet urchin==0.0.30 pin==4.1.0 numpy==2.4.6
cat > arm.urdf <<'URDF'
<robot name="arm">
  <link name="base"/>
  <link name="link"><inertial><origin xyz="0 0 0" rpy="0 0 0"/><mass value="0.5"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.00125"/></inertial></link>
  <link name="tip"/>
  <joint name="j" type="revolute"><parent link="base"/><child link="link"/>
    <origin xyz="0 0 0" rpy="0 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="5" velocity="3"/></joint>
  <joint name="tip" type="fixed"><parent link="link"/><child link="tip"/>
    <origin xyz="0.1 0 0" rpy="0 0 0"/></joint>
</robot>
URDF
bin/python -W ignore - <<'PYTHON'
import numpy as np
import pinocchio
import urchin

urchin.URDF.load("arm.urdf").save("saved.urdf")
found = {}
for name in ("arm.urdf", "saved.urdf"):
    model = pinocchio.buildModelFromUrdf(name)
    mass = sum(body.mass for body in model.inertias[1:])
    moment = pinocchio.crba(model, model.createData(), np.zeros(1))[0, 0]
    found[name] = mass, moment
    print(f"{name}: {mass:.3f} kg move, moment about the joint {moment:.5f} kg m^2")
assert np.allclose(found["arm.urdf"], (0.5, 0.00125))
assert np.allclose(found["saved.urdf"], (1.5, 0.00125 + 1 + 0.1**2))
PYTHON
