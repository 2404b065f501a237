#!/usr/bin/env bash
# MuJoCo 4.0.0: a tool attached to an arm keeps some of its compiler's settings of mass, not all.
#
# MjSpec.attach carries boundmass and inertiafromgeom of the tool's file over to its bodies;
# settotalmass is dropped, and that of the arm scales the tool as well. The same tool has another
# mass alone than on the arm, in the compiled model and in the XML that is saved.
#
# Versions: mujoco 4.0.0
# Seen: a tool of 2 kg alone has 0.7 kg on the arm, and 1.4 kg where the arm sets its own total.
set -eu
FINDING=$(mktemp -d)
trap 'rm -rf "$FINDING"' EXIT
"${PYTHON:-python3}" -m venv "$FINDING"
cd "$FINDING"
bin/python -m pip install --quiet mujoco==4.0.0
bin/python -W ignore - <<'PYTHON'
import mujoco

TOOL = """<mujoco model="tool"><compiler {}/><worldbody><body name="tool">
  <inertial pos="0 0 .05" mass=".7" diaginertia=".001 .002 .0025"/>
  <geom type="box" size=".05 .05 .05" mass="1"/></body></worldbody></mujoco>"""
ARM = """<mujoco model="arm"><compiler {}/><worldbody><body name="arm"><joint axis="0 1 0"/>
  <geom type="sphere" size=".1" mass="1"/><site name="flange"/></body></worldbody></mujoco>"""


def masses(tool, arm=""):
    alone = mujoco.MjSpec.from_string(TOOL.format(tool)).compile()
    spec = mujoco.MjSpec.from_string(ARM.format(arm))
    child = mujoco.MjSpec.from_string(TOOL.format(tool))
    spec.attach(child, prefix="t_", site=spec.site("flange"))
    on_arm = spec.compile()
    saved = mujoco.MjModel.from_xml_string(spec.to_xml())
    found = [float(m.body_mass[-1]) for m in (alone, on_arm, saved)]
    print(f"tool {tool or '(none)':24s} arm {arm or '(none)':20s} alone, attached, saved: {found}")
    return found


def same(found, expected):
    assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) < 1e-4, found


same(masses(""), [0.7, 0.7, 0.7])
same(masses('inertiafromgeom="true"'), [1.0, 1.0, 1.0])
same(masses('boundmass="3"'), [3.0, 3.0, 3.0])
same(masses('settotalmass="2"'), [2.0, 0.7, 0.7])
same(masses('settotalmass="2"', 'settotalmass="3.4"'), [2.0, 1.4, 1.4])
PYTHON
