"""Tables of a simulation's TOML file, with validation of their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

from pydantic import AliasChoices, BeforeValidator, Field, StrictStr, model_validator

from identify.documents import (
    DocumentTable,
    Number,
    Quaternion,
    Vector,
    finite_number,
    numbers_validator,
    word_validator,
)
from identify.errors import did_you_mean
from identify.inertia.conventions.orders import ENTRIES_BY_ROWS
from identify.simulation.checks import Interpolation
from identify.simulation.loads import Frame
from identify.spatial.vectors import GRAVITY_W


def _validate_inertia(value: object) -> tuple[tuple[float, ...], ...]:
    """Validate three rows or six named entries; a list of six is ambiguous, and rejected."""
    if isinstance(value, Mapping):
        if unknown := [key for key in value if key not in ENTRIES_BY_ROWS]:
            hint = did_you_mean(str(unknown[0]), ENTRIES_BY_ROWS)
            raise ValueError(
                f"unknown entry {unknown[0]!r}; expected {', '.join(ENTRIES_BY_ROWS)}{hint}"
            )
        if missing := [key for key in ENTRIES_BY_ROWS if key not in value]:
            raise ValueError(f"no entry {missing[0]!r}; expected {', '.join(ENTRIES_BY_ROWS)}")
        xx, xy, xz, yy, yz, zz = (finite_number(value[key]) for key in ENTRIES_BY_ROWS)
        return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)
    if isinstance(value, list | tuple) and len(value) == 6:
        raise ValueError(
            "the order of six numbers is ambiguous; write three rows of three, or name them: "
            "{ xx = ..., xy = ..., xz = ..., yy = ..., yz = ..., zz = ... }"
        )
    return numbers_validator(3, 3)(value)


MatrixRows: TypeAlias = tuple[tuple[float, ...], ...]
FilePath: TypeAlias = Annotated[StrictStr, Field(min_length=1)]
Axes: TypeAlias = Annotated[Frame, word_validator(("body", "world"))]
"""Axes in which components are given."""

ZERO_VECTOR = (0.0, 0.0, 0.0)
_KEYS_ABOUT_COM = ("mass", "com", "inertia_about_com")


class SimulatedBodyTable(DocumentTable):
    """`[body]`: an estimate, ten parameters, or mass, centre of mass and inertia about it."""

    estimate: FilePath | None = None
    """Path of an estimate.json, relative to the folder of this file."""
    phi: Annotated[tuple[float, ...], BeforeValidator(numbers_validator(10))] | None = None
    """Ten parameters m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz about Bo in B, SI."""
    mass: Annotated[Number, Field(gt=0.0)] | None = None
    com: Vector | None = None
    inertia_about_com: Annotated[MatrixRows, BeforeValidator(_validate_inertia)] | None = None
    """Inertia about the centre of mass: three rows, or the six entries by name [kg m²]."""
    added_mass: Annotated[MatrixRows, BeforeValidator(numbers_validator(6, 6))] | None = None
    """Added mass of a fluid about Bo in B, linear first, 6×6 [kg, kg m, kg m²]."""

    @model_validator(mode="after")
    def _one_body(self) -> SimulatedBodyTable:
        central = [key for key in _KEYS_ABOUT_COM if getattr(self, key) is not None]
        given = [key for key in ("estimate", "phi") if getattr(self, key) is not None]
        given += [" + ".join(central)] if central else []
        if len(given) != 1:
            got = " and ".join(given) if given else "none of them"
            raise ValueError(
                f"give one of estimate, phi, or mass with com and inertia_about_com; got {got}"
            )
        missing = [key for key in _KEYS_ABOUT_COM if key not in central]
        if central and missing:
            raise ValueError(f"{missing[0]} is missing beside {' and '.join(central)}")
        return self


class StateTable(DocumentTable):
    """`[state]`: pose and velocity of the body at time 0; by default at rest at the origin.

    `linear`, or `velocity`, is the velocity of Bo, and `angular`, or `angular_velocity`, the
    angular velocity of the body.
    """

    position: Vector = ZERO_VECTOR
    quaternion: Quaternion = (0.0, 0.0, 0.0, 1.0)
    """R_WB as [x, y, z, w]."""
    linear: Annotated[Vector, Field(validation_alias=AliasChoices("linear", "velocity"))] = (
        ZERO_VECTOR
    )
    angular: Annotated[
        Vector, Field(validation_alias=AliasChoices("angular", "angular_velocity"))
    ] = ZERO_VECTOR
    frame: Axes | None = None
    """Axes of `linear` and `angular` velocity; required if one of them is given."""

    @model_validator(mode="after")
    def _has_axes(self) -> StateTable:
        if self.frame is None and {"linear", "angular"} & self.model_fields_set:
            raise ValueError(
                'frame: missing; give the axes of linear and angular: "body" or "world"'
            )
        return self


class WorldTable(DocumentTable):
    """`[world]`: gravity of the simulation."""

    gravity: Vector = GRAVITY_W
    """Gravity in axes of W [m/s²]."""


class LoadTable(DocumentTable):
    """Entry of `[[loads]]`: a force and a torque for a time, or samples of both from a file."""

    force: Vector | None = None
    torque: Vector | None = None
    file: FilePath | None = None
    """File of columns time, fx, fy, fz, tx, ty, tz; relative to the folder of this file."""
    interpolation: Annotated[Interpolation, word_validator(("linear", "hold"))] | None = None
    """Interpolation between the samples of a file; by default linear."""
    point: Vector = ZERO_VECTOR
    """Point of application of the force from Bo, in body axes whatever `frame` is [m]."""
    frame: Axes
    start: Annotated[Number, Field(alias="from")] = 0.0
    end: Annotated[Number | None, Field(alias="to")] = None

    @model_validator(mode="after")
    def _constant_or_sampled(self) -> LoadTable:
        constant = self.force is not None or self.torque is not None
        if constant == (self.file is not None):
            raise ValueError("give force, torque or both, or else a file")
        if constant and self.interpolation is not None:
            raise ValueError("interpolation is for a file's samples; this load is constant")
        if self.end is not None and not self.end > self.start:
            raise ValueError(f"to: expected later than from = {self.start:g}, got {self.end:g}")
        return self


class ImpulseTable(DocumentTable):
    """Entry of `[[impulses]]`: a linear and an angular impulse at a time."""

    time: Annotated[Number, Field(ge=0.0)]
    linear: Vector | None = None
    angular: Vector | None = None
    point: Vector = ZERO_VECTOR
    """Point of application of the linear impulse from Bo, in body axes whatever `frame` is [m]."""
    frame: Axes

    @model_validator(mode="after")
    def _does_something(self) -> ImpulseTable:
        if self.linear is None and self.angular is None:
            raise ValueError("give linear, angular, or both")
        return self


class SimulationDocument(DocumentTable):
    """Content of a simulation's TOML file."""

    body: SimulatedBodyTable
    state: StateTable = StateTable()
    world: WorldTable = WorldTable()
    loads: tuple[LoadTable, ...] = ()
    impulses: tuple[ImpulseTable, ...] = ()
