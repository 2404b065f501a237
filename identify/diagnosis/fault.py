"""`Fault`: an error that a log or its schema may have, and its correction."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Phi
from identify.logs.log_properties import LogProperties
from identify.logs.patch import Patch, wrench_map
from identify.logs.schema import Schema
from identify.logs.units import LENGTH_UNITS
from identify.regressors.log_corrections import (
    extend_to_derivatives,
    gravity_map,
    logged_wrench_only,
    position_scale_map,
    sensor_gain_map,
)
from identify.spatial.columns import WRENCH

_KEYS_OF_WRENCH_MAP = frozenset(
    f"wrench.{key}" for key in ("force", "torque", "force_unit", "torque_unit", "acts_on")
)


@dataclass(frozen=True, slots=True)
class FaultParameters:
    """Continuous parameters η of a fault; η = 0 means no fault.

    Attributes:
        names: names of the components.
        unit: unit of all components in messages.
        unit_si: value of that unit in SI.
        relevant_size: size of a component that changes an estimate noticeably [SI]. The fault is
            observable if the standard error of each component is less than 1/4.5 of it.
        search_radius: largest distance of a search from its start, in relevant sizes. A search from
            zero reaches 0.3 s or 60°; a larger fault is a discrete one.
        usable_range: smallest and largest component with which a corrected estimate is usable [SI].
        scales_with_mass: whether the SI values are for a body of 1 kg and grow with its mass.
    """

    names: tuple[str, ...]
    unit: str
    unit_si: float
    relevant_size: float
    search_radius: float = 30.0
    usable_range: tuple[float, float] = (-np.inf, np.inf)
    scales_with_mass: bool = False

    def mass_factor(self, phi: Phi) -> float:
        """Return the factor on usable range and relevant size: the mass [kg], or 1."""
        return abs(float(phi[0])) if self.scales_with_mass else 1.0


@dataclass(frozen=True, slots=True)
class Fault:
    """Error that a log or its schema may have, with its correction.

    A patch of the log's schema, a linear map of the log's columns, or either of them corrects it.
    Without a map, the log has to be read again.

    Attributes:
        name: unique name, the same for every log.
        code: code of its finding.
        text: description that completes a sentence; the name of a parametric fault.
        patch: function that returns keys of the schema and their correct values at a size η.
        linear_map: function that returns M(η) of the columns that a fit reads, shape (43, 19). The
            function or its result is None if the log has to be read again.
        action: function that returns the remedy at a size η, if no line of the schema is one.
        setup: measurement setup of the log.
        parameters: parameters η of a parametric fault; None for a discrete one.
        mistake_count: number of separate mistakes that together make the fault.
        raw_evidence: evidence from raw signals besides the fit, as twice a log-likelihood ratio.
        raw_counts: whether the readings have no unit, so that a log identifies the body only up to
            a factor.
        time_factor: ratio of the true time to the time as read.
        parametric: parametric fault and its size of which this fault is an instance, if any.
        describe: function that returns a description from η and its half-widths, for a fault whose
            names and numbers are not enough.
        is_possible: function that returns whether a size η can occur.
        map_is_exact: whether the map alone corrects the fault; else it is of a part of it, or of
            small sizes.
    """

    name: str
    code: str
    text: str
    patch: Callable[[Array], Patch] | None = None
    linear_map: Callable[[Array], Array | None] | None = None
    action: Callable[[Array], str] | None = None
    setup: LogProperties | None = None
    parameters: FaultParameters | None = None
    mistake_count: int = 1
    raw_evidence: float = 0.0
    raw_counts: bool = False
    time_factor: float = 1.0
    parametric: tuple[Fault, Array] | None = None
    describe: Callable[[Array, Array], str] | None = None
    is_possible: Callable[[Array], bool] = lambda size: True
    map_is_exact: bool = True

    @property
    def parameter_count(self) -> int:
        """Number of parameters η of the fault."""
        return 0 if self.parameters is None else len(self.parameters.names)

    @property
    def linear(self) -> bool:
        """Whether a linear map of the log's columns corrects the fault."""
        return self.linear_map is not None and (
            self.parameter_count > 0 or self.linear_map(np.zeros(0)) is not None
        )

    @property
    def patch_at_zero(self) -> Patch:
        """Keys of the schema that correct a fault without parameters; empty if none do."""
        return {} if self.patch is None or self.parameters else self.patch(np.zeros(0))

    def fit_map(self, size: ArrayLike = ()) -> Array:
        """Return the correction M(η) of a linear fault, for the columns that a fit uses, (43, 19).

        The map acts on the logged readings, before a compensated weight is added back.
        """
        assert self.linear_map is not None
        M = self.linear_map(np.asarray(size, dtype=np.float64))
        assert M is not None
        if self.setup is None:
            return M
        return logged_wrench_only(M, self.setup.compensated_weight, self.setup.gravity)

    def min_wrench_scale(self, size: ArrayLike = (), *, too_dense: bool) -> float:
        """Return the smallest possible ratio of true to corrected wrench; 1 except for raw counts.

        The force of raw counts may be too large by the factor by which the torque is too small. The
        factor has to make a body possible that is too dense as read; for another body it is
        unknown, and zero is returned.

        Args:
            size: parameters η, shape (d,).
            too_dense: whether the body as read is denser than any material.
        """
        if not self.raw_counts:
            return 1.0
        torque = float(np.linalg.det(self.fit_map(size)[WRENCH, WRENCH]) ** (1.0 / 3.0))
        return min(1.0, 1.0 / torque) if too_dense else 0.0

    def map_at(self, size: Array) -> Array:
        """Return the correction M(η) of a linear fault for all extended columns, shape (43, 43)."""
        return extend_to_derivatives(self.fit_map(size))

    def remedy_at(self, size: Array) -> str:
        """Return the remedy at a size η: a line of the schema, or an action."""
        if self.action is not None:
            return self.action(size)
        assert self.patch is not None
        return schema_lines(
            self.patch(size), {} if self.setup is None else self.setup.schema_tables
        )

    def at_size(self, size: Array, text: str) -> Fault:
        """Return the parametric fault at a fixed size, as a discrete fault."""
        patch = self.patch
        linear_map = self.linear_map
        action = self.action
        assert linear_map is not None
        return Fault(
            text,
            self.code,
            text,
            None if patch is None else lambda _: patch(size),
            lambda _: linear_map(size),
            None if action is None else lambda _: action(size),
            self.setup,
            raw_counts=self.raw_counts,
            parametric=(self, size),
            map_is_exact=self.map_is_exact,
        )

    def with_mapped(self, other: Fault) -> Fault:
        """Combine the fault with a linear one, whose map acts after this fault is corrected."""
        patch, other_patch = self.patch, other.patch
        own_map, other_map = self.linear_map if self.linear else None, other.linear_map
        assert patch is not None
        assert other_patch is not None
        assert other_map is not None

        def both_patches(size: Array) -> Patch:
            return {**patch(size), **other_patch(size)}

        def both_maps(size: Array) -> Array | None:
            first, second = None if own_map is None else own_map(size), other_map(size)
            if first is None or second is None:
                return second
            return extend_to_derivatives(first) @ second

        return Fault(
            f"{self.name} {other.name}",
            self.code,
            f"{self.text}, and {other.text}",
            both_patches,
            both_maps,
            setup=self.setup,
            mistake_count=self.mistake_count + other.mistake_count,
            raw_evidence=self.raw_evidence,
            map_is_exact=self.linear,
        )


