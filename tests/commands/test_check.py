"""`identify check`: findings with the line to change, a document, and the status."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from identify.commands.main import main
from identify.logs import synthetic_recording
from identify.logs.writing import write_log
from tests.strategies import random_body


def logged(tmp_path, said="body"):
    recording = synthetic_recording(
        random_body(np.random.default_rng(3)),
        rng=np.random.default_rng(3),
        duration=12.0,
        rate_hz=100.0,
    )
    log, schema = tmp_path / "log.csv", tmp_path / "log.toml"
    write_log(recording, log, schema)
    text = schema.read_text().replace('acts_on = "body"', f'acts_on = "{said}"')
    schema.write_text(text)
    return str(log), "--schema", str(schema)


def test_nothing_is_found_of_a_good_log(tmp_path, capsys):
    assert main(["check", *logged(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "Nothing wrong was found." in out
    assert "usable: yes" in out


def test_a_document_has_the_line_to_change_though_there_is_no_estimate(tmp_path, capsys):
    assert main(["check", *logged(tmp_path, "sensor"), "--json"]) == 4
    found = json.loads(capsys.readouterr().out)
    assert [one["code"] for one in found["findings"]] == ["wrench_sign"]
    assert 'change `acts_on = "sensor"` to `acts_on = "body"`' in found["findings"][0]["remedy"]
    assert found["verdict"]["usable"] == "no"
    assert "unconstrained mass" in found["failure"]


def test_findings_are_lines(tmp_path, capsys):
    assert main(["check", *logged(tmp_path, "sensor")]) == 4
    out = capsys.readouterr().out
    assert out.startswith("No estimate: ")
    assert "Error [wrench_sign]: the unconstrained mass is " in out
    assert "so a sign is wrong. Most likely the wrench has the other sign. In the schema, " in out
    assert out.count("so a sign is wrong") == 1


def test_fit_refuses_to_correct_what_is_not_there(tmp_path, capsys):
    words = ["fit", *logged(tmp_path), "-o", str(tmp_path / "out"), "--apply", "delay"]
    assert main(words) == 3
    assert "--apply delay: not found" in capsys.readouterr().err


def test_what_was_corrected_before_a_fit_is_said_with_its_count(tmp_path, capsys):
    words = logged(tmp_path)
    path = tmp_path / "log.csv"
    table = pd.read_csv(path)
    force = table.columns[-6]
    table.loc[30::60, force] += 100.0
    table.to_csv(path, index=False)
    out = tmp_path / "out"
    assert main(["fit", *words, "-o", str(out), "--apply", "spikes"]) == 0
    said = capsys.readouterr().out
    spikes = f"spikes: {len(table.index[30::60])} rows put between their neighbours."
    assert f"Before the fit: {spikes}" in said
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Corrections that were asked for, and made before the fit:" in page
    assert spikes in page
    done = json.loads((out / "estimate.json").read_text())["provenance"]
    assert [one["code"] for one in done["applied"]] == ["spikes"]


@pytest.mark.parametrize("more", [(), ("--each",)])
def test_robust_is_answered_by_what_to_use_instead(tmp_path, capsys, more):
    words = ["fit", *logged(tmp_path), "-o", str(tmp_path / "out"), "--robust", "student", *more]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert "--robust was removed; " in said
    assert "as in --apply contact,spikes" in said
    assert not (tmp_path / "out").exists()
