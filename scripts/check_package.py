"""Check a built wheel and sdist, each in a clean environment, and run the demo.

An environment contains the package and its core dependencies at the locked versions, without
extras. A simulated CSV, written with NumPy only, is fitted in each; `make demo` runs in the
unpacked sdist.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
MASS, COM = 1.3, np.array([0.02, -0.015, 0.06])
INERTIA_ABOUT_COM = np.array([[31, 4, -3], [4, 26, 5], [-3, 5, 17]]) * 1e-4
GRAVITY = np.array([0.0, 0.0, -9.80665])

INSTALLERS = ("pip", "setuptools", "wheel", "pkg_resources")
RELEASED = "0.1.0", 718, 50
"""The release before: version, size of a fresh environment [MB], and number of its packages."""

SCHEMA = """\
[log]
time = "t"

[pose]
position = ["px", "py", "pz"]
quaternion = ["qx", "qy", "qz", "qw"]
maps = "body_to_world"

[wrench]
force = ["fx", "fy", "fz"]
torque = ["tx", "ty", "tz"]
frame = "body"
acts_on = "body"
"""


def oscillating_attitude(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return quaternions [x, y, z, w] of oscillating yaw, pitch and roll, and w_WB_B."""
    frequency = 2 * np.pi * np.array([0.31, 0.53, 0.79])
    swing = np.array([1.2, 0.8, 1.0])
    angles = (swing * np.sin(np.outer(t, frequency))).T
    dyaw, dpitch, droll = (swing * frequency * np.cos(np.outer(t, frequency))).T
    _, pitch, roll = angles
    (cz, cy, cx), (sz, sy, sx) = np.cos(angles / 2), np.sin(angles / 2)
    quaternion = np.stack(
        [
            sx * cy * cz - cx * sy * sz,
            cx * sy * cz + sx * cy * sz,
            cx * cy * sz - sx * sy * cz,
            cx * cy * cz + sx * sy * sz,
        ],
        axis=1,
    )
    w = np.stack(
        [
            droll - dyaw * np.sin(pitch),
            dpitch * np.cos(roll) + dyaw * np.cos(pitch) * np.sin(roll),
            dyaw * np.cos(pitch) * np.cos(roll) - dpitch * np.sin(roll),
        ],
        axis=1,
    )
    return quaternion, w


def into_body(q: np.ndarray, v_W: np.ndarray) -> np.ndarray:
    """Return R_WBᵀ v_W."""
    axis, scalar = -q[:, :3], q[:, 3:]
    turn = 2 * np.cross(axis, v_W)
    return v_W + scalar * turn + np.cross(axis, turn)


def write_log(path: Path) -> None:
    """Write twenty seconds of motion at 200 Hz and its wrench, with a little noise."""
    t = np.arange(0, 20, 0.005)
    q, w = oscillating_attitude(t)
    step = 1e-5
    alpha = (oscillating_attitude(t + step)[1] - oscillating_attitude(t - step)[1]) / (2 * step)
    frequency = 2 * np.pi * np.array([0.43, 0.61, 0.37])
    position = 0.25 * np.sin(np.outer(t, frequency))
    a = into_body(q, -(frequency**2) * position - GRAVITY)

    h = MASS * COM
    shift = MASS * (COM @ COM * np.eye(3) - np.outer(COM, COM))
    inertia = INERTIA_ABOUT_COM + shift
    f = MASS * a + np.cross(alpha, h) + np.cross(w, np.cross(w, h))
    torque = np.cross(h, a) + alpha @ inertia + np.cross(w, w @ inertia)
    noise = np.random.default_rng(7).normal(size=(len(t), 6)) * ([0.02] * 3 + [0.001] * 3)
    header = "t,px,py,pz,qx,qy,qz,qw,fx,fy,fz,tx,ty,tz"
    table = np.column_stack([t, position, q, np.hstack([f, torque]) + noise])
    np.savetxt(path, table, fmt="%.12g", delimiter=",", header=header, comments="")


def check_files(wheel: Path) -> None:
    """Check that the wheel contains exactly the package and its data."""
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        path.relative_to(ROOT).as_posix()
        for name in ("identify", "inertia_identify")
        for path in (ROOT / name).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    if missing := sorted(expected - names):
        raise SystemExit(f"{wheel.name} lacks {missing}")
    foreign = {name for name in names - expected if ".dist-info/" not in name}
    if foreign:
        raise SystemExit(f"{wheel.name} contains other files: {sorted(foreign)}")
    print(f"{wheel.name}: {len(names)} files, {wheel.stat().st_size / 1024:.0f} KiB")


