import io

from rich.console import Console

from identify.reporting import parameter_rich_table, parameter_rows
from identify.reporting.parameter_table import TABLE_GROUPS


def printed(*arguments: object, width: int = 80) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, highlight=False).print(parameter_rich_table(*arguments))
    return stream.getvalue()


def test_printed_table_contains_every_number(case):
    lines = printed(case.result.estimate, case.truth, TABLE_GROUPS).splitlines()
    assert max(map(len, lines)) <= 80
    for row in parameter_rows(case.result.estimate, case.truth):
        (line,) = (line for line in lines if line.split()[:1] == [row.name])
        shown = row.formatted
        for text in (shown.unit, shown.value, shown.interval, row.decided_by, shown.truth):
            assert text in line
        assert (f"{shown.error}*" in line) == row.truth_outside_interval


def test_printed_table_states_interval_kind(result):
    assert result.estimate.interval_kind in " ".join(printed(result.estimate).split())


def test_printed_table_describes_default_body(still):
    text = " ".join(printed(still.estimate).split())
    assert "default: not identifiable from this log; near a solid ball" in text
    assert text.count("unidentifiable") == 6


def test_table_without_true_body_has_no_truth_column(result):
    text = printed(result.estimate)
    assert "truth" not in text
    assert "Icxx" in text
    assert "hx" not in text
