"""Whether anything is silently wrong: logs perturbed in known ways, and clean ones, checked.

python experiments/silent.py -o reports/silent.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from identify.arrays import Array
from identify.errors import IdentifyError
from identify.files import write_text
from identify.inertia import InertialParameters
from identify.logs import Noise, Recording, synthetic_recording
from identify.pipeline import check_logs
from identify.spatial.rotations import (
    exp_rotation,
    rotate,
    rotate_back,
    rotation_from_quaternion,
)

BODY = InertialParameters.from_com(1.2, [0.02, -0.03, 0.06], np.diag([5e-3, 4e-3, 6e-3]))
NOISES = (
    Noise(force=0.02, torque=0.002, position=1e-5, orientation=2e-5),
    Noise(force=0.1, torque=0.01, position=5e-5, orientation=1e-4),
    Noise(force=0.3, torque=0.03, position=2e-4, orientation=5e-4),
)

Fault = Callable[[Recording], Recording]


@dataclass(frozen=True, slots=True)
class Case:
    """A way a log is made wrong, and the codes that name it."""

    name: str
    codes: tuple[str, ...]
    make: Fault


def _changed(log: Recording, **signals: Array) -> Recording:
    return replace(log, signals={**log.signals, **signals})


def _wrench(log: Recording) -> tuple[Array, Array]:
    return log.signals["force"], log.signals["torque"]


def _scaled(force: float, torque: float) -> Fault:
    def make(log: Recording) -> Recording:
        f, t = _wrench(log)
        return _changed(log, force=force * f, torque=torque * t)

    return make


def _late(seconds: float) -> Fault:
    def make(log: Recording) -> Recording:
        assert log.time is not None
        time = log.time
        shifted = {
            name: np.stack([np.interp(time - seconds, time, c) for c in log.signals[name].T], 1)
            for name in ("force", "torque")
        }
        return _changed(log, **shifted)

    return make


def _turned(degrees: float) -> Fault:
    R = rotation_from_quaternion(exp_rotation(np.radians(degrees) * np.array([0.6, 0.0, 0.8])))

    def make(log: Recording) -> Recording:
        f, t = _wrench(log)
        return _changed(log, force=f @ R.T, torque=t @ R.T)

    return make


def _tilted(degrees: float) -> Fault:
    R = rotation_from_quaternion(exp_rotation(np.radians([degrees, 0.0, 0.0])))
    return lambda log: replace(log, gravity=R @ log.gravity)


def _clock(rate: float) -> Fault:
    return lambda log: replace(log, time=None if log.time is None else rate * log.time)


def _displaced(metres: float) -> Fault:
    def make(log: Recording) -> Recording:
        R = rotation_from_quaternion(log.signals["quaternion"])
        offset = metres * np.array([0.8, 0.6, 0.0])
        return _changed(log, position=log.signals["position"] + R @ offset)

    return make


def _drifting(share: float) -> Fault:
    def make(log: Recording) -> Recording:
        f, t = _wrench(log)
        weight = share * float(np.ptp(f, axis=0).max()) * np.linspace(-0.5, 0.5, len(f))
        return _changed(log, force=f + weight[:, None] * [0.3, 0.5, 0.8], torque=t)

    return make


def _touched(share: float) -> Fault:
    def make(log: Recording) -> Recording:
        f, _ = _wrench(log)
        pushed = f.copy()
        first = len(f) // 3
        pushed[first : first + round(share * len(f))] += [0.0, 0.0, 5.0]
        return _changed(log, force=pushed)

    return make


def _in_world(log: Recording) -> Recording:
    R = rotation_from_quaternion(log.signals["quaternion"])
    f, t = _wrench(log)
    return _changed(log, force=rotate(R, f), torque=rotate(R, t))


def _in_body(log: Recording) -> Recording:
    R = rotation_from_quaternion(log.signals["quaternion"])
    return _changed(log, position=rotate_back(R, log.signals["position"]))


def cases() -> Iterator[Case]:
    """All faults, those with a size at three sizes."""
    sized: Mapping[str, tuple[tuple[str, ...], Callable[[float], Fault], Sequence[float]]] = {
        "delay [s]": (("delay",), _late, (2e-3, 10e-3, 30e-3)),
        "wrench turned [deg]": (("wrench_misaligned",), _turned, (0.5, 2.0, 5.0)),
        "gravity tilted [deg]": (("gravity_tilted",), _tilted, (0.5, 1.5, 3.0)),
        "clock": (("clock_rate", "gravity_magnitude"), _clock, (1.01, 1.03, 1.05)),
        "point displaced [m]": (("kinematic_offset", "gain"), _displaced, (5e-3, 15e-3, 30e-3)),
        "torque gain": (
            ("gain", "kinematic_offset"),
            lambda gain: _scaled(1.0, gain),
            (0.97, 0.93, 0.9),
        ),
        "drift [share of force]": (("drift", "bias_step"), _drifting, (0.02, 0.05, 0.1)),
        "contact [share of the log]": (("contact",), _touched, (0.03, 0.06, 0.12)),
    }
    for name, (codes, make, sizes) in sized.items():
        for size in sizes:
            yield Case(f"{name} {size:g}", codes, make(size))
    units = ("torque_unit", "force_unit")
    yield Case("wrench sign", ("wrench_sign",), _scaled(-1.0, -1.0))
    yield Case("force sign", ("force_sign",), _scaled(-1.0, 1.0))
    yield Case("torque sign", ("torque_sign",), _scaled(1.0, -1.0))
    yield Case("torque in N mm", units, _scaled(1.0, 1e3))
    yield Case("wrench in world axes", ("wrench_frame",), _in_world)
    yield Case("position in body axes", ("position_axes",), _in_body)
    yield Case(
        "quaternion order",
        ("quaternion_order",),
        lambda log: _changed(log, quaternion=np.roll(log.signals["quaternion"], 1, axis=1)),
    )
    yield Case(
        "gravity along x",
        ("gravity_direction",),
        lambda log: replace(log, gravity=np.roll(log.gravity, 1)),
    )
    yield Case(
        "position in mm",
        ("position_unit",),
        lambda log: _changed(log, position=1e3 * log.signals["position"]),
    )
    yield Case(
        "axes swapped",
        ("wrench_axes",),
        lambda log: _changed(
            log, **{name: log.signals[name][:, [1, 0, 2]] for name in ("force", "torque")}
        ),
    )


def clean_log(rng: np.random.Generator, noise: Noise, phi: Array | None = None) -> Recording:
    """A synthetic log of 30 s at a rate of 100 to 500 Hz, with the keys of a schema."""
    log = synthetic_recording(
        BODY.phi if phi is None else phi,
        rng=rng,
        duration=30.0,
        rate_hz=float(rng.choice([100.0, 200.0, 500.0])),
        noise=noise,
        bias=rng.normal(size=6) * [1.0, 1.0, 1.0, 0.05, 0.05, 0.05],
    )
    schema = {
        "log": {"time": "t"},
        "pose": {"position": list("xyz"), "quaternion": list("abcd")},
        "wrench": {"acts_on": "body"},
    }
    return replace(log, schema=schema)


def first_codes(log: Recording) -> tuple[str, ...]:
    """Codes of the first finding that is a warning or an error, and of its equivalents."""
    try:
        found = [f for f in check_logs(log).findings if f.severity != "info"]
    except IdentifyError as error:
        return (f"refused: {type(error).__name__}",)
    if not found:
        return ()
    return found[0].code, *found[0].evidence.get("equivalent", ())


def main(arguments: list[str] | None = None) -> int:
    """Check perturbed and clean logs, write the report; returns the exit status."""
    options = _parser().parse_args(arguments)
    rng = np.random.default_rng(options.seed)
    alarms = [first_codes(clean_log(rng, NOISES[k % 3])) for k in range(options.clean)]
    rows = []
    for case in cases():
        found = [
            first_codes(case.make(clean_log(rng, noise)))
            for noise in NOISES
            for _ in range(options.logs)
        ]
        right = sum(bool(set(each) & set(case.codes)) for each in found)
        silent = sum(not each for each in found)
        others = sorted({each[0] for each in found if each and not set(each) & set(case.codes)})
        rows.append([case.name, str(len(found)), str(right), str(silent), ", ".join(others)])
    text = report(alarms, rows)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    write_text(options.output, text)
    print(text)
    return 0


def report(alarms: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> str:
    """The report as Markdown."""
    false = [each[0] for each in alarms if each]
    heads = ["what is wrong", "logs", "named first", "silent", "named instead"]
    lines = [heads, ["--:"] * len(heads), *rows]
    return "\n\n".join(
        [
            "# Whether anything is silently wrong",
            "Written by `python experiments/silent.py`; nothing here is entered by hand.",
            f"Clean logs: {len(false)} of {len(alarms)} with a warning or an error"
            + (f" ({', '.join(sorted(set(false)))})." if false else "."),
            "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n",
        ]
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="silent", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("reports/silent.md"))
    parser.add_argument("--logs", type=int, default=4, help="of each noise and fault")
    parser.add_argument("--clean", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    return parser


if __name__ == "__main__":
    sys.exit(main())
