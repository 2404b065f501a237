"""`identify simulate`: simulate a body under loads, and write its motion as a log and figures."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.command import (
    Command,
    Flag,
    Outcome,
    UsageError,
    Vector,
    number_parser,
    option,
)
from identify.commands.output import require_writable, stages_on_terminal, write_error, write_file

if TYPE_CHECKING:
    from identify.logs import Recording
    from identify.simulation import Simulation, Trajectory

LOG = "trajectory.parquet"
SCHEMA = "trajectory.toml"
MOTION = "motion.png"
POINSOT, ANIMATION = "poinsot.png", "poinsot.html"
_LOGGER = logging.getLogger(__name__)

_MAX_STEPS, _MAX_KEPT_STATES = 50_000_000, 2_000_000
"""Maximum number of steps (hours of computation) and of returned states (gigabytes)."""


@dataclass(frozen=True, slots=True)
class Simulate(Command):
    """Simulate a body under loads, and write its motion as a log with figures.

    Writes OUT/trajectory.parquet with its schema, OUT/motion.png and, for a freely rotating body,
    Poinsot's construction as OUT/poinsot.png and the animation OUT/poinsot.html. Exit status: 2 for
    an invalid file, 3 if the motion cannot be simulated.
    """

    spec: Annotated[Path, Positional, option("SPEC.toml|ESTIMATE.json", "(required)")]
    """File with body, initial state, loads and impulses; or an estimate.json."""

    duration: Annotated[float, option("S", "(required)")]
    """Length of the simulation [s]."""

    dt: Annotated[float, option("S", "(required)")]
    """Maximum time step [s]."""

    output: Annotated[Path, option("OUT", "(required)", short="-o")]
    """Result folder, created if it does not exist; results of an earlier run are replaced."""

    integrator: Annotated[str, option("NAME", "(default: rkmk4)")] = "rkmk4"
    """Integrator: rkmk4, semi-implicit-euler, suzuki; or exact for a body without loads."""

    every: Annotated[int, option("N", "(default: 1)")] = 1
    """Keep every N-th step."""

    linear: Annotated[Vector, number_parser(3, "0 0 0.5 [m/s]"), option("X Y Z")] = None
    """Initial velocity of an estimate's body [m/s]."""

    angular: Annotated[Vector, number_parser(3, "0 0 1.5 [rad/s]"), option("X Y Z")] = None
    """Initial angular velocity of an estimate's body, in body axes [rad/s]."""

    quiet: Flag = False
    """Print nothing but errors."""

    def run(self, invocation: str) -> Outcome:
        """Simulate the body, and write the files."""
        require_writable(self.output, (LOG, SCHEMA, MOTION, POINSOT, ANIMATION))
        self._require_valid_time_steps()
        simulation = self._simulation()
        with stages_on_terminal(shown=not self.quiet):
            _LOGGER.info("simulating")
            trajectory = self._trajectory(simulation)
            _LOGGER.info("writing and drawing")
            files = self._write_files(simulation, trajectory)
        notes = self._notes(simulation)
        end = {
            "time": trajectory.time[-1],
            "position": trajectory.position[-1],
            "quaternion": trajectory.quaternion[-1],
            "angular_velocity": trajectory.angular_velocity[-1],
        }
        return Outcome(
            lines=[*_summary_lines(simulation, trajectory), *notes],
            document=lambda: {"states": len(trajectory.time), "end": end, "notes": notes},
            files=files,
            quiet=self.quiet,
        )

    def _write_files(self, simulation: Simulation, trajectory: Trajectory) -> list[Path]:
        from identify.logs.log_writing import write_log

        log, schema = self.output / LOG, self.output / SCHEMA
        try:
            self.output.mkdir(parents=True, exist_ok=True)
            write_log(self._recording(simulation, trajectory), log, schema)
        except OSError as error:
            raise write_error(log, error) from error
        figures = _figures(simulation, trajectory)
        for name, content in figures.items():
            write_file(self.output / name, content)
        written = [name for name, content in figures.items() if content is not None]
        return [log, schema, *(self.output / name for name in written)]

    def _require_valid_time_steps(self) -> None:
        from identify.arrays import require_positive

        if self.every < 1:
            raise UsageError(f"simulate: --every N: expected 1 or more, got {self.every}")
        for name, value in (("duration", self.duration), ("dt", self.dt)):
            require_positive(value, f"simulate: --{name} S", "s", UsageError)
        if self.duration / self.dt > _MAX_STEPS:
            raise UsageError(
                f"simulate: {self.duration / self.dt:.3g} steps; expected at most {_MAX_STEPS:g}: "
                "increase --dt"
            )
        states = self.duration / self.dt / self.every
        if states > _MAX_KEPT_STATES:
            fewer = math.ceil(states / _MAX_KEPT_STATES) * self.every
            raise UsageError(
                f"simulate: {states:.3g} states to keep; expected at most {_MAX_KEPT_STATES:g} "
                f"(2 GB): use --every {fewer}"
            )

    def _simulation(self) -> Simulation:
        from identify.simulation import read_simulation, simulation_of_estimate

        if self.spec.suffix.lower() == ".json":
            return simulation_of_estimate(
                self.spec, linear=self.linear or (0, 0, 0), angular=self.angular or (0, 0, 0)
            )
        if self.linear is not None or self.angular is not None:
            raise UsageError(
                "simulate: --linear and --angular require an estimate.json; in a SPEC.toml, set "
                "velocities in [state]"
            )
        return read_simulation(self.spec)

    def _trajectory(self, simulation: Simulation) -> Trajectory:
        from identify.simulation import find_integrator

        exact = find_integrator(self.integrator, UsageError) is None
        if exact and not _is_free(simulation):
            raise UsageError(
                "simulate: --integrator exact requires a body without loads, impulses or fluid; "
                "use rkmk4"
            )
        return simulation.run(
            duration=self.duration, step=self.dt, integrator=self.integrator, every=self.every
        )

    def _notes(self, simulation: Simulation) -> list[str]:
        """Return notes on the limits of the written log."""
        notes = []
        if simulation.impulses or simulation.added_mass is not None:
            missing = "impulses" if simulation.impulses else "forces of the fluid"
            notes.append(
                f"Note: the wrench in {LOG} contains the loads but not the {missing}, so a fit or "
                f"a replay of this log would not recover the body."
            )
        if self.spec.suffix.lower() == ".json":
            from identify.exchange import read_estimate

            decided = read_estimate(self.spec).decided_by
            defaults = [name for name, source in decided.items() if source == "default"]
            if defaults:
                notes.append(f"Note: {', '.join(defaults)} are from a default body, not from data.")
        return notes

    def _recording(self, simulation: Simulation, trajectory: Trajectory) -> Recording:
        from identify.logs.synthetic import recording_of_motion
        from identify.simulation.forced_body import total_wrench

        wrench = total_wrench(simulation.loads, trajectory)
        return recording_of_motion(trajectory, wrench, simulation.gravity, self.spec.stem)


