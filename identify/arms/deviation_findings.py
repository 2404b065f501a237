"""Findings on deviations of an arm from its model: what, by how much, and which key sets it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from identify.arms.deviations import Deviation, tilted_gravity
from identify.arms.torque_scale import SCALE_OF_WARM_MOTORS
from identify.findings import Finding
from identify.robots import RobotModel
from identify.significance import HALF_WIDTH_SIGMA, IMPOSSIBLE_SIGMA, SIGNIFICANT_SIGMA

_MIN_LEAD = SIGNIFICANT_SIGMA**2
"""Smallest lead of a deviation; on right logs of simulated and measured arms it is up to 7."""

_MIN_LEAD_OF_LOAD = IMPOSSIBLE_SIGMA**2
"""Smallest lead of a load that no frame is given for."""

_TIE_LEAD = 10.0
"""Difference of leads within which deviations are equally likely."""

_MIN_SIZES = {"zero": np.radians(1.5), "tilt": np.radians(1.5), "length": 0.015, "scale": 0.03}
"""Sizes of deviations below which they move a load little [rad, m or 1]."""

_MAX_TORQUE_ERROR = 0.3
"""Largest relative torque error that a deviation leaves if it explains a log."""


def deviation_findings(
    deviations: Sequence[Deviation],
    robot: RobotModel,
    logs: tuple[str, str],
    *,
    heavy: bool = False,
) -> Iterator[Finding]:
    """Yield a finding on the likeliest deviation, if it is clear and explains the logs.

    `deviations`: by likelihood; `logs`: names of those with the load, and of the others; `heavy`:
    whether the torques need heavier links than those of the model, or a load. Of equally likely
    ones a load is named first.
    """
    if not deviations or deviations[0].torque_error > _MAX_TORQUE_ERROR:
        return
    likely = [each for each in deviations if each.lead > deviations[0].lead - _TIE_LEAD]
    best = next((each for each in likely if each.kind.name == "load"), likely[0])
    others = [each for each in likely if each is not best and each.lead > 0.0]
    is_load = best.kind.name == "load"  # no fault of the log
    least = (-np.inf if heavy else _MIN_LEAD_OF_LOAD) if is_load else _MIN_LEAD
    if best.kind.name == "gain" or best.lead < least:  # gains are a finding of the fit
        return
    if best.size < _MIN_SIZES.get(best.kind.name, 0.0):
        return
    code, text, remedy = _words(best, robot, logs)
    if others:
        texts = (_words(each, robot, logs)[1] for each in others)
        text = f"{text}; or, as likely, {'; or '.join(texts)}"
    evidence: dict[str, object] = {"lead": best.lead, "torque_error": best.torque_error}
    if best.kind.name in _MIN_SIZES:
        evidence |= {"size": best.size, "error": float(best.errors.max())}
    is_fault = any(each.kind.name != "gain" and each.lead >= _MIN_LEAD for each in others)
    lower_end = best.size - HALF_WIDTH_SIGMA * float(best.errors.max(initial=0.0))
    is_warm = best.kind.name == "scale" and lower_end < SCALE_OF_WARM_MOTORS
    is_tolerable = is_warm or (is_load and not is_fault)
    severity = "warning" if is_tolerable else "error"
    yield Finding(code, severity, f"{text}.", remedy, evidence, ", ".join(filter(None, logs)))


def _words(deviation: Deviation, robot: RobotModel, logs: tuple[str, str]) -> tuple[str, str, str]:
    """Return the code of a deviation, what it says, and what to do."""
    index, values = deviation.kind.part, deviation.values
    half_width = HALF_WIDTH_SIGMA * float(deviation.errors.max(initial=0.0))
    match deviation.kind.name:
        case "zero":
            name, prismatic = robot.joints[index], bool(robot.prismatic[index])
            factor, unit = (1e3, " mm") if prismatic else (180.0 / np.pi, "°")
            size, add = factor * values[0], f"{values[0]:+.4f} {'m' if prismatic else 'rad'}"
            return (
                "joint_zero",
                f"{name} is {size:+.2g} ± {_digits(factor * half_width)}{unit} from its position "
                "in the robot's model",
                f"In the schema, [joints] offset, add {add} to {name}.",
            )
        case "tilt":
            gravity = [f"{value:.2f}" for value in tilted_gravity(robot, values).tolist()]
            return (
                "gravity_direction",
                f"gravity is {np.degrees(deviation.size):.2g} ± {_digits(np.degrees(half_width))}° "
                "from that of the model: the base is tilted",
                f"In the schema, [world], set `gravity = [{', '.join(gravity)}]`; where it is "
                f"given on the command line, `--gravity {' '.join(gravity)}`.",
            )
        case "length":
            parent = robot.links[robot.tree[index].parent]
            length = np.linalg.norm(robot.tree[index].X_PL.position) + values[0]
            return (
                "link_length",
                f"{parent} is {1e3 * values[0]:+.0f} ± {_digits(1e3 * half_width)} mm longer than "
                "in the robot's model",
                f"Take the model of this arm; in the URDF, the origin of the joint of "
                f"{robot.links[index]} is {length:.3f} m from the one before.",
            )
        case "load":
            unit = robot.phi[index, 0]
            return (
                "arm_loaded",
                f"the arm carries {unit * values[0]:.2g} ± "
                f"{_digits(HALF_WIDTH_SIGMA * unit * deviation.errors[0])} kg on "
                f"{robot.links[index]} that its model lacks",
                "For the load give `--frame`, with a log or fit of the arm without it. A tool that "
                "stays on the arm is part of its fit.",
            )
        case "frame":
            return (
                "load_frame",
                f"the load is fixed to {robot.links[index]}, not to the link of the given frame",
                f"Give the frame that carries the load: `--frame {robot.links[index]}`, or one "
                "that is fixed to it.",
            )
        case "gain":
            return (
                "torque_scale",
                f"the torques are {1.0 + values[0]:.3g} ± {_digits(half_width)} times those of the "
                "model's links",
                "Weigh a load, `--known-load KG`.",
            )
        case "scale":
            return (
                "torque_scale",
                f"the torques of {logs[0]} are {1.0 + values[0]:.3g} ± {_digits(half_width)} times "
                f"those of {logs[1]}, by the arm's weight in logs with and without the load",
                "Log both with the same units, gains and settings of the controller, in which no "
                "load is set; give each log its own schema if they are read differently.",
            )
        case _:
            return (
                "arms_differ",
                "the arm itself differs between the logs with and without the load, by more than "
                "a load on its flange",
                "Log both runs with the same arm, tool changer, cables and covers.",
            )


def _digits(number: float) -> str:
    """Return a number with two digits, without an exponent."""
    return f"{number:.0f}" if number >= 10.0 else f"{number:.2g}"