def discrete_fault(
    setup: LogProperties,
    code: str,
    text: str,
    patch: Patch,
    *,
    mistake_count: int = 1,
    raw_evidence: float = 0.0,
    action: str = "",
    linear_map: Array | None = None,
    time_factor: float = 1.0,
) -> Fault:
    """Return a fault without parameters: keys of the schema have other values.

    `raw_evidence`: evidence from raw signals, twice a log-likelihood ratio; `action`: remedy, if it
    is not the patch; `linear_map`: M, shape (43, 19), if it does not follow from the patch.
    """

    @lru_cache(maxsize=1)
    def cached_map() -> Array | None:  # computed on first use: there are many such faults
        return column_map_of_patch(patch, setup) if linear_map is None else linear_map

    return Fault(
        text,
        code,
        text,
        lambda size: patch,
        lambda size: cached_map(),
        (lambda size: action) if action else None,
        setup,
        mistake_count=mistake_count,
        raw_evidence=raw_evidence,
        time_factor=time_factor,
    )


def column_map_of_patch(patch: Patch, setup: LogProperties) -> Array | None:
    """Return the column map M of a schema patch, (43, 19); None if the log must be read again."""
    keys, schema = set(patch), setup.schema
    if schema is None or not keys:
        return None
    if keys <= _KEYS_OF_WRENCH_MAP:
        G = wrench_map_of_patch(patch, schema)
        by_halves = np.kron(G[::3, ::3], np.eye(3))
        if setup.wrench_frame == "world" and not np.allclose(G, by_halves):
            return None
        return sensor_gain_map(G, setup.X_BS)
    if keys == {"world.gravity"}:
        change = np.asarray(patch["world.gravity"]) - setup.gravity
        return gravity_map(change, setup.compensated_weight)
    if keys == {"pose.position_unit"} and schema.pose is not None:
        ratio = LENGTH_UNITS[patch["pose.position_unit"]] / LENGTH_UNITS[schema.pose.position_unit]
        return position_scale_map(ratio - 1.0, setup.gravity)
    if keys == {"acceleration.kind"} and "spatial" not in (
        patch["acceleration.kind"],
        setup.acceleration_kind,
    ):
        sign = 1.0 if patch["acceleration.kind"] == "classical" else -1.0
        return gravity_map(sign * setup.gravity)
    return None


