import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given

from identify import Compensator, solve
from identify.errors import ModelError
from identify.estimation import estimate_body, solve_unknowns
from identify.exchange import SCHEMA_VERSION, SavedEstimate, read_estimate, write_estimate
from identify.exchange.estimate_json import estimate_text
from identify.inertia import PHI, InertialParameters
from identify.regressors import (
    ONE_BODY_SPACE,
    ChannelGroup,
    Equations,
    LinearSystem,
    Offsets,
    ParameterSpace,
    RowLayout,
    Statistics,
    newton_euler_regressor,
)
from identify.regressors.statistics import factor_of_rows
from tests.close import assert_close
from tests.estimation.simulated import samples, wrench_noise
from tests.exchange.estimates import BODY, FLANGE, FULL, content
from tests.strategies import bodies, random_body

KEYS = (
    "schema_version frame frames phi mass com inertia_about_com inertia_about_origin covariance "
    "calibration intervals interval_kind degrees_of_freedom certified_bounds variance_shares "
    "principal_axes decided_by prior_share default_body bias "
    "residual_rms samples effective_samples dropped_rows certificate provenance findings "
    "r_squared verdict digest"
)


@pytest.fixture
def path(tmp_path):
    return write_estimate(FULL, tmp_path / "new folder" / "estimate.json")


def test_estimate_round_trip_is_exact(path):
    assert path.parts[-2:] == ("new folder", "estimate.json")
    assert list(content(path)) == KEYS.split()
    assert None not in content(path).values()
    for read in (read_estimate(path), read_estimate(str(path))):
        assert estimate_text(read) == estimate_text(FULL)
        assert np.array_equal(read.parameters.phi, BODY.phi)
        assert np.array_equal(read.covariance, FULL.covariance)
        assert np.array_equal(read.calibration, FULL.calibration)
        assert np.array_equal(read.bias[0].half_width, FULL.bias[0].half_width)
        assert read.intervals == FULL.intervals
        assert read.bounds() == FULL.bounds()
        assert (read.findings, read.verdict) == (FULL.findings, FULL.verdict)
        assert (read.certificate, read.r_squared) == (FULL.certificate, FULL.r_squared)
    bare = SavedEstimate(BODY)
    assert estimate_text(read_estimate(write_estimate(bare, path))) == estimate_text(bare)


def test_the_name_of_the_body_frame_and_the_poses_in_it_come_back(path):
    found = content(path)["frames"]
    assert (found["name"], found["tcp"]) == ("wrist sensor", None)
    assert found["flange"]["translation"] == [0.01, 0.1 + 0.2, -0.03]
    assert_close(np.array(found["flange"]["quaternion"]), np.array([0.0, 0.0, 0.6, 0.8]), 1e-15)
    again = read_estimate(path).frames
    assert (again.name, again.tcp) == ("wrist sensor", None)
    assert np.array_equal(again.flange.position, FLANGE.position)
    assert_close(again.flange.rotation, FLANGE.rotation, 1e-15)


@given(bodies())
def test_body_round_trip_is_exact(tmp_path_factory, phi):
    path = tmp_path_factory.mktemp("body") / "e.json"
    saved = SavedEstimate(InertialParameters(phi))
    assert np.array_equal(read_estimate(write_estimate(saved, path)).parameters.phi, phi)


def test_an_estimate_saves_itself_and_is_read_back(tmp_path):
    rng = np.random.default_rng(0)
    phi = random_body(rng)
    log = samples(phi, rng, 300, noise=wrench_noise(phi, 0.02), bias=rng.normal(size=6))
    estimate = estimate_body([log.blocks()])
    bias = (replace(estimate.bias[0], sha256="c0" * 32),)
    estimate = replace(estimate, bias=bias, dropped_rows=2)
    path = estimate.save(tmp_path / "estimate.json")
    assert estimate_text(read_estimate(path)) == estimate_text(estimate)
    document = content(path)
    assert document["schema_version"] == SCHEMA_VERSION
    for key in ("mass", "com", "inertia_about_com", "inertia_about_origin"):
        assert np.array_equal(document[key], getattr(estimate.parameters, key))
    assert document["verdict"]["usable"] == "yes"
    assert document["verdict"]["identifiable"] == list(PHI)
    assert document["r_squared"] is None
    assert document["bias"][0]["sha256"] == "c0" * 32


