#!/usr/bin/env bash
# mujoco-usd-converter 0.8.0: one layer holds bodies before and after MuJoCo's compiler.
#
# A body with <inertial> is written as the file has it; one whose mass comes from geoms of which some
# do not collide, as it is compiled. So a model that is scaled to 6.2 kg (settotalmass), or that takes
# its inertia from geoms (inertiafromgeom="true"), has other masses in USD than in MuJoCo, and in
# another ratio.
#
# Versions: mujoco-usd-converter 0.8.0, mujoco 3.16.0
# Seen: settotalmass: MuJoCo 4.0 and 2.2 kg, USD 2.0 and 2.2; inertiafromgeom: 5.0 and 1.1, 2.0 and 1.1.
set -eu
FINDING=$(mktemp -d)
trap 'rm -rf "$FINDING"' EXIT
"${PYTHON:-python3}" -m venv "$FINDING"
cd "$FINDING"
bin/python -m pip install --quiet mujoco-usd-converter==0.8.0 mujoco==3.16.0
bin/python - <<'PYTHON'
import mujoco
import mujoco_usd_converter
from pxr import Usd, UsdPhysics

MODEL = """<mujoco model="arm"><compiler {setting}/><worldbody>
  <body name="upper"><joint axis="0 1 0"/>
    <inertial pos=".1 0 0" mass="2" diaginertia=".01 .02 .025"/>
    <geom type="box" size=".15 .02 .02" pos=".15 0 0" mass="5"/>
    <body name="tool" pos=".3 0 0"><joint axis="1 0 0"/>
      <geom type="box" size=".02 .03 .04" mass=".7"/>
      <geom type="box" size=".02 .02 .02" mass=".4" contype="0" conaffinity="0"/></body>
  </body></worldbody></mujoco>"""


def masses(setting):
    open("arm.xml", "w").write(MODEL.format(setting=setting))
    model = mujoco.MjModel.from_xml_path("arm.xml")
    folder = setting.partition("=")[0] or "plain"
    mujoco_usd_converter.Converter().convert("arm.xml", folder)
    stage = Usd.Stage.Open(f"{folder}/arm.usda")
    bodies = {prim.GetName(): prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.MassAPI)}
    usd = [UsdPhysics.MassAPI(bodies[name]).GetMassAttr().Get() for name in ("upper", "tool")]
    print(f"{setting or '(none)':24s} MuJoCo {model.body_mass[1:].round(3)}  USD {[round(m, 3) for m in usd]}")
    return [*model.body_mass[1:], *usd]


def same(found, expected):
    assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) < 1e-6, found


same(masses(""), [2.0, 1.1, 2.0, 1.1])
same(masses('settotalmass="6.2"'), [4.0, 2.2, 2.0, 2.2])
same(masses('inertiafromgeom="true"'), [5.0, 1.1, 2.0, 1.1])
PYTHON
