"""Reader of a simulation's specification, from TOML or from the body of an estimate.json."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat66, Vec3, Vec6, as_array
from identify.documents import read_toml, table_prefix, validate
from identify.errors import (
    IdentifyError,
    LogError,
    MissingFile,
    ModelError,
    SchemaError,
    SimulationError,
)
from identify.exchange import read_parameters
from identify.inertia import InertialParameters, checked_added_mass
from identify.logs.log_sources import read_source
from identify.logs.schema_tables import LogTable
from identify.logs.table import ColumnSource
from identify.simulation.checks import require_simulable
from identify.simulation.forward import simulate
from identify.simulation.loads import ConstantLoad, Impulse, Load, SampledLoad
from identify.simulation.state import State, Trajectory
from identify.spatial.columns import WRENCH_NAMES
from identify.spatial.rotations import rotate, rotate_back, rotation_from_quaternion
from identify.spatial.vectors import GRAVITY_W
from identify.specification.simulation_tables import (
    ZERO_VECTOR,
    LoadTable,
    SimulatedBodyTable,
    SimulationDocument,
    StateTable,
)


@dataclass(frozen=True, slots=True)
class Simulation:
    """Specification of a simulation: a body, its initial state and the loads on it.

    Attributes:
        body: the ten parameters about Bo in B.
        start: state at time 0.
        gravity: g in W [m/s²], shape (3,).
        loads: forces and torques over time.
        impulses: impulses with their times.
        added_mass: added mass of a fluid at rest about Bo in B, linear first, shape (6, 6); None
            without fluid.
    """

    body: InertialParameters
    start: State
    gravity: Vec3 = field(default_factory=lambda: np.array(GRAVITY_W))
    loads: tuple[Load, ...] = ()
    impulses: tuple[Impulse, ...] = ()
    added_mass: Mat66 | None = None

    def run(
        self, *, duration: float, step: float, integrator: str = "rkmk4", every: int = 1
    ) -> Trajectory:
        """Simulate from time 0 to `duration`, by `identify.simulation.simulate`."""
        return simulate(
            self.body,
            self.start,
            duration=duration,
            step=step,
            loads=self.loads,
            impulses=self.impulses,
            gravity=self.gravity,
            integrator=integrator,
            added_mass=self.added_mass,
            every=every,
        )


def read_simulation(path: Path | str) -> Simulation:
    """Read the specification of a simulation from a TOML file; see docs/simulation.md.

    Paths in the file are relative to its folder.

    Raises:
        MissingFile: the file, or one that it names, does not exist.
        SchemaError: not TOML, an unknown key, a wrong value, or keys that contradict each other.
        ModelError: the body or the added mass is not physically consistent, or the estimate was
            modified after it was written.
    """
    path = Path(path)
    if path.is_file() and path.suffix.lower() == ".json":
        raise SchemaError(
            f"{path}: expected a TOML file; use simulation_of_estimate for the body of an "
            f"estimate.json"
        )
    document = validate(SimulationDocument, read_toml(path), str(path))
    added = document.body.added_mass
    body = _body(document.body, path)
    with _with_location(f"{path}: [body] added_mass"):
        fluid = None if added is None else checked_added_mass(np.array(added))
    return Simulation(
        body=body,
        start=_state(document.state),
        gravity=np.array(document.world.gravity),
        loads=tuple(_load_of(table, path, k) for k, table in enumerate(document.loads)),
        impulses=tuple(
            Impulse(
                table.time,
                np.array(table.linear or ZERO_VECTOR),
                np.array(table.angular or ZERO_VECTOR),
                np.array(table.point),
                table.frame,
            )
            for table in document.impulses
        ),
        added_mass=fluid,
    )


def simulation_of_estimate(
    path: Path | str,
    *,
    linear: ArrayLike = (0.0, 0.0, 0.0),
    angular: ArrayLike = (0.0, 0.0, 0.0),
    gravity: ArrayLike = GRAVITY_W,
) -> Simulation:
    """Specify the simulation of an estimate.json's body that is thrown from the world's origin.

    Args:
        path: the estimate.
        linear: velocity of Bo [m/s], shape (3,); body and world axes are the same at the start.
        angular: angular velocity [rad/s], shape (3,).
        gravity: g in W [m/s²], shape (3,).

    Raises:
        MissingFile: the file does not exist.
        ModelError: it is not an estimate, was modified after it was written, or its body is not
            physically consistent.
        SimulationError: a velocity or gravity that is not three finite numbers.
    """
    body = read_parameters(path)
    _require_simulable(body, str(path))
    vectors = {"linear": linear, "angular": angular, "gravity": gravity}
    v, w, g = (as_array(values, name, (3,), SimulationError) for name, values in vectors.items())
    return Simulation(body, State(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), v, w), g)


def _body(table: SimulatedBodyTable, path: Path) -> InertialParameters:
    place = f"{path}: [body]"
    if table.estimate is not None:
        estimate = path.parent / table.estimate
        place = f"{place} estimate: {estimate}"
        with _with_location(f"{path}: [body] estimate"):
            body = read_parameters(estimate)
    elif table.mass is not None:
        com, inertia = np.array(table.com), np.array(table.inertia_about_com)
        with _with_location(place):
            body = InertialParameters.from_com(table.mass, com, inertia)
    else:
        place, body = f"{place} phi", InertialParameters(np.array(table.phi))
    _require_simulable(body, place)
    return body


def _require_simulable(body: InertialParameters, place: str) -> None:
    with _with_location(place, ModelError):
        require_simulable(body)


def _state(table: StateTable) -> State:
    R = rotation_from_quaternion(np.array(table.quaternion))
    linear, angular = np.array(table.linear), np.array(table.angular)
    if table.frame == "body":
        linear = rotate(R, linear)
    else:
        angular = rotate_back(R, angular)
    return State(np.array(table.position), np.array(table.quaternion), linear, angular)


def _load_of(table: LoadTable, path: Path, index: int) -> Load:
    end = np.inf if table.end is None else table.end
    point, frame = np.array(table.point), table.frame
    if table.file is None:
        force, torque = (np.array(vector or ZERO_VECTOR) for vector in (table.force, table.torque))
        return ConstantLoad(force, torque, point, frame, table.start, end)
    file = path.parent / table.file
    with _with_location(f"{path}: {table_prefix(('loads', index))}file"):
        time, wrench = read_wrench_samples(file)
        interpolation = table.interpolation or "linear"
        return SampledLoad(
            time, wrench, point, frame, interpolation, table.start, end, name=str(file)
        )


@contextmanager
def _with_location(place: str, kind: type[IdentifyError] = SchemaError) -> Iterator[None]:
    """Prefix the messages of errors in this context with their place in a file."""
    try:
        yield
    except MissingFile as error:
        raise MissingFile(f"{place}: {error}", path=error.path) from error
    except ModelError as error:
        raise ModelError(f"{place}: {error}") from error
    except (LogError, SchemaError, SimulationError) as error:
        raise kind(f"{place}: {error}") from error


_SAMPLES_LAYOUT = LogTable(time="time", drop_bad_rows=True)
"""Text layout of a file of wrench samples; `read_samples` rejects defective rows."""


def read_wrench_samples(path: Path) -> tuple[Array, Vec6]:
    """Read wrench samples from Parquet, NPZ, or CSV with one line of column names.

    Columns besides those of time, force and torque are ignored.

    Returns times [s], shape (n,), and wrenches [f; t] [N, N m], shape (n, 6).
    Raises `MissingFile`: the file does not exist; `LogError`: it cannot be read, lacks a column, or
    has rows that are not finite numbers.
    """
    table = read_source(
        ColumnSource(path, _SAMPLES_LAYOUT, (), WRENCH_NAMES, has_stamp_column=True),
        is_only_file=True,
    )
    if table.faults.any():
        expected = "expected time, force and torque: seven finite numbers"
        raise table.error_at(int(np.argmax(table.faults > 0)), expected)
    ticks = table.ticks_per_second or 1
    time = np.asarray(table.stamps, dtype=np.float64) / ticks
    return time, np.stack([table.columns[name] for name in WRENCH_NAMES], axis=-1)
