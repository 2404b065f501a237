import json
import re

import numpy as np
import pytest

from identify.commands.check import check_lines
from identify.commands.main import main
from identify.logs import read_log, synthetic_recording
from identify.logs.log_writing import write_log
from identify.pipeline import check_logs
from tests.small_faults import still
from tests.strategies import random_body


def logged(tmp_path, said="body"):
    recording = synthetic_recording(
        random_body(np.random.default_rng(3)),
        rng=np.random.default_rng(3),
        duration=8.0,
        rate_hz=100.0,
    )
    log, schema = tmp_path / "log.csv", tmp_path / "log.toml"
    write_log(recording, log, schema)
    text = schema.read_text().replace('acts_on = "body"', f'acts_on = "{said}"')
    schema.write_text(text)
    return str(log), "--schema", str(schema)


def test_check_of_clean_log_has_no_findings(tmp_path, capsys):
    assert main(["check", *logged(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "No faults were found." in out
    assert "Usable: yes." in out


def test_check_and_fit_have_the_same_verdict(tmp_path, cli):
    """The lines on use are those of a fit with the same needs, in the same words."""
    words = logged(tmp_path)
    for need in ("", "mass, com 2mm", "inertia 0.00001%"):
        options = (*words, "--need", need) if need else words
        checked = cli("check", *options)
        fitted = cli("fit", *options, "-o", tmp_path / "out", "--no-report")
        verdict = [line for line in fitted.out.splitlines() if _ON_USE.match(line)]
        assert len(verdict) == 4 + len(need.split(", ")) * bool(need)
        assert [line for line in checked.out.splitlines() if _ON_USE.match(line)] == verdict
        assert (checked.status, fitted.status) == ((4, 4) if "inertia" in need else (0, 0))


_ON_USE = re.compile("(Usable|Mass|Centre of mass|Inertia about the centre of mass|Need .*): ")


def test_check_with_notes_alone_does_not_deny_them():
    check = check_logs(still(3))
    lines = [*check_lines(check)]
    assert check.passed
    assert lines[0].startswith("Note [completed]: ")
    assert lines[-1].startswith("No faults that need a correction were found: the notes are on ")
    assert any(line.startswith("Static poses do not show") for line in lines)
    assert not any("Rotation about" in line for line in lines)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What a check finds of a log whose wrench has the other sign, and the words of the call."""
    words = logged(tmp_path_factory.mktemp("misread"), "sensor")
    return words, check_logs(read_log(words[0], words[2]))


@pytest.fixture
def misread(found, monkeypatch):
    monkeypatch.setattr("identify.pipeline.check_logs", lambda *_, **__: found[1])
    return found[0]


def test_json_of_failed_check_has_schema_line(misread, capsys):
    assert main(["check", *misread, "--json"]) == 4
    found = json.loads(capsys.readouterr().out)
    assert [one["code"] for one in found["findings"]] == ["wrench_sign"]
    assert 'change `acts_on = "sensor"` to `acts_on = "body"`' in found["findings"][0]["remedy"]
    assert found["findings"][0]["evidence"]["mass"] < 0.0
    assert found["verdict"]["usable"] == "no"
    assert "unconstrained mass" in found["failure"]


def test_findings_are_lines(misread, capsys):
    assert main(["check", *misread]) == 4
    out = capsys.readouterr().out
    assert out.startswith("No estimate: ")
    assert "Error [wrench_sign]: the unconstrained mass is " in out
    said = (
        "so a sign is wrong. Most likely the wrench has the other sign. In the schema, [wrench], "
    )
    assert said in " ".join(out.split())
    assert out.count("so a sign is wrong") == 1
