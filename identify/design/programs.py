"""Programs that run a designed motion: URScript, KRL, RAPID, and a ROS JointTrajectory as YAML.

Each has the plan's remarks in its head. A wrist motion is relative to the attitude at the start,
about the active tool point; a motion of joints begins with a slow move to its start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from identify.arrays import Array, Flags
from identify.design.plan import MotionPlan
from identify.errors import ProblemError
from identify.spatial.rotations import log_rotation

_UR_RATE_HZ = 50.0
"""Points a second of a URScript program; `servoj` interpolates between them [Hz]."""

_POINT_RATE_HZ = 10.0
"""Points a second of a KRL program, whose controller interpolates by splines [Hz]."""

_RAPID_RATE_HZ = 4.0
"""Points a second of a RAPID program, whose controller stops where moves are too short [Hz]."""

_RAPID_REMARK = (
    "! The controller rounds the corners of these moves: log positions as they are. Where it "
    "reports a corner path failure, run motion.csv by EGM instead.\n"
)


def _every(plan: MotionPlan, rate_hz: float) -> slice:
    """Return the samples of a plan at about a rate that divides its own."""
    return slice(None, None, round((len(plan.times) - 1) / (rate_hz * plan.times[-1])))


def _numbers(values: Array, digits: int = 6) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values)


def _comments(plan: MotionPlan, mark: str) -> str:
    return "".join(f"{mark} {remark}\n" for remark in plan.remarks)


def urscript(plan: MotionPlan, name: str) -> str:
    """Return a URScript program: a start move, `servoj` to each point, a stop."""
    _require_revolute(plan, "URScript")
    samples = _every(plan, _UR_RATE_HZ)
    spacing = plan.times[samples][1]
    if plan.of_joints:
        targets = [f"[{_numbers(point)}]" for point in plan.values[0][samples]]
        begin = f"movej({targets[0]}, a=0.5, v=0.3)"
    else:
        targets = [
            f"get_inverse_kin(pose_trans(start, p[0, 0, 0, {_numbers(turn)}]))"
            for turn in log_rotation(plan.quaternions[samples])
        ]
        begin = "start = get_actual_tcp_pose()"
    moves = "".join(
        f"  servoj({target}, t={spacing:g}, lookahead_time=0.05, gain=500)\n" for target in targets
    )
    return (
        f"{_comments(plan, '#')}def {name}():\n  {begin}\n  sleep(2.0)\n{moves}  stopj(1.0)\n"
        f"end\n{name}()\n"
    )


def krl(plan: MotionPlan, name: str) -> str:
    """Return a KRL program: a spline through the points, timed by TIME_BLOCK."""
    _require_revolute(plan, "KRL")
    points = np.degrees(plan.values[0])[_every(plan, _POINT_RATE_HZ)]
    names = [f"A{k}" for k in range(1, points.shape[1] + 1)] if plan.of_joints else ["A", "B", "C"]
    fixed = "" if plan.of_joints else "X 0, Y 0, Z 0, "
    move, spline = ("SPTP", "PTP_SPLINE") if plan.of_joints else ("SPL", "SPLINE")

    def target(point: Array) -> str:
        values = ", ".join(f"{n} {v:.4f}" for n, v in zip(names, point, strict=True))
        return f"{'' if plan.of_joints else 'first_pose : '}{{{fixed}{values}}}"

    head = f"  PTP {target(points[0])}\n" if plan.of_joints else "  first_pose = $POS_ACT\n"
    parts = "".join(
        f"    {move} {target(point)}\n    TIME_BLOCK PART = 1\n" for point in points[1:]
    )
    declared = "" if plan.of_joints else "  DECL FRAME first_pose\n"
    return (
        f"{_comments(plan, ';')}DEF {name}()\n{declared}  BAS(#INITMOV, 0)\n"
        f"  BAS(#VEL_PTP, 10)\n{head}  WAIT SEC 2\n  {spline}\n    TIME_BLOCK START\n{parts}"
        f"    TIME_BLOCK END = {plan.times[-1]:.3f}\n  ENDSPLINE\nEND\n"
    )


_RAPID_TOOL = """  ! Enter the origin of the sensor in tool0 [mm], and the load of the tool.
  PERS tooldata sensor := [TRUE, [[0, 0, 0], [1, 0, 0, 0]],
    [0.001, [0, 0, 0.001], [1, 0, 0, 0], 0, 0, 0]];
  FUNC robtarget turned(robtarget pose, num rz, num ry, num rx)
    RETURN RelTool(RelTool(RelTool(pose, 0, 0, 0 \\Rz:=rz), 0, 0, 0 \\Ry:=ry), 0, 0, 0 \\Rx:=rx);
  ENDFUNC
