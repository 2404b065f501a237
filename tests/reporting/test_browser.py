import itertools
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import pytest

from identify.reporting import report
from tests.reporting.test_report import HOSTILE, renamed

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-sync",
    "--hide-scrollbars",
    # Whatever the browser wants of the network on its own account ends here, too.
    "--proxy-server=127.0.0.1:9",
    "--enable-logging=stderr",
    "--v=0",
)
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
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
});
</script>"""


@dataclass(frozen=True)
class Visit:
    """What a browser made of a page.

    Attributes:
        dom: the document after it was loaded.
        console: what was written to the console.
        requests: addresses that the page asked for.
    """

    dom: str
    console: list[str]
    requests: list[str]


@pytest.fixture(scope="session")
def browser() -> str:
    for name in NAMES:
        if found := shutil.which(name):
            return found
    pytest.skip("no chromium on the path (Debian: apt-get install chromium)")


@pytest.fixture
def visit(browser, tmp_path):
    """Opens a file in a new profile, in a window of a width."""

    def open_page(page: Path, width: int = 1100) -> Visit:
        log = tmp_path / "net.json"
        sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        done = subprocess.run(
            [
                *(browser, *FLAGS, *sandbox, f"--window-size={width},2000"),
                *(f"--user-data-dir={tmp_path / 'profile'}", f"--log-net-log={log}"),
                *("--dump-dom", page.as_uri()),
            ],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "</html>" in done.stdout
        console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
        return Visit(done.stdout, console, _requests(log))

    return open_page


def _requests(log: Path) -> list[str]:
    """Addresses asked for by pages, not by the browser itself (whose requests have no origin)."""
    events = json.loads(log.read_text(encoding="utf-8"))["events"]
    parameters = [event.get("params") or {} for event in events]
    return [
        one["url"]
        for one in parameters
        if "url" in one and one.get("initiator", "not an origin") != "not an origin"
    ]


def measured(visit: Visit) -> dict:
    (text,) = re.findall(r'<pre id="measured">(.*?)</pre>', visit.dom, flags=re.DOTALL)
    return json.loads(unescape(text))


def _with_ruler(page: Path) -> Path:
    """A copy that writes the boxes of its figures into itself, as the policy would not let it."""
    html = POLICY.sub("", page.read_text(encoding="utf-8"))
    copy = page.with_name(f"measured-{page.name}")
    copy.write_text(html.replace("</main>", f"</main>{MEASURE}"), encoding="utf-8")
    return copy


def _overlap(one: list[float], other: list[float]) -> bool:
    """Whether two boxes share more than the empty edges of their lines."""
    wide = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    high = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    return wide > 1.0 and high > 0.3 * min(one[3], other[3])


@pytest.mark.parametrize("name", ["still poses", "several logs, constrained"])
def test_nothing_on_the_console_and_nothing_from_the_network(case_of, name, visit, tmp_path):
    case = case_of(name)
    page = report(case.result, tmp_path / "report.html", case.truth)
    seen = visit(page)
    assert seen.console == []
    assert seen.requests == []
    assert "Inertia of a rigid body" in seen.dom


def test_every_figure_is_drawn_and_no_text_overlaps(many, visit, tmp_path):
    page = report(many, tmp_path / "report.html")
    count = page.read_text(encoding="utf-8").count("<svg viewBox")
    for width in (1100, 500):
        _assert_drawn(measured(visit(_with_ruler(page), width)), width, count)


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


def test_hostile_names_do_nothing(still, visit, tmp_path):
    page = report(renamed(still, HOSTILE), tmp_path / "report.html")
    for copy in (page, _with_ruler(page)):
        seen = visit(copy)
        assert seen.console == []
        assert seen.requests == []


def test_the_browser_would_have_told(visit, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        '<html><body><img src="http://example.invalid/a.png">'
        "<script>console.error('boo')</script></body></html>"
    )
    seen = visit(page)
    assert any("boo" in line for line in seen.console)
    assert "http://example.invalid/a.png" in seen.requests
