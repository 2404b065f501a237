"""`identify simulate`: the motion of a body under loads, as a log and as figures."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.command import Command, Flag, Outcome, UsageError, Vector, option
from identify.commands.output import require_writable, shown_stages, unwritable, write_file

if TYPE_CHECKING:
    from identify.logs import Recording
    from identify.simulation import Simulation, Trajectory

LOG, SCHEMA, MOTION = "trajectory.parquet", "trajectory.toml", "motion.png"
POINSOT, ANIMATION = "poinsot.png", "poinsot.html"
_LOG = logging.getLogger(__name__)

_MOST_SIMULATED_STEPS, _MOST_KEPT_STATES = 50_000_000, 2_000_000
"""Steps take hours from there on, and the states that are kept gigabytes."""


@dataclass(frozen=True, slots=True)
class Simulate(Command):
    """Simulate a body: its states and loads as a log, figures, and Poinsot's construction.

    Writes OUT/trajectory.parquet with its schema, OUT/motion.png and, for a body that turns freely,
    OUT/poinsot.png and the animation OUT/poinsot.html. Exit status: 2 for a bad file, 3 where the
    motion cannot be simulated.
    """

    spec: Annotated[Path, Positional, option("SPEC.toml|ESTIMATE.json", "(required)")]
    """What to simulate: a file of body, state, loads and impulses, or the body of an estimate."""

    duration: Annotated[float, option("S", "(required)")]
    """Length of the simulation [s]."""

    dt: Annotated[float, option("S", "(required)")]
    """Longest time step [s]."""

    output: Annotated[Path, option("OUT", "(required)", short="-o")]
    """Folder of the results, made if need be; those of an earlier run are replaced."""

    integrator: Annotated[str, option("NAME", "(default: rkmk4)")] = "rkmk4"
    """rkmk4, semi-implicit-euler, suzuki; or exact, for a body without loads."""

    every: Annotated[int, option("N", "(default: 1)")] = 1
    """Keep every N-th step."""

    linear: Annotated[Vector, option("X Y Z")] = None
    """First velocity of an estimate's body [m/s]."""

    angular: Annotated[Vector, option("X Y Z")] = None
    """First angular velocity of an estimate's body [rad/s], body axes."""

    quiet: Flag = False
    """Print nothing but errors."""

    def run(self, invocation: str) -> Outcome:
        """Simulate, and write the files."""
        require_writable(self.output, (LOG, SCHEMA, MOTION, POINSOT, ANIMATION))
        self._require_steps()
        simulation = self._simulation()
        with shown_stages(shown=not self.quiet):
            _LOG.info("simulating")
            path = self._path(simulation)
            _LOG.info("writing and drawing")
            files = self._written(simulation, path)
        notes = self._notes(simulation)
        end = {
            "time": path.time[-1],
            "position": path.position[-1],
            "quaternion": path.quaternion[-1],
            "angular_velocity": path.angular_velocity[-1],
        }
        return Outcome(
            lines=[*_facts(simulation, path), *notes],
            document=lambda: {"states": len(path.time), "end": end, "notes": notes},
            files=files,
            quiet=self.quiet,
        )

    def _written(self, simulation: Simulation, path: Trajectory) -> list[Path]:
        """The files of the results, written."""
        from identify.logs.writing import write_log

        log, schema = self.output / LOG, self.output / SCHEMA
        try:
            self.output.mkdir(parents=True, exist_ok=True)
            write_log(self._recording(simulation, path), log, schema)
        except OSError as error:
            raise unwritable(log, error) from error
        pictures = _pictures(simulation, path)
        for name, content in pictures.items():
            write_file(self.output / name, content)
        written = [name for name, content in pictures.items() if content is not None]
        return [log, schema, *(self.output / name for name in written)]

    def _require_steps(self) -> None:
        from identify.arrays import positive

        if self.every < 1:
            raise UsageError(f"simulate: --every N: expected 1 or more, got {self.every}")
        for name, value in (("duration", self.duration), ("dt", self.dt)):
            positive(value, f"simulate: --{name} S", "s", UsageError)
        if self.duration / self.dt > _MOST_SIMULATED_STEPS:
            raise UsageError(
                f"simulate: {self.duration / self.dt:.3g} steps; take a longer --dt, or less than "
                f"{_MOST_SIMULATED_STEPS:g} of them"
            )
        states = self.duration / self.dt / self.every
        if states > _MOST_KEPT_STATES:
            fewer = math.ceil(states / _MOST_KEPT_STATES) * self.every
            raise UsageError(
                f"simulate: {states:.3g} states to keep, and {_MOST_KEPT_STATES:g} take 2 GB; keep "
                f"fewer with --every, as --every {fewer}"
            )

    def _simulation(self) -> Simulation:
        from identify.simulation import read_simulation, simulation_of_estimate

        if self.spec.suffix.lower() == ".json":
            return simulation_of_estimate(
                self.spec, linear=self.linear or (0, 0, 0), angular=self.angular or (0, 0, 0)
            )
        if self.linear is not None or self.angular is not None:
            raise UsageError(
                "simulate: --linear and --angular go with an estimate.json; a SPEC.toml has them "
                "in its [state]"
            )
        return read_simulation(self.spec)

    def _path(self, simulation: Simulation) -> Trajectory:
        from identify.simulation import find_integrator

        exact = find_integrator(self.integrator, UsageError) is None
        if exact and not _is_free(simulation):
            raise UsageError(
                "simulate: --integrator exact is for a body without loads, impulses or fluid; "
                "take rkmk4"
            )
        return simulation.run(
            duration=self.duration, step=self.dt, integrator=self.integrator, every=self.every
        )

    def _notes(self, simulation: Simulation) -> list[str]:
        """What a reader of the results should know."""
        notes = []
        if simulation.impulses or simulation.added_mass is not None:
            missing = "impulses" if simulation.impulses else "forces of the fluid"
            notes.append(
                f"Note: the wrench in {LOG} is that of the loads; it leaves out the {missing}, so "
                f"a fit or a replay of this log would not find the body."
            )
        if self.spec.suffix.lower() == ".json":
            from identify.exchange import read_estimate

            decided = read_estimate(self.spec).decided_by
            defaults = [name for name, what in decided.items() if what == "default"]
            if defaults:
                notes.append(
                    f"Note: {', '.join(defaults)} are those of a default body, not measured."
                )
        return notes

    def _recording(self, simulation: Simulation, path: Trajectory) -> Recording:
        from identify.logs.synthetic import recording_of_motion
        from identify.simulation.forced_body import total_wrench

        wrench = total_wrench(simulation.loads, path)
        return recording_of_motion(path, wrench, simulation.gravity, self.spec.stem)


