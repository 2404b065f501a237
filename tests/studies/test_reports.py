import argparse
import re
from dataclasses import replace

import pytest

from experiments import reports
from experiments.reports import REPORTS, ROOT, Report, numerics_line, outdated_reports, write_report
from identify.errors import SchemaError
from identify.reporting.study.summary import numerics_fingerprint_line
from scripts import write_reports

SHOW_NO_NUMBERS = {
    *("arrays", "catalog", "documents", "errors", "files", "findings", "lazy"),
    *("commands", "progress", "sensors", "serialisation", "reporting", "texts"),
}
"""Of `identify`: what holds, reads and shows numbers that others make."""

LEFT_OUT = {
    "integrators": {"exchange"},  # models in files of simulations
    "agreement": {"exchange", "simulation"},  # estimates as they are saved; paths of other bodies
    "solids_shape": {"exchange"},
    "peers": {"exchange", "simulation"},
    "parts": {"exchange", "studies"},
    "rows": {"exchange"},
    "silent": {"exchange", "studies"},  # its rows are kept as those of studies are
    "stars": {"exchange", "simulation"},
    "stars_shape": {"exchange", "simulation"},
    "coverage": {"exchange", "simulation"},
    "arms": {"exchange", "simulation"},
    "design": {"exchange"},
    "arms_measured": {"exchange", "simulation"},
    "benchmarks": {"studies"},
    "cheap_arms": {"exchange", "studies"},  # for its workers alone
}
"""Packages that are imported, by some way, and have no part in the numbers."""

ONLY_FOR_JOINTS = {"arms", "robots"}
"""Packages for logs of joints, from which the other reports have no numbers."""


def imported(files) -> set[str]:
    pattern = re.compile(r"(?:from|import) identify\.(\w+)")
    texts = [path.read_text(encoding="utf-8") for path in files if path.suffix == ".py"]
    return {name for text in texts for name in pattern.findall(text)}


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """What each package of `identify` imports."""
    inside = [path for path in (ROOT / "identify").iterdir() if not path.name.startswith("_")]
    return {path.stem: imported(path.rglob("*.py") if path.is_dir() else [path]) for path in inside}


@pytest.fixture
def report(tmp_path, monkeypatch) -> Report:
    """A report of a project of its own, not written yet."""
    monkeypatch.setattr(reports, "ROOT", tmp_path)
    monkeypatch.setattr(write_reports, "ROOT", tmp_path)
    (tmp_path / "study.py").write_text("print(1)", encoding="utf-8")
    made = Report("out.md", ("study.py",), ("spatial",), 3, ("study.py",))
    monkeypatch.setattr(reports, "REPORTS", {"made": made})
    monkeypatch.setattr(write_reports, "REPORTS", {"made": made})
    return made


def parsed(*words: str) -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    parser = argparse.ArgumentParser()
    parser.add_argument("--logs", type=int, default=400)
    return parser, parser.parse_args(words)


@pytest.mark.parametrize("name", list(REPORTS))
def test_a_report_names_every_package_that_its_numbers_come_from(name, imports):
    found = REPORTS[name]
    script = any(path.suffix == ".py" for path in found.files())
    needed = imported(found.files()) if script else {"studies"}
    while (more := needed.union(*(imports[one] for one in needed - SHOW_NO_NUMBERS))) != needed:
        needed = more
    unnamed = needed - SHOW_NO_NUMBERS - set(found.packages)
    assert unnamed <= LEFT_OUT.get(name, set()) | ONLY_FOR_JOINTS


def test_report_digest_changes_with_packages_and_study(tmp_path, monkeypatch):
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("1", encoding="utf-8")
    other.write_text("2", encoding="utf-8")
    mark = numerics_fingerprint_line(("spatial",), [one, other])
    assert mark == numerics_fingerprint_line(("spatial",), [other, one])
    assert mark != numerics_fingerprint_line(("spatial", "inertia"), [one, other])
    other.write_text("3", encoding="utf-8")
    study = numerics_fingerprint_line(("spatial",), [one, other])
    assert (study[:14], study == mark) == (mark[:14], False)
    monkeypatch.setattr("identify.reporting.study.summary.numerics_digest", lambda some: "a" * 64)
    assert numerics_fingerprint_line(("spatial",), [one]).startswith("`aaaaaaaaaaaa` of spatial; ")