def wrench_map_of_patch(patch: Patch, schema: Schema) -> Array:
    """Return the matrix from wrenches before a patch of `[wrench]` to those after it, (6, 6)."""
    keys = {key.partition(".")[2]: value for key, value in patch.items()}
    return wrench_map(schema.wrench, schema.wrench.model_copy(update=keys))


def schema_lines(patch: Patch, schema_tables: Mapping[str, object]) -> str:
    """Return a sentence with the lines to write into the schema."""
    tables: dict[str, list[str]] = {}
    for place, value in patch.items():
        name, _, key = place.rpartition(".")
        table = _schema_table(schema_tables, name)
        present = None if table is None else table.get(key)
        is_new = table is None and bool(schema_tables)  # empty for a recording without a file
        if value is None and present is None and schema_tables:
            continue
        if value is None:
            line = f"leave `{key}` out"
        elif isinstance(value, str) and isinstance(present, str) and value != present:
            line = f"change `{key} = {_format_toml(present)}` to `{key} = {_format_toml(value)}`"
        else:
            line = f"set `{key} = {_format_toml(value)}`"
        head = f"[{name}], to be added, " if is_new else f"[{name}], "
        tables.setdefault(head, []).append(line)
    lines = [head + " and ".join(changes) for head, changes in tables.items()]
    option = " (or --gravity)" if "world.gravity" in patch else ""
    return f"In the schema, {'; in '.join(lines)}{option}."


def _schema_table(schema_tables: Mapping[str, object], name: str) -> Mapping[str, object] | None:
    """Return a table of a schema by its dotted name; None if the schema does not have it."""
    table: object = schema_tables
    for part in name.split("."):
        table = table.get(part) if isinstance(table, Mapping) else None
    return table if isinstance(table, Mapping) else None


def _format_toml(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_format_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def rounded_for_schema(values: Array | float) -> list[float] | float:
    """Round numbers to six decimals, as they are written into a schema."""
    listed = [float(value) + 0.0 for value in np.round(np.atleast_1d(values), 6)]
    return listed[0] if np.ndim(values) == 0 else listed
