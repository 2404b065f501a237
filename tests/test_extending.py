import importlib
import pkgutil
import re
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import identify
from identify.errors import SchemaError
from identify.logs import load_schema
from identify.pipeline import check_logs, load_result
from identify.pipeline.saved_result import result_bytes, result_texts
from identify.reporting import report_html
from identify.reporting.study import StudyRows
from identify.reporting.study.accuracy import accuracy_figures
from identify.reporting.study.rows import format_number
from identify.sensors import SENSORS, register_sensor
from identify.studies import document, metrics, open_results

PAGE = Path(__file__).resolve().parents[1] / "docs" / "extending.md"
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(?P<title>.+)$", re.MULTILINE)
LONGEST = 40
"""Lines that an example may have."""

WHOLE_MODULES = {"A sensor": 95}
"""Examples that are a module from the schema to the report, with the lines that they may have."""


def examples() -> dict[str, str]:
    """The code of each block by the heading that it stands under, numbered from the second on."""
    text = PAGE.read_text(encoding="utf-8")
    outside = BLOCK.sub(
        lambda block: re.sub(r"[^\n]", " ", block[0]), text
    )  # comments are no titles
    titles = [(title.start(), title["title"]) for title in HEADING.finditer(outside)]
    found: dict[str, str] = {}
    for block in BLOCK.finditer(text):
        title = [name for start, name in titles if start < block.start()][-1]
        again = sum(name.partition(" #")[0] == title for name in found)
        line = text[: block.start("code")].count("\n")
        found[f"{title} #{again + 1}" if again else title] = "\n" * line + block["code"]
    return found


EXAMPLES = examples()


def constants() -> list[tuple[types.ModuleType, str, Any]]:
    """All that modules of the package keep under names in capitals, registries among it."""
    names = [info.name for info in pkgutil.walk_packages(identify.__path__, "identify.")]
    modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]
    return [
        (module, name, value)
        for module in modules
        for name, value in vars(module).items()
        if name.lstrip("_").isupper()
    ]


@contextmanager
def registries_restored() -> Iterator[None]:
    """What an example adds to a registry, or puts in its place, is gone after it."""
    before = constants()
    copies = [(value, value.copy()) for *_, value in before if isinstance(value, dict | list)]
    yield
    for module, name, value in before:
        setattr(module, name, value)
    for value, copy in copies:
        value.clear()
        value.update(copy) if isinstance(value, dict) else value.extend(copy)


@pytest.fixture
def restored() -> Iterator[None]:
    with registries_restored():
        yield


def run(code: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run an example as a module of its own: dataclasses and pickle look it up by its name."""
    module = types.ModuleType("extending_example")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(code, str(PAGE), "exec"), vars(module))
    return vars(module)


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("title", EXAMPLES)
def test_example_runs(
    title: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = EXAMPLES[title]
    assert len(code.strip().splitlines()) <= WHOLE_MODULES.get(title, LONGEST)
    monkeypatch.chdir(tmp_path)
    run(code, monkeypatch)
    printed = capsys.readouterr().out.strip()
    assert printed or "\nassert " in code, "an example prints or asserts what came of it"


@pytest.mark.usefixtures("restored")
def test_example_metric_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its column, heading, unit and panel come from the one entry that it adds."""
    monkeypatch.chdir(tmp_path)
    run(EXAMPLES["A study metric"], monkeypatch)
    results = open_results("out")
    metres = results.frame["com_distance"].iloc[0]
    assert 0.0 < metres < 0.1
    lines = capsys.readouterr().out.splitlines()
    assert any("CoM mm" in line for line in lines)
    assert any(format_number(1e3 * metres) in line.split() for line in lines)
    rows = StudyRows(results)
    assert rows.plotted_metrics == ("com_distance",)
    (figure,) = accuracy_figures(rows)
    assert "CoM mm" in [axes.get_ylabel() for axes in figure.figure.axes]


@pytest.mark.usefixtures("restored")
def test_example_sensor_takes_the_path_of_every_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its logs are read, fitted, checked, saved and reported, and its bad input is named."""
    monkeypatch.chdir(tmp_path)
    module = run(EXAMPLES["A sensor"], monkeypatch)
    result, log, schema = (module[name] for name in ("result", "log", "schema"))
    for name, truth in (("Ixx", 0.14), ("hz", -0.35)):
        low, high = result.estimate.intervals[name]
        assert low - (high - low) < truth < high + (high - low)
        assert result.estimate.decided_by[name] == "data"
    assert result.estimate.decided_by["Izz"] == "default"
    assert result.estimate.provenance["logs"][0]["schema"] == schema
    assert log.sensor == "pendulum"
    assert not check_logs(log).fit_error
    saved = result_texts(result)
    Path("estimate.json").write_text(saved["estimate.json"])
    Path("result.npz").write_bytes(result_bytes(result))
    loaded, _ = load_result(tmp_path)
    written = datetime(2026, 3, 1, tzinfo=UTC)
    assert report_html(loaded, written=written) == report_html(result, written=written)
    with pytest.raises(SchemaError, match="unloaded does not apply to logs of a pendulum rig"):
        identify.fit(log, unloaded=replace(log, sha256="other"))
    with pytest.raises(SchemaError, match="bias, robot do not apply to logs of a pendulum rig"):
        identify.fit(log, bias="none", robot="arm.urdf")
    with pytest.raises(SchemaError, match=r"\[pendulum\].*'angel'; did you mean 'angle'"):
        load_schema({**schema, "pendulum": {"angel": "a", "torque": "b"}})
    register_sensor(replace(module["PENDULUM"], title="another rig"))  # of the cell run again
    assert result.sensor.title == "another rig"
    with pytest.raises(SchemaError, match="the toolkit has one of this name"):
        register_sensor(replace(module["PENDULUM"], name="wrench"))
    with pytest.raises(SchemaError, match="unknown key 'own_tables'"):
        load_schema({"log": {"time": "t"}, "own_tables": {"pendulum": {}}})
    del SENSORS["pendulum"]
    with pytest.raises(SchemaError, match="sensor 'pendulum' is not registered: first import"):
        report_html(loaded)


def test_table_of_an_unknown_sensor_is_refused() -> None:
    with pytest.raises(SchemaError, match="unknown key 'pendulum'"):
        load_schema({"log": {"time": "t"}, "pendulum": {"angle": "a", "torque": "b"}})


def test_registries_are_restored_after_an_example(monkeypatch: pytest.MonkeyPatch) -> None:
    registry, before = metrics.METRICS, list(metrics.METRICS)
    with registries_restored():
        run("from identify.studies import document, metrics\n"
            "metrics.METRICS['odd'] = metrics.METRICS.pop('mass_error')\n"
            "document.METRICS = {}\n", monkeypatch)  # fmt: skip
        assert list(registry) != before
    assert metrics.METRICS is document.METRICS is registry
    assert list(registry) == before
