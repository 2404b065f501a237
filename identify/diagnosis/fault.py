"""`Fault`: something that may be wrong with a log or with its schema, and what puts it right."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Phi
from identify.logs.facts import LogFacts
from identify.logs.patch import Patch, wrench_gain
from identify.logs.schema import Schema
from identify.logs.units import LENGTH
from identify.regressors.log_corrections import (
    extend_to_derivatives,
    gravity_map,
    logged_wrench_only,
    position_scale_map,
    readings_map,
)
from identify.spatial.columns import W

_WRENCH_KEYS = frozenset(
    f"wrench.{key}" for key in ("force", "torque", "force_unit", "torque_unit", "acts_on")
)


@dataclass(frozen=True, slots=True)
class FaultParameters:
    """The continuous parameters η of a fault, zero where the log is as read.

    Attributes:
        parameters: names of the components.
        unit: of all of them, in messages.
        per_unit: η in SI of one such unit.
        matters: standard error of every component, times 4.5, that a log has to stay below for the
            fault to be observable [SI].
        farthest: from where a search starts, in sizes that matter (.3 s, 60°): beyond it, what is
            wrong is not continuous.
        believed: least and largest component of one that leaves an estimate of use [SI].
        of_mass: whether what is said in SI here is for a body of one kilogram, and grows with it.
    """

    parameters: tuple[str, ...]
    unit: str
    per_unit: float
    matters: float
    farthest: float = 30.0
    believed: tuple[float, float] = (-np.inf, np.inf)
    of_mass: bool = False

    def scale(self, phi: Phi) -> float:
        """What bounds and what matters are multiplied with for a body."""
        return abs(float(phi[0])) if self.of_mass else 1.0


@dataclass(frozen=True, slots=True)
class Fault:
    """What may be wrong with one log.

    It is corrected by a patch of the log's schema, by a linear map of the log's columns, or by
    either: where there is no map, the log has to be read again.

    Attributes:
        name: its own name, the same for every log.
        code: of the finding.
        text: what is so, as the rest of a sentence; of one with sizes, its name.
        patch: keys of the schema, and their right values, at a size η.
        change: M(η) of the columns that a fit reads, shape (43, 19); it, or what it gives, is None
            where the log has to be read again.
        action: what to do where no line of the schema puts it right, at a size η.
        facts: of the log.
        sizes: its parameters; None where there are none.
        slips: how many mistakes it takes to make it.
        seen: twice the log-likelihood by which raw signals show it, beside what the fit says.
        counts: whether the readings are of no unit, so that a log tells the body but for a factor.
        clock: how many times as long as read the time runs.
        of_size: the fault with sizes that it is at one of them, and that size.
        says: what is so at a size η with its half-widths, where names and numbers are not enough.
        possible: whether a size η can be.
    """

    name: str
    code: str
    text: str
    patch: Callable[[Array], Patch] | None = None
    change: Callable[[Array], Array | None] | None = None
    action: Callable[[Array], str] | None = None
    facts: LogFacts | None = None
    sizes: FaultParameters | None = None
    slips: int = 1
    seen: float = 0.0
    counts: bool = False
    clock: float = 1.0
    of_size: tuple[Fault, Array] | None = None
    says: Callable[[Array, Array], str] | None = None
    possible: Callable[[Array], bool] = lambda size: True

    @property
    def d(self) -> int:
        """How many parameters it has."""
        return 0 if self.sizes is None else len(self.sizes.parameters)

    @property
    def linear(self) -> bool:
        """Whether it is a linear map of the columns."""
        return self.change is not None and (self.d > 0 or self.change(np.zeros(0)) is not None)

    def fit_map(self, size: ArrayLike = ()) -> Array:
        """M(η) of the columns that a fit reads, shape (43, 19), of a fault that is linear.

        What it makes of the readings it makes of those logged, without a weight added back.
        """
        assert self.change is not None
        M = self.change(np.asarray(size, dtype=np.float64))
        assert M is not None
        if self.facts is None:
            return M
        return logged_wrench_only(M, self.facts.compensated, self.facts.gravity)

    def least_scale(self, size: ArrayLike = (), *, dense: bool) -> float:
        """Least factor by which the wrench may be smaller than so read; 1 where it has a unit.

        Of raw counts the force may be as much too large as the torque is too small. That has to
        mend a body that is too dense as read; of another body nothing is known.

        Args:
            size: η.
            dense: whether the body as read is denser than any material.
        """
        if not self.counts:
            return 1.0
        torque = float(np.linalg.det(self.fit_map(size)[W, W]) ** (1.0 / 3.0))
        return min(1.0, 1.0 / torque) if dense else 0.0

    def map_at(self, size: Array) -> Array:
        """M(η) of all extended columns, shape (43, 43): maps follow each other as products."""
        return extend_to_derivatives(self.fit_map(size))

    def remedy_at(self, size: Array) -> str:
        """What to change: a line of the schema, or an action."""
        if self.action is not None:
            return self.action(size)
        assert self.patch is not None
        return schema_lines(
            self.patch(size), {} if self.facts is None else self.facts.schema_tables
        )

    def at_size(self, size: Array, text: str) -> Fault:
        """The fault at one size, as a slip: what a search from zero does not come to."""
        patch, change, action = self.patch, self.change, self.action
        assert change is not None
        return Fault(
            text,
            self.code,
            text,
            None if patch is None else lambda _: patch(size),
            lambda _: change(size),
            None if action is None else lambda _: action(size),
            self.facts,
            counts=self.counts,
            of_size=(self, size),
        )

    def with_sign(self, sign: Fault) -> Fault:
        """Both: the log read again by this one's patch, and of that the map of a sign."""
        one, other = self.patch, sign.patch
        assert one is not None
        assert other is not None

        def both(size: Array) -> Patch:
            return {**one(size), **other(size)}

        return Fault(
            f"{self.name} {sign.name}",
            self.code,
            f"{self.text}, and {sign.text}",
            both,
            sign.change,
            facts=self.facts,
            slips=self.slips + sign.slips,
            seen=self.seen,
        )


