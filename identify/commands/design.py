"""`identify design`: design a motion to log within limits, and predict what it will give."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import UseAppendAction

from identify.commands.bodies import UNUSABLE_STATUS
from identify.commands.command import (
    Command,
    Flag,
    Outcome,
    UsageError,
    interrupted_run_error,
    number_parser,
    option,
)
from identify.commands.design_options import (
    MOTION_OPTIONS,
    PAYLOAD_OPTIONS,
    RobotLimits,
    WristLimits,
    require_defaults,
    require_numbers,
)
from identify.commands.design_summary import design_lines, design_record, width_lines
from identify.commands.output import require_writable_file, stages_on_terminal, write_file

if TYPE_CHECKING:
    from identify.arms import SavedArm
    from identify.design import (
        DesignedMotion,
        JointProblem,
        MotionDesign,
        MotionPlan,
        Search,
        WristProblem,
    )
    from identify.exchange import SavedEstimate
    from identify.inertia import InertialParameters

_LARGEST_COM = 5.0
"""Distance of a centre of mass from its frame beyond which it is taken for millimetres [m]."""

_GRAVITY_RANGE = (1.0, 30.0)
"""Plausible strength of gravity, of the moon to that of Jupiter [m/s²]."""

_LOGGER = logging.getLogger("identify")


_WRIST_DEFAULTS, _ROBOT_DEFAULTS = WristLimits(), RobotLimits()


@dataclass(frozen=True, slots=True)
class Design(Command):
    """Design a motion to log: within limits, from rest to rest, D-optimal for the parameters.

    Writes the motion as a table, programs for robots and a page beside it, and predicts the
    half-widths of the intervals of a payload before the robot moves. Exit status: 0 if there is a
    motion, 2 for bad input, 3 if no motion keeps the limits (named), 4 if a need is not met.
    """

    wrist: Flag = False
    """Design for a wrist with a force-torque sensor, from limits alone."""

    limits: Annotated[WristLimits, option(name="wrist")] = _WRIST_DEFAULTS

    arm: Annotated[RobotLimits, option(name="robot")] = _ROBOT_DEFAULTS

    time: Annotated[float, option("S", "(default: 60)")] = 60.0
    """Duration of the motion [s]."""

    gravity: Annotated[
        tuple[float, float, float],
        number_parser(3, "0 0 -9.81 [m/s²]"),
        option("X Y Z", "(default: 0 0 -9.80665)"),
    ] = (0.0, 0.0, -9.80665)
    """Gravity in axes of the tool at the start, or of the robot's base [m/s²]."""

    mass: Annotated[float, option("KG", "(default: 1)")] = 1.0
    """Rough mass of the payload."""

    com: Annotated[
        tuple[float, float, float],
        number_parser(3, "0 0 0.05 [m]"),
        option("X Y Z", "(default: 0 0 0.05)"),
    ] = (0.0, 0.0, 0.05)
    """Rough centre of mass of the payload, in its frame [m]."""

    need: Annotated[str, option('"mass 1%, com 2mm"')] = ""
    """Precision needed: half-widths of 95 % intervals."""

    after: Annotated[Path | None, option("estimate.json")] = None
    """Earlier estimate or arm.json: its noise, and its body or links in place of those given."""

    starts: Annotated[int, option("N", "(default: 3)")] = 3
    """Number of random starts of the search."""

    seed: Annotated[int, option("N", "(default: 0)")] = 0
    """Seed of the random starts."""

    program: Annotated[tuple[str, ...], UseAppendAction, option("NAME", "(repeatable)")] = ()
    """Program for a controller: ur, kuka, abb or ros."""

    output: Annotated[Path, option("motion.csv", short="-o")] = Path("motion.csv")
    """Table of the motion; programs and the page are written beside it."""

    def run(self, invocation: str) -> Outcome:
        """Design the motion, and write it with its programs and its page."""
        if self.wrist == (self.arm.robot is not None):
            raise UsageError("design: give either --wrist or --robot arm.urdf")
        if not 1.0 <= self.time <= 3600.0:
            raise UsageError(f"design: --time S: expected 1 to 3600 s, got {self.time:g}")
        if self.starts < 1:
            raise UsageError(f"design: --starts N: expected 1 or more, got {self.starts}")
        if self.wrist:
            require_defaults(self.arm, "--robot arm.urdf")
        else:
            require_defaults(self.limits, "--wrist")
        for options in (self, self.limits, self.arm):
            require_numbers(options)
        if not _GRAVITY_RANGE[0] <= math.hypot(*self.gravity) <= _GRAVITY_RANGE[1]:
            raise UsageError(
                f"design: --gravity: expected a vector of {_GRAVITY_RANGE[0]:g} to "
                f"{_GRAVITY_RANGE[1]:g} m/s², got {self.gravity}"
            )
        if self.wrist and "ros" in self.program:
            raise UsageError("design: --program ros needs the joints of a robot: --robot arm.urdf")
        if not self.wrist and self.arm.payload_at is None:
            for options in (self, self.arm):
                require_defaults(options, "--payload-at FRAME", PAYLOAD_OPTIONS)
        if self.limits.poses is not None:
            for options in (self, self.limits):
                require_defaults(options, "a motion, not --poses", MOTION_OPTIONS)
        if self.output.suffix != ".csv":
            raise UsageError(f"design: -o: expected a name that ends in .csv, got {self.output}")
        programs = [self._program_file(suffix) for suffix, _ in self._programs()]
        for path in (self.output, self.output.with_suffix(".html"), *programs):
            require_writable_file(path)
        with stages_on_terminal():
            if self.limits.poses is not None:
                return self._poses(self.limits.poses)
            from identify.design.starts import read_starts

            try:
                design = self._motion()
            except KeyboardInterrupt:
                if read_starts(self._starts_file, self._key):
                    raise interrupted_run_error(self._starts_file) from None
                raise
        return self._outcome(design, invocation)

    def _programs(self) -> list[tuple[str, Callable[[MotionPlan, str], str]]]:
        from identify.design.programs import PROGRAMS
        from identify.documents import lookup

        return [lookup(PROGRAMS, name, "program", UsageError) for name in self.program]

    def _program_file(self, suffix: str) -> Path:
        """Return the path of a program: its name has up to 24 letters, digits and _, as in KRL."""
        stem = re.sub(r"\W", "_", self.output.stem, flags=re.ASCII)
        name = stem if stem[0].isalpha() else f"motion_{stem}"
        return self.output.with_name(name[:24] + suffix)

    def _motion(self) -> MotionDesign:
        from identify.arms import SavedArm
        from identify.design import EarlierFit, plan_motion
        from identify.pipeline.required_precision import parse_required_precision

        earlier = self._earlier()
        with _input_errors():
            problem, body = self._problem(earlier)
        known = EarlierFit.of(earlier)
        if body is not None and not self.wrist:
            scale = earlier.scale if isinstance(earlier, SavedArm) else None
            known = known.with_torque_scale(body, len(problem.axes), scale)
        return plan_motion(
            problem,
            self.time,
            self._search(),
            body=body,
            earlier=known,
            needs=parse_required_precision(self.need),
        )

    def _problem(
        self, earlier: SavedEstimate | SavedArm | None
    ) -> tuple[WristProblem | JointProblem, InertialParameters | None]:
        """Return the design problem and the rough payload, if one is wanted."""
        import numpy as np

        from identify.design.programs import require_six_revolute

        path, gravity = str(self.after), np.array(self.gravity)
        if self.wrist:
            payload = self._body(earlier)
            return self.limits.problem(earlier, path, payload, gravity), payload
        body = None if self.arm.payload_at is None else self._body(earlier)
        problem = self.arm.problem(earlier, path, body, gravity)
        for name in set(self.program) - {"ros"}:
            self.arm.require_joints_from_base(problem.robot)
            require_six_revolute(problem.axes, problem.robot.prismatic, f"--program {name}")
        return problem, body

    def _earlier(self) -> SavedEstimate | SavedArm | None:
        from identify.design.prediction import read_earlier

        return None if self.after is None else read_earlier(self.after)

    def _body(self, earlier: SavedEstimate | SavedArm | None) -> InertialParameters:
        import numpy as np

        from identify.arrays import require_positive
        from identify.exchange import SavedEstimate
        from identify.inertia import InertialParameters
        from identify.inertia.parameters import default_body

        if isinstance(earlier, SavedEstimate):
            return earlier.parameters
        require_positive(self.mass, "design: --mass KG", "kg", UsageError)
        if not np.abs(self.com).max() <= _LARGEST_COM:
            raise UsageError(
                f"design: --com: expected metres within ±{_LARGEST_COM:g}, got {self.com}"
            )
        return InertialParameters(default_body(self.mass, np.array(self.com)))

    def _search(self) -> Search:
        """Return the settings of the search; its finished starts are kept until it ends."""
        from identify.design import Search
        from identify.design.starts import read_starts, write_starts

        key = self._key
        finished = read_starts(self._starts_file, key)

        def on_start(number: int, motion: DesignedMotion) -> None:
            finished[number] = motion
            write_starts(self._starts_file, key, finished)
            _LOGGER.info("designed from start %d of %d", number + 1, self.starts)

        return Search(self.starts, self.seed, dict(finished), on_start)

    @property
    def _starts_file(self) -> Path:
        return self.output.with_name(f".{self.output.name}.starts.json")

    @property
    def _key(self) -> str:
        """Digest of everything that decides the motion of a start."""
        from identify.files import digest
        from identify.studies.keys import numerics_digest, result_key

        files = [None if path is None else digest(path) for path in (self.arm.robot, self.after)]
        left_out = {"output", "starts", "need", "program", "json", "after"}
        options = {f.name: repr(getattr(self, f.name)) for f in fields(self)}
        options = {name: text for name, text in options.items() if name not in left_out}
        return result_key(options, files, numerics_digest())

    def _outcome(self, design: MotionDesign, invocation: str) -> Outcome:
        """Write the files of a design, and describe it."""
        from identify.reporting.motion_design import motion_design_html

        plan, files = design.plan, {self.output: design.plan.csv()}
        for suffix, write in self._programs():
            path = self._program_file(suffix)
            files[path] = write(plan, path.stem)
        page = self.output.with_suffix(".html")
        files[page] = motion_design_html(design, invocation)
        for path, text in files.items():
            write_file(path, text.encode(errors="backslashreplace"))
        write_file(self._starts_file, None)
        return Outcome(
            lines=design_lines(design),
            document=lambda: design_record(design),
            files=list(files),
            status=UNUSABLE_STATUS if design.unmet else 0,
        )

    def _poses(self, count: int) -> Outcome:
        """Design static poses, write their table, and describe them."""
        import numpy as np

        from identify.design import design_static_poses
        from identify.design.prediction import predict_static_poses

        earlier = self._earlier()
        tilt = np.radians(self.limits.tilt)
        gravity = self.gravity
        body, rng = self._body(earlier), np.random.default_rng(self.seed)
        with _input_errors():
            noise = self.limits.wrench_noise(earlier, str(self.after))
            poses = design_static_poses(count, float(tilt), np.array(gravity), noise, rng)
        widths = predict_static_poses(poses, np.array(gravity), noise, body, earlier)
        write_file(self.output, poses.csv().encode())
        ratio = float(np.exp(poses.criterion - poses.random_criterion))
        lines = [
            f"{count} static poses; each is logged for a second, at rest.",
            *width_lines(widths),
            f"Errors of mass and first moments are {ratio:.2f} times those of random poses within "
            "the same tilt (geometric mean).",
            *poses.remarks,
        ]
        record = {
            "half_widths": {k: v if math.isfinite(v) else None for k, v in widths.items()},
            "relative_to_random": ratio,
            "remarks": list(poses.remarks),
        }
        return Outcome(lines=lines, document=lambda: record, files=[self.output])


@contextmanager
def _input_errors() -> Iterator[None]:
    """Raise errors of limits, models and earlier fits as `UsageError`."""
    from identify.errors import ProblemError

    try:
        yield
    except ProblemError as error:
        raise UsageError(f"design: {error}") from error
