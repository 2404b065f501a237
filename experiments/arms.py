"""Robot arms without a force sensor: simulated loads and arms by seed, and the measured TX40.

python experiments/arms.py -o reports/arms.md [--seeds 20]
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from experiments.reports import ROOT, numerics_line, write_report
from identify.arms import ArmFit, TorqueScale, fit_arm, fit_payload, torque_errors
from identify.catalog import dataset_logs
from identify.inertia import is_consistent
from identify.logs import JointRecording, read_joint_log
from identify.reporting.content import make_table, markdown_table
from identify.robots import RobotModel, read_robot

QUANTITIES = ("m", "cx", "cy", "cz")
ROUTES = ("bootstrap", "formula")
WANTED = {"six_axes": (0.065, 14.0), "seven_axes": (0.019, 3.5)}
"""Mass [kg] and centre of mass [mm] that were asked of each arm, root mean square over seeds."""


HELD_OUT = {"arm_psd": "consistent", "arm_wls": "base", "CAD": "model"}
"""Estimators and the attributes of `HeldOut` that have their errors."""


def main(arguments: list[str] | None = None) -> int:
    """Simulate and fit the arms, fit the TX40, write the report; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "reports/arms.md")
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args(arguments)
    line = numerics_line("arms", parser, options, "seeds")
    generator = _generator()
    trials = {
        arm.name: [trial(generator, arm, seed) for seed in range(options.seeds)]
        for arm in generator.ARMS
    }
    write_report(options.output, report(trials, [tx40(cutoff) for cutoff in (40.0, 10.0)]), line)
    return 0


def trial(generator: ModuleType, arm: Any, seed: int) -> dict[str, Any]:
    """Simulate an arm without and with its load, and fit the load and the arm."""
    simulated = generator.simulate(arm, seed)
    schema = tomllib.loads(generator.schema(arm))
    loaded, empty = (read_joint_log(t, schema) for t in (simulated.loaded, simulated.empty))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arm.urdf"
        path.write_text(simulated.urdf, encoding="utf-8")
        robot = read_robot(path, empty.names, gravity=empty.gravity)
    return loads(loaded, empty, robot, simulated.truth) | arms(empty, robot)


def loads(
    loaded: JointRecording, empty: JointRecording, robot: RobotModel, truth: dict[str, Any]
) -> dict[str, Any]:
    """Fit the load with both methods of intervals; its scale of torques is the true one."""
    exact, row = TorqueScale.known(0.0, len(robot.joints)), {}
    true = [truth["mass"], *truth["com"]]
    for route in ROUTES:
        fit = fit_payload(loaded, empty, robot=robot, frame="tool0", scale=exact, interval=route)
        intervals = [fit.estimate.intervals[name] for name in QUANTITIES]
        inside = [low <= x <= high for (low, high), x in zip(intervals, true, strict=True)]
        row[route] = inside
        row["mass"] = fit.estimate.parameters.mass - true[0]
        row["com"] = 1e3 * float(np.linalg.norm(fit.estimate.parameters.com - true[1:]))
        bodies = [body.parameters.phi for body in fit.estimate.bodies]
        row["consistent"] = all(is_consistent(phi) for phi in bodies)
    return row


def arms(empty: JointRecording, robot: RobotModel) -> dict[str, Any]:
    """Fit the arm; errors of torques on the half that was not used, root mean square of halves."""
    fit = fit_arm(empty, robot, interval="formula")
    return {
        key: float(np.sqrt(np.mean([getattr(half, name).total ** 2 for half in fit.held_out])))
        for key, name in HELD_OUT.items()
    } | {"links_consistent": all(is_consistent(phi) for phi in fit.links)}


