#!/usr/bin/env bash
# mani-skill 3.0.1, URDF of the SO-100: two links are added up without their parallel-axis terms.
#
# Upper_Arm and Wrist_Pitch_Roll are a print and a motor, each a mesh in the file. Masses and centres
# of mass are those of both of equal density; the inertia is the sum of both about the centre of each
# one alone, to .3 %. About the common centre it is 35 % and 19 % larger (of the largest moment).
#
# Versions: trimesh 5.2.0, numpy 2.4.6, scipy 1.17.1, mani-skill 3.0.1
# Seen: Upper_Arm ixx 1.67e-4 in the file and summed alone, 2.58e-4 kg m^2 about the common centre.
set -eu
FINDING=$(mktemp -d)
trap 'rm -rf "$FINDING"' EXIT
"${PYTHON:-python3}" -m venv "$FINDING"
cd "$FINDING"
bin/python -m pip install --quiet trimesh==5.2.0 numpy==2.4.6 scipy==1.17.1
bin/python -m pip download --quiet --no-deps --dest . mani-skill==3.0.1
bin/python - <<'PYTHON'
import glob
import io
import posixpath
import xml.etree.ElementTree as ElementTree
import zipfile

import numpy as np
import trimesh

FOLDER = "mani_skill/assets/robots/so100/"
wheel = zipfile.ZipFile(glob.glob("mani_skill*.whl")[0])
robot = ElementTree.fromstring(wheel.read(FOLDER + "so100.urdf"))


def mesh(collision):
    origin = collision.find("origin").attrib
    assert not any(map(float, origin["xyz"].split())) and not any(map(float, origin["rpy"].split()))
    path = posixpath.normpath(FOLDER + collision.find("geometry/mesh").get("filename"))
    return trimesh.load_mesh(io.BytesIO(wheel.read(path)), file_type="stl")


for name, least in (("Upper_Arm", 0.3), ("Wrist_Pitch_Roll", 0.15)):
    link = robot.find(f"link[@name='{name}']")
    six = {key: float(value) for key, value in link.find("inertial/inertia").attrib.items()}
    written = np.array([[six["i" + "".join(sorted(a + b))] for b in "xyz"] for a in "xyz"])
    parts = [mesh(collision) for collision in link.findall("collision")]
    density = float(link.find("inertial/mass").get("value")) / sum(part.volume for part in parts)
    for part in parts:
        part.density = density
    mass = sum(part.mass for part in parts)
    centre = sum(part.mass * part.center_mass for part in parts) / mass
    alone = sum(part.moment_inertia for part in parts)
    about_centre = alone + sum(
        part.mass * (np.dot(r, r) * np.eye(3) - np.outer(r, r))
        for part in parts
        for r in [part.center_mass - centre]
    )
    size = np.abs(written).max()
    print(f"{name}: of {len(parts)} meshes of {density:.0f} kg/m³")
    for text, matrix in (("file", written), ("sum about each", alone), ("about common", about_centre)):
        print(f"  {text:15s} ixx iyy izz {np.diag(matrix)} kg m²")
    com = np.array(link.find("inertial/origin").get("xyz").split(), float)
    assert len(parts) == 2 and np.abs(com - centre).max() < 1e-4
    assert np.abs(alone - written).max() < 0.005 * size
    assert np.abs(about_centre - written).max() > least * size
PYTHON
