"""Write the logs of the cases that no data set has: `python inputs.py FOLDER`.

It runs once, under the base revision, and both revisions read the bytes it wrote. Seeds are fixed.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd

from experiments.silent_study.clean import clean_recording
from experiments.silent_study.faults import faults
from experiments.silent_study.subjects import Subject, random_body, subject
from identify.logs import Noise, synthetic_recording
from identify.logs.log_writing import write_log
from identify.logs.synthetic import random_motion

SEED = 11
ROOT = Path(sys.modules["identify"].__path__[0]).parent

FAULTS = {
    "late": ("slow-2", "wrench late 20 ms"),
    "low_pass": ("fast-1", "wrench through a low-pass of 5 Hz"),
    "gain": ("fast-2", "torque x 0.9"),
    "turned": ("arm", "wrench turned 5 deg about z"),
    "sign": ("slow-1", "force's sign"),
    "unit": ("fast-3", "torque in lbf in"),
    "drift": ("slow-2", "drift, linear, 0.05 of the weight"),
    "order": ("arm", "quaternion order"),
    "point": ("fast-1", "pose of a point 15 mm off"),
    "contact": ("arm", "contact of 2 s, 0.8 of the weight"),
    "spikes": ("slow-3", "spikes, 1 % of rows, either sign"),
    "two_bodies": ("fast-2", "two logs, the second of 1.05"),
}
"""Log and perturbation of the silent study, by the name of the case."""

CLOCKS: dict[str, dict[str, int]] = {
    "slow_pose": {"pose": 100, "wrench": 500},
    "slow_wrench": {"pose": 500, "wrench": 100},
    "gyro": {"pose": 125, "wrench": 250, "gyro": 500},
    "imu": {"pose": 50, "wrench": 500, "gyro": 250, "accelerometer": 200},
    "one_file": {"pose": 100, "wrench": 250},
    "held": {"pose": 100, "wrench": 500},
}
"""Rates of the streams [Hz]; each divides that of the motion, 1 kHz."""

COLUMNS = {
    "pose": {"position": ("px", "py", "pz"), "quaternion": ("qx", "qy", "qz", "qw")},
    "wrench": {"force": ("fx", "fy", "fz"), "torque": ("tx", "ty", "tz")},
    "gyro": {"angular_velocity": ("gx", "gy", "gz")},
    "accelerometer": {"proper_acceleration": ("ax", "ay", "az")},
}


def main(folder: Path) -> None:
    """Write all inputs into a folder."""
    shutil.copytree(ROOT / "datasets", folder / "datasets")
    shutil.copy(ROOT / "identify/catalog/schemas/tx40.toml", folder)
    for name, (log, fault) in FAULTS.items():
        write_faulty_log(folder / "faulty", name, log, fault)
    for number in range(6):
        log = clean_recording(number, SEED)[0]
        (folder / "clean").mkdir(exist_ok=True)
        write_log(log, folder / "clean" / f"{number}.csv")
    for name, rates in CLOCKS.items():
        write_clocks(folder / "clocks" / name, rates, SEED + crc32(name.encode()))
    write_long_logs(folder / "long")
    write_equations(folder / "equations")


def write_faulty_log(folder: Path, name: str, log: str, fault: str) -> None:
    """Write a perturbed log of the silent study: its logs, if there are two, and their schema."""
    rng = np.random.default_rng([SEED, crc32(f"{log} {fault}".encode())])
    make = next(each.make for each in faults() if each.name == fault)
    made: list[Subject] = list(make(subject(log, SEED), rng))
    (folder / name).mkdir(parents=True)
    for number, each in enumerate(made):
        np.savez(folder / name / f"log{number}.npz", **each.columns)
    (folder / name / "schema.toml").write_text(toml(made[0].schema), "utf-8")


def write_clocks(folder: Path, rates: Mapping[str, int], seed: int) -> None:
    """Write a log whose sensors have clocks of their own."""
    rng = np.random.default_rng(seed)
    noise = Noise(position=1e-4, orientation=3e-4, force=0.05, torque=0.005, angular_velocity=2e-3)
    motion = random_motion(rng)
    log = synthetic_recording(
        random_body(rng), rng=rng, motion=motion, duration=20.0, rate_hz=1000.0, noise=noise,
        include="all",
    )  # fmt: skip
    signals = dict(log.signals)
    q = signals["quaternion"]
    proper = signals["linear_acceleration"] - rotate_back(q, np.array([0.0, 0.0, -9.80665]))
    signals["proper_acceleration"] = proper + 0.02 * rng.normal(size=proper.shape)
    tables = {}
    for stream, rate in rates.items():
        rows = np.arange(rng.integers(1000 // rate), len(q), 1000 // rate)
        columns = {"t": rows * 1e-3}
        for signal, names in COLUMNS[stream].items():
            columns |= dict(zip(names, signals[signal][rows].T, strict=True))
        tables[stream] = pd.DataFrame(columns)
    folder.mkdir(parents=True)
    schema = schema_of_streams(rates)
    if folder.name in ("one_file", "held"):
        joined = pd.concat(list(tables.values())).sort_values("t", kind="stable")
        if folder.name == "held":  # rows of the wrench, with the last sample of the pose
            joined = joined.ffill()[joined["fx"].notna()].dropna()
        joined.to_csv(folder / "log.csv", index=False)
        del schema["streams"]
    else:
        for stream, table in tables.items():
            table.to_csv(folder / f"{stream}.csv", index=False)
    (folder / "schema.toml").write_text(toml(schema), "utf-8")


def schema_of_streams(streams: Mapping[str, int]) -> dict[str, Any]:
    """Return the schema of a log of streams."""
    pose, wrench = COLUMNS["pose"], COLUMNS["wrench"]
    schema: dict[str, Any] = {
        "log": {"time": "t"},
        "streams": {name: {"file": f"{name}.csv"} for name in streams},
        "world": {"gravity": [0.0, 0.0, -9.80665]},
        "pose": {**pose, "order": "xyzw", "maps": "body_to_world"},
        "wrench": {**wrench, "frame": "body", "acts_on": "body"},
    }
    if "gyro" in streams:
        schema["imu"] = {"gyro": COLUMNS["gyro"]["angular_velocity"]}
    if "accelerometer" in streams:
        schema["imu"]["accelerometer"] = COLUMNS["accelerometer"]["proper_acceleration"]
        schema["imu"]["mount"] = {"translation": [0.0, 0.0, 0.0]}
    return schema


def write_long_logs(folder: Path) -> None:
    """Write logs that are long enough to be read in chunks, as Parquet and as text."""
    folder.mkdir()
    noise = Noise(position=5e-5, orientation=1e-4, force=0.1, torque=0.01)
    for name, rows in (("rows200000.parquet", 200_000), ("rows140000.csv", 140_000)):
        rng = np.random.default_rng([SEED, rows])
        log = synthetic_recording(
            random_body(rng), rng=rng, duration=rows / 1000.0, rate_hz=1000.0, noise=noise
        )
        write_log(log, folder / name)
    rng = np.random.default_rng([SEED, 4])
    log = synthetic_recording(random_body(rng), rng=rng, duration=40.0, rate_hz=100.0, noise=noise)
    np.savez(folder / "online.npz", t=log.time, **log.signals)


def write_equations(folder: Path) -> None:
    """Write rows A and b of the Newton-Euler equations: well excited, noisy, at rest."""
    folder.mkdir()
    for name, moving, noise in (("moving", 1.0, 0.01), ("noisy", 1.0, 2.0), ("still", 0.0, 0.01)):
        rng = np.random.default_rng([SEED, crc32(name.encode())])
        phi, rows = random_body(rng), []
        for a, w, alpha in rng.normal(size=(300, 3, 3)):
            if not moving:
                a *= 9.81 / np.linalg.norm(a)
            rows.append(newton_euler_rows(a * (1.0 + 2.0 * moving), moving * w, moving * 3 * alpha))
        A = np.vstack(rows)
        np.savez(folder / f"{name}.npz", A=A, b=A @ phi + noise * rng.normal(size=len(A)))


def newton_euler_rows(a: np.ndarray, w: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Regressor of the wrench at Bo in the order m, h, Ixx Ixy Ixz Iyy Iyz Izz, shape (6, 10)."""
    S = np.cross(np.eye(3), np.eye(3)[:, None])  # S[i, j] = e_i × e_j, so v · S = [v]×

    def cross(v: np.ndarray) -> np.ndarray:
        return np.einsum("i,ijk->kj", v, S.transpose(1, 0, 2))

    def times_inertia(v: np.ndarray) -> np.ndarray:
        x, y, z = v
        return np.array([[x, y, z, 0, 0, 0], [0, x, 0, y, z, 0], [0, 0, x, 0, y, z]])

    force = np.hstack([a[:, None], cross(alpha) + cross(w) @ cross(w), np.zeros((3, 6))])
    inertia = times_inertia(alpha) + cross(w) @ times_inertia(w)
    return np.vstack([force, np.hstack([np.zeros((3, 1)), -cross(a), inertia])])


def rotate_back(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Rotate a vector of W into B by quaternions x y z w of R_WB, shape (n, 3)."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(q).inv().apply(v)


def toml(table: Mapping[str, Any]) -> str:
    """Format a table of tables as TOML, each inner table inline."""

    def inline(value: Any) -> str:
        if isinstance(value, Mapping):
            return "{" + ", ".join(f"{key} = {inline(each)}" for key, each in value.items()) + "}"
        return json.dumps(value, default=list)

    return "".join(f"{key} = {inline(value)}\n" for key, value in table.items())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
