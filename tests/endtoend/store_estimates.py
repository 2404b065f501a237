"""Estimates of known logs as they were: stored once, so that a change of the code shows.

    python -m tests.endtoend.store_estimates fit OUT.json          # estimates of every log at hand
    python -m tests.endtoend.store_estimates store IN.json […]     # of several kernels
    python -m tests.endtoend.store_estimates compare OLD NEW       # the largest differences

Run from the source tree, with `IDENTIFY_SHARED_DATA` naming the folder of the logs of others. The
files given to `store` are of the same code under other kernels of linear algebra (for OpenBLAS,
`OPENBLAS_CORETYPE=Haswell` and the like): what they differ by is what the test allows, and where
rounds may stop.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd

import identify
from identify.estimation import estimate_body
from identify.regressors import summarise_log
from tests.tool_logs import SCHEMA, TOOLS, write_tool_logs

ROOT = Path(__file__).parents[2]
STORED = Path(__file__).with_name("stored_estimates.json")

Stored: TypeAlias = dict[str, object]

MADE = TOOLS[::5]
"""Tools of which logs are made."""

NOISE = {"low": 1.0, "moderate": 2.0, "high": 4.0}
"""Levels published with the tools, as factors of the lowest."""
LOWEST_NOISE = {"a": 0.025, "al": 0.25, "f": 0.05, "t": 0.0025}
"""One sigma of each component at the lowest level [m/s², rad/s², N, N m]."""

SAME, SAME_ON_CONE = 1e-9, 1e-8
"""Shares of mass, first moments and inertia that rounding may move …"""
STOPPED = 2e-5
"""… and standard errors, and shares of these: which round is the last is up to rounding, and a fit
ends within 1e-5 of where its rounds settle."""
_KERNELS = 4.0
"""What the test allows, as a multiple of what kernels were seen to differ by."""


class Difference(NamedTuple):
    """How far two estimates of one log are apart.

    Attributes:
        groups: largest of |Δm|/m, ‖Δh‖/‖h‖, ‖ΔI‖/‖I‖.
        widths: largest relative change of a half-width.
        covariance: largest |ΔC_ij| / √(C_ii C_jj).
    """

    groups: float
    widths: float
    covariance: float


def logs(shared: Path | None, folder: Path) -> Iterator[tuple[str, Path, Path]]:
    """Name, file and schema of every log; those with noise are written into `folder`."""
    shipped = ROOT / "datasets" / "payload_arm"
    yield "payload_arm", shipped / "payload_arm.parquet", shipped / "schema.toml"
    made = write_tool_logs(folder / "made") / "stars_tools"
    for number, tool in enumerate(MADE):
        for stem, log in _with_noise_levels(made / f"{tool}.csv", made, number):
            yield f"made_{stem}", log, SCHEMA
    if shared is None:
        return
    schemas = shared / "schemas"
    yield from (
        ("axia80_static", shared / "axia80_static", schemas / "axia80_static.toml"),
        (
            "panda_optoforce",
            shared / "panda_optoforce" / "run_11-32-28.txt",
            schemas / "panda_optoforce.toml",
        ),
    )
    for number, path in enumerate(sorted((shared / "stars_tools").glob("*.csv"))):
        if path.stem == "published_scores":
            continue
        for stem, log in _with_noise_levels(path, folder, number):
            yield stem, log, schemas / "stars_tools.toml"


def _with_noise_levels(path: Path, folder: Path, number: int) -> Iterator[tuple[str, Path]]:
    """Name and file of a log without noise and with each level of it."""
    yield path.stem, path
    for level, factor in NOISE.items():
        table = with_noise(pd.read_csv(path), factor, np.random.default_rng([7, number]))
        noisy = folder / f"{path.stem}_{level}.parquet"
        table.to_parquet(noisy)
        yield noisy.stem, noisy


def with_noise(table: pd.DataFrame, factor: float, rng: np.random.Generator) -> pd.DataFrame:
    """The published noise on acceleration and wrench; pose and twist stay exact."""
    table = table.copy()
    for signal, sigma in LOWEST_NOISE.items():
        columns = [f"{signal}{axis}" for axis in "xyz"]
        table[columns] += factor * sigma * rng.standard_normal((len(table), 3))
    return table


def stored(log: Path, schema: Path) -> Stored:
    """What is kept of the estimate of one log."""
    estimate = estimate_body([summarise_log(identify.read_log(log, schema)).statistics])
    upper = np.triu_indices(10)
    return {
        "phi": [float(f"{value:.15g}") for value in estimate.parameters.phi],
        "covariance": [float(f"{value:.11g}") for value in estimate.covariance[upper]],
        "half_widths": {
            name: None if span is None else float(f"{0.5 * (span[1] - span[0]):.11g}")
            for name, span in estimate.intervals.items()
        },
        "digits_lost": float(f"{_digits_lost(estimate.intervals):.2g}"),
        "decided_by": dict(estimate.decided_by),
        "on_cone": estimate.certificate.solver != "none",
    }


def _digits_lost(intervals: Mapping[str, tuple[float, float] | None]) -> float:
    """Rounding of an interval's ends, in half-widths: they agree in most digits without noise."""
    spans = [span for span in intervals.values() if span is not None and span[0] < span[1]]
    return max(np.finfo(float).eps * max(map(abs, span)) / (span[1] - span[0]) for span in spans)


