"""Clean logs of the study: tables with a schema, as a user has them, and the true body."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from identify.arrays import Array, Phi
from identify.catalog import dataset_logs
from identify.errors import DatasetError
from identify.logs import Noise, Recording, read_log, synthetic_recording
from identify.logs.synthetic import random_box, random_motion
from identify.spatial.rotations import (
    exp_rotation,
    quaternion_product,
    rotate,
    rotate_back,
    rotation_from_quaternion,
)

ARM = Path(__file__).parents[2] / "datasets" / "payload_arm"
STARS = ("Box_Wrench", "C_Clamp", "Hacksaw", "Hammer", "Pliers", "Vise_Grip")
NOISES = (
    Noise(force=0.02, torque=0.002, position=1e-5, orientation=2e-5),
    Noise(force=0.1, torque=0.01, position=5e-5, orientation=1e-4),
    Noise(force=0.3, torque=0.03, position=2e-4, orientation=5e-4),
)
"""Noise of synthetic logs: of good, of common and of poor sensors and encoders."""

_STARS_NOISE = Noise(force=0.05, torque=0.0025, position=1e-4, orientation=5e-4)
_ARM_EVERY = 4
"""Decimation of the shipped log, whose motion is ten times slower than the remaining rate."""

_MOTIONS = {
    "slow": (60.0, {"bandwidth_hz": 0.5}),
    "fast": (30.0, {"bandwidth_hz": 2.0, "reach": 0.15, "turn": 0.6}),
}
"""Duration of synthetic logs [s] and parameters of their motion: up to 5 rad/s, as a wrist."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A log as a user has it.

    Attributes:
        name: name of the log.
        columns: t [µs], shape (n,); p, q or r, f, tau, as arrays of columns.
        schema: schema of the columns.
        phi: the true body about Bo in B, shape (10,).
        offset: sensor offset [f; t] on the body in B, shape (6,).
    """

    name: str
    columns: Mapping[str, Array]
    schema: Mapping[str, Any]
    phi: Phi
    offset: Array

    def read(self) -> Recording:
        """Read the log with its schema."""
        return replace(read_log(dict(self.columns), dict(self.schema)), name=self.name)

    def with_columns(self, **columns: Array) -> Subject:
        """Return the log with other columns."""
        return replace(self, columns={**self.columns, **columns})

    def with_schema_keys(self, table: str, **keys: Any) -> Subject:
        """Return the log with other keys in a table of its schema; None removes a key."""
        schema = deepcopy(dict(self.schema))
        merged = {**schema.get(table, {}), **keys}
        schema[table] = {key: value for key, value in merged.items() if value is not None}
        return replace(self, schema=schema)

    def rows(self, kept: Array | slice) -> Subject:
        """Return the log with only some of its rows."""
        return replace(self, columns={name: c[kept] for name, c in self.columns.items()})

    @property
    def seconds(self) -> Array:
        """Time from the first row [s], shape (n,)."""
        return (self.columns["t"] - self.columns["t"][0]) * 1e-6

    @property
    def rotation(self) -> Array:
        """R_WB of the rows, shape (n, 3, 3)."""
        return rotation_from_quaternion(self.columns["q"])

    @property
    def wrench(self) -> Array:
        """Wrench [f; t] on the body at Bo in B, shape (n, 6)."""
        sign = 1.0 if self.schema["wrench"]["acts_on"] == "body" else -1.0
        both = [sign * self.columns[name] for name in ("f", "tau")]
        if self.schema["wrench"]["frame"] == "world":
            both = [rotate_back(self.rotation, part) for part in both]
        return np.concatenate(both, axis=1)

    def with_wrench(self, wrench: Array) -> Subject:
        """Return the log with another wrench, given on the body at Bo in B."""
        sign = 1.0 if self.schema["wrench"]["acts_on"] == "body" else -1.0
        f, tau = (sign * wrench[:, part] for part in (slice(0, 3), slice(3, 6)))
        if self.schema["wrench"]["frame"] == "world":
            f, tau = rotate(self.rotation, f), rotate(self.rotation, tau)
        return self.with_columns(f=f, tau=tau)


def schema_of(gravity: Array, frame: str, acts_on: str) -> dict[str, Any]:
    """Return the schema of a subject's columns."""

    def three(name: str) -> list[str]:
        return [f"{name}[{axis}]" for axis in range(3)]

    return {
        "log": {"time": "t", "time_unit": "us"},
        "world": {"gravity": [float(g) for g in gravity]},
        "pose": {
            "position": three("p"),
            "quaternion": [f"q[{k}]" for k in range(4)],
            "order": "xyzw",
            "maps": "body_to_world",
        },
        "wrench": {"force": three("f"), "torque": three("tau"), "frame": frame, "acts_on": acts_on},
    }


