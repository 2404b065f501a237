import base64
import hashlib
import re
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from identify.commands.summary import detail_lines
from identify.estimation.scale_accuracy import WITH_GIVEN_SCALE
from identify.estimation.variance_shares import VARIANCE_SOURCES
from identify.findings import Finding
from identify.inertia import PHI
from identify.reporting import parameter_rows, report, wrench_page
from identify.reporting.body import scale_error_in_words
from identify.reporting.content import Listing
from identify.reporting.page import report_html
from identify.reporting.precision import _SOURCE_MEANINGS
from identify.reporting.result import export_section, verdict_in_words
from tests.reporting.page import Page

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOSTILE = (
    '<script>alert("x")</script>\'"><img src=http://evil.example/a onerror=alert(1)>&amp;{{7*7}}'
)


@pytest.fixture(scope="session")
def html(case) -> str:
    return report_html(case.result, case.truth, written=NOON)


@pytest.fixture(scope="session")
def page(html) -> Page:
    return Page(html)


def renamed(result, name: str):
    """The same result of logs of another name, with a finding, a command and a schema with it."""
    logs = tuple(
        replace(log, recording=replace(log.recording, name=name, schema={name: {"unit": name}}))
        for log in result.logs
    )
    provenance = {**result.estimate.provenance, "command": f"identify fit {name}"}
    return replace(
        result,
        logs=logs,
        estimate=replace(
            result.estimate,
            provenance=provenance,
            default_body=name,
            findings=(Finding("contact", "warning", name, name, where=name),),
        ),
    )


def test_report_contains_every_parameter(case, page):
    for row in parameter_rows(case.result.estimate, case.truth):
        symbol = f"Ic,{row.name[2:]}" if row.name.startswith("Ic") else row.name
        texts = row.formatted
        ((_, value, interval, unit, *decided_by, truth, error),) = page.rows(
            symbol, texts.value, texts.interval, texts.unit
        )
        assert (unit, value, truth) == (texts.unit, texts.value, texts.truth)
        assert error == texts.error + (" *" if row.truth_outside_interval else "")
        assert (interval, *decided_by) in (
            (texts.interval,),  # of a table that the data decide
            (texts.interval, row.decided_by),
        )


def test_unidentified_parameters_are_muted_and_labelled(case, page):
    for row in parameter_rows(case.result.estimate, case.truth):
        symbol = f"Ic,{row.name[2:]}" if row.name.startswith("Ic") else row.name
        shown = [symbol, row.formatted.value, row.formatted.interval, row.formatted.unit]
        (place,) = (i for i, cells in enumerate(page.cells) if cells[:4] == shown)
        assert page.muted[place] == (row.decided_by == "default")
        if row.decided_by == "default":
            assert page.cells[place][2:5:2] == ["unidentifiable", "default"]
    if not case.result.estimate.complete:
        assert case.result.estimate.default_body in page.text
        assert "not identifiable" in page.text


def test_contact_search_is_mentioned_for_moving_logs_only(case, page):
    moves = any(not log.recording.still for log in case.result.logs)
    assert ("readings at the end of their range and frozen signals: " in page.text) == moves


def test_effect_of_one_percent_scale_error_is_shown_when_not_in_intervals(case, page):
    estimate = case.result.estimate
    said = "a scale error of the sensor of +1 % makes"
    assert page.text.count(said) == len(estimate.bodies)
    counted = replace(estimate, interval_kind=f"95 %; {WITH_GIVEN_SCALE}")
    assert scale_error_in_words(counted) == []
    if estimate.decided_by["m"] == "data":
        assert "mass, first moments and inertia 1 % too large" in page.text


def test_only_a_body_whose_inertia_is_known_has_a_picture(case, page):
    drawn = any(tag == "svg" and attrs.get("class") == "body" for tag, attrs in page.tags)
    usable = case.result.verdict.usable != "no"
    assert drawn == (usable and bool(case.result.estimate.principal_axes))


def test_findings_and_missing_parts_are_visible(case, page):
    for finding in case.result.findings:
        rows = page.rows(finding.severity, finding.code.replace("_", " "))
        expected = "".join(str(finding).replace("`", "").split())
        assert ["".join(text.split()) for *_, text in rows].count(expected) == 1
    for reason in case.result.validation.missing:
        assert " ".join(reason.split()) in page.text


def test_verdict_lists_consistency_identifiability_and_fit_separately(case, page):
    said = verdict_in_words(case.result)
    reasons = said.usable.partition(" (")[2].removesuffix(")")
    assert f": {reasons or 'the body is physically consistent'}" in page.text
    assert page.rows("Usable") == []  # the sentence above the table says it
    assert page.rows("Physically consistent", said.physically_consistent)
    assert said.physically_consistent == "yes, some distribution of mass has these parameters"
    assert page.rows("Identifiable", said.identifiable)
    (explained,) = page.rows("Explains the data")
    assert said.explains_data.startswith(explained[1])
    assert explained[1].startswith("yes" if case.result.verdict.explains_data else "no")
    assert "Certified" not in page.text


