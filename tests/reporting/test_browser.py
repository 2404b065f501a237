import itertools
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np
import pytest

from identify.logs import read_log
from identify.pipeline import Result, fit
from identify.reporting import report
from identify.spatial import BodyFrame, Pose
from tests.browser import POLICY, measured, printed_pages
from tests.reporting.test_report import HOSTILE, renamed

MEASURE = """<pre id="measured"></pre><script>
const box = (element) => {
  const b = element.getBoundingClientRect();
  return [b.left, b.top, b.width, b.height];
};
const figures = [...document.querySelectorAll("svg:not(.body)")].map((svg) => ({
  box: box(svg),
  paths: [...svg.querySelectorAll("path, use")].filter((one) => one.getBBox().width > 0).length,
  texts: [...svg.querySelectorAll("text")].map(
    (text) => ({text: text.textContent, box: box(text)})),
}));
document.getElementById("measured").textContent = JSON.stringify({
  width: document.documentElement.scrollWidth, figures,
  height: document.documentElement.scrollHeight,
  scrolled: [...document.querySelectorAll("section > .scroll")].map(
    (one) => one.scrollWidth - one.clientWidth),
  cards: [...document.querySelectorAll("section")].map(box),
  tables: [...document.querySelectorAll("table.lines")].map((table) => ({
    scrolled: table.parentNode.scrollWidth - table.parentNode.clientWidth,
    heights: [...table.querySelectorAll("tbody tr:not(.group)")].map((row) => box(row)[3]),
    line: parseFloat(getComputedStyle(table).lineHeight),
  })),
  labels: [...document.querySelectorAll("svg.body text")].map(
    (text) => ({text: text.textContent, box: box(text)})),
});
</script>"""


def _with_ruler(page: Path) -> Path:
    """A copy that writes the boxes of its figures into itself, as the policy would not let it."""
    html = POLICY.sub("", page.read_text(encoding="utf-8"))
    copy = page.with_name(f"measured-{page.name}")
    copy.write_text(html.replace("</main>", f"</main>{MEASURE}"), encoding="utf-8")
    return copy


def _on_a_phone(page: Path, width: int) -> Path:
    """A page with another one in a frame, as windows are at least 500 px wide, and its boxes."""
    phone = page.with_name(f"phone-{page.name}")
    html = escape(page.read_text(encoding="utf-8"))
    phone.write_text(
        f'<meta charset="utf-8"><iframe width="{width}" height="900" style="border: 0" '
        f'srcdoc="{html}"></iframe><pre id="measured"></pre><script>'
        'const frame = document.querySelector("iframe"); frame.onload = () => { '
        'document.getElementById("measured").textContent = '
        'frame.contentDocument.getElementById("measured").textContent; frame.remove(); };</script>',
        encoding="utf-8",
    )
    return phone


def _overlap(one: list[float], other: list[float]) -> bool:
    """Whether two boxes share more than the empty edges of their lines."""
    wide = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    high = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    return wide > 1.0 and high > 0.3 * min(one[3], other[3])


@pytest.mark.parametrize("name", ["static poses", "several logs, constrained"])
def test_report_page_logs_no_errors_and_loads_nothing(case_of, name, visit, tmp_path):
    case = case_of(name)
    page = report(case.result, tmp_path / "report.html", case.truth)
    seen = visit(page)
    assert seen.console == []
    assert seen.requests == []
    assert "Inertia of a rigid body" in seen.dom


def test_every_figure_is_drawn_and_no_text_overlaps(constrained, visit, tmp_path):
    page = report(constrained, tmp_path / "report.html")
    count = page.read_text(encoding="utf-8").count("<svg viewBox")
    for width in (1100, 500):
        _assert_drawn(measured(visit(_with_ruler(page), width)), width, count)


def test_wide_screen_is_filled_by_cards_side_by_side(case_of, visit, tmp_path):
    case = case_of("one log")
    page = _with_ruler(report(case.result, tmp_path / "report.html", case.truth))
    narrow, wide = measured(visit(page)), measured(visit(page, 1600))
    _assert_drawn(wide, 1600, len(narrow["figures"]))
    assert wide["height"] < narrow["height"]
    lefts, tops, widths, _ = zip(*wide["cards"], strict=True)
    assert min(lefts) < 50.0
    assert max(map(sum, zip(lefts, widths, strict=True))) > 1550.0
    assert len(set(tops)) < len(tops)
    for one, other in itertools.combinations(wide["cards"], 2):
        assert not _overlap(one, other)


