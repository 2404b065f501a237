"""Files whose logger interpolated a slower pose to the rate of the wrench."""

from pathlib import Path as FilePath

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.inertia import inertia_about_com
from identify.logs import open_log, read_log
from identify.pipeline import fit
from tests.chords import between
from tests.recordings import Path, record
from tests.strategies import random_body

SCHEMA = {
    "log": {"time": "t"},
    "pose": {"position": ["x", "y", "z"], "rotation_vector": ["rx", "ry", "rz"]},
    "wrench": {
        "force": ["fx", "fy", "fz"],
        "torque": ["tx", "ty", "tz"],
        "frame": "body",
        "acts_on": "body",
    },
}
NOISE = {"force": 0.05, "torque": 0.005}
POSE_HZ = 60.0


def written(
    folder: FilePath, seed: int, *, log_hz: float = 500.0, seconds: float = 20.0
) -> tuple[FilePath, np.ndarray]:
    """A file of six decimals of a fast motion, and the body."""
    path, phi = (
        Path.random(seed, fastest_hz=3.0),
        random_body(np.random.default_rng(seed), 1.3, 0.1),
    )
    time, rng = np.arange(0.0, seconds, 1.0 / log_hz), np.random.default_rng(seed)
    at = np.arange(-0.3 / POSE_HZ, seconds + 0.1, 1.0 / POSE_HZ)
    noisy = path.position(at) + 1e-4 * rng.normal(size=(len(at), 3))
    turned = path.rotation(at) * Rotation.from_rotvec(1e-4 * rng.normal(size=(len(at), 3)))
    pose = between(noisy, turned, at, time, "rotation_vector")
    log = record(path, phi, time, bias=np.full(6, 0.2), noise=NOISE, seed=seed)
    vector = Rotation.from_quat(pose["quaternion"]).as_rotvec()
    wrench = (log.signals["force"], log.signals["torque"])
    np.savetxt(
        folder / "log.csv",
        np.column_stack((time, pose["position"], vector, *wrench)),
        fmt="%.6f",
        delimiter=",",
        header="t,x,y,z,rx,ry,rz,fx,fy,fz,tx,ty,tz",
        comments="",
    )
    return folder / "log.csv", phi


def truth(phi: np.ndarray) -> dict[str, float]:
    inertia, com = inertia_about_com(phi), phi[1:4] / phi[0]
    entries = {f"Ic{'xyz'[i]}{'xyz'[j]}": inertia[i, j] for i in range(3) for j in range(i, 3)}
    return {"m": phi[0], **dict(zip(("cx", "cy", "cz"), com, strict=True)), **entries}


@pytest.mark.slow
def test_intervals_of_logs_with_an_interpolated_pose_hold_the_body(tmp_path):
    inside = []
    for seed in range(6):
        file, phi = written(tmp_path, seed)
        found = fit(read_log(file, SCHEMA))
        assert found.verdict.usable == "yes"
        assert [f.code for f in found.findings] == ["interpolated_samples", "clocks_joined"]
        of_body = [(*found.estimate.intervals[name], v) for name, v in truth(phi).items()]
        inside.append([low < value < high for low, high, value in of_body])
    assert np.mean(inside) > 0.9
    assert np.mean(inside, axis=0)[0] > 0.6  # of the mass, of which chords hold two of five


@pytest.mark.slow
def test_long_log_read_in_chunks_agrees_with_whole(tmp_path):
    file, _ = written(tmp_path, 1, log_hz=1000.0, seconds=140.0)
    whole, opened = fit(read_log(file, SCHEMA)).estimate, fit(open_log(file, SCHEMA))
    assert "rows_unused" not in {finding.code for finding in opened.all_findings}
    sigma = np.sqrt(np.diag(whole.covariance))
    parts = np.asarray(opened.estimate.parameters)
    np.testing.assert_allclose((parts - np.asarray(whole.parameters)) / sigma, 0.0, atol=0.5)
    assert np.sqrt(np.diag(opened.estimate.covariance)) == pytest.approx(sigma, rel=0.1)
