"""Schema table of a robot's joints: columns, units, sign of the effort, and transmission."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from identify.arrays import Array, Flags, seal
from identify.documents import (
    DocumentTable,
    InvalidKeyValue,
    finite_number,
    short_repr,
    word_validator,
)
from identify.logs.schema_fields import (
    MAX_SCALE_SIGMA,
    Column,
    JointArrayColumns,
    Label,
    column_names,
)
from identify.logs.units import ANGLE_UNITS, CURRENT_UNITS, LENGTH_UNITS, TORQUE_UNITS

_MAX_CONDITION = 1e6
"""Maximum condition number of a transmission, above which joint positions have no digits left."""

_STILL_BELOW_RAD = 0.05
"""Default speed of a joint below which friction and stiction are not distinguished [rad/s]."""
_STILL_BELOW_M = 0.005
"""Default speed of a prismatic joint [m/s], such as of a belt on a pulley of 100 mm radius."""

PerJoint = Annotated[Any, BeforeValidator(lambda value: _number_or_list(value))]
"""A number for all joints, or a list with one for each joint."""
JointNames = Annotated[tuple[Label, ...], Field(min_length=1)]
"""Names of joints, one or more."""
JointUnits = Annotated[Any, BeforeValidator(lambda value: _joint_units(value))]
"""A unit of all joints, or a list with one for each joint."""
Matrix = Annotated[Any, BeforeValidator(lambda value: _matrix_rows(value))]
"""A square matrix by rows; a list of numbers is its diagonal."""


def _number_or_list(value: object) -> float | tuple[float, ...]:
    return (
        tuple(map(finite_number, value))
        if isinstance(value, list | tuple)
        else finite_number(value)
    )


def _matrix_rows(value: object) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(
            f"expected a matrix as a list of rows, or the list of its diagonal, got {value!r}"
        )
    if not any(isinstance(row, list | tuple) for row in value):
        return tuple(map(finite_number, value))
    if any(not isinstance(row, list | tuple) or len(row) != len(value) for row in value):
        raise ValueError(f"expected a square matrix by rows, got {short_repr(value)}")
    return tuple(tuple(map(finite_number, row)) for row in value)


def _joint_units(value: object) -> str | tuple[str, ...]:
    words = tuple(value) if isinstance(value, list | tuple) else (value,)
    for word in words:
        if word not in _UNITS_TO_SI:
            known = ", ".join(map(repr, _UNITS_TO_SI))
            raise ValueError(
                f"expected one of {known}, or a list with one for each joint, got "
                f"{short_repr(value)}"
            )
    return tuple(map(str, words)) if isinstance(value, list | tuple) else str(value)


_UNITS_TO_SI: Mapping[object, float] = MappingProxyType({**ANGLE_UNITS, **LENGTH_UNITS})


class MotorTable(DocumentTable):
    """Schema table `[joints.motor]`: transmission, if the columns are those of motors."""

    position: Matrix
    """Matrix R of the gears, by rows: motors are at R (q − `offset`) while joints are at q."""
    torque: Matrix | None = None
    """Matrix from the motors' torques to those of the joints; Rᵀ, of equal power, by default."""

    @model_validator(mode="after")
    def _can_be_inverted(self) -> MotorTable:
        if np.linalg.cond(self.per_joint) > _MAX_CONDITION:
            raise InvalidKeyValue(
                "position", "the matrix has no inverse: expected one independent row for each motor"
            )
        return self

    @property
    def per_joint(self) -> Array:
        """Matrix R from positions of joints to those of motors, shape (n, n)."""
        return _square_matrix(self.position)

    @property
    def to_joints(self) -> Array:
        """Matrix from positions of motors to those of joints, R⁻¹, shape (n, n)."""
        return np.linalg.inv(self.per_joint)

    @property
    def torque_to_joints(self) -> Array:
        """Matrix from torques of motors to those of joints, shape (n, n)."""
        return self.per_joint.T if self.torque is None else _square_matrix(self.torque)


def _square_matrix(rows: tuple[Any, ...]) -> Array:
    matrix = np.array(rows, dtype=np.float64)
    return np.diag(matrix) if matrix.ndim == 1 else matrix