def _assert_drawn(found: dict, width: int, count: int) -> None:
    assert found["width"] <= width
    assert len(found["figures"]) == count
    for figure in found["figures"]:
        left, top, wide, high = figure["box"]
        assert wide > 300
        assert high > 100
        assert figure["paths"] >= 5
        assert len(figure["texts"]) >= 5
        for text in figure["texts"]:
            x, y, w, h = text["box"]
            inside = x >= left - 1 and y >= top - 1
            inside = inside and x + w <= left + wide + 1 and y + h <= top + high + 1
            assert inside, f"{text['text']!r} is cut off"
        for one, other in itertools.combinations(figure["texts"], 2):
            assert not _overlap(one["box"], other["box"]), f"{one['text']!r}, {other['text']!r}"


@pytest.fixture(scope="module")
def shipped() -> Result:
    """The fit of `make demo`."""
    folder = Path(__file__).parents[2] / "datasets" / "payload_arm"
    return fit(read_log(folder / "payload_arm.parquet", folder / "schema.toml"))


def test_printed_report_has_at_most_eight_pages(shipped, browser, tmp_path):
    page = report(shipped, tmp_path / "report.html")
    assert 4 <= printed_pages(browser, tmp_path, page) <= 8


@pytest.mark.parametrize("name", ["one log", "static poses", "a gap, mass given"])
def test_a_phone_shows_each_parameter_and_axis_on_one_line(case_of, name, visit, tmp_path):
    case = case_of(name)
    page = report(case.result, tmp_path / "report.html", case.truth)
    found = measured(visit(_on_a_phone(_with_ruler(page), 400)))
    assert found["width"] == 400
    parameters, _, held_out = found["tables"]  # one is folded
    for table, rows in ((parameters, 10), (held_out, 6)):
        assert table["scrolled"] <= 0
        assert len(table["heights"]) == rows
        assert max(table["heights"]) < 2.0 * table["line"]


def test_tables_of_an_arm_fit_a_phone(visit, tmp_path):
    folder = Path(__file__).parents[2] / "datasets" / "arms" / "six_axes"
    logs = [
        read_log(folder / f"{name}.parquet", folder / "schema.toml") for name in ("loaded", "empty")
    ]
    robot = folder / "arm.urdf"
    loaded = fit(logs[0], unloaded=logs[1], robot=robot, frame="tool0", interval="formula")
    for result in (loaded, fit(logs[1], robot=robot, interval="formula")):
        page = _with_ruler(report(result, tmp_path / "report.html"))
        scrolled = measured(visit(_on_a_phone(page, 400)))["scrolled"]
        assert len(scrolled) > 3
        assert max(scrolled) <= 0


def test_labels_of_frames_do_not_overlap(result, visit, tmp_path):
    poses = [Pose(np.eye(3), np.array([0.0, 0.0, z])) for z in (0.0, 0.002)]
    estimate = replace(result.estimate, frames=BodyFrame("wrist", *poses))
    page = report(replace(result, estimate=estimate), tmp_path / "report.html")
    labels = measured(visit(_with_ruler(page)))["labels"]
    assert sorted(label["text"] for label in labels) == ["flange", "tool point", "x", "y", "z"]
    for one, other in itertools.combinations(labels, 2):
        assert not _overlap(one["box"], other["box"]), f"{one['text']!r}, {other['text']!r}"


def test_hostile_names_are_not_executed(still, visit, tmp_path):
    page = report(renamed(still, HOSTILE), tmp_path / "report.html")
    for copy in (page, _with_ruler(page)):
        seen = visit(copy)
        assert seen.console == []
        assert seen.requests == []


def test_browser_reports_console_errors_and_requests(visit, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        '<html><body><img src="http://example.invalid/a.png">'
        "<script>console.error('boo')</script></body></html>"
    )
    seen = visit(page)
    assert any("boo" in line for line in seen.console)
    assert "http://example.invalid/a.png" in seen.requests