def _of_recording(log: Recording, phi: Phi, offset: Array, acts_on: str) -> Subject:
    assert log.time is not None
    signals, frame = log.signals, log.frames["wrench"]
    sign = 1.0 if acts_on == "body" else -1.0
    columns = {
        "t": np.round(1e6 * log.time),
        "p": signals["position"],
        "q": signals["quaternion"],
        "f": sign * signals["force"],
        "tau": sign * signals["torque"],
    }
    return Subject(log.name, columns, schema_of(log.gravity, frame, acts_on), phi, offset)


def _arm(rng: np.random.Generator) -> Subject:
    import json

    log = read_log(ARM / "payload_arm.parquet", ARM / "schema.toml")
    truth = json.loads((ARM / "truth.json").read_text(encoding="utf-8"))
    offset = np.array(truth["sensor_bias"]["acts_on_body"])
    subject = _of_recording(log, np.array(truth["phi"]), offset, "sensor")
    return subject.rows(slice(None, None, _ARM_EVERY))


def _synthetic(
    rng: np.random.Generator, noise: Noise, duration: float, motion: Mapping[str, float]
) -> Subject:
    """Return a log of a random body on a random motion."""
    phi, offset = random_body(rng), random_offset(rng)
    log = synthetic_recording(
        phi,
        rng=rng,
        motion=random_motion(rng, **motion),
        duration=duration,
        rate_hz=100.0,
        noise=noise,
        bias=offset,
    )
    return _of_recording(log, phi, offset, "body")


def _stars(rng: np.random.Generator, name: str) -> Subject:
    """Return ten seconds of a public log: pose and wrench in world axes, with noise."""
    dataset_log = next(log for log in dataset_logs("stars") if log.name == name)
    assert dataset_log.truth is not None
    subject = _of_recording(
        read_log(dataset_log.path, dataset_log.schema), dataset_log.truth.phi, np.zeros(6), "body"
    )
    sigma, columns = _STARS_NOISE, subject.columns
    n = len(columns["t"])
    wrench = subject.wrench
    wrench += rng.normal(size=(n, 6)) * np.repeat([sigma.force, sigma.torque], 3)
    tilt = exp_rotation(sigma.orientation * rng.normal(size=(n, 3)))
    pose = {
        "p": columns["p"] + sigma.position * rng.normal(size=(n, 3)),
        "q": quaternion_product(columns["q"], tilt),
    }
    return subject.with_columns(**pose).with_wrench(wrench)


def random_offset(rng: np.random.Generator) -> Array:
    """Draw a random offset of a sensor, shape (6,)."""
    return rng.normal(size=6) * np.repeat([1.0, 0.05], 3)


def random_body(rng: np.random.Generator) -> Phi:
    """Draw a box of 0.3 to 5 kg, with the size of a hand to that of a forearm, shape (10,)."""
    return random_box(rng, (0.3, 5.0), (0.1, 0.4))[0].phi


@cache
def makers() -> dict[str, Callable[[np.random.Generator], Subject]]:
    """Return the functions that create each log, by name."""
    subjects: dict[str, Callable[[np.random.Generator], Subject]] = {"arm": _arm}
    for level, noise in enumerate(NOISES, start=1):
        for name, motion in _MOTIONS.items():
            subjects[f"{name}-{level}"] = lambda rng, n=noise, m=motion: _synthetic(rng, n, *m)
    if _have_stars():
        subjects |= {tool: lambda rng, tool=tool: _stars(rng, tool) for tool in STARS}
    return subjects


def _have_stars() -> bool:
    try:
        return bool(dataset_logs("stars"))
    except DatasetError:
        return False


@lru_cache(maxsize=16)
def subject(name: str, seed: int) -> Subject:
    """Return a clean log; name and seed determine it."""
    rng = np.random.default_rng([seed, crc32(name.encode())])
    return replace(makers()[name](rng), name=name)
