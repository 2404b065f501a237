import re
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from identify.estimation.intervals import ESTIMATED_QUANTITIES
from identify.reporting.rounding import format_significant
from identify.reporting.study import (
    StudyRows,
    comparison_text,
    scores_text,
    write_summary,
)
from identify.reporting.study.error_tables import (
    scores_by_log,
    scores_by_option,
    scores_section,
    targets_section,
)
from identify.reporting.study.intervals import coverage_section, few_trials_warning
from identify.reporting.study.summary import (
    SECTIONS,
    failures_section,
    overview_section,
    times_section,
)
from identify.reporting.study.writing import section_markdown
from identify.studies import compare
from identify.studies.results import mean_interval
from tests.reporting.study.results import rows
from tests.studies.studies import quick

STARS = Path(__file__).parents[3] / "experiments" / "stars.toml"
LEVELS = ("none", "low", "moderate", "high")


def cells(text: str, *begin: str) -> list[list[str]]:
    """Cells of the lines of a Markdown table that begin so."""
    lines = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.splitlines()]
    return [line[len(begin) :] for line in lines if tuple(line[: len(begin)]) == begin]


def said_by(section, study: StudyRows) -> str:
    """A section as summary.md has it; empty for none."""
    made = section(study)
    return "" if made is None else section_markdown(made)


def plain(log, corruption, estimator, seed):
    return {
        "mass_error": 1.0 + seed,
        "consistent": float(estimator == "psd"),
        "n_identifiable": 10.0,
    }


def failing(log, corruption, estimator, seed):
    if estimator == "ols" and seed == 0:
        error = {"error_type": "SolveError", "error": "did not | converge", "status": "failed"}
        return {"mass_error": None, "consistent": None, **error}
    return plain(log, corruption, estimator, seed) | {"warnings": "RuntimeWarning: odd"}


def stars(mass_error: float, **others):
    def metrics(log, corruption, estimator, seed):
        level = None if corruption == "none" else corruption
        found = {"mass_error": mass_error, "first_moment_error": 0.5, "stars_noise_level": level}
        return found | {"consistent": 1.0, "inertia_error": 9.0} | others

    return rows(metrics, logs=("stars/A", "stars/B"), corruptions=LEVELS, estimators=("ols", "psd"))


def with_scores(of: StudyRows) -> StudyRows:
    """The rows, as of a study file with targets and published scores."""
    keys = {"estimator": "psd", "metric": "mass_error"}
    wanted = [
        {**keys, "perturbation": "low", "most": 0.4},
        {**keys, "perturbation": "high", "least": 0.1, "most": 1.6},
        {**keys, "metric": "consistent", "least": 1.0},
        {**keys, "metric": "no_such", "most": 1.0},
    ]
    published = tomllib.loads(STARS.read_text(encoding="utf-8"))["published"]
    return replace(of, study=quick(targets=wanted, published=published))


def test_scores_show_mean_median_and_failures():
    text = said_by(scores_section, rows(failing))
    assert cells(text, "`low`", "`ols`") == [["2.00 / 2.00", "0 [0, 60.2]", "10.0", "2"]]
    (ours,) = cells(text, "`low`", "`psd`")
    assert ours == ["1.50 [1.00, 2.00] / 1.50", "100 [39.8, 100]", "10.0", "0"]


def selected(log, corruption, estimator, seed):
    """The distance of `ols` is 1 at the first seed, and there is none at the other."""
    there = estimator == "psd" or seed == 0
    distance = 1.0 if estimator == "ols" else 2.0 + 4.0 * seed
    return {"riemannian": distance if there else None, "consistent": float(there)}


def test_means_of_selected_fits_have_their_number_and_a_mean_over_common_cells():
    text = said_by(scores_section, rows(selected))
    heads = cells(text, "perturbation", "estimator")[0]
    assert heads == ["Riemannian", "consistent %", "failed", "Riemannian, common trials"]
    assert cells(text, "`low`", "`ols`") == [
        ["1.00 / 1.00 (n 2)", "50.0 [6.76, 93.2]", "0", "1.00 (n 2)"]
    ]
    assert cells(text, "`low`", "`psd`") == [
        ["4.00 [2.00, 6.00] / 4.00 (n 4)", "100 [39.8, 100]", "0", "2.00 (n 2)"]
    ]