@pytest.mark.parametrize("offsets", ["per_log", "shared", "none"])
def test_estimate_of_seven_joints_is_read_back(tmp_path, offsets):
    """One offset and one residual for each joint, and the logs' ids whether it is fitted or not."""
    rng = np.random.default_rng(1)
    phi = random_body(rng)
    layout = RowLayout(
        columns=("1", *PHI, "torque"),
        groups=tuple(ChannelGroup(f"joint {k}", (f"joint {k}",), ("torque",)) for k in range(7)),
        fit=12,
    )
    # Six axes of the wrench as the torques of joints, and one of them twice.
    Y = newton_euler_regressor(samples(phi, rng, 200).motion)[:, [0, 1, 2, 3, 4, 5, 5]]
    z = np.concatenate((np.ones((200, 7, 1)), Y, (Y @ phi)[..., None]), axis=2)
    z[..., -1] += rng.normal(size=(200, 7)) * 0.01 * np.abs(z[..., -1]).max(axis=0)
    statistics = Statistics(
        layout=layout,
        factors=np.array([factor_of_rows(z[:, joint]) for joint in range(7)]),
        log=np.zeros(7),
        block=np.zeros(7),
        group=np.arange(7),
        samples=np.full(7, 200.0),
        effective_samples=np.full(7, 200.0),
        noise=np.zeros((1, 7, 12, 12)),
    )
    estimate = solve_unknowns(
        LinearSystem.of([(statistics, JointTorques(offsets=offsets))])
    ).estimate()
    bias = (replace(estimate.bias[0], sha256="c0" * 32),)
    estimate = replace(estimate, bias=bias, r_squared=(0.5,) * 7)
    saved = read_estimate(estimate.save(tmp_path / "estimate.json"))
    assert estimate_text(saved) == estimate_text(estimate)
    assert saved.bias[0].sha256 == estimate.bias[0].sha256 == "c0" * 32
    assert saved.bias[0].wrench.shape == saved.residual_rms.shape == (7,)
    assert saved.bias[0].wrench.any() == (offsets != "none")
    with pytest.raises(ModelError, match="not of a wrench sensor: its offset has 7 channels"):
        _ = saved.bias[0].six_axis_offset
    with pytest.raises(ModelError, match="not of a wrench sensor"):
        Compensator(saved)


@dataclass(frozen=True, slots=True)
class JointTorques(Equations):
    """Torque of each joint, one channel a group: the columns are [1, Y, torque]."""

    space: ParameterSpace = ONE_BODY_SPACE
    offsets: Offsets = "per_log"

    def residual_coefficients(self, log: int, group: int) -> np.ndarray:
        C = np.zeros((12, 1, 11))
        C[11, 0, 0] = 1.0
        C[1:11, 0, 1:] = np.eye(10)
        return C


def test_estimate_of_a_regressor_is_read_back(tmp_path):
    rng = np.random.default_rng(2)
    phi = random_body(rng)
    log = samples(phi, rng, 100, noise=wrench_noise(phi, 0.02))
    A = newton_euler_regressor(log.motion).reshape(-1, 10)
    estimate = solve(A, log.wrench.ravel())
    saved = read_estimate(estimate.save(tmp_path / "estimate.json"))
    assert estimate_text(saved) == estimate_text(estimate)
    assert saved.residual_rms.shape == (1,)


def test_nan_is_not_written_and_existing_file_is_kept(path):
    before = path.read_bytes()
    with pytest.raises((ModelError, ValueError), match=r"nan|NaN|JSON|finite"):
        write_estimate(replace(FULL, certificate={"gap": float("nan")}), path)
    assert path.read_bytes() == before
    assert [item.name for item in path.parent.iterdir()] == ["estimate.json"]


def test_a_written_file_has_the_permissions_of_any_other(path, tmp_path):
    plain = tmp_path / "plain"
    plain.write_text(json.dumps(1))
    assert path.stat().st_mode == plain.stat().st_mode