class JointsTable(DocumentTable):
    """Schema table `[joints]`: positions and efforts of a robot's joints, in the order of names."""

    names: JointNames
    """Names of the n joints, as the robot's URDF has them; all lists have this order."""
    position: JointArrayColumns
    """Positions."""
    velocity: JointArrayColumns | None = None
    """Velocities, used in place of derivatives."""
    effort: JointArrayColumns | None = None
    """Torques of revolute joints and forces of prismatic ones, or currents; may be absent beside a
    `[wrench]`."""
    unit: JointUnits = "rad"
    """Unit of positions, and per second of velocities."""
    offset: PerJoint = 0.0
    """Position of the model's joint where the log has zero, in `unit`: it is added."""
    effort_unit: Annotated[
        str, word_validator((*TORQUE_UNITS, *CURRENT_UNITS), ignoring=r"[\s*·.\-]")
    ] = "Nm"
    """Unit of `effort`; with "Nm" a force is in N."""
    gains: PerJoint | None = None
    """Torque for one unit of `effort`: of a current [N m/A] the motor's torque constant times its
    gear ratio (with `[joints.motor]` the constant alone). Without it those of currents are fitted
    to the links of the robot's model or a known load."""
    gain_accuracy: PerJoint | None = None
    """One sigma of the errors of `gains`, or of torques as logged, as a share of at most 0.5; by
    default 0.02, or what the links of the robot's model tell."""
    target_current: JointArrayColumns | None = None
    """Currents that the controller asks for, in `effort_unit`: with `target_effort` in place of
    `gains`, which are fitted to both, such as to `target_current` and `target_moment` of Universal
    Robots."""
    target_effort: JointArrayColumns | None = None
    """Torques that the controller asks for [N m]."""
    effort_acts_on: Annotated[str, word_validator(("joint", "motor"))] = "joint"
    """Part on which the logged effort acts: on the joint, as τ in τ = M q̈ + … (at rest it carries
    the weight), or back on the motor, the opposite."""
    still_below: PerJoint | None = None
    """Speed of a joint [rad/s, m/s] below which its rows do not count for it, because friction at
    rest may have any value; by default 0.05 rad/s and 0.005 m/s."""
    motor: MotorTable | None = None

    @model_validator(mode="before")
    @classmethod
    def _expand_arrays(cls, given: Any) -> Any:
        """Replace the name of an array by its columns, by number or by joint name (`x[names]`)."""
        names = given.get("names") if isinstance(given, dict) else None
        if not isinstance(names, list | tuple):
            return given
        return {
            key: _columns_of_array(value, names) if key in _ARRAY_KEYS else value
            for key, value in given.items()
        }

    @model_validator(mode="after")
    def _one_of_each_joint(self) -> JointsTable:
        twice = [name for k, name in enumerate(self.names) if name in self.names[:k]]
        if twice:
            raise InvalidKeyValue("names", f"joint {twice[0]!r} is named twice")
        for key in (*_ARRAY_KEYS, "unit", "offset", "gains", "gain_accuracy", "still_below"):
            value = getattr(self, key)
            if isinstance(value, tuple) and len(value) != len(self.names):
                raise InvalidKeyValue(
                    key, f"expected one for each of {len(self.names)} names, got {len(value)}"
                )
        for key in () if self.motor is None else ("position", "torque"):
            rows = getattr(self.motor, key)
            if rows is not None and len(rows) != len(self.names):
                raise ValueError(
                    f"[joints.motor] {key}: expected {len(self.names)} rows, one for each motor, "
                    f"got {len(rows)}"
                )
        return self

    @model_validator(mode="after")
    def _effort_has_scale(self) -> JointsTable:
        if (self.target_current is None) is not (self.target_effort is None):
            raise InvalidKeyValue(
                "target_current", "give both target_current and target_effort, or neither"
            )
        if self.target_current is not None and self.effort_unit not in CURRENT_UNITS:
            raise InvalidKeyValue(
                "target_current",
                f'given with effort_unit = "{self.effort_unit}"; set effort_unit = "A"',
            )
        if not np.all(self.per_joint(1.0 if self.gains is None else self.gains)):
            raise InvalidKeyValue(
                "gains", f"expected numbers other than zero, got {self.gains}; leave the key out"
            )
        if self.gain_accuracy is not None:
            _require_accuracy(self.per_joint(self.gain_accuracy), has_torque=self.has_torque)
        if self.target_current and (self.gains is not None or self.motor is not None):
            raise InvalidKeyValue("target_current", "gains and motor cannot be given with it")
        if self.still_below is not None and np.min(self.still_below) < 0.0:
            raise InvalidKeyValue("still_below", f"expected speeds ≥ 0, got {self.still_below}")
        return self

    @property
    def parts(self) -> Mapping[Literal["joints", "effort"], JointsTable]:
        """Tables of the motion alone and of the effort alone, by group of signals."""
        without = {"effort": None, "target_current": None, "target_effort": None}
        motion = self.model_copy(update=without)
        if self.effort is None:
            return {"joints": motion}
        without = {"position": (), "velocity": None}
        return {"joints": motion, "effort": self.model_copy(update=without)}

    @property
    def positions(self) -> JointsTable:
        """Table of the joints' positions without velocities."""
        return self.parts["joints"].model_copy(update={"velocity": None})

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns of the table, without minus signs."""
        vectors = (getattr(self, key) or () for key in _ARRAY_KEYS)
        return column_names(column for vector in vectors for column in vector)

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each joint's positions."""
        return self.unit if isinstance(self.unit, tuple) else (self.unit,) * len(self.names)

    @property
    def unit_factors(self) -> Array:
        """Factor of each joint's positions to rad or m, shape (n,)."""
        return np.array([_UNITS_TO_SI[unit] for unit in self.units])

    @property
    def angular(self) -> Flags:
        """Whether each joint's positions are angles, shape (n,)."""
        return np.array([unit in ANGLE_UNITS for unit in self.units])

    @property
    def has_torque(self) -> bool:
        """Whether efforts are torques or forces, or become so by gains or targets."""
        has_scale = self.gains is not None or self.target_current is not None
        return has_scale or self.effort_unit not in CURRENT_UNITS

    @property
    def effort_factors(self) -> Array:
        """Factor of each logged effort to N m on the joint, or on its motor, shape (n,)."""
        scale = {**TORQUE_UNITS, **CURRENT_UNITS}[self.effort_unit]
        sign = 1.0 if self.effort_acts_on == "joint" else -1.0
        return sign * scale * self.per_joint(1.0 if self.gains is None else self.gains)

    @property
    def gains_by_kind(self) -> Mapping[str, Array]:
        """Gains of `gains` or one, shape (n,), by what is logged; none of fitted ones."""
        if not self.has_torque or self.target_current is not None:
            return {}
        kind = "current" if self.effort_unit in CURRENT_UNITS else "torque"
        gains = self.per_joint(1.0 if self.gains is None else self.gains)
        return {kind: seal(gains, "gains", (None,))}

    @property
    def still_speeds(self) -> Array:
        """Speeds of `still_below` or their defaults by unit [rad/s, m/s], shape (n,)."""
        if self.still_below is not None:
            return self.per_joint(self.still_below)
        return np.where(self.angular, _STILL_BELOW_RAD, _STILL_BELOW_M)

    def per_joint(self, value: float | tuple[float, ...]) -> Array:
        """Return a setting as one number for each joint, shape (n,)."""
        return np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), len(self.names)))


def _require_accuracy(accuracy: Array, *, has_torque: bool) -> None:
    if not has_torque:
        raise InvalidKeyValue("gain_accuracy", "currents need `gains` beside it")
    if not 0.0 <= accuracy.min() <= accuracy.max() <= MAX_SCALE_SIGMA:
        raise InvalidKeyValue(
            "gain_accuracy",
            f"expected shares from 0 to {MAX_SCALE_SIGMA:g}, as 0.02 for 2 %, got "
            f"{accuracy.tolist()}",
        )


_ARRAY_KEYS = ("position", "velocity", "effort", "target_current", "target_effort")


def _columns_of_array(value: object, names: list[object] | tuple[object, ...]) -> object:
    if not isinstance(value, str) or value.strip().endswith(":"):
        return value
    array = value.strip()
    if array.endswith("[names]"):
        return [f"{array.removesuffix('[names]')}[{name}]" for name in names]
    return value if array.endswith("]") else [f"{array}[{k}]" for k in range(len(names))]