def test_failed_fits_are_not_consistent():
    def metrics(log, corruption, estimator, seed):
        if seed == 0:
            return {"consistent": None, "mass_error": None, "error_type": "SolveError"}
        return {"consistent": 1.0, "mass_error": 3.0, "error_type": None}

    study = rows(metrics, seeds=4)
    text = said_by(scores_section, study)
    assert cells(text, "`low`", "`psd`") == [["3.00 / 3.00", "75.0 [34.9, 96.8]", "2"]]
    assert "a failed fit counts as not consistent" in text
    shown = scores_text(study.results)
    assert [line.split() for line in shown.splitlines() if line.startswith("  psd")] == [
        ["psd", "3.00", "75.0", "[34.9,", "96.8]", "2"]
    ] * 2
    assert "cons.%: of all attempted fits; a failed fit counts as not consistent" in shown


def test_summary_header_states_study_and_versions():
    text = said_by(overview_section, rows(failing))
    assert cells(text, "trials") == [["16, 4 failed"]]
    assert cells(text, "logs") == [["2: 2 of `a`"]]
    assert "numpy 9.9" in text
    assert "sha256 0000000000000000…" in text


def test_failures_list_message_and_trials():
    text = said_by(failures_section, rows(failing))
    (line,) = cells(text.replace("\\|", "/"), "`ols`", "`low`")[:1]
    assert line == ["2", "`a/0`, `a/1`", "`SolveError: did not / converge`"]
    assert "\n\nWarnings:\n\n" in text
    assert "`RuntimeWarning: odd`" in text
    assert said_by(failures_section, rows(plain)) == "## Trials without an estimate\n\nNone."


def test_targets_are_judged_by_the_mean_of_the_estimate():
    assert said_by(targets_section, rows(plain)) == ""
    text = said_by(targets_section, with_scores(stars(0.5)))
    assert cells(text, "`psd`") == [
        ["mass %", "`low`", "0.500", "≤ 0.4", "**no**"],
        ["mass %", "`high`", "0.500", "≥ 0.1, ≤ 1.6", "yes"],
        ["consistent %", "all", "1.000", "≥ 1", "yes"],
        ["no_such", "all", "nan", "≤ 1", "**no**"],
    ]


def test_published_scores_are_shown_for_comparison(mirror_of_sets):
    assert "ublished" not in said_by(scores_section, rows(plain))
    text = said_by(scores_section, with_scores(stars(0.1)))
    heads = cells(text, "perturbation", "estimator")[0]
    (line,) = cells(text, "`low`", "published HPS")
    assert dict(zip(heads, line, strict=True)) == {
        "mass %": "0.640",
        "‖Δh‖/‖h‖ %": "–",
        "inertia % of box": "10.0",
        "consistent %": "100",
        "failed": "–",
    }


def test_coverage_is_counted_by_parameter_and_by_log():
    def metrics(log, corruption, estimator, seed):
        held = float(log == "a/0" or seed < 7)
        if estimator == "ols":
            return {"covered_m": None, "half_width_m": None, "error_m": 0.1}
        width = 1.959964 if log == "a/0" else 2.0 * 1.959964
        return {"covered_m": held, "half_width_m": width, "error_m": (-1.0) ** seed}

    text = said_by(coverage_section, rows(metrics, seeds=10, corruptions=("none", "low")))
    assert "`ols`" not in text
    assert cells(text, "`none`", "covered") == []
    assert cells(text, "`low`", "covered") == [["85.0"]]
    assert cells(text, "`low`", "worst log") == [["70.0"]]
    assert cells(text, "`low`", "given") == [["100"]]
    assert cells(text, "`low`", "width") == [["1.5"]]
    judged = ["85.0", "85.0", "0 of 1", "1 of 2", "70.0", "100", "1.5"]
    assert cells(text, "`low`")[0] == judged
    assert said_by(coverage_section, rows(plain)) == ""


