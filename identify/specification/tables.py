"""The tables of a simulation's file: values with messages that say what was expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

from pydantic import AliasChoices, BeforeValidator, Field, StrictStr, model_validator

from identify.documents import DocumentTable, Number, Quaternion, Vector, finite, numbers, one_of
from identify.errors import did_you_mean
from identify.simulation.checks import Interpolation
from identify.simulation.loads import Frame
from identify.spatial.vectors import GRAVITY_W

_SIX = ("xx", "xy", "xz", "yy", "yz", "zz")
"""Entries of a symmetric 3×3 matrix, by name."""


def _inertia(value: object) -> tuple[tuple[float, ...], ...]:
    """Three rows, or a table of the six entries by name: a bare list of six has many orders."""
    if isinstance(value, Mapping):
        if unknown := [key for key in value if key not in _SIX]:
            hint = did_you_mean(str(unknown[0]), _SIX)
            raise ValueError(f"unknown entry {unknown[0]!r}; expected {', '.join(_SIX)}{hint}")
        if missing := [key for key in _SIX if key not in value]:
            raise ValueError(f"no entry {missing[0]!r}; expected {', '.join(_SIX)}")
        xx, xy, xz, yy, yz, zz = (finite(value[key]) for key in _SIX)
        return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)
    if isinstance(value, list | tuple) and len(value) == 6:
        raise ValueError(
            "six numbers have no order that all agree on; write three rows of three, or name them: "
            "{ xx = ..., xy = ..., xz = ..., yy = ..., yz = ..., zz = ... }"
        )
    return numbers(3, 3)(value)


Rows: TypeAlias = tuple[tuple[float, ...], ...]
Path: TypeAlias = Annotated[StrictStr, Field(min_length=1)]
Axes: TypeAlias = Annotated[Frame, one_of(("body", "world"))]
"""The axes in which components are given."""

_ZERO = (0.0, 0.0, 0.0)
_CENTRAL = ("mass", "com", "inertia_about_com")


class SimulatedBodyTable(DocumentTable):
    """`[body]`: an estimate, the ten parameters, or mass, centre of mass and inertia about it."""

    estimate: Path | None = None
    """An estimate.json, its path from the folder of this file."""
    phi: Annotated[tuple[float, ...], BeforeValidator(numbers(10))] | None = None
    """m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz about Bo in B [kg, kg m, kg m²]."""
    mass: Annotated[Number, Field(gt=0.0)] | None = None
    com: Vector | None = None
    inertia_about_com: Annotated[Rows, BeforeValidator(_inertia)] | None = None
    """Three rows, or the six entries by name [kg m²]."""
    added_mass: Annotated[Rows, BeforeValidator(numbers(6, 6))] | None = None
    """Of the fluid about Bo in B, linear first, 6×6 [kg, kg m, kg m²]."""

    @model_validator(mode="after")
    def _one_body(self) -> SimulatedBodyTable:
        central = [key for key in _CENTRAL if getattr(self, key) is not None]
        ways = [key for key in ("estimate", "phi") if getattr(self, key) is not None]
        ways += [" + ".join(central)] if central else []
        if len(ways) != 1:
            got = " and ".join(ways) if ways else "none of them"
            raise ValueError(
                f"give one of estimate, phi, or mass with com and inertia_about_com; got {got}"
            )
        missing = [key for key in _CENTRAL if key not in central]
        if central and missing:
            raise ValueError(f"{missing[0]} is missing beside {' and '.join(central)}")
        return self


class StateTable(DocumentTable):
    """`[state]`: where the body is and how it moves at time 0; at rest at the origin unless said.

    `linear`, or `velocity`, is the velocity of Bo, and `angular`, or `angular_velocity`, the
    angular velocity of the body.
    """

    position: Vector = _ZERO
    quaternion: Quaternion = (0.0, 0.0, 0.0, 1.0)
    """R_WB as [x, y, z, w]."""
    linear: Annotated[Vector, Field(validation_alias=AliasChoices("linear", "velocity"))] = _ZERO
    angular: Annotated[
        Vector, Field(validation_alias=AliasChoices("angular", "angular_velocity"))
    ] = _ZERO
    frame: Axes | None = None
    """The axes of linear and angular; needed where one of them is given."""

    @model_validator(mode="after")
    def _has_axes(self) -> StateTable:
        if self.frame is None and {"linear", "angular"} & self.model_fields_set:
            raise ValueError(
                'frame: missing; say in which axes linear and angular are: "body" or "world"'
            )
        return self


class WorldTable(DocumentTable):
    """`[world]`."""

    gravity: Vector = GRAVITY_W
    """[m/s²]."""


class LoadTable(DocumentTable):
    """One of `[[loads]]`: a force and a torque for a time, or samples of both from a file."""

    force: Vector | None = None
    torque: Vector | None = None
    file: Path | None = None
    """Of columns time, fx, fy, fz, tx, ty, tz; its path from the folder of this file."""
    interpolation: Annotated[Interpolation, one_of(("linear", "hold"))] | None = None
    """Of a file, between its samples; linear unless said."""
    point: Vector = _ZERO
    """Where the force acts, from Bo in axes of B, in either frame [m]."""
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
    """One of `[[impulses]]`."""

    time: Annotated[Number, Field(ge=0.0)]
    linear: Vector | None = None
    angular: Vector | None = None
    point: Vector = _ZERO
    """Where the linear impulse acts, from Bo in axes of B, in either frame [m]."""
    frame: Axes

    @model_validator(mode="after")
    def _does_something(self) -> ImpulseTable:
        if self.linear is None and self.angular is None:
            raise ValueError("give linear, angular, or both")
        return self


class Document(DocumentTable):
    """The whole file."""

    body: SimulatedBodyTable
    state: StateTable = StateTable()
    world: WorldTable = WorldTable()
    loads: tuple[LoadTable, ...] = ()
    impulses: tuple[ImpulseTable, ...] = ()
