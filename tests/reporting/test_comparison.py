import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from identify.findings import derive_verdict
from identify.inertia import PHI
from identify.reporting import comparison_page as page
from identify.reporting.comparison import (
    Comparison,
    FittedLog,
    comparison_lines,
    shorten_names,
    verdict_explanations,
    verdict_text,
)
from identify.reporting.comparison_page import comparison_html, forest_columns
from identify.reporting.drawing import column_svg
from tests.validation.test_pooling import BODY, BY_DATA, drawn

NOON = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


def fitted(rng, name: str, factor: float = 1.0, **options: Any) -> FittedLog:
    verdict = derive_verdict((), possible=True, optimal=True, identifiable=PHI)
    estimate = replace(drawn(rng, factor * BODY.phi, **options), verdict=verdict)
    return FittedLog(name, f"runs/{name}.csv", "fitted", estimate, rows=100, duration=2.0)


def logs(count: int, *odd: int) -> Comparison:
    rng = np.random.default_rng(count)
    return Comparison(
        tuple(fitted(rng, f"run{k:04d}", 1.05 if k in odd else 1.0) for k in range(count))
    )


@pytest.fixture
def undrawn(monkeypatch):
    monkeypatch.setattr(page, "forest_columns", lambda comparison: ())


@pytest.mark.parametrize(
    ("comparison", "said"),
    [
        (logs(3), "the 3 estimates agree"),
        (logs(6, 2), "1 of 6 estimates differ from the rest"),
        (logs(2, 1), "the 2 estimates differ"),
        (logs(1), "undecided"),
        (Comparison((FittedLog("x", "x.csv", "failed", error="no"),)), "undecided"),
    ],
)
def test_page_and_terminal_give_the_same_answer(undrawn, comparison, said):
    assert verdict_text(comparison) == said
    html = comparison_html(comparison, written=NOON)
    assert said in html
    text = " ".join(" ".join(comparison_lines(comparison)).split())
    assert said.capitalize() in text
    for sentence in verdict_explanations(comparison):
        assert sentence in text


def test_agreement_states_detectable_difference():
    comparison = logs(5)
    (sentence,) = [one for one in verdict_explanations(comparison) if "detected" in one]
    (number,) = re.findall(r"by (\S+) kg in mass", sentence)
    kilograms = float(number)
    assert kilograms == pytest.approx(comparison.pooled.detectable["m"], rel=0.06)
    factor = 1.0 + 3.0 * kilograms / BODY.mass  # well beyond it, the log is
    rng = np.random.default_rng(1)
    odd = Comparison((*comparison.logs, fitted(rng, "z", factor)))
    assert odd.pooled.differing == ("z",)


def test_names_are_text_and_addresses(undrawn):
    rng = np.random.default_rng(3)
    name = '<b>&"#1 ü'
    hostile = Comparison((fitted(rng, name), FittedLog("f", "f.csv", "failed", error="<i>why")))
    html = comparison_html(hostile, folder="<u>", written=NOON)
    assert "<b>" not in html
    assert "<i>" not in html
    assert "<u>" not in html
    assert "%3Cb%3E%26%22%231%20%C3%BC/estimate.json" in html
    assert "&lt;i&gt;why" in html


def test_a_value_that_no_log_identifies_is_a_dash(undrawn):
    rng = np.random.default_rng(4)
    partly = BY_DATA | dict.fromkeys(PHI[4:], "default")
    comparison = Comparison(tuple(fitted(rng, f"{k}", decided_by=partly) for k in range(2)))
    html = comparison_html(comparison, written=NOON)
    assert ">nan" not in html.lower()
    row = next(line for line in comparison_lines(comparison) if line.startswith("0 "))
    assert "±" in row
    assert "–" in " ".join(comparison_lines(comparison))
    assert np.isnan(comparison.frame()["Icxx_low"].to_numpy()).all()
    assert comparison.frame()["Icxx_decided_by"].tolist() == ["default", "default"]


@pytest.mark.parametrize(
    ("comparison", "named", "unnamed"),
    [(logs(4, 1), ["run0000", "run0001"], []), (logs(90, 80, 81), ["run0080 …"], ["run0000"])],
)
def test_the_forest_has_a_mark_for_each_log(comparison, named, unnamed):
    drawn_ = column_svg(forest_columns(comparison)[0], "key")
    for name in named:
        assert f">{name}<" in drawn_
    for name in unnamed:
        assert name not in drawn_
    assert drawn_.count("M") > len(comparison.logs)
    assert "differs" in drawn_


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["abcdefghij", "b"], ["abcdefghij", "b"]),
        (["abcdefghijklm", "xyz"], ["abcd…ijklm", "xyz"]),
        (["cell_payload_v0_grasped", "cell_payload_v1_grasped"], ["…0…", "…1…"]),
        (["left-0000000-right", "left-0000001-right"], ["…0…", "…1…"]),
        (["a0000xxxxxxxx0b", "a0000yyyyyyyy0b"], ["a000…xxx0b", "a000…yyy0b"]),
    ],
)
def test_names_that_are_shortened_stay_different(names, expected):
    found = shorten_names(names, 10)
    assert list(found) == names
    assert list(found.values()) == expected
    assert max(map(len, found.values())) <= 10


def test_indistinguishable_names_are_numbered():
    names = ["a" * 9 + str(k) + "b" * 9 + str(k % 2) + "c" for k in range(3)]
    found = shorten_names([f"{n}{k}{'d' * 40}" for k, n in enumerate(names)], 6)
    assert len(set(found.values())) == 3