"""
"""Tool and rotations of a RAPID module: RelTool alone would turn about x first."""


def rapid(plan: MotionPlan, name: str) -> str:
    """Return a RAPID module: moves to the points with their times, passed without a stop."""
    _require_revolute(plan, "RAPID")
    step = _every(plan, _RAPID_RATE_HZ).step
    samples = np.unique([*range(0, len(plan.times), step), len(plan.times) - 1])
    spacings = np.diff(plan.times[samples]).tolist()
    points = np.degrees(plan.values[0])[samples]
    if plan.of_joints:
        free = "[9E9, 9E9, 9E9, 9E9, 9E9, 9E9]"
        targets = [f"MoveAbsJ [[{_numbers(point, 4)}], {free}]" for point in points]
        declared, tool = "", "tool0"
        begin = f"    {targets[0]}, v50, fine, tool0;\n"
    else:
        targets = [f"MoveL turned(start, {_numbers(point, 4)})" for point in points]
        declared, tool = "    VAR robtarget start;\n", "sensor"
        begin = "    start := CRobT(\\Tool:=sensor \\WObj:=wobj0);\n"
    moves = "".join(
        f"    {each}, v1000 \\T:={spacing:.4g}, {'fine' if k == len(spacings) else 'z5'}, {tool};\n"
        for k, (each, spacing) in enumerate(zip(targets[1:], spacings, strict=True), 1)
    )
    tool_lines = "" if plan.of_joints else _RAPID_TOOL
    return (
        f"{_comments(plan, '!')}{_RAPID_REMARK}MODULE IdentifyMotion\n{tool_lines}"
        f"  PROC {name}()\n{declared}{begin}    WaitTime 2;\n{moves}  ENDPROC\nENDMODULE\n"
    )


def joint_trajectory(plan: MotionPlan, name: str) -> str:
    """Return a `trajectory_msgs/JointTrajectory` as YAML, with velocities and accelerations."""
    if not plan.of_joints:
        raise ProblemError(
            "a JointTrajectory needs the joints of a robot; design with --robot arm.urdf"
        )
    lines = [*(f"# {remark}" for remark in plan.remarks), "joint_names:"]
    lines += [f"- {axis}" for axis in plan.axes] + ["points:"]
    for time, *values in zip(plan.times, *plan.values, strict=True):
        seconds, fraction = divmod(round(float(time) * 1e9), 1_000_000_000)
        for key, numbers in zip(("positions", "velocities", "accelerations"), values, strict=True):
            mark = "-" if key == "positions" else " "
            lines.append(f"{mark} {key}: [{_numbers(numbers, 9)}]")
        lines.append(f"  time_from_start: {{sec: {seconds}, nanosec: {fraction}}}")
    return "\n".join(lines) + "\n"


def require_six_revolute(axes: tuple[str, ...], prismatic: Flags, language: str) -> None:
    """Raise `ProblemError` unless the joints are those for which a language has points."""
    if len(axes) != 6 or prismatic.any():
        raise ProblemError(
            f"{language}: expected the 6 revolute joints of an arm, got {', '.join(axes)}"
            f"{', some of them prismatic' if prismatic.any() else ''}; use the CSV or ROS"
        )


def _require_revolute(plan: MotionPlan, language: str) -> None:
    if plan.of_joints:
        require_six_revolute(plan.axes, plan.prismatic, language)


PROGRAMS: Mapping[str, tuple[str, Callable[[MotionPlan, str], str]]] = MappingProxyType(
    {
        "ur": (".script", urscript),
        "kuka": (".src", krl),
        "abb": (".mod", rapid),
        "ros": (".yaml", joint_trajectory),
    }
)
"""Suffix and writer of each program by the name that --program takes; a writer takes the plan and
the name of the program, which in KRL is that of its file."""
