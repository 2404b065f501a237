"""Synthetic logs: random solid boxes, moved about at random, with everything exact."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from identify.arrays import Vec3
from identify.experiments.options import (
    Count,
    NotNegative,
    Positive,
    Scalar,
    canonical,
    spelled,
)
from identify.experiments.seeds import seed_of
from identify.experiments.sources.log_item import KnownBody, LoadedLog, Truth
from identify.experiments.sources.source import Place, Source
from identify.inertia import InertialParameters
from identify.logs.synthetic import synthetic_recording
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


@dataclass(frozen=True, slots=True)
class SyntheticLog:
    """One random body on one random motion.

    Attributes:
        name: "synthetic", the options that were given, and the body's number.
        source: the options.
        number: of the body, from 0.
        study_seed: of the study.
        data, identity: digest of all of these.
        options: columns of the results.
    """

    name: str
    source: Synthetic
    number: int
    study_seed: int
    data: str
    identity: str
    options: Mapping[str, Scalar] = field(default_factory=dict)

    def load(self) -> LoadedLog:
        """Make the log."""
        source = self.source
        body, sides = self._body()
        motion = random_motion(
            self._generator("motion"),
            bandwidth_hz=source.bandwidth_hz,
            reach=source.excitation * source.reach,
            turn=source.excitation * source.turn,
        )
        recording = synthetic_recording(
            body.phi,
            rng=self._generator("noise"),
            motion=motion,
            duration=source.duration,
            rate_hz=source.rate_hz,
            include=source.include,
        )
        return LoadedLog(recording, Truth(body.phi, sides), KnownBody(mass=body.mass, sides=sides))

    def _body(self) -> tuple[InertialParameters, Vec3]:
        """A solid box of random sides in a random attitude, and its extent along the axes of B."""
        rng, source = self._generator("body"), self.source
        mass = source.mass.draw(rng) if isinstance(source.mass, Range) else source.mass
        size = source.size.draw(rng) if isinstance(source.size, Range) else source.size
        sides = size * rng.uniform(0.2, 1.0, 3)
        R = rotation_from_quaternion(exp_rotation(rng.uniform(-np.pi, np.pi, 3)))
        com = 0.5 * size * rng.uniform(-1.0, 1.0, 3)
        inertia = R @ np.diag(mass / 12.0 * (sides @ sides - sides**2)) @ R.T
        return InertialParameters.from_com(mass, com, 0.5 * (inertia + inertia.T)), np.abs(
            R
        ) @ sides

    def _generator(self, what: str) -> np.random.Generator:
        """Of the body or its motion: the same for all options, so that sweeps compare like."""
        return np.random.default_rng(seed_of("synthetic", what, self.study_seed, self.number))


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

    number: Count = 10
    mass: Positive | Range = 1.0
    size: Positive | Range = 0.2
    duration: Positive = 20.0
    rate_hz: Positive = 100.0
    bandwidth_hz: Positive = 1.0
    reach: NotNegative = 0.3
    turn: NotNegative = 1.5
    excitation: Positive = 1.0
    include: Literal["all", "twist", "pose"] = "all"

    def logs(self, place: Place) -> list[SyntheticLog]:
        """The bodies, by number."""
        return [self._log(number, place.seed) for number in range(self.number)]

    def _log(self, number: int, seed: int) -> SyntheticLog:
        # More bodies leave the others as they are: how many there are is not part of a log.
        given = {key: value for key, value in self.given().items() if key != "number"}
        digest = hashlib.sha256(canonical([given, seed, number]).encode()).hexdigest()
        columns = self.columns("log")
        del columns["log_number"]
        return SyntheticLog(
            name=f"{spelled(self.kind, given)}/{number:03d}",
            source=self,
            number=number,
            study_seed=seed,
            data=digest,
            identity=digest,
            options={**columns, "log_body": number},
        )
