#!/usr/bin/env bash
# mani-skill 3.0.1, URDFs of the Allegro hand: products of inertia have CAD's sign.
#
# 13 links of a hand violate the triangle inequality as URDF reads them (ixy = -∫ x y dm), and each
# of them satisfies it with the products reversed (+∫ x y dm); so do all its other links.
#
# Versions: numpy 2.4.6, mani-skill 3.0.1
# Seen: 13 of 21 links impossible as written, none reversed, of the left and of the right hand.
set -eu
FINDING=$(mktemp -d)
trap 'rm -rf "$FINDING"' EXIT
"${PYTHON:-python3}" -m venv "$FINDING"
cd "$FINDING"
bin/python -m pip install --quiet numpy==2.4.6
bin/python -m pip download --quiet --no-deps --dest . mani-skill==3.0.1
bin/python - <<'PYTHON'
import glob
import xml.etree.ElementTree as ElementTree
import zipfile

import numpy as np

wheel = zipfile.ZipFile(glob.glob("mani_skill*.whl")[0])


def possible(entries, sign):
    matrix = np.array([[entries["i" + min(a, b) + max(a, b)] for b in "xyz"] for a in "xyz"])
    matrix = np.where(np.eye(3, dtype=bool), matrix, sign * matrix)
    a, b, c = np.linalg.eigvalsh(matrix)
    return a >= 0.0 and a + b >= c * (1.0 - 1e-9)


for name in ("allegro_hand_left", "allegro_hand_right"):
    robot = ElementTree.fromstring(wheel.read(f"mani_skill/assets/robots/allegro/{name}.urdf"))
    links = [
        {key: float(value) for key, value in inertia.attrib.items()}
        for inertia in robot.findall("link/inertial/inertia")
    ]
    wrong = [link for link in links if not possible(link, 1)]
    reversed_wrong = [link for link in links if not possible(link, -1)]
    print(f"{name}: {len(links)} links, impossible {len(wrong)}, reversed {len(reversed_wrong)}")
    assert len(wrong) == 13 and not reversed_wrong
PYTHON
