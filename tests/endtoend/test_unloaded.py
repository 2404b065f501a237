import hashlib
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from identify.exchange import SavedEstimate, read_estimate, write_estimate
from identify.inertia import InertialParameters
from identify.logs.log_writing import write_log
from identify.logs.synthetic import Noise, synthetic_recording
from tests.close import assert_close, assert_same_body

GRIPPER = InertialParameters.from_com(1.5, [0.01, 0.0, 0.05], np.diag([5e-3, 6e-3, 4e-3]))
PAYLOAD = InertialParameters.from_com(0.6, [0.0, 0.02, 0.15], np.diag([1e-3, 1.2e-3, 0.8e-3]))
LIGHT = InertialParameters.from_com(0.05, [0.0, 0.0, 0.12], np.diag([2e-5, 2e-5, 1e-5]))


class Logs(NamedTuple):
    """A log with a payload, one without it, one with a light one, and their schema."""

    loaded: Path
    empty: Path
    light: Path
    schema: Path


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> Logs:
    folder, paths = tmp_path_factory.mktemp("logs"), []
    for seed, (name, body) in enumerate(
        {"loaded": PAYLOAD + GRIPPER, "empty": GRIPPER, "light": LIGHT + GRIPPER}.items()
    ):
        rng = np.random.default_rng(30 + seed)
        recording = synthetic_recording(
            body.phi,
            rng=rng,
            duration=8.0,
            rate_hz=100.0,
            bias=rng.normal(size=6),
            noise=Noise(force=0.05, torque=2e-3),
            include="all",
        )
        paths.append(folder / f"{name}.csv")
        write_log(recording, paths[-1])
    return Logs(*paths, paths[0].with_suffix(".toml"))


@pytest.fixture(scope="module")
def out(logs, tmp_path_factory) -> Path:
    from identify.commands.main import main

    folder = tmp_path_factory.mktemp("both") / "out"
    words = (*fit_words(logs), "-o", folder, "--truth", truth(folder.parent), "--quiet")
    assert main([str(word) for word in words]) == 0
    return folder


def truth(folder: Path) -> Path:
    return write_estimate(SavedEstimate(PAYLOAD), folder / "truth.json")


def fit_words(logs: Logs) -> tuple[object, ...]:
    return ("fit", logs.loaded, "--unloaded", logs.empty, "--schema", logs.schema)


def digests(folder: Path) -> dict[str, str]:
    head = (folder / "report.html").read_text(encoding="utf-8")[:4096]
    return dict(re.findall(r'name="(\w+)-sha256" content="(\w{64})"', head))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_both_files_have_their_body_with_intervals_and_verdict(out):
    assert names(out) == ["carrier.json", "estimate.json", "report.html", "result.npz"]
    for name, body in (("estimate", PAYLOAD), ("carrier", GRIPPER)):
        saved = read_estimate(out / f"{name}.json")
        assert_same_body(saved.parameters.phi, body.phi, 0.05)
        assert_close(saved.mass, body.mass, 2e-3)
        assert saved.verdict.usable == "yes"
        assert saved.intervals["m"] is not None
        assert saved.residual_rms.shape == (6,)
        assert len(saved.bias) == 2
        assert [log["bodies"] for log in saved.provenance["logs"]] == [
            ["payload", "carrier"],
            ["carrier"],
        ]
        content = (out / f"{name}.json").read_bytes()
        assert digests(out)[name] == hashlib.sha256(content).hexdigest()


def test_report_shows_payload_and_carrier(out):
    text = (out / "report.html").read_text(encoding="utf-8")
    assert "<h1>Inertia of a payload and its carrier</h1>" in text
    titles = (
        *("Is the payload usable?", "Is the carrier usable?", "The payload", "The carrier"),
        *("Use the payload", "Use the carrier"),
    )
    order = [text.index(f"<h2>{title}</h2>") for title in titles]
    assert order == sorted(order)
    assert "empty (unloaded)" in text
    assert "20 of 20" in text
    assert text.count("Eigenvalues of the scaled pseudo-inertia of the") == 2
    assert "simulated as one body" in text
    assert len(set(re.findall(r'<section id="([\w-]+)"', text))) == text.count("<section id=")


@pytest.mark.slow
def test_the_commands_read_both_and_the_sum_replays_the_loaded_log(out, logs, cli, tmp_path):
    exported = cli("export", out / "carrier.json", "--to", "urdf")
    assert (exported.status, exported.err) == (0, "identify: note: about B, in its axes\n")
    mass = re.search(r'<mass value="([^"]+)"/>', exported.out)
    assert mass is not None
    assert_close(float(mass[1]), 1.5, 1e-3)
    both = tmp_path / "both.json"
    assert cli("add", out / "estimate.json", out / "carrier.json", "-o", both).status == 0
    again = cli("subtract", both, out / "carrier.json", "-o", tmp_path / "again.json")
    assert again.status == 0
    payload = read_estimate(out / "estimate.json").parameters.phi
    assert_close(read_estimate(tmp_path / "again.json").parameters.phi, payload, 1e-12)

    def replay(log: Path, estimate: Path):
        words = ("--schema", logs.schema, "--estimate", estimate, "-o", tmp_path / "replayed")
        return cli("replay", log, *words)

    assert replay(logs.loaded, both).status == 0
    assert replay(logs.empty, out / "carrier.json").status == 0
    for log, estimate in (
        (logs.loaded, "estimate"),
        (logs.loaded, "carrier"),
        (logs.empty, "estimate"),
    ):
        refused = replay(log, out / f"{estimate}.json")
        assert refused.status == 2
        assert "the bodies in this log are" in refused.message


@pytest.mark.usefixtures("no_report")
class TestCommand:
    def test_terminal_shows_payload_and_carrier(self, cli, logs, tmp_path):
        need = ("--need", "mass 1%", "--truth", truth(tmp_path))
        done = cli(*fit_words(logs), "-o", tmp_path / "out", *need, "--verbose")
        assert (done.status, done.err) == (0, "")
        lines = [line.strip() for line in done.out.splitlines()]
        assert lines.index("Payload") < lines.index("Carrier")
        assert "Payload: Usable: yes." in lines
        assert "Carrier: Usable: yes." in lines
        assert sum(line.startswith("Payload: Need mass 1%: met") for line in lines) == 1
        assert not any(line.startswith("Carrier: Need") for line in lines)
        assert any(line.startswith("Read: empty (unloaded), 800 rows") for line in lines)
        assert any(line.startswith("Replay, unloaded: ") for line in lines)
        assert [Path(line).name for line in lines[-4:]] == [
            *("estimate.json", "carrier.json", "result.npz", "report.html")
        ]
        first, second = lines.index("Payload"), lines.index("Carrier")
        tables = lines[first:second], lines[second:]
        assert [any("truth" in line for line in table) for table in tables] == [True, False]


@pytest.mark.usefixtures("no_report")
def test_unwritable_carrier_file_is_reported_before_fit(cli, logs, tmp_path):
    (tmp_path / "out" / "carrier.json").mkdir(parents=True)
    done = cli(*fit_words(logs), "-o", tmp_path / "out")
    assert done.status == 2
    assert "carrier.json: is a folder" in done.message
