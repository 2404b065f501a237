import json
import re
import sys

import numpy as np
import pandas as pd
import pytest

from identify.commands.main import main
from identify.logs import load_schema, synthetic_recording
from identify.logs.log_writing import write_log
from tests.strategies import random_body

_WRENCH = ["fx", "fy", "fz", "tx", "ty", "tz"]


@pytest.fixture
def log(tmp_path):
    recording = synthetic_recording(
        random_body(np.random.default_rng(3)),
        rng=np.random.default_rng(3),
        duration=8.0,
        rate_hz=100.0,
    )
    write_log(recording, tmp_path / "log.csv", tmp_path / "written.toml")
    return tmp_path / "log.csv"


@pytest.fixture
def usual_log(log):
    """The log with the wrench on the sensor, as a draft supposes."""
    table = pd.read_csv(log)
    table[_WRENCH] *= -1.0
    table.to_csv(log, index=False)
    return log


def test_a_first_schema_is_written_and_the_log_checked_with_it(log, tmp_path, capsys):
    made = tmp_path / "s.toml"
    assert main(["init", str(log), "-o", str(made), "--yes"]) == 0
    out = capsys.readouterr().out
    assert f"Wrote {made}" in out
    assert 'Chosen by the log: [wrench] acts_on = "body"' in out  # the usual one is "sensor"
    assert "the log confirms its choices" in out
    assert 'acts_on = "body" ' in made.read_text()
    assert main(["check", str(log), "--schema", str(made)]) == 0
    assert main(["init", str(log), "-o", str(made), "--yes"]) == 2
    assert "exists, drafted for log.csv; give another name with -o" in capsys.readouterr().err


def test_named_sensor_gives_the_accuracy_of_the_scale(usual_log, tmp_path, capsys):
    made = tmp_path / "s.toml"
    words = ["init", str(usual_log), "-o", str(made), "--yes", "--sensor"]
    assert main([*words, "onrobot_hex"]) == 2
    assert "did you mean 'onrobot_hex_h'" in capsys.readouterr().err
    assert main([*words, "onrobot_hex_e"]) == 0
    assert re.search(r"\ngain_accuracy = 0\.012 +# one sigma by OnRobot .* < 2 %", made.read_text())


def test_missing_signals_are_reported_and_schema_template_is_written(tmp_path, capsys):
    path, made = tmp_path / "odd.csv", tmp_path / "s.toml"
    path.write_text("when,alpha\n" + "".join(f"{k},1\n" for k in range(20)))
    assert main(["init", str(path), "-o", str(made), "--yes"]) == 2
    assert "No columns of the log look like time, the pose, force and torque" in (
        capsys.readouterr().out
    )
    assert "name them here" in made.read_text()
    assert main(["init", str(tmp_path / "none.csv"), "-o", str(tmp_path / "t.toml")]) == 2
    assert "no such file" in capsys.readouterr().err
    assert not (tmp_path / "t.toml").exists()


def test_log_too_short_to_check_is_not_reported_as_unread(log, tmp_path, capsys):
    short, made = tmp_path / "short.csv", tmp_path / "s.toml"
    short.write_text("\n".join(log.read_text().splitlines()[:10]) + "\n")
    assert main(["init", str(short), "-o", str(made), "--yes"]) == 2
    out = capsys.readouterr().out
    assert "The log cannot be checked with it yet: " in out
    assert "not read" not in out


def test_no_estimate_is_a_status_of_its_own(usual_log, tmp_path, capsys):
    table = pd.read_csv(usual_log)
    table[["px", "py", "pz", "qx", "qy", "qz"]] = 0.0  # it never moves
    table["qw"] = 1.0
    table.to_csv(usual_log, index=False)
    words = ["init", str(usual_log), "-o", str(tmp_path / "s.toml"), "--yes", "--json"]
    status = main(words)
    document = json.loads(capsys.readouterr().out)
    assert status == document["status"] == 3
    assert document["failure"]


