"""The pages of look and check as a browser shows them: light, dark, narrow and printed."""

import itertools
from dataclasses import replace
from html import escape

import numpy as np
import pytest

from identify.findings import Finding, derive_verdict
from identify.logs import synthetic_recording
from identify.logs.log_writing import write_log
from identify.pipeline import LogCheck
from identify.pipeline.log_overview import look_at_log
from identify.reporting.log_page import log_page_html
from identify.reporting.signal_columns import line_columns, recording_lines
from tests.browser import POLICY, measured
from tests.commands.test_look import write_sloppy
from tests.reporting.test_browser import MEASURE, _overlap
from tests.strategies import random_body

COPY = """<pre id="measured"></pre><script>
addEventListener("load", () => {
  document.getElementById("measured").textContent =
    document.querySelector("iframe").contentDocument.getElementById("measured").textContent;
});
</script>"""
"""Takes the measures of a page in a frame, as a window has no less than 500 px."""

MODES = {
    "light": (1100, lambda html: html),
    "dark": (1100, lambda html: html.replace("(prefers-color-scheme: dark)", "(min-width: 0)")),
    "narrow": (400, lambda html: html),
    "printed": (700, lambda html: html.replace("@media print", "@media screen")),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages of a log in SI with a finding, of two logs, and of one that no schema reads."""
    folder = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(3)
    recording = synthetic_recording(random_body(rng), rng=rng, duration=20.0, rate_hz=100.0)
    force = recording.signals["force"].copy()
    force[300] += 50.0
    force[700:800] = force[700]
    recording = replace(
        recording,
        time=recording.time + 3.0 * (recording.time > 12.0),
        signals={**recording.signals, "force": force},
    )
    schema = write_log(recording, folder / "log.csv")
    log = look_at_log(folder / "log.csv", schema)
    spans = {"spans": [[4.0, 5.5], [9.0, 9.1]]}
    contact = Finding("contact", "warning", "something touched it.", "Exclude.", spans, "log")
    verdict = derive_verdict([contact], possible=True, optimal=True, identifiable=())
    check = LogCheck((contact,), verdict)
    sloppy = look_at_log(write_sloppy(folder / "sloppy.csv"))
    return {
        "look": log_page_html([look_at_log(folder / "log.csv")]),
        "sloppy": log_page_html([sloppy]),
        "check": log_page_html([log, log], check),
    }


@pytest.mark.parametrize("name", ["look", "sloppy", "check"])
def test_page_has_no_errors_and_loads_nothing(pages, name, visit, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(pages[name], encoding="utf-8")
    seen = visit(page)
    assert seen.console == []
    assert seen.requests == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["look", "sloppy", "check"])
def test_nothing_scrolls_sideways_and_no_labels_overlap(pages, name, mode, visit, tmp_path):
    width, change = MODES[mode]
    html = POLICY.sub("", change(pages[name])).replace("<details>", "<details open>")
    html = html.replace("</main>", f"</main>{MEASURE}")
    if mode == "narrow":
        html = (
            f'<html><body><iframe srcdoc="{escape(html)}" style="width: 400px; height: 9000px; '
            f'border: 0"></iframe>{COPY}</body></html>'
        )
    page = tmp_path / "page.html"
    page.write_text(html, encoding="utf-8")
    found = measured(visit(page, max(width, 500)))
    assert found["width"] <= width
    assert len(found["figures"]) == pages[name].count("<svg viewBox")
    for figure in found["figures"]:
        left, top, wide, high = figure["box"]
        for text in figure["texts"]:
            x, y, w, h = text["box"]
            inside = x >= left - 1 and y >= top - 1
            inside = inside and x + w <= left + wide + 1 and y + h <= top + high + 1
            assert inside, f"{text['text']!r} is cut off"
        for one, other in itertools.combinations(figure["texts"], 2):
            assert not _overlap(one["box"], other["box"]), f"{one['text']!r}, {other['text']!r}"


def test_long_label_of_a_signal_makes_its_panel_higher():
    rng = np.random.default_rng(4)
    recording = synthetic_recording(random_body(rng), rng=rng, duration=5.0, include="all")
    columns = line_columns(recording_lines(recording), (), "time [s]", 60)
    heights = {panel.ylabel: panel.height for column in columns for panel in column.panels}
    assert heights["angular acceleration [rad/s²]"] > 1.5 * heights["position [m]"]


def test_force_is_drawn_beside_the_motion_below_the_marks(pages, visit, tmp_path):
    page = tmp_path / "page.html"
    html = POLICY.sub("", pages["look"]).replace("</main>", f"</main>{MEASURE}")
    page.write_text(html, encoding="utf-8")
    marks, motion, wrench, *_ = (figure["box"] for figure in measured(visit(page))["figures"])
    assert marks[1] + marks[3] < motion[1] == wrench[1]
    assert motion[0] + motion[2] < wrench[0]


def test_findings_are_drawn_at_their_times(pages):
    assert "contact: 2 × 0.8 s" in pages["check"]
    assert "finding" in pages["check"]
    assert "contact: " not in pages["look"]