def _is_free(simulation: Simulation) -> bool:
    return not simulation.loads and not simulation.impulses and simulation.added_mass is None


def _pictures(simulation: Simulation, path: Trajectory) -> dict[str, bytes | None]:
    """The motion, and Poinsot's construction of a body that turns freely; else None for that."""
    from identify.reporting.canvas import png
    from identify.reporting.simulated_motion import motion

    pictures: dict[str, bytes | None] = {
        MOTION: png(motion(path, simulation.body.phi, simulation.gravity)),
        POINSOT: None,
        ANIMATION: None,
    }
    start = simulation.start
    if _is_free(simulation) and start.angular_velocity.any():
        from identify.reporting.poinsot_animation import poinsot_html
        from identify.reporting.simulated_motion import poinsot
        from identify.simulation.poinsot import poinsot_motion

        made = poinsot_motion(
            simulation.body.phi, start.quaternion, start.angular_velocity, path.time
        )
        pictures |= {POINSOT: png(poinsot(made)), ANIMATION: poinsot_html(made).encode()}
    return pictures


def _facts(simulation: Simulation, path: Trajectory) -> list[str]:
    import numpy as np

    end = ", ".join(f"{x:.6g}" for x in path.position[-1])
    q = ", ".join(f"{x:.6g}" for x in path.quaternion[-1])
    spin = float(np.linalg.norm(path.angular_velocity[-1]))
    acting = {"load": simulation.loads, "impulse": simulation.impulses}
    counts = (f"{len(each)} {what}{'s' * (len(each) != 1)}" for what, each in acting.items())
    return [
        f"{len(path.time)} states over {path.time[-1]:.6g} s of a body of "
        f"{simulation.body.mass:.6g} kg, {', '.join(counts)}.",
        f"At the end: position [{end}] m, quaternion [{q}] (xyzw), turning at {spin:.6g} rad/s.",
    ]