def test_names_in_another_encoding_get_the_command_that_converts_them(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_bytes("时间,力x,力y,力z\n".encode("gbk") + b"0,1,2,3\n1,1,2,3\n" * 5)
    words = ["init", str(path), "-o", str(tmp_path / "s.toml"), "--yes"]
    assert main(words) == 2
    assert "iconv -f GBK -t UTF-8" in capsys.readouterr().out
    path.write_bytes(b"when,a,b\n" + b"0,1,2\n1,1,2\n" * 5)
    words[3] = str(tmp_path / "other.toml")
    assert main(words) == 2
    assert "iconv" not in capsys.readouterr().out


def test_a_position_that_no_column_looks_like_is_named_and_has_its_place(
    usual_log, tmp_path, capsys
):
    header, _, rows = usual_log.read_text().partition("\n")
    for stem, status in (("where", 2), ("tool", 0)):
        names = header
        for axis in "xyz":
            names = names.replace(f"p{axis}", f"{stem}_{axis}")
        named, made = tmp_path / f"{stem}.csv", tmp_path / f"{stem}.toml"
        named.write_text(f"{names}\n{rows}")
        assert main(["init", str(named), "-o", str(made), "--yes"]) == status
        said = capsys.readouterr().out
        assert ("No columns of the log look like the position: enter them." in said) == bool(status)
        assert ("the position: name them here" in made.read_text()) == bool(status)


def test_a_log_that_its_first_schema_does_not_read_is_an_error_of_the_document(tmp_path, capsys):
    path = tmp_path / "short.csv"
    path.write_text("t,x,y,z,qx,qy,qz,qw,fx,fy,fz,tx,ty,tz\n" + "0,0,0,0,0,0,0,1,0,0,0,0,0,0\n" * 3)
    words = ["init", str(path), "-o", str(tmp_path / "s.toml"), "--json"]
    status = main(words)
    document = json.loads(capsys.readouterr().out)
    assert status == document["status"] == 2
    assert "time never advances" in document["error"]["message"]


def test_init_asks_for_pendant_values(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(0)
    names = ["timestamp", *(f"actual_TCP_pose_{k}" for k in range(6))]
    names += [f"actual_TCP_force_{k}" for k in range(6)]
    rows = np.column_stack((np.arange(400) / 100.0, 0.3 * rng.normal(size=(400, 12))))
    path = tmp_path / "rtde.csv"
    np.savetxt(path, rows, "%.6f", ",", header=",".join(names), comments="")
    answers = iter(["", "0, 0, 0.12, 0, 0, 0", "1.4 0 0 0.05"])
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda question: next(answers))
    made = tmp_path / "s.toml"
    main(["init", str(path), "-o", str(made)])
    assert "written as zeros" not in capsys.readouterr().out
    text = made.read_text()
    assert "pose = [0.0, 0.0, 0.12, 0.0, 0.0, 0.0]" in text
    assert "mass = 1.4\ncom = [0.0, 0.0, 0.05]" in text
    assert load_schema(made).body.tcp is not None
    capsys.readouterr()
    main(["init", str(path), "-o", str(tmp_path / "unasked.toml"), "--yes"])
    assert "The tool point in [body.tcp] is set to zeros" in capsys.readouterr().out
    given = iter(["", "0 0 120", "half", "0 0 0.5", "1.4 0 0 50"])
    asked = []
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or next(given))
    main(["init", str(path), "-o", str(tmp_path / "mm.toml")])
    said, text = capsys.readouterr().out, (tmp_path / "mm.toml").read_text()
    assert asked[3].startswith("expected 3 numbers, got 'half'; the other answers are kept. ")
    assert "The tool point is taken to be in millimetres." in said
    assert "pose = [0.0, 0.0, 0.12, 0.0, 0.0, 0.5]" in text
    assert "com = [0.0, 0.0, 0.05]" in text
    assert load_schema(tmp_path / "mm.toml").wrench.gain_accuracy is None
    given = iter(["0 0 0.12", "", ""])
    main(["init", str(path), "-o", str(tmp_path / "unturned.toml"), "--sensor", "ur5e"])
    said = capsys.readouterr().out
    assert load_schema(tmp_path / "unturned.toml").wrench.gain_accuracy == (0.046, 0.017)
    assert "taken to be in metres" in said
    assert "The rotation of the tool point in [body.tcp] is unknown" in said
    monkeypatch.setattr("builtins.input", lambda question: "1 2 three")
    assert main(["init", str(path), "-o", str(tmp_path / "t.toml"), "--sensor", "ur5e"]) == 2
    error = capsys.readouterr().err
    assert "expected 6 numbers, got '1 2 three', in answer to: Tool point as shown" in error
    assert main(["init", str(path), "--preset", "francka", "--yes"]) == 2
    assert "did you mean 'franka'" in capsys.readouterr().err
