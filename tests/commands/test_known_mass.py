"""A sensor's force gain from a body that was weighed, and what later logs make of it."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from identify.exchange import read_estimate
from identify.inertia import InertialParameters
from identify.logs import Noise, synthetic_recording
from identify.logs.log_writing import write_log

WEIGHED = InertialParameters.from_com(1.5, [0.01, 0.0, 0.06], np.diag([4e-3, 5e-3, 2e-3]))
OTHER = InertialParameters.from_com(0.8, [0.0, 0.02, 0.05], np.diag([2e-3, 3e-3, 2e-3]))
GAIN = 1.03


def written(folder, body, seed, gain=GAIN, **said):
    """A log of a sensor whose force is 3 % too large, or by another gain."""
    noise = Noise(force=0.05, torque=2e-3, position=1e-4, orientation=1e-4)
    log = synthetic_recording(body.phi, rng=np.random.default_rng(seed), noise=noise)
    signals = {**log.signals, "force": gain * log.signals["force"]}
    log = replace(log, signals=signals, schema={"wrench": said})
    path = folder / f"log{seed}.csv"
    return path, write_log(log, path)


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weighed")
    return written(folder, WEIGHED, 1, gain_accuracy=[0.02, 0.01]), written(folder, OTHER, 2)


def mass_of(cli, log, schema, out):
    status, _, err = cli("fit", log, "--schema", schema, "-o", out, "--no-report", "--quiet")
    assert status == 0, err
    return json.loads((out / "estimate.json").read_text())["intervals"]["m"]


@pytest.mark.slow
def test_quiet_still_reports_unmet_needs_and_unapplied_corrections(cli, tmp_path):
    log, schema = written(tmp_path, OTHER, 3, gain=1.0)
    words = ("fit", log, "--schema", schema, "--no-report", "--quiet", "--need", "mass 1e-9%")
    for more in ((), ("--each", "--workers", "0")):
        status, out, err = cli(*words, *more, "-o", tmp_path / f"out{len(more)}")
        assert (status, out) == (4, "")
        assert "the need mass 1e-9% is not met: the mass is known to ± " in err
    status, _, err = cli(*words[:-2], "--apply", "delay", "-o", tmp_path / "out0")
    assert status == 0
    expected = "--apply delay: not applied, because every fit estimates it; it was not detected"
    assert expected in err


def test_a_centre_of_mass_that_is_given_is_decided_by_that(cli, logs, tmp_path):
    (log, schema), com = logs[1], [float(x) for x in OTHER.com]
    cli("fit", log, "--schema", schema, "-o", tmp_path / "out", "--com", *com, "--no-report")
    saved = read_estimate(tmp_path / "out" / "estimate.json")
    assert {saved.decided_by[name] for name in ("cx", "cy", "cz")} == {"given"}
    assert saved.decided_by["hy"] == "data"
    assert saved.intervals["cy"] == pytest.approx((com[1], com[1]), rel=1e-9)
    assert list(saved.to_dataframe()["decided_by"][["cx", "cz", "Icxx"]]) == [
        "given",
        "given",
        "data",
    ]


@pytest.mark.slow
def test_force_gain_of_weighed_body_corrects_other_mass(cli, logs, tmp_path):
    (log, schema), (other, other_schema) = logs
    words = ("fit", log, "--schema", schema, "-o", tmp_path / "a", "--no-report")
    status, out, _ = cli(*words, "--known-mass-check", 1.5)
    assert status == 0
    lines = out.splitlines()
    start = lines.index("[wrench]")
    assert re.match(r"Known mass: .* the true force is 0\.97\d+ ± [\d.e-]+ times", lines[start - 1])
    gain = float(lines[start + 1].removeprefix("force_gain = "))
    assert gain == pytest.approx(1.0 / GAIN, rel=1e-3)
    sigma, torque = json.loads(lines[start + 2].split(" = ")[1].split("#")[0])
    assert 1e-5 < sigma < 1e-3
    assert torque == 0.01

    plain = mass_of(cli, other, other_schema, tmp_path / "b")
    text = other_schema.read_text().replace("[wrench]", "\n".join(lines[start : start + 3]))
    calibrated = tmp_path / "calibrated.toml"
    calibrated.write_text(text)
    low, high = mass_of(cli, other, calibrated, tmp_path / "c")
    assert low < 0.8 < high
    assert high - low < 0.01
    # As it is read the log has another gain of force than of torque, and the interval counts that.
    assert plain[1] - plain[0] > 5.0 * (high - low)
    assert abs(0.5 * (plain[0] + plain[1]) - 0.8) > 0.02

    # With the gain in the schema the weighed body weighs what it does, and the gain stays.
    own = tmp_path / "own.toml"
    own.write_text(schema.read_text().replace("[wrench]", f"[wrench]\nforce_gain = {gain}"))
    words = ("fit", log, "--schema", own, "-o", tmp_path / "d", "--no-report")
    _, again, _ = cli(*words, "--known-mass-check", 1.5)
    (same,) = re.findall(r"^force_gain = (.*)$", again, re.MULTILINE)
    assert float(same) == pytest.approx(gain, rel=1e-4)


def test_without_an_accuracy_that_of_the_torque_is_left_to_fill_in(cli, tmp_path):
    log, schema = written(tmp_path, OTHER, 2, gain=1.0)
    words = ("fit", log, "--schema", schema, "-o", tmp_path / "a", "--no-report")
    _, out, _ = cli(*words, "--known-mass-check", 0.8)
    assert re.search(r"^# gain_accuracy = \[[\d.e-]+, …\]", out, re.MULTILINE)


def test_implausible_known_mass_gives_no_gain(cli, logs, tmp_path):
    (log, schema), _ = logs
    words = ("fit", log, "--schema", schema, "-o", tmp_path / "a", "--no-report")
    status, out, err = cli(*words, "--known-mass-check", 15)
    assert status == 3
    assert "too far for the gain of a sensor: check force_unit" in " ".join(err.split())
    assert "force_gain" not in out
    words = ("fit", log, "--schema", schema, "-o", tmp_path / "b", "--no-report")
    status, _, err = cli(*words, "--known-mass-check", 1500)
    assert status == 3
    assert "a sensor: the given mass 1500 looks like grams; give 1.5 (in kg)" in err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--known-mass-check", 1.5, "--mass", 1.5), "cannot be combined with --mass"),
        (("--known-mass-check", 1.5, "--each"), "cannot be combined with --each"),
        (("--known-mass-check", -1), "expected a mass above 0 kg"),
    ],
)
def test_log_without_gain_information_is_rejected(cli, logs, tmp_path, more, said):
    (log, schema), _ = logs
    status, _, err = cli("fit", log, "--schema", schema, "-o", tmp_path / "a", *more)
    assert status == 2
    assert said in " ".join(err.split())