def test_reasons_name_the_quantities_that_are_imprecise(result):
    wide = Finding("imprecise", "info", "wide", evidence={"doubted": ["inertia"]})
    named = (wide, Finding("imprecise", "warning", "wide"), Finding("delay", "warning", "late"))
    doubtful = replace(result, estimate=replace(result.estimate, findings=named))
    assert verdict_in_words(doubtful).usable == "with care (inertia imprecise; imprecise; delay)"


def test_inconsistent_estimate_is_not_reported_as_consistent(result, monkeypatch):
    verdict = replace(result.verdict, possible=False)
    monkeypatch.setattr(type(result), "verdict", property(lambda self: verdict))
    said = "no, no distribution of mass has these parameters"
    assert verdict_in_words(result).physically_consistent == said
    assert any(
        line.startswith(f"Physically consistent: {said} (minimum") for line in detail_lines(result)
    )


def sha(log) -> str:
    return log.recording.sha256[:12]


def test_report_lists_every_log(case, page):
    used = 0
    for number, log in enumerate(case.result.logs, start=1):
        (cells,) = (row for row in page.rows(f"{number}: {log.name}") if row[-1] == sha(log))
        assert cells[1] == str(log.recording.rows)
        used += int(cells[-3])
        left_out = (log.recording.dropped.total, log.repeated_rows, log.unused_rows)
        assert sum(map(int, cells[2:-6])) == sum(left_out)
        assert any(attributes.get("title") == log.recording.sha256 for _, attributes in page.tags)
    assert used == case.result.estimate.samples
    assert (f"{used} samples" in page.text) == (len(case.result.logs) > 1)


def test_biases_are_shown(case, page):
    settings, estimate = case.result.settings, case.result.estimate
    if settings.bias == "none":
        assert "No sensor offset was fitted" in page.text
        return
    names = [f"{number}: {log.name}" for number, log in enumerate(case.result.logs, start=1)]
    names = names if settings.bias == "per_log" else ["all logs"]
    assert "f z [N]" in page.text
    assert "t z [mN m]" in page.text
    for name, bias, widths in zip(names, estimate.biases, estimate.bias_half_widths, strict=False):
        (cells,) = (row for row in page.rows(name) if " ± " in row[-1])
        shown = np.array([cell.split(" ± ") for cell in cells[1:]], dtype=np.float64)
        shown[3:] *= 1e-3
        np.testing.assert_allclose(shown[:, 0], bias, atol=0.06)
        # Of an exact log, seven digits of the offset leave one of the interval.
        np.testing.assert_allclose(shown[:, 1], widths, rtol=0.06, atol=1e-6)


def test_principal_moments_have_intervals_and_their_axes_cones(case, page):
    estimate = case.result.estimate
    if not estimate.principal_axes:
        assert "Principal axes of inertia" not in page.text
        return
    assert not re.search(r"± [\d.]+ … ", page.text)  # a sign is of half a width
    for number, axis in enumerate(estimate.principal_axes, start=1):
        (cells,) = (row for row in page.rows(f"{number}") if len(row) == 6)
        _, moment, interval, direction, cone, _ = cells
        low, high = estimate.intervals[f"I{number}"]
        assert float(moment) > 0.0 or axis.moment < 1e-6 * estimate.principal_axes[-1].moment
        if interval.startswith("± "):
            share = float(interval[2:]) / float(moment)
            expected = 0.5 * (high - low) / axis.moment
            np.testing.assert_allclose(share, expected, rtol=0.06, atol=1e-6)
        shown = [float(entry) for entry in direction.split(", ")]
        np.testing.assert_allclose(shown, axis.direction, atol=6e-4)
        if axis.half_angle is None:
            assert cone == "any"
        else:
            angle = float(cone.strip("± °"))
            np.testing.assert_allclose(angle, np.rad2deg(axis.half_angle), rtol=0.06)


def test_variance_sources_are_shown_when_noise_was_estimated(case, page):
    shares = case.result.estimate.variance_shares
    assert ("Variance by source" in page.text) == bool(shares)
    bodies = case.result.estimate.bodies
    every = [of for body in bodies for of in body.variance_shares.values()]
    there = [source for source in VARIANCE_SOURCES if any(of.get(source) for of in every)]
    for name, of in shares.items():
        for cells in page.rows(name):
            if len(cells) == 1 + len(there) and all(cell.isdigit() for cell in cells[1:]):
                shown = [float(cell) for cell in cells[1:]]
                wanted = [100.0 * of.get(source, 0.0) for source in there]
                np.testing.assert_allclose(shown, wanted, atol=0.51)
                break
        else:
            assert name in PHI[1:], f"no row of the sources of {name}"
    for source, said in _SOURCE_MEANINGS.items():
        assert (said in page.text) == (source in there)


