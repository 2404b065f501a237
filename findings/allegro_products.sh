#!/usr/bin/env bash
# mani-skill 3.0.1, URDFs of the Allegro hand: products of inertia have CAD's sign.
#
# 13 links of a hand violate the triangle inequality as URDF reads them (ixy = -∫ x y dm), and each
# of them satisfies it with the products reversed (+∫ x y dm); so do all its other links. With one
# sign alone a third of all bodies would by chance. Simulators refuse or silently change such links.
. "$(dirname "$0")/environment" numpy==2.4.6
"$FINDING/bin/python" -m pip download --quiet --no-deps --dest . mani-skill==3.0.1
"$FINDING/bin/python" - <<'PYTHON'
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
