#!/usr/bin/env bash
# icub-models 3.2.0: the moments of inertia of a hand are one number, its products are those of CAD.
#
# 11 of 12 links of left_hand_mk3, and the platform of left_wrist_mk2, have 0.01 kg m^2 about every axis, with
# products of 1e-8 to 3e-6 kg m^2 beside them. All are possible bodies: tests of physical consistency pass.
#
# Versions: icub-models 3.2.0, numpy 2.4.6
# Seen: radius of gyration of the index finger's links 0.85 to 0.96 m, of the thumb's first link 0.01 m.
set -eu
FINDING=$(mktemp -d)
trap 'rm -rf "$FINDING"' EXIT
"${PYTHON:-python3}" -m venv "$FINDING"
cd "$FINDING"
bin/python -m pip install --quiet numpy==2.4.6
bin/python -m pip install --quiet --no-deps icub-models==3.2.0
bin/python - <<'PYTHON'
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np

placeholders = {}
for name in ("left_hand_mk3", "left_wrist_mk2"):
    (file,) = Path("share").glob(f"**/{name}/model.urdf")
    links = [link for link in ET.parse(file).iter("link") if link.find("inertial") is not None]
    placeholders[name] = []
    for link in links:
        mass = float(link.find("inertial/mass").get("value"))
        entries = link.find("inertial/inertia").attrib
        inertia = {key: float(value) for key, value in entries.items()}
        moments = np.array([inertia[key] for key in ("ixx", "iyy", "izz")])
        products = [abs(inertia[key]) for key in ("ixy", "ixz", "iyz")]
        print(f"{link.get('name'):30} {mass:.4f} kg, moments {moments} kg m^2,",
              f"radius of gyration {np.sqrt(moments.max() / mass):.2f} m")
        if (moments == 0.01).all():
            assert 1e-9 < max(products) < 1e-5
            placeholders[name].append(link.get("name"))
    print(name, len(placeholders[name]), "of", len(links))
assert len(placeholders["left_hand_mk3"]) == 11
assert placeholders["left_wrist_mk2"] == ["l_platform"]
PYTHON
