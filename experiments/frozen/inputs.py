"""Write the logs of the cases that no data set has: `python inputs.py FOLDER`.

It runs once, with the code of the base revision, and both revisions read what it wrote.
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
from scipy.spatial.transform import Rotation

import identify
from experiments.silent_study.clean import clean_recording
from experiments.silent_study.faults import faults
from experiments.silent_study.subjects import random_body, subject
from identify.logs import Noise, synthetic_recording
from identify.logs.log_writing import write_log
from identify.regressors import newton_euler_regressor
from identify.spatial import BodyMotion

SEED = 11
ROOT = Path(identify.__file__).parents[1]
GRAVITY = np.array([0.0, 0.0, -9.80665])
NOISE = Noise(position=5e-5, orientation=1e-4, force=0.1, torque=0.01, angular_velocity=2e-3)

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

SIGNALS = {
    "pose": ("position", "quaternion"),
    "wrench": ("force", "torque"),
    "gyro": ("gyro",),
    "accelerometer": ("accelerometer",),
}


def main(folder: Path) -> None:
    """Write all inputs into a new folder."""
    shutil.copytree(ROOT / "datasets", folder)
    shutil.copy(ROOT / "identify" / "catalog" / "schemas" / "tx40.toml", folder)
    for name, (log, fault) in FAULTS.items():
        rng = np.random.default_rng([SEED, crc32(name.encode())])
        make = next(each.make for each in faults() if each.name == fault)
        for number, perturbed in enumerate(make(subject(log, SEED), rng)):
            write(folder / name / f"log{number}.npz", perturbed.columns, perturbed.schema)
    for number in range(6):
        write_log(clean_recording(number, SEED)[0], folder / f"clean{number}.csv")
    for name in CLOCKS:
        write_clocks(folder / name, CLOCKS[name])
    write_log(recording("long", 200.0, 1000.0), folder / "long.parquet")
    write_log(recording("text", 140.0, 1000.0), folder / "text.csv")
    online = recording("online", 40.0, 100.0)
    np.savez(folder / "online.npz", t=online.time, **online.signals)
    for name, moving, noise in (("moving", 1.0, 0.01), ("noisy", 1.0, 2.0), ("still", 0.0, 0.01)):
        rng = np.random.default_rng([SEED, crc32(name.encode())])
        a, w, alpha = rng.normal(size=(3, 300, 3)) * np.array([9.81, moving, moving])[:, None, None]
        A = newton_euler_regressor(BodyMotion(a, w, alpha)).reshape(-1, 10)
        b = A @ random_body(rng) + noise * rng.normal(size=len(A))
        np.savez(folder / f"{name}.npz", A=A, b=b)


def recording(name: str, duration: float, rate_hz: float, **options: Any) -> identify.Recording:
    """Make a log of a random body, which the name seeds."""
    rng = np.random.default_rng([SEED, crc32(name.encode())])
    settings = {"duration": duration, "rate_hz": rate_hz, "noise": NOISE, **options}
    return synthetic_recording(random_body(rng), rng=rng, **settings)


def write_clocks(folder: Path, rates: Mapping[str, int]) -> None:
    """Write a log whose sensors have clocks of their own, in files of their own or in one."""
    log = recording(folder.name, 20.0, 1000.0, include="all").signals
    R = Rotation.from_quat(log["quaternion"])
    proper = log["linear_acceleration"] - R.inv().apply(GRAVITY)
    signals = {**log, "gyro": log["angular_velocity"], "accelerometer": proper}
    rows = {name: np.arange(rate % 7, len(proper), 1000 // rate) for name, rate in rates.items()}
    files = {n: {"t": 1e-3 * k, **{s: signals[s][k] for s in SIGNALS[n]}} for n, k in rows.items()}
    if folder.name == "held":  # each row of the wrench with the last sample of the pose
        last = np.maximum(np.searchsorted(rows["pose"], rows["wrench"], "right") - 1, 0)
        files["wrench"] |= {name: files["pose"][name][last] for name in SIGNALS["pose"]}
    elif folder.name == "one_file":  # rows of either, without values of the other
        every = np.union1d(rows["pose"], rows["wrench"])
        files["wrench"] = {"t": 1e-3 * every} | {
            name: np.where(np.isin(every, rows[stream])[:, None], signals[name][every], np.nan)
            for stream in rates
            for name in SIGNALS[stream]
        }
    tables = {"pose": {"order": "xyzw"}, "wrench": {"frame": "body", "acts_on": "body"}, "imu": {}}
    for stream in rates:
        table = tables[stream if stream in tables else "imu"]
        table |= {name: name for name in SIGNALS[stream]}
    if "accelerometer" in rates:
        tables["imu"]["mount"] = {"translation": [0, 0, 0]}
    schema = {"log": {"time": "t"}, "world": {"gravity": GRAVITY.tolist()}} | tables
    if folder.name not in ("held", "one_file"):
        schema["streams"] = {stream: {"file": f"{stream}.npz"} for stream in rates}
    for stream in rates if "streams" in schema else ("wrench",):
        write(folder / f"{stream}.npz", files[stream], schema)


def write(path: Path, columns: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Write columns, and the schema beside them, each of its tables on a line."""

    def inline(value: Any) -> str:
        if isinstance(value, Mapping):
            return "{" + ", ".join(f"{key} = {inline(each)}" for key, each in value.items()) + "}"
        return json.dumps(value, default=list)

    path.parent.mkdir(exist_ok=True)
    np.savez(path, **columns)
    lines = [f"{key} = {inline(table)}\n" for key, table in schema.items() if table]
    path.with_name("schema.toml").write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
