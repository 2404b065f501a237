import ast
import pickle
import re
from dataclasses import replace
from pathlib import Path

import pytest

from identify.diagnosis.faults import FAMILIES, codes_of_faults
from identify.findings import (
    FINDING_CODES,
    Finding,
    default_body_findings,
    derive_verdict,
    format_findings,
    sort_findings,
)
from identify.pipeline import FitSettings

ROOT = Path(__file__).parents[1]


def finding(code: str, severity: str = "warning") -> Finding:
    return Finding(code, severity, f"{code} was found.", "Look at it.", {"p": 0.5}, "a.csv")


def verdict(*findings: Finding, possible: bool = True, needs=None, precision=None):
    return derive_verdict(
        findings,
        possible=possible,
        optimal=True,
        identifiable=["m"],
        needs=needs,
        precision=precision,
    )


def test_errors_come_first_and_causes_before_symptoms():
    found = [
        finding("unexplained"),
        finding("delay", "info"),
        finding("completed", "error"),
        finding("wrench_sign"),
    ]
    codes = [one.code for one in sort_findings(found)]
    assert codes == ["completed", "wrench_sign", "unexplained", "delay"]


@pytest.mark.parametrize(
    ("findings", "usable"),
    [
        ((), "yes"),
        ((finding("delay", "info"),), "yes"),
        (default_body_findings({"m": "data", "Ixx": "default"}, None), "with care"),
        ((finding("delay"),), "with care"),
        ((finding("delay"), finding("unexplained", "error")), "no"),
    ],
)
def test_usable_follows_worst_finding(findings, usable):
    assert verdict(*findings).usable == usable


def test_completed_inertia_asks_for_care_unless_other_quantities_are_needed():
    (completed,) = default_body_findings({"m": "data", "Ixx": "default"}, None)
    assert completed.evidence["doubted"] == ["inertia"]
    assert verdict(completed).usable == "with care"
    assert verdict(completed, needs={"mass 1%": True}).usable == "yes"
    assert verdict(completed, needs={"Inertia 9%": True}).usable == "with care"


LEVELS = {"mass": "yes", "com": "with care", "inertia": "no"}


def test_quantities_have_verdicts_of_their_own():
    def quantities(*findings):
        return dict(verdict(*findings, precision=LEVELS).quantities)

    assert quantities() == LEVELS
    assert verdict(precision=LEVELS).record()["quantities"] == LEVELS
    assert "quantities" not in verdict().record()
    doubtful = Finding("contact", "warning", "pushed", evidence={"doubted": ["mass"]})
    assert quantities(doubtful) == LEVELS | {"mass": "with care"}
    assert quantities(replace(doubtful, evidence={})) == LEVELS | {"mass": "with care"}
    wrong = replace(doubtful, severity="error")
    assert quantities(wrong) == LEVELS | {"mass": "no"}
    assert verdict(wrong).usable == "no"
    assert set(quantities(replace(wrong, evidence={})).values()) == {"no"}
    assert verdict(replace(wrong, evidence={"doubted": ["inertia"]})).usable == "no"
    # That intervals are wide is in the levels already.
    for code in ("imprecise", "need_unmet", "scale_limit"):
        assert quantities(Finding(code, "error", "wide")) == LEVELS


@pytest.mark.parametrize(("met", "usable"), [(True, "yes"), (False, "no")])
def test_unmet_need_makes_estimate_unusable(met, usable):
    found = verdict(needs={"mass 1%": met})
    assert (found.usable, found.reasons) == (usable, ())
    assert found.record()["needs"] == {"mass 1%": met}
    assert "needs" not in verdict().record()