def test_signal_noise_is_shown_in_customary_units(case, page):
    noises = [log.signal_noise for log in case.result.logs]
    if not any(noises):
        assert "Noise of the signals" not in page.text
        return
    for number, (log, noise) in enumerate(zip(case.result.logs, noises, strict=True), start=1):
        if noise is None:
            continue
        variance = np.diag(noise.covariance).reshape(-1, 3).mean(axis=1)
        sigma = dict(zip(noise.names, np.sqrt(variance), strict=True))
        expected = [1e3 * sigma["position"], np.rad2deg(sigma["quaternion"]), sigma["force"]]
        assert any(
            np.allclose([float(row[1]), float(row[2]), float(row[-2])], expected, rtol=0.06)
            for row in page.rows(f"{number}: {log.name}")
            if len(row) >= 5 and row[1].replace(".", "").replace("e-", "").isdigit()
        )


def test_certificate_is_shown(case, page):
    proof = case.result.estimate.certificate
    assert page.rows("Identifiable directions", f"{proof.rank} of 10")
    ((_, eigenvalues, _),) = page.rows("Eigenvalues of the scaled pseudo-inertia")
    shown = [float(value) for value in eigenvalues.split(", ")]
    np.testing.assert_allclose(shown, proof.eigenvalues, rtol=0.01)
    assert ("No solver was needed" in page.text) == (proof.solver == "none")
    for name, version in proof.versions.items():
        assert f"{name} {version}" in page.text


def test_report_refers_to_no_external_resource(html, page):
    for tag, attributes in page.tags:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "image"}
        if tag == "script":
            assert not attributes
        for name, value in attributes.items():
            assert not name.startswith("on"), f"{tag} {name}={value}"
            assert name not in {"src", "srcset", "action", "data", "poster"}
            if name in {"href", "xlink:href"}:
                assert value.startswith("#")
            for target in re.findall(r"url\(([^)]*)\)", value):
                assert target.startswith("#")
    assert "url(" not in page.styles
    assert "@import" not in page.styles
    assert re.findall(r"https?:|//[a-z]", html) == []


def test_ids_are_unique_and_references_resolve(page):
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    used = {
        target
        for _, attributes in page.tags
        for name, value in attributes.items()
        for target in re.findall(r"^#(.+)$" if "href" in name else r"url\(#([^)]+)\)", value)
    }
    assert used <= set(ids)
    assert any(name.startswith("fit1-") for name in used)


def test_content_security_policy_allows_own_styles_and_script_only(page):
    (policy,) = (
        attributes["content"]
        for tag, attributes in page.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert "default-src 'none'" in policy
    own = base64.b64encode(hashlib.sha256(page.script.encode()).digest()).decode()
    assert f"script-src 'sha256-{own}';" in policy
    assert page.tags[2] == ("meta", {"charset": "utf-8"})


def test_figures_have_alternative_text(page):
    drawn = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert len(drawn) >= 6
    for attributes in drawn:
        assert attributes["role"] == "img"
        assert attributes["aria-label"]
        assert len(attributes["viewbox"].split()) == 4


def test_the_same_result_gives_the_same_report(constrained, tmp_path):
    first = report(constrained, tmp_path / "a.html", written=NOON)
    second = report(constrained, tmp_path / "b.html", written=NOON)
    assert first.read_bytes() == second.read_bytes()
    assert "2026-03-01 12:00 UTC" in first.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [HOSTILE, "Ünïcode 測定 ≤ ½", "a" * 300, " ", "]]>--><!--"])
def test_arbitrary_names_are_escaped(still, name):
    page = Page(report_html(renamed(still, name), written=NOON))
    assert f"from {' '.join(name.split())}".strip() in page.text
    assert f"identify fit {' '.join(name.split())}".strip() in page.text
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") == 1
    assert "img" not in tags
    assert not any(key.startswith("on") for _, attributes in page.tags for key in attributes)


def test_a_long_log_stays_small(long):
    assert len(report_html(long, written=NOON).encode()) < 3_000_000


def test_error_keeps_existing_report(still, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def broken(result, truth):
        raise RuntimeError("broken section")

    monkeypatch.setattr(wrench_page, "SECTIONS", (broken,))
    with pytest.raises(RuntimeError, match="broken section"):
        report(still, path)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "old"


def test_exports_of_an_unmeasured_inertia_are_marked(still, result):
    marked, good = (
        [block for block in export_section(each, None).blocks if isinstance(block, Listing)]
        for each in (still, result)
    )
    assert {block.title for block in marked} == {"URDF", "MJCF (MuJoCo)", "JSON"}
    for block in marked:
        assert ("oor inertia: Ixx, Ixy" in block.note) == (block.title == "JSON")
        assert ("<!--\n  poor inertia" in block.text) == (block.title != "JSON")
    assert not any("oor inertia" in block.text + block.note for block in good)
