#!/usr/bin/env bash
# scikit-robot 0.4.7: the rotation of a URDF's <inertial> is dropped by the model, not by its converter.
#
# RobotModelFromURDF keeps ixx … izz as they stand and takes them in the link's axes, though the
# <origin rpy> says that they are in others; inverse dynamics uses them. The same package's
# convert-urdf-to-mjcf turns them, so that both simulate different bodies.
#
# Versions: scikit-robot 0.4.7, mujoco 4.0.0, numpy 2.4.6, scipy 1.17.1
# Seen: model 0.01, 0.02, 0.025, converter 0.02, 0.01, 0.025 kg m^2 in the same axes.
set -eu
FINDING=$(mktemp -d)
trap 'rm -rf "$FINDING"' EXIT
"${PYTHON:-python3}" -m venv "$FINDING"
cd "$FINDING"
bin/python -m pip install --quiet scikit-robot==0.4.7 mujoco==4.0.0 numpy==2.4.6 scipy==1.17.1
cat > arm.urdf <<'URDF'
<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.1 0 0" rpy="0 0 1.5707963267948966"/><mass value="2"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.025"/></inertial></link>
  <joint name="j1" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/></joint>
</robot>
URDF
bin/convert-urdf-to-mjcf arm.urdf -o arm.xml --no-ground > /dev/null
bin/python -W ignore - <<'PYTHON'
import mujoco
import numpy as np
from skrobot.models.urdf import RobotModelFromURDF

link = next(link for link in RobotModelFromURDF(urdf_file="arm.urdf").link_list if link.name == "upper")
body = mujoco.MjModel.from_xml_path("arm.xml").body("upper")
rotation = np.zeros(9)
mujoco.mju_quat2Mat(rotation, body.iquat)
rotation = rotation.reshape(3, 3)
converted = np.diag(rotation @ np.diag(body.inertia) @ rotation.T)
print("model, in the link's axes:    ", np.diag(link.inertia_tensor))
print("converter, in the link's axes:", converted.round(6))
assert np.allclose(np.diag(link.inertia_tensor), [0.01, 0.02, 0.025])
assert np.allclose(converted, [0.02, 0.01, 0.025], atol=1e-6)
PYTHON
