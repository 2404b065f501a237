#!/usr/bin/env bash
# Klampt 0.10.1: the rotation of a URDF's <inertial> is applied the wrong way round.
#
# RobotModel takes R^T I R for the inertia in the link's axes, where <origin rpy> says R I R^T; mass and
# centre of mass are right. Inertias that are written in the link's axes (rpy of zero) show nothing.
# Pinocchio and iDynTree turn it as the format says.
#
# Versions: klampt 0.10.1.post1, pin 4.1.0, idyntree 15.1.0, numpy 2.4.6
# Seen: Ixy 0.00433 instead of -0.00433 kg m^2; moment about the joint 0.01933 instead of 0.01067 kg m^2.
set -eu
FINDING=$(mktemp -d)
trap 'rm -rf "$FINDING"' EXIT
"${PYTHON:-python3}" -m venv "$FINDING"
cd "$FINDING"
bin/python -m pip install --quiet klampt==0.10.1.post1 pin==4.1.0 idyntree==15.1.0 numpy==2.4.6
cat > arm.urdf <<'URDF'
<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0" rpy="0 0 0.5235987755982988"/><mass value="2"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.025"/></inertial></link>
  <joint name="j1" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0" rpy="0 0 0"/>
    <axis xyz="0.7071067811865476 0.7071067811865476 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/></joint>
</robot>
URDF
bin/python - <<'PYTHON'
import idyntree.bindings as idyntree
import numpy as np
import pinocchio
from klampt import WorldModel

world = WorldModel()
robot = world.loadRobot("arm.urdf")
names = [robot.link(k).getName() for k in range(robot.numLinks())]
upper = names.index("upper")
inertia = np.array(robot.link(upper).getMass().inertia).reshape(3, 3)
moment = np.array(robot.getMassMatrix())[upper, upper]

model = pinocchio.buildModelFromUrdf("arm.urdf")
of_pinocchio = pinocchio.crba(model, model.createData(), np.zeros(1))[0, 0]
loader = idyntree.ModelLoader()
assert loader.loadModelFromFile("arm.urdf")
tree = loader.model()
link = tree.getLink(tree.getLinkIndex("upper"))
of_idyntree = link.getInertia().asMatrix().toNumPy()[3:, 3:]

cos, sin = np.cos(np.pi / 6), np.sin(np.pi / 6)
turn = np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])
moments = np.diag([0.01, 0.02, 0.025])
print("Ixy: Klampt", round(inertia[0, 1], 5), "iDynTree", round(of_idyntree[0, 1], 5))
print("moment about the joint: Klampt", round(moment, 5), "Pinocchio", round(of_pinocchio, 5))
assert np.allclose(of_idyntree, turn @ moments @ turn.T)
assert np.allclose(inertia, turn.T @ moments @ turn)
axis = np.array([1, 1, 0]) / np.sqrt(2)
assert np.allclose(of_pinocchio, axis @ of_idyntree @ axis)
assert np.allclose(moment, axis @ inertia @ axis)
PYTHON
