#!/usr/bin/env bash
# Warp 1.9.1: warp.sim turns an inertia from one side only, and by default takes none from the file.
#
# parse_urdf and parse_mjcf ignore <inertial> unless ignore_inertial_definitions=False; then they take R I for
# the inertia in the body's axes, where the formats say R I R^T: a matrix that is not symmetric. MuJoCo writes
# a saved model with principal moments and a rotation, so a body that was right as fullinertia is wrong after.
# Newton, which warp.sim became, is right in the same URDF.
#
# Versions: warp-lang 1.9.1, numpy 2.4.6, mujoco 4.0.0; newton 1.8.0 with warp-lang 1.19.0
# Seen: mass 0.01 kg by default; then Ixy -0.01 and Iyx 0.005 instead of both -0.00433 kg m^2. As fullinertia
# both are -0.00433; after MuJoCo saved the model the diagonal is 0, -0.01732, 0.
set -eu
FINDING=$(mktemp -d)
trap 'rm -rf "$FINDING"' EXIT
"${PYTHON:-python3}" -m venv "$FINDING/warp"
"${PYTHON:-python3}" -m venv "$FINDING/newton"
cd "$FINDING"
warp/bin/python -m pip install --quiet warp-lang==1.9.1 numpy==2.4.6 mujoco==4.0.0
newton/bin/python -m pip install --quiet newton==1.8.0 warp-lang==1.19.0 numpy==2.4.6
cat > arm.urdf <<'URDF'
<robot name="arm">
  <link name="base"/>
  <link name="tool"><inertial><origin xyz="0 0 0" rpy="0 0 0.5235987755982988"/><mass value="2"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.025"/></inertial></link>
  <joint name="j1" type="revolute"><parent link="base"/><child link="tool"/>
    <axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="50" velocity="3"/></joint>
</robot>
URDF
cat > arm.xml <<'MJCF'
<mujoco><compiler angle="radian"/><worldbody><body name="tool"><joint name="j1" axis="0 0 1"/>
  <inertial pos="0 0 0" mass="2" fullinertia="0.0125 0.0175 0.025 -0.004330127018922193 0 0"/>
</body></worldbody></mujoco>
MJCF
warp/bin/python - <<'PYTHON'
import mujoco
import numpy as np
import warp
import warp.sim

warp.config.quiet = True


def tool(parse, file, **options):
    builder = warp.sim.ModelBuilder()
    parse(file, builder, **options)
    return builder.body_mass[-1], np.array(builder.body_inertia[-1]).reshape(3, 3)


cos, sin = np.cos(np.pi / 6), np.sin(np.pi / 6)
turn = np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])
moments = np.diag([0.01, 0.02, 0.025])

mass, _ = tool(warp.sim.parse_urdf, "arm.urdf")
print("Warp", warp.__version__, "mass by default", mass, "kg; in the file 2 kg")
assert mass == 0.01
mass, inertia = tool(warp.sim.parse_urdf, "arm.urdf", ignore_inertial_definitions=False)
print("URDF: Ixy", round(inertia[0, 1], 5), "Iyx", round(inertia[1, 0], 5))
assert mass == 2 and np.allclose(inertia, turn @ moments)
assert not np.allclose(inertia, turn @ moments @ turn.T, rtol=0.1, atol=1e-4)

_, full = tool(warp.sim.parse_mjcf, "arm.xml", ignore_inertial_definitions=False)
model = mujoco.MjModel.from_xml_path("arm.xml")
mujoco.mj_saveLastXML("saved.xml", model)
_, saved = tool(warp.sim.parse_mjcf, "saved.xml", ignore_inertial_definitions=False)
print("MJCF: Ixy, Iyx as fullinertia", full[0, 1].round(5), full[1, 0].round(5))
print("MJCF: as MuJoCo saved it\n", saved.round(5))
assert np.allclose(full, turn @ moments @ turn.T, atol=1e-8)
assert np.allclose(np.diag(saved), [0, -0.02 * cos, 0], atol=1e-6)
PYTHON
newton/bin/python - <<'PYTHON'
import newton
import numpy as np
import warp

warp.config.quiet = True
builder = newton.ModelBuilder()
builder.add_urdf("arm.urdf")
inertia = np.array(builder.body_inertia[-1]).reshape(3, 3)
print("Newton", newton.__version__, "Ixy", inertia[0, 1].round(5), "Iyx", inertia[1, 0].round(5))
assert np.allclose(inertia[[0, 1], [1, 0]], -0.00433, atol=1e-5)
PYTHON