def difference(old: Stored, new: Stored) -> Difference:
    """How far two estimates of one log are apart; infinitely where other parameters have one."""
    phi_old, phi_new = np.array(old["phi"]), np.array(new["phi"])
    groups = _largest_share(phi_new - phi_old, phi_old)
    widths_old, widths_new = dict(old["half_widths"]), dict(new["half_widths"])
    widths = 0.0
    for name, width in widths_old.items():
        other = widths_new.get(name)
        if (width is None) != (other is None):
            widths = np.inf
        elif width is not None:
            widths = max(widths, abs(other / width - 1.0))
    C_old, C_new = _symmetric(old["covariance"]), _symmetric(new["covariance"])
    spread = np.sqrt(np.diag(C_old))
    covariance = np.abs((C_new - C_old) / np.outer(spread, spread)).max()
    return Difference(float(groups), float(widths), float(covariance))


def _largest_share(change: np.ndarray, phi: np.ndarray) -> float:
    """Of mass, first moments and inertia."""
    twice = np.sqrt([1.0, 2.0, 2.0, 1.0, 2.0, 1.0])  # off-diagonal entries stand in a matrix twice
    return max(
        abs(change[0] / phi[0]),
        np.linalg.norm(change[1:4]) / np.linalg.norm(phi[1:4]),
        np.linalg.norm(twice * change[4:]) / np.linalg.norm(twice * phi[4:]),
    )


def _relative_error(entry: Stored) -> float:
    """Of the estimate, one standard error."""
    errors = np.sqrt(np.diag(_symmetric(entry["covariance"])))
    return _largest_share(errors, np.array(entry["phi"]))


def _symmetric(upper: object) -> np.ndarray:
    matrix = np.zeros((10, 10))
    matrix[np.triu_indices(10)] = upper
    return matrix + np.triu(matrix, 1).T


def allowed(files: list[dict[str, Stored]]) -> dict[str, Stored]:
    """The first file's estimates, each with what the test allows it to differ by."""
    first, *others = files
    for name, entry in first.items():
        spread = [difference(entry, other[name]) for other in others] or [Difference(0.0, 0.0, 0.0)]
        if any(other[name]["decided_by"] != entry["decided_by"] for other in others):
            raise SystemExit(f"{name}: kernels decide differently what the log tells")
        least = Difference(
            max(SAME_ON_CONE if entry["on_cone"] else SAME, STOPPED * _relative_error(entry)),
            STOPPED + _KERNELS * float(entry["digits_lost"]),
            STOPPED,
        )
        entry["allowed"] = [
            float(f"{max(floor, _KERNELS * max(seen)):.2g}")
            for floor, seen in zip(least, zip(*spread, strict=True), strict=True)
        ]
    return first


def main() -> None:
    """The three verbs of the module's text."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verb", choices=("fit", "store", "compare"))
    parser.add_argument("files", nargs="+", type=Path)
    arguments = parser.parse_args()
    if arguments.verb == "fit":
        shared = os.environ.get("IDENTIFY_SHARED_DATA")
        with tempfile.TemporaryDirectory() as folder:
            found = {
                name: stored(log, schema)
                for name, log, schema in logs(Path(shared) if shared else None, Path(folder))
            }
        arguments.files[0].write_text(json.dumps(found))
        return
    contents = [json.loads(path.read_text()) for path in arguments.files]
    if arguments.verb == "store":
        entries = allowed(contents)
        lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items()]
        STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return
    old, new = contents
    for name in old:
        same = old[name]["decided_by"] == new[name]["decided_by"]
        sys.stdout.write(f"{name:28} {difference(old[name], new[name])} decided alike: {same}\n")


if __name__ == "__main__":
    main()
