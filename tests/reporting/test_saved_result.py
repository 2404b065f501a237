"""The report of a result that was kept in a file is that of the fit."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from identify import plot
from identify.commands.output import write_results
from identify.errors import MissingFile
from identify.exchange import write_estimate
from identify.pipeline import ResultFileError, load_result
from identify.pipeline.saved_result import reportable_part, result_bytes
from identify.reporting.page import report_html

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def folder(still, tmp_path):
    write_estimate(still.estimate, tmp_path / "estimate.json")
    (tmp_path / "result.npz").write_bytes(result_bytes(still))
    return tmp_path


def test_rebuilt_report_is_identical(case, tmp_path):
    write_estimate(case.result.estimate, tmp_path / "estimate.json")
    (tmp_path / "result.npz").write_bytes(result_bytes(case.result, case.truth))
    result, truth = load_result(tmp_path)
    assert report_html(result, truth, written=NOON) == report_html(
        case.result, case.truth, written=NOON
    )
    assert repr(result) == repr(case.result)
    if result.validation.replay is not None:
        assert plot.replay(result).axes


def test_a_long_log_stays_below_20_mb(long):
    assert len(long.logs[0].rows) == 100_000
    several = replace(
        long,
        logs=long.logs * 2,
        estimate=replace(long.estimate, bias=long.estimate.bias * 2),
    )
    for one in (long, several):
        kept = reportable_part(one)
        assert 20_000 < sum(len(log.rows) for log in kept.logs) <= 60_000
        assert len(result_bytes(one)) < 20_000_000


def test_without_a_report_no_result_is_left(still, tmp_path):
    write_results(tmp_path, still, None)
    assert (tmp_path / "result.npz").exists()
    write_results(tmp_path, still, None, report=False)
    assert not (tmp_path / "result.npz").exists()


def test_result_of_another_estimate_is_rejected(folder, still):
    write_estimate(replace(still.estimate, frame="another"), folder / "estimate.json")
    with pytest.raises(ResultFileError, match="interrupted, or one of the files was changed"):
        load_result(folder)


@pytest.mark.parametrize("place", [0.02, 0.3, 0.6, 0.999])
def test_a_damaged_file_is_an_error(folder, place):
    path = folder / "result.npz"
    content = bytearray(path.read_bytes())
    start = int(place * len(content))
    content[start : start + 64] = bytes(byte ^ 0x5A for byte in content[start : start + 64])
    path.write_bytes(content)
    with pytest.raises(ResultFileError, match="damaged"):
        load_result(folder)


def test_truncated_or_empty_result_file_raises(folder):
    path = folder / "result.npz"
    whole = path.read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"no zip"):
        path.write_bytes(content)
        with pytest.raises(ResultFileError, match="damaged"):
            load_result(folder)
    path.unlink()
    with pytest.raises(MissingFile):
        load_result(folder)
