import io

import pytest

from identify.progress import format_duration
from identify.studies.progress import Progress, display_progress, format_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_line_shows_done_failed_rate_and_remaining_time() -> None:
    progress = Progress(total=100, already_done=20, done=30, failed=2, seconds=10.0)
    assert (
        format_progress(progress)
        == "50 of 100 trials, 20 from earlier runs, 2 failed, 3 per second, 17 s to go"
    )
    assert progress.rate == 3.0
    assert progress.unfinished == 50


@pytest.mark.parametrize(
    ("seconds", "said"), [(3.2, "3 s"), (61, "1 min 1 s"), (3600 * 2 + 300, "2 h 5 min")]
)
def test_durations_are_readable(seconds: float, said: str) -> None:
    assert format_duration(seconds) == said


def test_progress_without_terminal_is_plain_and_rare() -> None:
    stream = io.StringIO()
    with display_progress(stream) as show:
        for second in range(100):
            show(Progress(total=200, already_done=0, done=second, seconds=float(second)))
        show(Progress(total=200, already_done=0, done=200, seconds=100.0))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 4
    assert lines[-1] == "200 of 200 trials, 0 failed, 2 per second"
    assert "\x1b" not in stream.getvalue()


def test_terminal_progress_updates_single_line() -> None:
    stream = Terminal()
    with display_progress(stream) as show:
        show(Progress(total=10, already_done=0, done=5, failed=1, seconds=1.0))
    assert "5 of 10 trials, 1 failed" in stream.getvalue()
