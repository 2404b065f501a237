#!/usr/bin/env bash
# trimesh 5.2.0: a mesh keeps its density when it is copied or moved, and loses it when it is joined.
#
# Two steel boxes of 46.8 kg are one mesh of 12 g after concatenate: it has density 1 again. So do
# split, convex_hull, slice_plane, subdivide and boolean operations. center_mass stays right, mass
# and moment_inertia do not, and no warning tells.
#
# Versions: trimesh 5.2.0, numpy 2.4.6, scipy 1.17.1, manifold3d 3.5.4,
#     networkx 3.6.1, shapely 2.2.0, mapbox-earcut 2.1.0
# Seen: 46.8 kg and 46.8 kg joined: 0.012 kg; density 7800 after copy and move, 1 after the others.
set -eu
FINDING=$(mktemp -d)
trap 'rm -rf "$FINDING"' EXIT
"${PYTHON:-python3}" -m venv "$FINDING"
cd "$FINDING"
bin/python -m pip install --quiet \
    trimesh==5.2.0 numpy==2.4.6 scipy==1.17.1 manifold3d==3.5.4 \
    networkx==3.6.1 shapely==2.2.0 mapbox-earcut==2.1.0
bin/python - <<'PYTHON'
import trimesh

box = trimesh.creation.box((0.1, 0.2, 0.3))
box.density = 7800.0
moved = box.copy().apply_translation((1.0, 0.0, 0.0))
densities = {
    "copy": box.copy().density,
    "moved": moved.density,
    "concatenate": trimesh.util.concatenate([box, moved]).density,
    "union": trimesh.boolean.union([box, moved]).density,
    "split": box.split()[0].density,
    "slice_plane": box.slice_plane((0, 0, 0), (0, 0, 1), cap=True).density,
    "convex_hull": box.convex_hull.density,
    "subdivide": box.subdivide().density,
}
print(densities)
print(f"{box.mass:.1f} kg and {moved.mass:.1f} kg joined: {trimesh.util.concatenate([box, moved]).mass:.3f} kg")
assert {name for name, density in densities.items() if density == 7800.0} == {"copy", "moved"}
assert {density for name, density in densities.items() if name not in ("copy", "moved")} == {1.0}
PYTHON
