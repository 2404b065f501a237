"""The page of a fit as a reader has it: in a browser, with its script."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import identify
from identify.commands.main import main
from identify.commands.output import write_results
from identify.reporting import report
from tests.browser import POLICY, measured
from tests.reporting.conftest import BODY, moving

ACT = """<pre id="measured"></pre><script>
SVGElement.prototype.setPointerCapture = () => {};
const found = {copied: []};
const writeText = async text => found.copied.push(text);
Object.defineProperty(navigator, "clipboard", {value: {writeText}});
const plots = [...document.querySelectorAll('svg[data-link="time"]')];
const across = svg => [...svg.querySelectorAll(".across")]
  .filter(one => one.style.display !== "none")
  .map(one => Number(one.textContent.replace("−", "-")));
const box = plots[0].querySelector(".edge").getBoundingClientRect();
const at = share => ({clientX: box.left + share * box.width, clientY: box.top + 20, bubbles: true});
const act = (kind, share) => plots[0].dispatchEvent(new PointerEvent(kind, at(share)));
const press = (svg, key) => svg.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
const ends = svg => { const all = across(svg); return [all[0], all[all.length - 1]]; };
found.links = plots.length;
found.whole = plots.map(ends);
act("pointermove", 0.5);
found.read = plots[0].parentNode.querySelector("output").textContent;
found.residual = plots[2].parentNode.querySelector("output").textContent;
act("pointerdown", 0.25); act("pointermove", 0.5); act("pointerup", 0.5);
found.zoomed = plots.map(ends);
found.drawn = plots.map(svg => svg.querySelector(".data").getAttribute("transform"));
press(plots[1], "0");
found.back = plots.map(ends);
press(plots[1], "+");
found.keyed = plots.map(ends);
document.querySelectorAll(".tools button")[2].click();
found.all = plots.map(ends);
const body = document.querySelector("svg.body");
const marks = () => [...body.querySelectorAll("[data-p]")].map(one => one.outerHTML).join();
const before = marks();
press(body, "ArrowLeft");
found.turned = before !== marks();
for (const button of document.querySelectorAll("details.copied button")) button.click();
found.texts = [...document.querySelectorAll("details.copied pre")].map(one => one.textContent);
document.getElementById("measured").textContent = JSON.stringify(found);
</script>"""
NARROW = """<pre id="measured"></pre><script>
const cut = [...document.querySelectorAll("main *")].filter(one => {
  if (one.closest(".scroll, pre, svg, details:not([open])")) return false;
  return one.getBoundingClientRect().right > document.documentElement.clientWidth + 1;
}).map(one => one.outerHTML.slice(0, 100));
document.getElementById("measured").textContent = JSON.stringify({
  width: document.documentElement.scrollWidth, cut});
</script>"""


@pytest.fixture(scope="module")
def fitted():
    return identify.fit(moving(11), command="identify fit LOG")


def with_script(page: Path, script: str) -> Path:
    """A copy that does something, as the page's policy would not let it."""
    html = POLICY.sub("", page.read_text(encoding="utf-8"))
    copy = page.with_name(f"acting-{page.name}")
    copy.write_text(html.replace("</body>", f"{script}</body>"), encoding="utf-8")
    return copy


def test_plots_zoom_together_the_body_turns_and_texts_are_copied(fitted, visit, tmp_path):
    page = report(fitted, tmp_path / "report.html", BODY)
    seen = visit(with_script(page, ACT))
    assert seen.console == []
    assert seen.requests == []
    found = measured(seen)
    assert found["links"] == 4  # force and torque, and their residuals
    whole = found["whole"][0]
    assert found["whole"] == found["back"] == found["all"] == [whole] * 4
    (zoomed,) = {tuple(ends) for ends in found["zoomed"]}
    assert 1.8 < zoomed[0] < zoomed[1] < 4.2  # a quarter to a half of the log's 7.75 s
    assert all(text.startswith("matrix(") for text in found["drawn"])
    (keyed,) = {tuple(ends) for ends in found["keyed"]}
    assert keyed[1] - keyed[0] < 3.5 < whole[1] - whole[0]
    assert re.fullmatch(
        r"\d\.\d{3} s( · [xyz]: measured −?[\d.]+, predicted −?[\d.]+ (m?N)){3}", found["read"]
    )
    assert "measured − predicted" in found["residual"]
    assert found["turned"]
    assert found["copied"] == found["texts"]
    assert any("<inertial>" in text for text in found["copied"])


def test_values_under_the_pointer_match_the_log(fitted, visit, tmp_path):
    from identify.reporting.wrenches import predict_wrenches

    seen = visit(with_script(report(fitted, tmp_path / "report.html"), ACT))
    time, *values = re.findall(r"−?\d+\.\d+", measured(seen)["read"].replace("−", "-"))
    (prediction,), (log,) = predict_wrenches(fitted), fitted.logs
    place = abs(log.time - float(time)).argmin()
    pairs = zip(prediction.measured[place, :3], prediction.predicted[place, :3], strict=True)
    assert [abs(value) for pair in pairs for value in pair] == pytest.approx(
        [float(value) for value in values], abs=5e-3
    )


def bad(result):
    """The same fit, not to be used."""
    finding = identify.Finding("unexplained", "error", "Something is wrong.")
    return replace(result, estimate=replace(result.estimate, findings=(finding,)))


@pytest.mark.parametrize("make", [lambda result: result, bad], ids=["good", "bad"])
def test_narrow_page_cuts_nothing(fitted, make, visit, tmp_path):
    page = report(make(fitted), tmp_path / "report.html")
    seen = visit(with_script(page, NARROW), width=400)
    assert seen.console == []
    found = measured(seen)
    assert found["cut"] == []
    assert found["width"] <= 500  # headless windows are no narrower


def test_comparison_page_is_self_contained_and_fits_narrow_page(fitted, visit, tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        write_results(tmp_path / name, fitted, None, report=False)
    page = tmp_path / "both.html"
    assert main(["compare", str(tmp_path / "one"), str(tmp_path / "other"), "-o", str(page)]) == 0
    seen = visit(with_script(page, NARROW), width=400)
    assert seen.console == []
    assert seen.requests == []
    assert measured(seen)["cut"] == []
    assert "The 2 estimates agree" not in seen.dom  # the page says it in its first tile
    assert "the 2 estimates agree" in seen.dom
