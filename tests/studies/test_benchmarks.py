import pytest

from experiments.benchmarks import (
    run as command,
)
from experiments.benchmarks.measure import Effort, ReportLine, race
from experiments.benchmarks.registry import BENCHMARKS
from tests.slow import mostly_slow

TINY = Effort(repetitions=2, scale=0.01, seconds=0.0)
WITHOUT_TARGET = {"inspect", "rows", "shape-prior"}
SLOW = {
    *("long-logs", "checks", "fit-command", "report", "import", "readers"),
    *("forward-simulation", "groups-and-logs", "arms"),
}


def test_contenders_take_turns_in_alternating_order():
    calls: list[str] = []

    def contender(name: str):
        return lambda: calls.append(name) or 1.0

    seconds = race({"a": contender("a"), "b": contender("b")}, Effort(repetitions=3, seconds=0.0))
    assert [len(values) for values in seconds.values()] == [3, 3]
    assert "".join(calls) == "aabb" + "ab" + "ba" + "ab"


@pytest.mark.parametrize("name", mostly_slow(BENCHMARKS, set(BENCHMARKS) - SLOW))
def test_a_benchmark_runs(name):
    lines = BENCHMARKS[name](TINY)
    assert lines
    assert all(isinstance(line, ReportLine) and line.measured for line in lines)
    assert name in WITHOUT_TARGET or any(line.target for line in lines)


def test_failing_benchmark_does_not_hide_others(monkeypatch, tmp_path, capsys):
    def broken(effort: Effort) -> list[ReportLine]:
        raise OSError("no room")

    working = [ReportLine("something", "3 ms", "≤ 2 ms", False)]
    monkeypatch.setattr(
        command, "BENCHMARKS", {"broken": broken, "working": lambda effort: working}
    )
    path = tmp_path / "new" / "benchmarks.md"
    assert command.main(["-o", str(path)]) == 1
    text = path.read_text(encoding="utf-8")
    assert "| broken | failed: OSError: no room |" in text
    assert "| something | 3 ms | ≤ 2 ms | **no** |" in text
    assert "linear algebra: " in text
    assert text.endswith("\n\nIncomplete: some benchmarks failed.\n")
    assert text in capsys.readouterr().out
