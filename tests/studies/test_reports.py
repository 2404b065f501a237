import argparse
import re
from dataclasses import replace
from pathlib import Path

import pytest

from experiments import reports
from experiments.reports import REPORTS, ROOT, Report, numerics_line, old_reports, write_report
from identify.errors import SchemaError
from identify.reporting.study.summary import numerics_mark
from scripts import write_reports

SHOW_NO_NUMBERS = {
    *("arrays", "catalog", "documents", "errors", "files", "findings", "lazy"),
    *("commands", "plain_values", "reporting", "texts"),
}
"""Of `identify`: what holds, reads and shows numbers that others make."""

LEFT_OUT = {
    "integrators": {"exchange"},  # models in files of simulations
    "agreement": {"exchange", "simulation"},  # estimates as they are saved; paths of other bodies
    "solids_shape": {"exchange"},
    "peers": {"exchange", "simulation"},  # likewise
    "parts": {"exchange", "studies"},
    "silent": {"exchange", "studies"},  # its rows are kept as those of studies are
    "stars": {"exchange", "simulation"},
    "coverage": {"exchange", "simulation"},
    "benchmarks": {"studies"},
}
"""Packages that are imported, by some way, and have no part in the numbers."""


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
    script = name not in ("stars", "coverage")
    needed = imported(found.files()) if script else {"studies"}
    while (more := needed.union(*(imports[one] for one in needed - SHOW_NO_NUMBERS))) != needed:
        needed = more
    unnamed = needed - SHOW_NO_NUMBERS - set(found.packages)
    assert unnamed <= LEFT_OUT.get(name, set())


@pytest.mark.parametrize("name", list(REPORTS))
def test_what_a_report_is_made_of_and_with_is_there(name):
    found = REPORTS[name]
    assert list(found.files())
    assert re.fullmatch(
        r"`[0-9a-f]{12}` of [a-z, ]+; of the study itself `[0-9a-f]{12}`", found.mark
    )
    script = next(word for word in found.command if word.startswith("experiments/"))
    assert (ROOT / script).is_file()


def test_a_mark_changes_with_the_packages_and_with_what_is_measured(tmp_path, monkeypatch):
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("1", encoding="utf-8")
    other.write_text("2", encoding="utf-8")
    mark = numerics_mark(("spatial",), [one, other])
    assert mark == numerics_mark(("spatial",), [other, one])
    assert mark != numerics_mark(("spatial", "inertia"), [one, other])
    other.write_text("3", encoding="utf-8")
    study = numerics_mark(("spatial",), [one, other])
    assert (study[:14], study == mark) == (mark[:14], False)
    monkeypatch.setattr("identify.reporting.study.summary.numerics_digest", lambda some: "a" * 64)
    assert numerics_mark(("spatial",), [one]).startswith("`aaaaaaaaaaaa` of spatial; ")


def test_a_report_is_old_until_it_is_written_and_when_its_study_changes(report, tmp_path, capsys):
    assert old_reports() == {"made": report}
    line = numerics_line("made", *parsed(), "logs")
    write_report(tmp_path / report.file, "# Title\n\ntext\n", line)
    text = (tmp_path / report.file).read_text(encoding="utf-8")
    assert text == f"# Title\n\ntext\n\nNumerics: {report.mark}.\n"
    assert capsys.readouterr().out == f"{text}\n"
    assert old_reports() == {}
    (tmp_path / "study.py").write_text("print(2)", encoding="utf-8")
    assert old_reports(["made"]) == {"made": report}
    with pytest.raises(SchemaError, match="no report 'mode' among made; did you mean 'made'"):
        old_reports(["mode"])


def test_a_part_of_a_study_is_not_taken_for_its_report(report, tmp_path, monkeypatch):
    line = numerics_line("made", *parsed("--logs", "3"), "logs")
    assert line.startswith("Not the whole study: with other logs.")
    assert numerics_line("made", *parsed("--logs", "3")) == f"Numerics: {report.mark}."
    lacking = replace(report, lacks=lambda: "the tools")
    monkeypatch.setattr(reports, "REPORTS", {"made": lacking})
    line = numerics_line("made", *parsed(), "logs")
    assert line.startswith("Not the whole study: without the tools.")
    write_report(tmp_path / report.file, "text", line)
    assert old_reports() == {"made": lacking}


def writing(report: Report, tmp_path: Path, status: int = 0) -> None:
    """A study that writes the report as it should, or ends before it."""
    said = f"raise SystemExit({status})" if status else "open('out.md', 'w').write(mark)"
    (tmp_path / "study.py").write_text(f"# {status}\nmark = open('mark').read()\n{said}\n")
    (tmp_path / "mark").write_text(report.mark, encoding="utf-8")


def test_old_reports_are_listed_and_written_and_no_others(report, tmp_path, capfd):
    writing(report, tmp_path)
    assert write_reports.main(["--list"]) == 0
    assert "  out.md" in capfd.readouterr().out
    assert not (tmp_path / "out.md").exists()
    assert write_reports.main([]) == 0
    assert (tmp_path / "out.md").read_text(encoding="utf-8") == report.mark
    stamp = (tmp_path / "out.md").stat().st_mtime_ns
    capfd.readouterr()
    assert write_reports.main([]) == 0
    assert capfd.readouterr().out == "Every report is of this code.\n"
    assert (tmp_path / "out.md").stat().st_mtime_ns == stamp


def test_one_that_cannot_be_written_is_said_with_the_reason(report, tmp_path, monkeypatch, capfd):
    writing(report, tmp_path, status=3)
    assert write_reports.main([]) == 1
    assert "made: not written: ended with status 3" in capfd.readouterr().err
    monkeypatch.setattr(reports, "REPORTS", {"made": replace(report, lacks=lambda: "the tools")})
    assert write_reports.main(["made"]) == 1
    assert "made: not written: needs the tools" in capfd.readouterr().err