def test_errors_of_logs_are_shown_side_by_side():
    def metrics(log, corruption, estimator, seed):
        return {
            "mass_error": 1.0 + (corruption == "high") + 10.0 * (log == "a/1") + 0.4 * seed,
            "n_identifiable": 4.0,
        }

    study = rows(metrics, corruptions=("none", "low", "high"), seeds=6)
    text = said_by(scores_by_log, study)
    low, high = (mean_interval(first + 0.4 * np.arange(6)) for first in (11.0, 12.0))
    assert "Means over seeds, with 95 % intervals" in text
    assert (
        cells(text, "`a/1`", "`low`")
        == [
            [
                f"12.0 [{format_significant(low.low, 3)}, {format_significant(low.high, 3)}]",
                "4.00",
                "0",
            ]
        ]
        * 2
    )
    assert (
        cells(text, "`a/1`", "`high`")
        == [
            [
                f"13.0 [{format_significant(high.low, 3)}, {format_significant(high.high, 3)}]",
                "4.00",
                "0",
            ]
        ]
        * 2
    )
    assert not cells(text, "`a/1`", "`none`")
    assert said_by(scores_by_log, rows(metrics, logs=("a/0",))) == ""


def test_the_terminal_has_the_intervals_of_the_page_by_any_column():
    def metrics(log, corruption, estimator, seed):
        size = None if estimator == "ols" else 0.1
        return {"mass_error": 1e-7 * (1.0 + seed), "consistent": float(seed > 0), "noise_x": size}

    study = rows(metrics, seeds=5)
    low, high = mean_interval(1e-7 * np.tile(np.arange(1.0, 6.0), 2))
    shown = scores_text(study.results)
    assert f"3.0e-7 [{low * 1e7:.1f}e-7, {high * 1e7:.1f}e-7]" in shown
    page = said_by(scores_section, study)
    (share,) = {line[1] for line in cells(page, "`low`", "`psd`")}
    assert share.startswith("80.0 [")
    assert share in shown
    by_size = scores_text(study.results, ["consistent"], ["noise_x", "estimator"]).splitlines()
    assert [line.split()[0] for line in by_size[1:5]] == ["0.1", "psd", "–", "ols"]


def test_a_swept_option_of_the_logs_has_a_table():
    def metrics(log, corruption, estimator, seed):
        return {"mass_error": 3.0, "log_duration": 5.0 if log == "a/0" else 20.0, "log_body": seed}

    swept = rows(metrics)
    assert swept.varied_options == ("log_duration",)
    text = said_by(scores_by_option, swept)
    assert text.startswith("## By option of the logs\n\nBy duration of the log:\n")
    assert cells(text, "20", "`low`", "`psd`") == [["3.00 / 3.00", "0"]]
    assert said_by(scores_by_option, rows(plain)) == ""


def test_all_cells_failed_is_a_summary_too(tmp_path):
    def nothing(log, corruption, estimator, seed):
        return {"error_type": "LogError", "error": "no such column", "consistent": None}

    files = (tmp_path / "summary.md", tmp_path / "summary.html")
    assert write_summary(rows(nothing), tmp_path) == files
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "16, 16 failed" in text
    assert "LogError: no such column" in text


def test_the_summary_has_every_section_and_shows_its_figures(tmp_path):
    study = stars(0.2, covered_m=1.0, half_width_m=1.0, error_m=0.5)
    summary, page, *figures = write_summary(study, tmp_path)
    text = summary.read_text(encoding="utf-8")
    for section in SECTIONS:
        assert said_by(section, study) in text
    assert len(figures) == 2
    for figure in figures:
        assert f"]({figure.name})" in text
        assert figure.read_bytes().startswith(b"\x89PNG")
    html = page.read_text(encoding="utf-8")
    assert html.count("<svg ") == 3
    assert html.index("</h1>") < html.index('class="tiles"') < html.index("<h2>")
    shown = re.sub("<script.*?</script>", "", html.partition("</style>")[2], flags=re.DOTALL)
    assert "`" not in shown
    assert "**" not in shown


