import json
import logging
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from identify.commands import main as entry
from identify.commands.command import Command, Outcome
from identify.commands.main import COMMANDS, document_text
from identify.commands.output import warnings_on_stderr
from identify.errors import LogError
from identify.exchange import read_estimate
from identify.inertia.shapes import Cylinder
from identify.progress import log_progress
from tests.close import assert_close

URDF = (
    '<robot name="r"><link name="bad"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="9" '
    'ixy="0" ixz="0" iyz="0"/></inertial></link><link name="frame"/></robot>'
)


@pytest.fixture
def document(cli):
    """The document of a call, which is all of its standard output, and what is said beside it."""

    def call(*words, status=0):
        outcome = cli(*words, "--json")
        found = json.loads(outcome.out)
        assert outcome.status == found["status"], outcome
        assert status in (None, outcome.status), outcome
        assert list(found)[:3] == ["command", "status", "error"]
        return found, outcome.err

    return call


@pytest.mark.parametrize("name", COMMANDS)
def test_bad_use_of_every_command_is_a_document_with_its_status(document, name):
    found, err = document(*name.split(), "--no-such-option", status=2)
    assert found["command"] == name
    assert found["error"]["type"] == "UsageError"
    message = found["error"]["message"]
    assert message in err or "standard error" in message
    assert err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_lists_the_option(name, cli):
    assert "--json " in cli.done(*name.split(), "--help", "--json")


def test_parser_errors_go_to_standard_error(document):
    found, err = document("inspect", status=2)
    assert found["error"]["type"] == "UsageError"
    assert "see standard error" in found["error"]["message"]
    assert "Missing from identify inspect" in err


def test_a_body(document, tmp_path):
    out = tmp_path / "c.json"
    words = ("shape", "cylinder", 0.05, 0.4, "--mass", 2, "-o", out)
    found, err = document(*words)
    assert (found["command"], found["error"], found["files"]) == ("shape", None, [str(out)])
    assert err == ""
    assert found["estimate"] == json.loads(out.read_text())
    assert_close(read_estimate(out).parameters.phi, Cylinder(0.05, 0.4).body(mass=2.0).phi, 1e-12)
    total, _ = document("add", out, out)
    assert total["estimate"]["mass"] == 4.0
    assert total["files"] == []
    assert "no covariance" in total["notes"][0]
    text = document("export", out, "--to", "urdf")[0]["text"]
    assert text.lstrip().startswith("<inertial>")


def test_json_of_links_and_repairs(document, tmp_path):
    model, fixed = tmp_path / "r.urdf", tmp_path / "fixed.urdf"
    model.write_text(URDF)
    found, _ = document("inspect", model, status=1)
    bad, frame = found["links"]
    assert (bad["name"], bad["kind"], bad["fault"]) == ("bad", "impossible", "impossible")
    assert (frame["kind"], frame["fault"], frame["phi"]) == ("massless", None, None)
    assert found["error"] is None
    found, _ = document("inspect", model, "--repair", "-o", fixed)
    assert [repair["link"] for repair in found["repairs"]] == ["bad"]
    assert (found["left"], found["files"]) == ([], [str(fixed)])


def test_the_doctor_and_data_sets(document, monkeypatch):
    monkeypatch.setattr("identify.commands.doctor.check_solvers", lambda: ())
    checks = document("doctor", status=None)[0]["checks"]
    assert {check["section"] for check in checks} == {"packages", "extras", "name"}
    (found,) = document("datasets", "list", "stars")[0]["datasets"]
    assert found["name"] == "stars"


def test_an_error_keeps_its_status_and_its_message(document, monkeypatch):
    def register(error):
        class Fail(Command):
            """Fail."""

            def run(self, invocation):
                raise error

        monkeypatch.setattr(entry, "COMMANDS", {**entry.COMMANDS, "fail": Fail})

    register(LogError("column torn"))
    found, err = document("fail", status=2)
    assert found["error"] == {"type": "LogError", "message": "column torn"}
    assert err == "identify: error: column torn\n"
    register(KeyboardInterrupt())
    assert document("fail", status=130)[0]["error"]["message"] == "interrupted"
    register(ZeroDivisionError("x"))
    found, err = document("fail", status=1)
    assert found["error"]["type"] == "ZeroDivisionError"
    assert "Traceback" in err