def discrete_fault(
    facts: LogFacts,
    code: str,
    text: str,
    patch: Patch,
    *,
    slips: int = 1,
    seen: float = 0.0,
    action: str = "",
    change: Array | None = None,
    clock: float = 1.0,
) -> Fault:
    """A fault without sizes: keys of the schema have other values.

    Args:
        facts: of the log.
        code: of the finding.
        text: what is so.
        patch: the right values.
        slips: how many mistakes it takes.
        seen: as of `Fault`.
        action: what to do, where it is not the patch.
        change: M, where it does not follow from the patch.
        clock: how many times as long as read the time runs.
    """

    @lru_cache(maxsize=1)
    def own_map() -> Array | None:  # made when it is looked at: there are many such faults
        return map_of_patch(patch, facts) if change is None else change

    return Fault(
        text,
        code,
        text,
        lambda size: patch,
        lambda size: own_map(),
        (lambda size: action) if action else None,
        facts,
        slips=slips,
        seen=seen,
        clock=clock,
    )


def map_of_patch(patch: Patch, facts: LogFacts) -> Array | None:
    """M of a patch, shape (43, 19); None where the log has to be read again.

    Args:
        patch: keys of the schema and values.
        facts: of the log.
    """
    keys, schema = set(patch), facts.schema
    if schema is None or not keys:
        return None
    if keys <= _WRENCH_KEYS:
        G = gain_of(patch, schema)
        by_halves = np.kron(G[::3, ::3], np.eye(3))
        if facts.wrench_frame == "world" and not np.allclose(G, by_halves):
            return None
        return readings_map(G, facts.X_BS)
    if keys == {"world.gravity"}:
        change = np.asarray(patch["world.gravity"]) - facts.gravity
        return gravity_map(change, facts.compensated)
    if keys == {"pose.position_unit"} and schema.pose is not None:
        ratio = LENGTH[patch["pose.position_unit"]] / LENGTH[schema.pose.position_unit]
        return position_scale_map(ratio - 1.0, facts.gravity)
    if keys == {"acceleration.kind"} and "spatial" not in (
        patch["acceleration.kind"],
        facts.acceleration_kind,
    ):
        sign = 1.0 if patch["acceleration.kind"] == "classical" else -1.0
        return gravity_map(sign * facts.gravity)
    return None


def gain_of(patch: Patch, schema: Schema) -> Array:
    """What [f; t] are by a patch of the wrench's table to what they were, shape (6, 6)."""
    keys = {key.partition(".")[2]: value for key, value in patch.items()}
    return wrench_gain(schema.wrench, schema.wrench.model_copy(update=keys))


def schema_lines(patch: Patch, said: Mapping[str, object]) -> str:
    """What to write into the schema, as a sentence.

    Args:
        patch: keys and values.
        said: the schema as it was written.
    """
    tables: dict[str, list[str]] = {}
    for place, value in patch.items():
        name, _, key = place.rpartition(".")
        table = said.get(name)
        now = table.get(key) if isinstance(table, Mapping) else None
        if value is None:
            line = f"leave `{key}` out"
        elif isinstance(value, str) and isinstance(now, str) and value != now:
            line = f"change `{key} = {_toml(now)}` to `{key} = {_toml(value)}`"
        else:
            line = f"set `{key} = {_toml(value)}`"
        tables.setdefault(name, []).append(line)
    lines = [f"[{name}], {' and '.join(of_table)}" for name, of_table in tables.items()]
    option = " (or --gravity)" if "world.gravity" in patch else ""
    return f"In the schema, {'; in '.join(lines)}{option}."


def _toml(value: object) -> str:
    """A value as TOML has it."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def schema_numbers(values: Array | float) -> list[float] | float:
    """Numbers as a schema has them: six decimals."""
    listed = [float(value) + 0.0 for value in np.round(np.atleast_1d(values), 6)]
    return listed[0] if np.ndim(values) == 0 else listed
