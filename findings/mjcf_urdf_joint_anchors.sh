#!/usr/bin/env bash
# mjcf_urdf_simple_converter 0.7.3: of three hinges at one point of a body, the third is elsewhere.
#
# A joint's place is taken from the sum of all earlier ones in place of the last, so a body with three hinges
# at p stands off by -p in the URDF, and turns about a point of its own. With one or two hinges all is right.
# Each joint also adds a link of 1 g.
#
# Versions: mjcf_urdf_simple_converter 0.7.3, mujoco 4.0.0, numpy 2.4.6
# Seen: at zero angles the centre of mass is at z = 0.3 m in the MJCF, 0.1 m in the URDF; 2 kg become 2.003 kg.
set -eu
FINDING=$(mktemp -d)
trap 'rm -rf "$FINDING"' EXIT
"${PYTHON:-python3}" -m venv "$FINDING"
cd "$FINDING"
bin/python -m pip install --quiet mjcf_urdf_simple_converter==0.7.3 mujoco==4.0.0 numpy==2.4.6 scipy==1.17.1
bin/python - <<'PYTHON'
import mujoco
import numpy as np
from mjcf_urdf_simple_converter import convert

TEMPLATE = """<mujoco><worldbody><body name="upper">
  <inertial pos="0 0 0.3" mass="2" diaginertia="0.02 0.02 0.004"/>{}
</body></worldbody></mujoco>"""


def place(model):
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return data.subtree_com[0], model.body_subtreemass[0]


for count in (1, 2, 3):
    axes = ["1 0 0", "0 1 0", "0 0 1"][:count]
    joints = "".join(
        f'<joint name="j{k}" pos="0 0 0.2" axis="{axis}" range="-90 90" limited="true"/>'
        for k, axis in enumerate(axes)
    )
    with open("shoulder.xml", "w") as file:
        file.write(TEMPLATE.format(joints))
    convert("shoulder.xml", "shoulder.urdf")
    text = open("shoulder.urdf").read()
    extension = '<mujoco><compiler fusestatic="false"/></mujoco></robot>'
    converted = mujoco.MjModel.from_xml_string(text.replace("</robot>", extension))
    centre, mass = place(mujoco.MjModel.from_xml_path("shoulder.xml"))
    centre_urdf, mass_urdf = place(converted)
    print(count, "hinges: z", centre[2].round(4), "in the URDF", centre_urdf[2].round(4),
          "mass", mass, round(mass_urdf, 4))
    assert np.isclose(mass_urdf, mass + 0.001 * count)
    shift = centre_urdf - centre
    assert np.allclose(shift, [0, 0, -0.2 if count == 3 else 0], atol=1e-3)
PYTHON
