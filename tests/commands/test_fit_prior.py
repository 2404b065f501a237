"""What is known of a body besides its log, on the command line."""

import json

import numpy as np
import pytest

from identify.inertia import PHI
from identify.inertia.shapes import Box
from identify.inertia.shapes.interior import sample_interior
from identify.logs import Noise, synthetic_recording
from identify.logs.log_writing import write_log
from identify.logs.synthetic import random_motion
from identify.spatial import Pose
from tests.close import assert_close

SOLID, AT = Box(0.20, 0.08, 0.05), (0.02, -0.03, 0.10, 0.0, 0.0, 0.0)
TRUTH = SOLID.body(mass=0.9).in_frame(Pose(np.eye(3), np.array(AT[:3])))
POINTS = sample_interior(SOLID, 1500).points


def written(folder, name: str, seed: int, **motion):
    rng = np.random.default_rng(seed)
    log = synthetic_recording(
        TRUTH.phi,
        rng=rng,
        duration=8.0,
        rate_hz=100.0,
        motion=random_motion(rng, **motion),
        noise=Noise(force=0.05, torque=0.01, orientation=2e-4, position=1e-4),
    )
    path = folder / name
    return path, write_log(log, path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A slow log, another one, and a brisk one; the body's points in metres and millimetres."""
    made = tmp_path_factory.mktemp("prior")
    for name, seed, motion in (
        ("slow.csv", 1, {"bandwidth_hz": 0.15, "reach": 0.05, "turn": 0.6}),
        ("other.csv", 2, {"bandwidth_hz": 0.15, "reach": 0.05, "turn": 0.6}),
        ("brisk.csv", 3, {}),
    ):
        written(made, name, seed, **motion)
    for name, scale in (("tool.csv", 1.0), ("tool_mm.csv", 1e3)):
        rows = scale * (POINTS + np.array(AT[:3]))
        np.savetxt(made / name, rows, delimiter=",", header="x,y,z", comments="")
    return made


@pytest.fixture
def fit(cli, folder, tmp_path):

    def run(*words: object, log: str = "slow.csv", status: int = 0):
        schema = folder / "slow.toml"
        out = tmp_path / "out"
        fixed = ("--schema", schema, "-o", out, "--no-report", "--verbose")
        found = cli("fit", folder / log, *fixed, *words)
        assert found.status == status, found
        if status in (0, 4):
            return json.loads((out / "estimate.json").read_text()), found.out
        return found.message

    return run


def test_the_points_of_a_body_make_its_inertia_known_where_a_slow_log_does_not(fit, folder):
    alone, _ = fit()
    assert set(alone["decided_by"].values()) == {"data", "default"}
    known, printed = fit("--shape", folder / "tool.csv")
    assert known["decided_by"]["Izz"] == "prior"
    assert known["default_body"] is None
    assert known["prior_share"]["Izz"] > 0.9 > 0.2 > known["prior_share"]["m"]
    assert known["certificate"]["optimal_for"] == "the data and the prior"
    assert known["provenance"]["options"]["prior"]["kind"] == "shape"
    assert 0.0 < known["provenance"]["options"]["prior"]["means"]["outline"] <= 2.0
    assert "share of the prior in the information" in " ".join(printed.split())
    assert "Prior: shape of tool.csv" in printed
    assert "maximum-likelihood values: density" in printed
    true = TRUTH.inertia_about_com
    for k, name in enumerate(("Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz")):
        low, high = known["intervals"][name]
        value = true[np.triu_indices(3)][k]
        assert low <= value <= high, name
    off = np.linalg.norm(np.array(known["inertia_about_com"]) - true) / np.linalg.norm(true)
    assert off < 0.1


def test_shapes_in_their_own_frame_and_unit_and_a_box_are_put_where_they_are(fit, folder):
    here, _ = fit("--shape", folder / "tool.csv")
    scaled, _ = fit("--shape", folder / "tool_mm.csv", "--shape-scale", "0.001")
    assert_close(scaled["phi"], here["phi"], 1e-9)
    box, _ = fit("--shape", "box", *(0.22, 0.1, 0.07), "--shape-at", *AT)
    assert box["decided_by"]["Izz"] == "prior"
    before, _ = fit("--shape-at", *AT, "--shape", "box", 0.22, 0.1, 0.07, "--prior", "even")
    assert_close(before["phi"], box["phi"], 0.0)


def test_a_shape_that_a_log_excludes_is_not_used(fit, folder):
    away = ("--shape-at", 0.5, 0.0, 0.0, 0.0, 0.0, 0.0)
    estimate, printed = fit("--shape", folder / "tool.csv", *away, log="brisk.csv", status=4)
    assert estimate["verdict"]["usable"] == "no"
    assert estimate["verdict"]["reasons"] == ["choice_contradicted"]
    said = " ".join(printed.split())
    assert "The log excludes the prior" in said
    assert "The prior has" in said
    assert "the log alone" in said


def test_an_earlier_estimate_is_a_prior_of_other_logs_alone(fit, folder, tmp_path, cli):
    first, _ = fit(log="brisk.csv")
    earlier = tmp_path / "earlier.json"
    (tmp_path / "out" / "estimate.json").rename(earlier)
    then, _ = fit("--prior", earlier)
    assert then["decided_by"]["Izz"] == "prior"
    assert np.diff(then["intervals"]["m"]) < np.diff(first["intervals"]["m"])
    message = fit("--prior", earlier, log="brisk.csv", status=2)
    assert "was estimated from" in message


@pytest.fixture
def model(tmp_path):
    inertia = " ".join(
        f'{name}="{value:.9g}"'
        for name, value in zip(
            ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
            TRUTH.inertia_about_com[np.triu_indices(3)],
            strict=True,
        )
    )
    path = tmp_path / "arm.urdf"
    path.write_text(
        f'<robot name="arm"><link name="tool"><inertial><origin xyz="{AT[0]} {AT[1]} {AT[2]}"/>'
        f'<mass value="0.9"/><inertia {inertia}/></inertial></link></robot>'
    )
    return path


def test_a_link_is_a_prior_with_a_stated_error(fit, model):
    known, _ = fit("--prior", f"{model}#tool", "--prior-error", "0.1")
    assert known["decided_by"]["Izz"] == "prior"
    assert "so its accuracy is unknown" in fit("--prior", f"{model}#tool", status=2)
    assert "did you mean 'tool'?" in fit("--prior", f"{model}#tol", status=2)


def test_prior_none_gives_null_and_blocks_export(fit, cli, tmp_path):
    estimate, printed = fit("--prior", "none")
    left = [name for name, by in estimate["decided_by"].items() if by == "nothing"]
    assert left
    missing = [name for name, value in zip(PHI, estimate["phi"], strict=True) if value is None]
    assert missing == left
    assert "not identifiable" in printed
    assert "default body" not in printed
    assert estimate["certificate"]["optimal_for"] == "the data"
    message = cli.refused("export", tmp_path / "out" / "estimate.json", "--to", "urdf")
    assert "it has no number for" in message
    assert "--prior none" in message


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--prior", "even"), "--prior even requires --shape"),
        (("--prior", "none", "--each"), "--each needs a value for every parameter"),
        (("--shape-scale", "0.001"), "--shape-scale requires --shape"),
        (("--shape-error", "0.001"), "--shape-error requires --shape"),
        (("--shape", "TOOL", "--prior", "ball"), "--shape and --prior ball both define the prior"),
        (("--shape", "TOOL", "--shape-error", "-1"), "error of the outline above zero"),
        (("--shape", "TOOL", "--prior-error", "0.1"), "--shape and --prior-error both define"),
        (("--shape", "box", "0.1", "0.2"), "expected three side lengths"),
        (("--shape", "box", "0.1", "0.2", "x"), "side lengths [m], got 'box 0.1 0.2 x'"),
        (("--shape", "box", "0.1", "0.2", "-0.3"), "three sides above zero"),
        (("--shape", "box", "0.1", "0.2", "0.3", "--shape-scale", "0.001"), "give sides in metres"),
        (("--shape", "nowhere.stl"), "no such file"),
        (("--shape", "nowhere.csv"), "no such file"),
        (("--prior", "nowhere.json"), "no such file"),
        (("--prior-error", "0.1"), "--prior-error requires --prior FILE"),
        (("--shape", "TOOL", "--interval", "bootstrap"), "does not support a prior"),
    ],
)
def test_invalid_prior_is_rejected(fit, folder, words, said):
    words = [str(folder / "tool.csv") if word == "TOOL" else word for word in words]
    assert said in fit(*words, status=2)
