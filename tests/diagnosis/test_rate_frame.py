"""Velocities and accelerations beside a pose that are in other axes than the schema says."""

from dataclasses import replace

import numpy as np
import pytest

from identify.logs import read_log
from identify.logs.log_writing import write_log
from identify.logs.synthetic import Noise, synthetic_recording
from identify.pipeline import check_logs
from identify.spatial import rotation_from_quaternion
from tests.slow import mostly_slow
from tests.small_faults import PHI

NOISE = Noise(
    orientation=5e-4,
    linear_velocity=3e-3,
    angular_velocity=3e-3,
    linear_acceleration=0.03,
    angular_acceleration=0.1,
    force=0.03,
    torque=0.003,
)
SIGNALS = {
    "twist": ("linear_velocity", "angular_velocity"),
    "acceleration": ("linear_acceleration", "angular_acceleration"),
}
TABLES = (("acceleration",), ("twist", "acceleration"))


def logged_in(frame):
    """A log without positions, its rates in the axes of `frame`."""
    log = synthetic_recording(
        PHI, rng=np.random.default_rng(4), rate_hz=100.0, noise=NOISE, include="all"
    )
    R = rotation_from_quaternion(log.signals["quaternion"])
    signals = {name: values for name, values in log.signals.items() if name != "position"}
    if frame == "world":
        for name in (*SIGNALS["twist"], *SIGNALS["acceleration"]):
            signals[name] = np.einsum("tij,tj->ti", R, signals[name])
    return replace(log, signals=signals, frames={**log.frames, **dict.fromkeys(SIGNALS, frame)})


CASES = [(frame, tables) for frame in ("world", "body") for tables in TABLES]


@pytest.mark.parametrize(("frame", "tables"), mostly_slow(CASES, CASES[:1]))
def test_axes_of_rates_are_named_with_their_lines(tmp_path, frame, tables):
    paths = tmp_path / "log.csv", tmp_path / "schema.toml"
    write_log(logged_in(frame), *paths)
    right = check_logs(read_log(*paths))
    other = {"world": "body", "body": "world"}[frame]
    text = paths[1].read_text()
    for table in tables:
        head, _, rest = text.partition(f"[{table}]")
        assert f'frame = "{frame}"' in rest
        text = f"{head}[{table}]{rest.replace(frame, other, 1)}"
    paths[1].write_text(text)
    finding = check_logs(read_log(*paths)).findings[0]
    assert (finding.code, finding.severity) == ("rate_frame", "error")
    for table in tables:
        assert f'[{table}], change `frame = "{other}"` to `frame = "{frame}"`' in finding.remedy
    assert "rate_frame" not in [found.code for found in right.findings]
    assert abs(finding.evidence["mass"] - PHI[0]) < 0.01 * PHI[0]