def test_report_is_outdated_until_written_and_after_study_changes(report, tmp_path, capsys):
    assert outdated_reports() == {"made": report}
    line = numerics_line("made", *parsed(), "logs")
    write_report(tmp_path / report.file, "# Title\n\ntext\n", line)
    text = (tmp_path / report.file).read_text(encoding="utf-8")
    assert text == f"# Title\n\ntext\n\nNumerics: {report.fingerprint_line}.\n"
    assert capsys.readouterr().out == f"{text}\n"
    assert outdated_reports() == {}
    (tmp_path / "study.py").write_text("print(2)", encoding="utf-8")
    assert outdated_reports(["made"]) == {"made": report}
    with pytest.raises(SchemaError, match="no report 'mode' among made; did you mean 'made'"):
        outdated_reports(["mode"])


WAITING = """
import pathlib, time
pathlib.Path("{name}.began").touch()
began = time.monotonic()
while not pathlib.Path("{other}.began").exists() and time.monotonic() - began < 30.0:
    time.sleep(0.01)
assert pathlib.Path("{other}.began").exists()
pathlib.Path("{name}.md").write_text("| a |\\n| --- |\\n| 1 |\\n\\n{line}")
"""
"""Program that writes a report once that of another has begun."""


def test_reports_of_one_process_are_written_side_by_side(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(reports, "ROOT", tmp_path)
    monkeypatch.setattr(write_reports, "ROOT", tmp_path)
    monkeypatch.setattr(write_reports, "PAPER", tmp_path / "paper.md")
    monkeypatch.setattr(write_reports, "with_tables", lambda text: f"{text} filled")
    (tmp_path / "paper.md").write_text("paper", encoding="utf-8")
    (tmp_path / "study.py").write_text("print(1)", encoding="utf-8")
    made = {}
    for name, other in (("one", "two"), ("two", "one")):
        plain = Report(f"{name}.md", ("study.py",), ("spatial",), 3, (), one_process=True)
        code = WAITING.format(name=name, other=other, line=plain.fingerprint_line)
        made[name] = replace(plain, command=("-c", code))
    made["alone"] = Report(
        "alone.md", ("study.py",), ("spatial",), 1, ("-c", "raise SystemExit(3)")
    )
    made["lacking"] = replace(made["alone"], missing_requirement=lambda: "a log")
    for module in (reports, write_reports):
        monkeypatch.setattr(module, "REPORTS", made)
    assert write_reports.expected_minutes(made) == 1 + 1 + 3
    assert write_reports.main([]) == 1
    assert list(outdated_reports()) == ["alone", "lacking"]
    errors = capsys.readouterr().err.splitlines()
    assert errors == [
        "alone: not written: ended with status 3",
        "lacking: not written: needs a log",
    ]
    assert (tmp_path / "paper.md").read_text(encoding="utf-8") == "paper filled"
    assert write_reports.main(["one", "two"]) == 0
    assert "All reports are up to date." in capsys.readouterr().out


def test_reports_of_one_process_measure_no_time():
    for name, report in REPORTS.items():
        scripts = [path for path in report.files() if path.suffix == ".py" and report.one_process]
        for text in (path.read_text(encoding="utf-8") for path in scripts):
            assert not re.search("perf_counter|process_time|ProcessPool|workers", text), name


NO_STUDY = {"reports", "revisions"}
"""Of `experiments`: how reports are written, and revisions beside each other."""


@pytest.mark.parametrize("name", list(REPORTS))
def test_a_report_names_every_file_of_experiments_that_it_imports(name):
    files = set(REPORTS[name].files())
    texts = [path.read_text(encoding="utf-8") for path in files if path.suffix == ".py"]
    modules = {m for text in texts for m in re.findall(r"from experiments\.([\w.]+) import", text)}
    paths = {ROOT / "experiments" / f"{m.replace('.', '/')}.py" for m in modules - NO_STUDY}
    assert {path for path in paths if path.is_file()} <= files
