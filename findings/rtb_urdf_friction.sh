#!/usr/bin/env bash
# roboticstoolbox-python 1.5.0: dry friction of a URDF becomes viscous, its damping is lost.
#
# <dynamics damping=".7" friction=".4"/> is .7 N m s/rad and .4 N m. Robot.URDF sets the link's
# viscous coefficient B to the .4 and nothing to the .7, and rne() adds B times the speed.
#
# Versions: roboticstoolbox-python 1.5.0, numpy 2.4.6, scipy 1.17.1
# Seen: B = 0.4 N m s/rad, Tc = 0; friction 0.4 and 0.8 N m at 1 and 2 rad/s, by the file 1.1 and 1.8.
set -eu
FINDING=$(mktemp -d)
trap 'rm -rf "$FINDING"' EXIT
"${PYTHON:-python3}" -m venv "$FINDING"
cd "$FINDING"
bin/python -m pip install --quiet roboticstoolbox-python==1.5.0 numpy==2.4.6 scipy==1.17.1
cat > arm.urdf <<'URDF'
<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.025"/></inertial></link>
  <joint name="j1" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/>
    <dynamics damping="0.7" friction="0.4"/></joint>
</robot>
URDF
bin/python -W ignore - <<'PYTHON'
import roboticstoolbox

robot = roboticstoolbox.Robot.URDF(f"{__import__('os').getcwd()}/arm.urdf")
link = next(link for link in robot.links if link.name == "upper")
friction = [
    float((robot.rne([0.0], [speed], [0.0]) - robot.rne([0.0], [0.0], [0.0]))[0])
    for speed in (1.0, 2.0)
]
print(f"B = {link.B} N m s/rad, Tc = {link.Tc} N m; friction at 1 and 2 rad/s: {friction} N m")
assert link.B == 0.4 and not any(link.Tc)
assert abs(friction[0] - 0.4) < 1e-9 and abs(friction[1] - 0.8) < 1e-9  # URDF: 1.1 and 1.8
PYTHON
