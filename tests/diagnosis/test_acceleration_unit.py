"""Linear accelerations beside a pose that are in another unit than the schema says."""

from dataclasses import replace

import numpy as np
import pytest

from identify.logs import read_log
from identify.logs.log_writing import write_log
from identify.logs.synthetic import Noise, synthetic_recording
from identify.pipeline import check_logs
from identify.spatial import rotation_from_quaternion
from identify.spatial.rotations import rotate_back
from tests.recordings import GRAVITY
from tests.slow import mostly_slow
from tests.small_faults import PHI

NOISE = Noise(position=1e-4, orientation=5e-4, linear_acceleration=0.03, force=0.03, torque=0.003)


def accelerated(kind, seed=2):
    rng = np.random.default_rng(seed)
    log = synthetic_recording(PHI, rng=rng, rate_hz=100.0, noise=NOISE, include="all")
    names = ("position", "quaternion", "linear_acceleration", "force", "torque")
    signals = {name: log.signals[name] for name in names}
    if kind == "proper":
        R = rotation_from_quaternion(signals["quaternion"])
        signals["linear_acceleration"] = signals["linear_acceleration"] - rotate_back(R, GRAVITY)
    return replace(log, signals=signals, acceleration_kind=kind)


UNITS = {"g": 9.80665, "mg": 9.80665e-3}
CASES = [(kind, unit) for kind in ("classical", "proper") for unit in UNITS]


@pytest.mark.parametrize(("kind", "unit"), mostly_slow(CASES, ()))
def test_a_unit_of_acceleration_is_named_with_its_line(tmp_path, kind, unit):
    log = accelerated(kind)
    read = log.signals["linear_acceleration"] / UNITS[unit]
    scaled = {**log.signals, "linear_acceleration": read}
    paths = tmp_path / "log.csv", tmp_path / "schema.toml"
    write_log(replace(log, signals=scaled), *paths)
    finding = check_logs(read_log(*paths)).findings[0]
    assert (finding.code, finding.severity) == ("acceleration_unit", "error")
    assert f'[acceleration], set `unit = "{unit}"`' in finding.remedy
    assert abs(finding.evidence["mass"] - PHI[0]) < 0.01 * PHI[0]
    text = paths[1].read_text().replace("[acceleration]", f'[acceleration]\nunit = "{unit}"')
    paths[1].write_text(text)
    assert set(check_logs(read_log(*paths)).verdict.reasons) <= {"scale_limit"}