def test_the_option_may_stand_before_the_command(cli):
    found = json.loads(cli.done("--json", "--version"))
    assert list(found) == ["command", "status", "error", "version"]


def test_non_finite_numbers_become_null():
    assert json.loads(document_text({"a": [1.5, float("nan"), float("inf")]})) == {
        "a": [1.5, None, None]
    }


def test_progress_of_long_work_is_told_beside_json_every_two_seconds(monkeypatch, capsys):
    clock = iter([0.0, 0.0, 1.0, 3.0, 4.0, 6.0])  # handler, stage, four records
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    log = logging.getLogger("identify.pipeline")
    with warnings_on_stderr(progress=True):
        log.info("preparing run")
        for done in (10, 30, 40, 60):
            log_progress(log, "preparing run", done, 120, "rows")
    assert capsys.readouterr().err.splitlines() == [
        "identify: preparing run: 30 of 120 rows, 9 s left",
        "identify: preparing run: 60 of 120 rows, 6 s left",
    ]


@pytest.mark.skipif(os.name == "nt", reason="there is no pty")
@pytest.mark.parametrize("plain", [True, False])
def test_stages_with_times_are_shown_on_a_terminal_only(tmp_path, plain):
    script = (
        "import logging, sys\n"
        "from identify.commands.output import stages_on_terminal\n"
        "log = logging.getLogger('identify.pipeline')\n"
        "with stages_on_terminal():\n"
        "    log.info('reading [x]'); log.debug('half of it'); log.info('estimating')\n"
        "log.info('after')\n"
    )
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    if plain:
        environment["NO_COLOR"] = "1"
    main, other = pty.openpty()
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command, stderr=other, stdout=subprocess.PIPE, env=environment, check=True
    )
    os.close(other)
    said = b""
    while chunk := _read(main):
        said += chunk
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", said.decode())
    assert re.findall(r"\d\.\d\d s  (.*?)\r?\n", text) == ["reading [x]", "estimating"]
    assert "after" not in text
    assert bool(re.search(rb"\x1b\[[0-9;]*3[0-9]", said)) != plain  # a color
    assert done.stdout == b""
    quiet = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert quiet.stderr == b""


@pytest.mark.skipif(os.name == "nt", reason="there is no pty")
@pytest.mark.parametrize("plain", [True, False])
def test_no_color_removes_colors_from_help(plain):
    environment = {**os.environ, "TERM": "xterm-256color", "NO_COLOR": "1" if plain else ""}
    main, other = pty.openpty()
    command = [sys.executable, "-m", "identify", "doctor", "--help"]
    subprocess.run(command, stdout=other, env=environment, check=True)
    os.close(other)
    assert (b"\x1b[" in _read(main)) != plain


def _read(main):
    try:
        return os.read(main, 4096)
    except OSError:  # the other end is closed
        return b""


def test_log_warnings_are_printed_during_command(cli, monkeypatch):
    class Warn(Command):
        """Warn."""

        def run(self, invocation):
            logging.getLogger("identify.studies.store").warning("a row is damaged")
            return Outcome()

    monkeypatch.setattr(entry, "COMMANDS", {**entry.COMMANDS, "warn": Warn})
    assert cli("warn") == (0, "", "identify: warning: a row is damaged\n")


def test_json_of_rebuilt_report_and_comparison(document, tmp_path, monkeypatch):
    monkeypatch.setattr("identify.reporting.wrench_page.SECTIONS", ())  # they take seconds
    out, shipped = tmp_path / "out", Path(__file__).parents[2] / "datasets" / "payload_arm"
    fitted = "fit", shipped / "payload_arm.parquet", "--schema", shipped / "schema.toml"
    document(*fitted, "-o", out)
    again, _ = document("report", out)
    assert again["estimate"] == json.loads((out / "estimate.json").read_text())
    assert again["files"] == [str(out / "report.html")]
    side, _ = document("compare", out, out / "estimate.json", status=None)
    assert [row["m"] for row in side["logs"]] == [again["estimate"]["mass"]] * 2