def install(package: Path, lock: Path, folder: Path) -> Path:
    """Install the package and its core dependencies; return the folder of programs."""
    pins = re.findall(r"^[A-Za-z0-9._-]+==[^\\\n]+", lock.read_text(), re.MULTILINE)
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(pins) + "\n")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pip = [programs / "python", "-m", "pip", "--quiet", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--constraint", constraints, package], check=True)
    subprocess.run([*pip, "check"], check=True)
    return programs


def print_size(programs: Path) -> None:
    """Print the size of the environment and its packages, beside those of the release before."""
    (site,) = (programs.parent).glob("**/site-packages")
    installed = [path for path in site.iterdir() if path.name.split("-")[0] not in INSTALLERS]
    files = (file for path in installed for file in (path, *path.rglob("*")))
    size = sum(f.stat().st_size for f in files if f.is_file() and f.suffix != ".pyc") / 1e6
    packages = sum(path.suffix == ".dist-info" for path in installed)
    print(
        f"a fresh environment has {size:.0f} MB in {packages} packages; before ({RELEASED[0]}) "
        f"{RELEASED[1]} MB in {RELEASED[2]}"
    )


def check_fit(programs: Path, folder: Path) -> None:
    """Check `identify fit` on the CSV: exit status, both files, the numbers."""
    write_log(folder / "log.csv")
    (folder / "log.toml").write_text(SCHEMA)
    fit = ["-m", "identify", "fit", "log.csv", "--schema", "log.toml", "-o", "out"]
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    subprocess.run([programs / "python", *fit], cwd=folder, env=env, check=True)
    same = "import inertia_identify.inertia as a, identify.inertia as b; assert a is b"
    subprocess.run([programs / "python", "-c", same], cwd=folder, env=env, check=True)
    for command in ("identify", "inertia-identify"):
        subprocess.run([programs / command, "--version"], cwd=folder, env=env, check=True)

    estimate = json.loads((folder / "out" / "estimate.json").read_text())
    inertia = np.array(estimate["inertia_about_com"])
    errors = {
        "mass": abs(estimate["mass"] - MASS) / MASS,
        "com": float(np.linalg.norm(estimate["com"] - COM) / np.linalg.norm(COM)),
        "inertia": float(
            np.linalg.norm(inertia - INERTIA_ABOUT_COM) / np.linalg.norm(INERTIA_ABOUT_COM)
        ),
    }
    print("errors:", ", ".join(f"{name} {error:.2e}" for name, error in errors.items()))
    limits = {"mass": 2e-3, "com": 5e-3, "inertia": 3e-2}
    if wrong := [name for name, error in errors.items() if not error <= limits[name]]:
        raise SystemExit(f"errors above the limits in {wrong}: limits are {limits}")
    report = (folder / "out" / "report.html").stat().st_size
    if not 10_000 < report <= 5_000_000:
        raise SystemExit(f"report.html has {report} bytes")
    print(f"estimate.json and report.html ({report / 1024:.0f} KiB) exist")


def check_demo(sdist: Path, folder: Path) -> None:
    """Check `make demo` in the unpacked sdist, which creates its own environment."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    subprocess.run(["make", "demo", f"PYTHON={sys.executable}"], cwd=root, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dist", type=Path, help="folder with one wheel and one sdist")
    parser.add_argument("lock", type=Path, help="pinned versions")
    args = parser.parse_args()
    (wheel,) = args.dist.resolve().glob("*.whl")
    check_files(wheel)
    (sdist,) = args.dist.resolve().glob("*.tar.gz")
    for package in (wheel, sdist):
        with tempfile.TemporaryDirectory() as scratch:
            programs = install(package, args.lock, Path(scratch))
            print_size(programs)
            check_fit(programs, Path(scratch))
        print(f"{package.name} works with the core dependencies")
    with tempfile.TemporaryDirectory() as scratch:
        check_demo(sdist, Path(scratch))
    print(f"{sdist.name} runs its demo")


if __name__ == "__main__":
    main()