def tx40(cutoff_hz: float) -> dict[str, float]:
    """Fit the measured TX40 up to a cut-off."""
    (log,) = dataset_logs("tx40")
    recording = read_joint_log(log.path, log.schema)
    robot = read_robot(log.path / "tx40.urdf", recording.names, gravity=recording.gravity)
    fit: ArmFit = fit_arm(recording, robot, cutoff_hz=cutoff_hz)
    system = fit.solution.system
    halves = {
        f"{half.name}, {label}": getattr(half, name).total
        for half in fit.held_out
        for label, name in HELD_OUT.items()
    }
    return {
        "cut-off [Hz]": cutoff_hz,
        "arm_ols": torque_errors(system, fit.ordinary.x).total,
        "arm_wls": torque_errors(system, fit.weighted.x).total,
        "arm_psd": fit.errors.total,
        "URDF, friction fitted": fit.model_errors.total,
        **halves,
    }


def report(trials: dict[str, list[dict[str, Any]]], measured: Sequence[dict[str, float]]) -> str:
    """Return the report as Markdown."""
    count = len(next(iter(trials.values())))
    table = markdown_table
    cutoffs = [f"{fit['cut-off [Hz]']:g} Hz" for fit in measured]
    return "\n\n".join(
        [
            "# Robot arms without a force sensor",
            "Written by `python experiments/arms.py`; nothing here is entered by hand.",
            f"The arms of `datasets/arms`, {count} seeds each: two runs of 30 s, with and without "
            "2 kg. Root mean square errors of the load; its centre of mass in all three "
            "coordinates. The scale of the torques is the true one and counts with no error.",
            table(make_table(["arm", *LOAD_COLUMNS], _load_rows(trials), words=0)),
            "Share of seeds whose 95 % interval holds the true value:",
            table(
                make_table(
                    ["arm", "intervals", *QUANTITIES, "mean"], _coverage_rows(trials), words=0
                )
            ),
            "Torque error of an arm without a load, relative to the torque, on the half of a log "
            "that was not used; CAD is the URDF's links with friction fitted:",
            table(make_table(["arm", *ARM_COLUMNS], _arm_rows(trials), words=0)),
            "The measured TX40: torque error on the whole log, and on the half not used:",
            table(make_table(["", *cutoffs], _measured_rows(measured), words=0)),
        ]
    )


LOAD_COLUMNS = ("mass [kg]", "asked", "centre of mass [mm]", "asked", "all consistent")
ARM_COLUMNS = ("arm_psd", "arm_wls", "CAD", "arm_psd / CAD", "all consistent")


def _rms(rows: Sequence[dict[str, Any]], key: str) -> float:
    return float(np.sqrt(np.mean([row[key] ** 2 for row in rows])))


def _load_rows(trials: dict[str, list[dict[str, Any]]]) -> Iterator[list[str]]:
    for name, rows in trials.items():
        mass, com = WANTED[name]
        consistent = sum(row["consistent"] for row in rows)
        yield [name, f"{_rms(rows, 'mass'):.4f}", f"≤ {mass:g}", f"{_rms(rows, 'com'):.2f}",
               f"≤ {com:g}", f"{consistent} of {len(rows)}"]  # fmt: skip


def _coverage_rows(trials: dict[str, list[dict[str, Any]]]) -> Iterator[list[str]]:
    for name, rows in trials.items():
        for route in ROUTES:
            shares = np.mean([row[route] for row in rows], axis=0)
            yield [name, route, *(f"{share:.2f}" for share in (*shares, shares.mean()))]


def _arm_rows(trials: dict[str, list[dict[str, Any]]]) -> Iterator[list[str]]:
    for name, rows in trials.items():
        psd, wls, cad = (_rms(rows, key) for key in HELD_OUT)
        consistent = sum(row["links_consistent"] for row in rows)
        yield [name, f"{psd:.4f}", f"{wls:.4f}", f"{cad:.4f}", f"{psd / cad:.2f}",
               f"{consistent} of {len(rows)}"]  # fmt: skip


def _measured_rows(measured: Sequence[dict[str, float]]) -> Iterator[list[str]]:
    for name in list(measured[0])[1:]:
        yield [name, *(f"{fit[name]:.4f}" for fit in measured)]


def _generator() -> ModuleType:
    """Import the generator of the shipped logs of arms."""
    path = ROOT / "datasets/arms/generate.py"
    spec = importlib.util.spec_from_file_location("arms_generator", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    raise SystemExit(main())