@pytest.mark.parametrize("name", ["`a|b`", "a\nb"])
def test_names_cannot_break_the_tables(name):
    text = said_by(scores_section, rows(plain, corruptions=(name, "low")))
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.replace("\\|", "").count("|") for line in table}) == 1


def test_a_wide_table_is_several_on_the_page(tmp_path):
    """Nothing scrolls on paper: each piece names its rows, and no column is lost."""
    covered = {f"covered_{name}": 1.0 for name in ESTIMATED_QUANTITIES}
    study = rows(lambda *_: covered, estimators=("psd",))
    _, page = write_summary(study, tmp_path)[:2]
    heads = re.findall(r"<thead><tr>(.*?)</tr></thead>", page.read_text(encoding="utf-8"), re.S)
    titles = [re.findall(r">([^<]+)</th>", head) for head in heads]
    several = [one for one in titles if set(one) & set(ESTIMATED_QUANTITIES)]
    assert len(several) > 1
    assert all(one[0] == "perturbation" for one in several)
    assert [name for one in several for name in one[1:]] == list(ESTIMATED_QUANTITIES)


def test_few_trials_state_counts_within_nominal_coverage():
    assert few_trials_warning(20) == "20 trials: only 19 of 20 lies within 92 to 98 %."
    assert few_trials_warning(50) == "" == few_trials_warning(1000)
    assert few_trials_warning(30) == "30 trials: only 28 or 29 of 30 lie within 92 to 98 %."
    assert few_trials_warning(10) == "10 trials: no count of 10 lies within 92 to 98 %."

    def held(log, corruption, estimator, seed):
        return {"covered_m": float(seed > 0), "covered_hx": None}

    text = said_by(coverage_section, rows(held, seeds=10, estimators=("psd",)))
    assert few_trials_warning(20) in text
    assert cells(text, "`low`", "interval") == [["68.3–98.8"]]  # 18 of 20
    assert "hx" not in text


def test_logs_are_sorted_by_their_error_and_estimators_by_their_time():
    def metrics(log, corruption, estimator, seed):
        error = {"a/0": 1.0, "a/1": 3.0, "a/2": 2.0}[log]
        return {"mass_error": error, "seconds": 1.0 if estimator == "ols" else 0.5}

    study = rows(metrics, logs=("a/0", "a/1", "a/2"))
    found = [line[0] for line in cells(said_by(scores_by_log, study)) if line[0].startswith("`a/")]
    assert found == ["`a/1`", "`a/2`", "`a/0`"] * 2
    order = [line[0] for line in cells(said_by(times_section, study)) if line[0].startswith("`")]
    assert order == ["`psd`", "`ols`"]


def test_identical_metrics_are_listed_once():
    def alike(log, corruption, estimator, seed):
        noisy = {"noise_seed": 0, "log_data": log}
        return {**noisy, "mass_error": 1.0 + seed, "consistent": 1.0}

    text = comparison_text(compare(rows(alike).results, "ols", "psd"), "ols", "psd")
    assert text == "A: ols\nB: psd\nidentical in every metric of all 8 pairs"

    def apart(log, corruption, estimator, seed):
        return alike(log, corruption, estimator, seed) | {"mass_error": len(estimator + log) * seed}

    study = rows(apart, estimators=("ols", "best"))
    text = comparison_text(compare(study.results, "ols", "best"), "ols", "best")
    assert text.count("identical") == 1
    assert "identical in all pairs: none: cons.%; low: cons.%" in text
    assert sum(line.startswith("  mass %") for line in text.splitlines()) == 2
    assert not any(line.startswith("  cons.%") for line in text.splitlines())