def _is_free(simulation: Simulation) -> bool:
    """Whether only gravity acts on the body, and without added mass."""
    return not simulation.loads and not simulation.impulses and simulation.added_mass is None


def _figures(simulation: Simulation, trajectory: Trajectory) -> dict[str, bytes | None]:
    """Return figures of the motion and, for a freely rotating body, of Poinsot's construction."""
    from identify.reporting.canvas import png_bytes
    from identify.reporting.simulated_motion import motion

    figures: dict[str, bytes | None] = {
        MOTION: png_bytes(motion(trajectory, simulation.body.phi, simulation.gravity)),
        POINSOT: None,
        ANIMATION: None,
    }
    start = simulation.start
    if _is_free(simulation) and start.angular_velocity.any():
        from identify.reporting.poinsot_animation import poinsot_html
        from identify.reporting.simulated_motion import poinsot
        from identify.simulation.poinsot import poinsot_motion

        poinsot_data = poinsot_motion(
            simulation.body.phi, start.quaternion, start.angular_velocity, trajectory.time
        )
        figures |= {
            POINSOT: png_bytes(poinsot(poinsot_data)),
            ANIMATION: poinsot_html(poinsot_data).encode(),
        }
    return figures


def _summary_lines(simulation: Simulation, trajectory: Trajectory) -> list[str]:
    import numpy as np

    end = ", ".join(f"{x:.6g}" for x in trajectory.position[-1])
    q = ", ".join(f"{x:.6g}" for x in trajectory.quaternion[-1])
    spin = float(np.linalg.norm(trajectory.angular_velocity[-1]))
    acting = {"load": simulation.loads, "impulse": simulation.impulses}
    counts = (f"{len(items)} {kind}{'s' * (len(items) != 1)}" for kind, items in acting.items())
    return [
        f"{len(trajectory.time)} states over {trajectory.time[-1]:.6g} s of a body of "
        f"{simulation.body.mass:.6g} kg, {', '.join(counts)}.",
        f"At the end: position [{end}] m, quaternion [{q}] (xyzw), angular speed {spin:.6g} rad/s.",
    ]
