"""Synthetic logs: random solid boxes, moved about at random, with everything exact."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from identify.arrays import Vec3
from identify.experiments.options import Count, NotNegative, Positive, canonical, spelled
from identify.experiments.seeds import seed_of
from identify.experiments.sources.source import MOST_LOGS, LogItem, Source, Truth
from identify.inertia import InertialParameters
from identify.logs import Recording
from identify.logs.synthetic import MOST_ROWS, synthetic_recording
from identify.logs.synthetic_motion import random_motion
from identify.spatial.rotations import exp_rotation, rotation_from_quaternion


class Range(BaseModel):
    """Values drawn evenly in their logarithm: `{from = 0.1, to = 10.0}`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    low: Annotated[Positive, Field(alias="from")]
    high: Annotated[Positive, Field(alias="to")]

    @model_validator(mode="after")
    def _ordered(self) -> Range:
        if self.low > self.high:
            raise ValueError(f"from = {self.low:g} is above to = {self.high:g}")
        return self

    def draw(self, rng: np.random.Generator) -> float:
        """One value."""
        return float(self.low * (self.high / self.low) ** rng.uniform())


class Synthetic(Source):
    """Random solid boxes on random motions that excite every parameter; nothing has noise.

    Body and motion number i are drawn alike whatever the other options: a sweep over the duration
    or the excitation follows the same bodies.

    Attributes:
        number: how many bodies.
        mass: [kg], or a range `{from, to}`.
        size: longest side a box may have [m], or a range.
        duration: of each log [s].
        rate_hz: samples a second.
        bandwidth_hz: fastest sine of the motion.
        reach: bound of each coordinate of the position [m].
        turn: bound of each angle [rad].
        excitation: factor on reach and turn: less than one moves less.
        include: "all" signals, or "twist" or "pose", from which the others are differentiated.
    """

    kind: ClassVar[str] = "synthetic"

    number: Annotated[Count, Field(le=MOST_LOGS)] = 10
    mass: Positive | Range = 1.0
    size: Positive | Range = 0.2
    duration: Positive = 20.0
    rate_hz: Positive = 100.0
    bandwidth_hz: Positive = 1.0
    reach: NotNegative = 0.3
    turn: NotNegative = 1.5
    excitation: Positive = 1.0
    include: Literal["all", "twist", "pose"] = "all"

    @model_validator(mode="after")
    def _has_rows_for_memory(self) -> Synthetic:
        rows = self.duration * self.rate_hz
        if not 1.0 <= rows <= MOST_ROWS:
            raise ValueError(
                f"duration = {self.duration:g} at rate_hz = {self.rate_hz:g} makes {rows:.3g} "
                f"rows; expected 1 to {MOST_ROWS}"
            )
        return self

    def logs(self, folder: Path, seed: int) -> list[LogItem]:
        """The bodies, by number."""
        return [self._log(number, seed) for number in range(self.number)]

    def _log(self, number: int, seed: int) -> LogItem:
        # More bodies leave the others as they are: how many there are is not part of a log.
        given = {key: value for key, value in self.given().items() if key != "number"}
        digest = hashlib.sha256(canonical([given, seed, number]).encode()).hexdigest()
        columns = self.columns("log")
        del columns["log_number"]
        return LogItem(
            name=f"{spelled(self.kind, given)}/{number:03d}",
            data=digest,
            identity=digest,
            load=partial(_make, self, seed, number),
            options={**columns, "log_body": number},
        )


def _make(source: Synthetic, seed: int, number: int) -> tuple[Recording, Truth]:
    """One random body on one random motion, both the same for all options."""
    generators = {
        what: np.random.default_rng(seed_of("synthetic", what, seed, number))
        for what in ("body", "motion", "noise")
    }
    body, sides = _box(source, generators["body"])
    motion = random_motion(
        generators["motion"],
        bandwidth_hz=source.bandwidth_hz,
        reach=source.excitation * source.reach,
        turn=source.excitation * source.turn,
    )
    recording = synthetic_recording(
        body.phi,
        rng=generators["noise"],
        motion=motion,
        duration=source.duration,
        rate_hz=source.rate_hz,
        include=source.include,
    )
    return recording, Truth(body.phi, sides)


def _box(source: Synthetic, rng: np.random.Generator) -> tuple[InertialParameters, Vec3]:
    """A solid box of random sides in a random attitude, and its extent along the axes of B."""
    mass = source.mass.draw(rng) if isinstance(source.mass, Range) else source.mass
    size = source.size.draw(rng) if isinstance(source.size, Range) else source.size
    sides = size * rng.uniform(0.2, 1.0, 3)
    R = rotation_from_quaternion(exp_rotation(rng.uniform(-np.pi, np.pi, 3)))
    com = 0.5 * size * rng.uniform(-1.0, 1.0, 3)
    inertia = R @ np.diag(mass / 12.0 * (sides @ sides - sides**2)) @ R.T
    body = InertialParameters.from_com(mass, com, 0.5 * (inertia + inertia.T))
    return body, np.abs(R) @ sides
