"""What is said of intervals, correlations and small faults, of estimates made to have them."""

from dataclasses import replace

import numpy as np

from identify.findings import Finding
from identify.pipeline.required_precision import half_width
from identify.pipeline.result import SmallFault
from identify.reporting.content import Folded, ReportTable
from identify.reporting.diagnosis import checks_section
from identify.reporting.page import report_html
from identify.reporting.precision import precision_section
from identify.reporting.result import verdict_in_words
from identify.reporting.rounding import format_significant
from tests.reporting.page import Page


def _with_scale_error(result, share):
    """A result whose sensor has a scale error, which multiplies all ten parameters."""
    estimate = result.estimate
    effect = share * estimate.parameters.phi
    calibration = np.outer(effect, effect)
    covariance = estimate.repeatability + calibration
    return replace(
        result, estimate=replace(estimate, covariance=covariance, calibration=calibration)
    )


def _texts(result):
    return [block.text for block in precision_section(result, None).blocks if block.kind == "text"]


def test_correlations_by_the_scale_are_no_matter_of_motion(result):
    assert not any("by the error of" in text for text in _texts(result))
    (text,) = (text for text in _texts(_with_scale_error(result, 0.1)) if "by the error" in text)
    assert text.startswith("Correlated by the error of the sensor's scale, which they share: m and")
    assert "(1.00, without that error " in text
    assert "no motion separates them" in text
    assert not any("a different motion" in text for text in _texts(_with_scale_error(result, 0.1)))


def test_quantities_are_said_with_and_without_the_scale(case_of):
    result = case_of("a gap, mass given").result
    estimate = result.estimate
    widened = replace(estimate, calibration=0.9 * estimate.covariance)
    needs = {"mass 1%": True, "com 20 mm": True, "com 20mm total": True}
    widened = replace(widened, needs=needs, findings=())
    verdict = verdict_in_words(replace(result, estimate=widened))
    said = verdict.quantities
    assert said["mass"].endswith(", given")
    width = said["centre of mass"].partition(", ")[2]
    assert dict(verdict.needs) == {
        "mass 1%": "met, given",
        **dict.fromkeys(("com 20 mm", "com 20mm total"), f"met, {width}"),
    }
    half = max(half_width(estimate, name, total=True) for name in ("cx", "cy", "cz"))
    total = format_significant(1e3 * half, 2)
    alone = format_significant(1e3 * half * np.sqrt(0.1), 2)
    wrong = replace(widened, findings=(Finding("unexplained", "error", "R² is 0.1."),))
    refused = verdict_in_words(replace(result, estimate=wrong)).needs
    assert refused["mass 1%"] == "not met, given"
    assert said["centre of mass"].endswith(f"± {total} mm; without the sensor's scale ± {alone} mm")


def test_a_given_mass_has_no_error_in_percent(case_of):
    case = case_of("a gap, mass given")
    page = Page(report_html(case.result, case.truth))
    assert "Error against the reference body: ‖Δh‖/‖h‖" in page.text
    assert "|Δm|/m" not in page.text
    assert page.rows("m", "1.3", "given", "kg", "given", "1.3", "0")


def _faults(*significant):
    return tuple(
        SmallFault(f"gain, f{axis}", "%", 1.5e-5, 2.5e-4, significant=one)
        for axis, one in zip("xyz", significant, strict=True)
    )


def test_small_faults_are_folded_unless_significant(result):
    for significant, shown in (((False, True, False), ["gain, fy"]), ((False,) * 3, [])):
        checks = replace(result.checks, small_faults=_faults(*significant))
        blocks = checks_section(replace(result, checks=checks), None).blocks
        tables = [block for block in blocks if isinstance(block, ReportTable)]
        assert [row.cells[0].text for table in tables for row in table.rows] == shown
        (folded,) = (b for b in blocks if isinstance(b, Folded) and "not significant" in b.title)
        (table,) = folded.blocks
        assert len(table.rows) == 3 - len(shown)
        assert table.rows[0].cells[1].text == "(15 ± 250)·10⁻⁶ %"