def test_a_need_is_not_met_after_an_error_on_its_quantity():
    wrong = Finding("torque_unit", "error", "not in N m", evidence={"doubted": ["com", "inertia"]})
    needs = {"mass 1%": True, "com 2mm": True}
    assert verdict(wrong, needs=needs).needs == {"mass 1%": True, "com 2mm": False}
    assert not any(verdict(replace(wrong, evidence={}), needs=needs).needs.values())
    assert verdict(replace(wrong, severity="warning"), needs=needs).needs == needs
    # An error on another quantity is still the reason of the whole.
    assert verdict(wrong, needs={"mass 1%": True}).reasons == ("torque_unit",)


def test_default_body_completion_is_reported():
    (found,) = default_body_findings({"m": "data", "Ixx": "default", "Iyy": "default"}, "a ball")
    assert "Ixx, Iyy are not identifiable" in found.text
    assert "(a ball)" in found.text
    assert found.evidence["completed"] == 2
    assert found.severity == "info"
    (line,) = format_findings([found])
    assert line.startswith("note: Ixx, Iyy are not identifiable")
    assert verdict(found).reasons == ("completed",)
    assert default_body_findings({"m": "data", "Ixx": "given"}, None) == ()


def test_reasons_escape_control_characters():
    hostile = Finding("delay", "error", "late\nset_payload(99)\x1b[2J.", "Look\tat it.")
    (line,) = format_findings([finding("gain", "info"), hostile])
    assert line == r"error: late set_payload(99)\x1b[2J. Look at it. [delay]"


def test_inconsistent_body_is_never_usable():
    assert verdict(possible=False).usable == "no"


def test_reasons_are_the_codes_of_errors_and_warnings_once_each():
    found = verdict(
        finding("unexplained"), finding("delay"), finding("delay"), finding("gain", "info")
    )
    assert found.reasons == ("delay", "unexplained")
    assert not found.explains_data
    assert verdict(finding("delay")).explains_data
    assert not verdict(finding("joint_order")).explains_data
    assert not verdict(finding("torque_unexplained")).explains_data
    assert found.record()["reasons"] == ["delay", "unexplained"]


def test_finding_prints_place_text_and_remedy_and_survives_pickling():
    one = finding("delay")
    assert str(one) == "a.csv: delay was found. Look at it."
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301
    assert one.record()["evidence"] == {"p": 0.5}
    for known in (FINDING_CODES, codes_of_faults()):
        assert len(set(known)) == len(known)


@pytest.mark.parametrize(
    ("code", "severity"), [("De lay", "error"), ("", "error"), ("delay", "fatal")]
)
def test_unknown_code_or_severity_is_rejected(code, severity):
    with pytest.raises(ValueError, match=r"is not a valid code|expected one of"):
        finding(code, severity)


def test_codes_are_spelt_as_they_are_listed():
    """A finding takes any word for its code, so that a new fault is one line in `FAMILIES`."""
    known = {*FINDING_CODES, *codes_of_faults()}
    made = set()
    for path in (ROOT / "identify").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding":
                made |= {code.value for code in node.args[:1] if isinstance(code, ast.Constant)}
    assert {"completed", "edited", "rows_dropped"} <= made <= known


def test_every_finding_code_has_exactly_one_documentation_section():
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    sections = re.findall(r"^### `(\w+)`\n(.*?)(?=^##)", page, flags=re.MULTILINE | re.DOTALL)
    assert sorted(code for code, _ in sections) == sorted({*FINDING_CODES, *codes_of_faults()})
    for code, text in sections:
        assert re.match(r"\n\*(Error|Warning|Info)", text), code
        assert "\n\n**Do:** " in text, code


def test_a_new_fault_needs_no_other_line_than_that_of_its_family(monkeypatch):
    monkeypatch.setitem(FAMILIES, lambda facts: iter(()), ("plugs_crossed",))
    assert FitSettings(apply=("plugs_crossed",)).apply == ("plugs_crossed",)
    found = [finding(code) for code in ("unexplained", "plugs_crossed", "spikes", "drift")]
    codes = [one.code for one in sort_findings(found)]
    assert codes == ["spikes", "plugs_crossed", "drift", "unexplained"]
