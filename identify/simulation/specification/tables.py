"""The tables of a simulation's file, and what the keys of each must agree on."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import Field, StrictStr, model_validator

from identify.simulation.specification.values import (
    FrameWord,
    Inertia,
    Mass,
    Number,
    Quaternion,
    SixRows,
    Table,
    TenNumbers,
    Vector,
    word,
)
from identify.spatial.vectors import GRAVITY_W

_ZERO = (0.0, 0.0, 0.0)
_CENTRAL = ("mass", "com", "inertia_about_com")


class Central(NamedTuple):
    """Mass [kg], centre of mass in B [m], and I_BBcm_B by rows [kg m²]."""

    mass: float
    com: tuple[float, ...]
    inertia: tuple[tuple[float, ...], ...]


class BodyTable(Table):
    """`[body]`: an estimate, the ten parameters, or mass, centre of mass and inertia about it."""

    estimate: Annotated[StrictStr, Field(min_length=1)] | None = None
    """An estimate.json, its path from the folder of this file."""
    phi: TenNumbers | None = None
    """m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz about Bo in B [kg, kg m, kg m²]."""
    mass: Mass | None = None
    com: Vector | None = None
    inertia_about_com: Inertia | None = None
    """Three rows, or the six entries by name [kg m²]."""
    added_mass: SixRows | None = None
    """Of the fluid about Bo in B, linear first, 6×6 [kg, kg m, kg m²]."""

    @model_validator(mode="after")
    def _one_body(self) -> BodyTable:
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

    @property
    def central(self) -> Central | None:
        """Mass, centre of mass and inertia about it, where the body is given by them."""
        if self.mass is None or self.com is None or self.inertia_about_com is None:
            return None
        return Central(self.mass, self.com, self.inertia_about_com)


class StateTable(Table):
    """`[state]`: where the body is and how it moves at time 0; at rest at the origin unless said.

    `linear` is the velocity of Bo and `angular` the angular velocity of the body.
    """

    position: Vector = _ZERO
    quaternion: Quaternion = (0.0, 0.0, 0.0, 1.0)
    """R_WB as [x, y, z, w]."""
    linear: Vector = _ZERO
    angular: Vector = _ZERO
    frame: FrameWord | None = None
    """The axes of linear and angular; needed where one of them is given."""

    @model_validator(mode="after")
    def _has_axes(self) -> StateTable:
        if self.frame is None and {"linear", "angular"} & self.model_fields_set:
            raise ValueError(
                'frame: missing; say in which axes linear and angular are: "body" or "world"'
            )
        return self


class WorldTable(Table):
    """`[world]`."""

    gravity: Vector = GRAVITY_W
    """[m/s²]."""


class LoadTable(Table):
    """One of `[[loads]]`: a force and a torque for a time, or samples of both from a file."""

    force: Vector | None = None
    torque: Vector | None = None
    file: Annotated[StrictStr, Field(min_length=1)] | None = None
    """CSV or Parquet with columns time, fx, fy, fz, tx, ty, tz; from the folder of this file."""
    interpolation: Annotated[str, word("linear", "hold")] | None = None
    """Of a file, between its samples; linear unless said."""
    point: Vector = _ZERO
    """Where the force acts, from Bo in axes of B, in either frame [m]."""
    frame: FrameWord
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


class ImpulseTable(Table):
    """One of `[[impulses]]`."""

    time: Annotated[Number, Field(ge=0.0)]
    linear: Vector | None = None
    angular: Vector | None = None
    point: Vector = _ZERO
    """Where the linear impulse acts, from Bo in axes of B, in either frame [m]."""
    frame: FrameWord

    @model_validator(mode="after")
    def _does_something(self) -> ImpulseTable:
        if self.linear is None and self.angular is None:
            raise ValueError("give linear, angular, or both")
        return self


class Document(Table):
    """The whole file."""

    body: BodyTable
    state: StateTable = StateTable()
    world: WorldTable = WorldTable()
    loads: tuple[LoadTable, ...] = ()
    impulses: tuple[ImpulseTable, ...] = ()
