import copy
import json
from dataclasses import replace

import numpy as np
import pytest

from experiments import silent
from experiments.silent_study import cases, clean, faults, scoring, several, subjects
from identify.diagnosis.fault import schema_lines
from identify.errors import SchemaError
from tests.close import assert_close


@pytest.fixture(scope="module")
def subject() -> subjects.Subject:
    return subjects.makers()["fast-1"](np.random.default_rng(5))


@pytest.mark.slow
def test_fault_score_counts_detection_and_correction(tmp_path, capsys):
    path = tmp_path / "silent.md"
    chosen = ["--only", "torque's sign", "--logs", "fast-2", "--clean", "1", "--several", "0"]
    assert silent.main(["-o", str(path), *chosen, "--workers", "0"]) == 0
    text = path.read_text(encoding="utf-8")
    assert "| clean logs with a warning or an error | ≤ 1 % | 0 of 1 (0.0%) | 95.0% |" in text
    assert "| torque's sign | 1 | 1 | 1 |  |  | 1/1 | 1/1 |  |" in text
    assert "(seed 102); nothing is entered by hand. 2 cases." in text
    assert text.splitlines()[-1].startswith(
        "Not the whole study: with other only, logs, clean, several"
    )
    assert capsys.readouterr().out == text + "\n"
    with pytest.raises(SystemExit, match="there is no log 'fest-2'"):
        silent.main(["-o", str(path), "--logs", "fest-2"])


def test_completed_cases_are_kept_and_failed_case_is_retried(tmp_path, monkeypatch):
    path, tried = tmp_path / "silent.md", []
    chosen = ["-o", str(path), "--only", "'s sign", "--logs", "fast-2", "--clean", "2"]
    chosen += ["--several", "0"]

    def score(case: cases.Case) -> scoring.Score | clean.CleanScore:
        tried.append(case.fault)
        if case.fault == "0" and tried.count("0") == 1:
            raise KeyError("odd")
        if case.log == "clean":
            return clean.CleanScore("clean 1: pose", ("no estimate: [1, 2]", "drift"), (), np.nan)
        codes = ("gain", "delay")
        return scoring.Score(case.log, case.fault, "observable", np.inf, codes, True, "no", 1.5)

    monkeypatch.setattr(cases.Case, "score", score)
    assert silent.main([*chosen, "--workers", "0"]) == 1
    assert len(tried) == 5
    text = path.read_text(encoding="utf-8")
    assert "| clean | 0 | KeyError | 'odd' |" in text
    assert "| clean 1: pose | no estimate: [1, 2], drift |" in text
    assert "| fast-2 | 3 | 3 | 3 |" in text
    assert text.endswith("\n\nIncomplete: 1 cases failed.\n")
    assert silent.main([*chosen, "--workers", "0"]) == 0
    assert tried[5:] == ["0"]
    silent.main([*chosen, "--workers", "0", "--seed", "3"])
    assert len(tried) == 11


def test_a_score_is_read_back_from_its_row():
    for score in (
        scoring.Score("log", "fault", "observable", np.inf, ("delay",), False, "yes", 2.5),
        clean.CleanScore("clean 3: pose", (), ("completed",), 0.5),
    ):
        case = cases.Case("clean" if isinstance(score, clean.CleanScore) else "log", "3", 1, "key")
        row = {**cases._name(case), **cases._columns(score)}
        again = cases.score_of(json.loads(json.dumps(row)))
        assert repr(again) == repr(score)


@pytest.mark.parametrize("name", ["torque in N mm", "torque x 0.9", "crosstalk 3 %"])
def test_the_jacobian_of_a_map_of_the_wrench_takes_its_size_out(subject, name):
    # A unit of the whole wrench is not detectable: the Jacobian cancels the gain of the residuals.
    done = next(fault for fault in faults.faults() if fault.name == name)
    (wrong,) = done.make(subject, np.random.default_rng(0))
    G = np.linalg.lstsq(subject.wrench, wrong.wrench, rcond=None)[0].T
    assert_close(done.log_power(1.0), 2.0 * np.linalg.slogdet(G)[1], 1e-6)


@pytest.mark.parametrize(
    ("remedy", "table", "keys"),
    [
        ('In the schema, [pose], change `maps = "a"` to `maps = "b"`.', "pose", {"maps": "b"}),
        ("In the schema, [log], set `time_unit = \"ms\"`.", "log", {"time_unit": "ms"}),
        ("In the schema, [world], set `gravity = [1, 2, 3]` (or --gravity).", "world",
         {"gravity": [1, 2, 3]}),
        ("In the schema, [wrench], set `force = ['b', 'a']` and `torque = ['d', 'c']`.", "wrench",
         {"force": ["b", "a"], "torque": ["d", "c"]}),
    ],
)  # fmt: skip
def test_remedy_is_applied_as_written(remedy, table, keys):
    schema = {"pose": {"maps": "a", "order": "xyzw"}, "wrench": {"force": ["a", "b"]}}
    assert scoring.apply_remedy(schema, remedy)[table] == {**schema.get(table, {}), **keys}
    assert schema["pose"] == {"maps": "a", "order": "xyzw"}


def test_remedy_without_schema_line_is_ignored_and_invalid_line_raises():
    assert scoring.apply_remedy({}, "Change the sign of force and torque.") is None
    assert (
        scoring.apply_remedy({}, "In the schema, [pose], change the sign of its columns.") is None
    )
    with pytest.raises(SchemaError, match="names no lines of a schema"):
        scoring.apply_remedy({}, "In the schema, [pose], set `maps = world`.")


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        (
            {"twist.angle_unit": "deg", "acceleration.angle_unit": "deg"},
            {"twist": {"angular": ["a"], "angle_unit": "deg"},
             "acceleration": {"angle_unit": "deg"}},
        ),
        (
            {"wrench.frame": "sensor", "wrench.mount.quaternion": [0.0, 0.0, 1.0, 0.0]},
            {"wrench": {"frame": "sensor", "point": "flange",
                        "mount": {"unit": "mm", "quaternion": [0.0, 0.0, 1.0, 0.0]}}},
        ),
        (
            {"wrench.frame": "body", "wrench.point": None},
            {"wrench": {"frame": "body", "mount": {"unit": "mm"}}},
        ),
    ],
)  # fmt: skip
def test_remedy_with_several_tables_is_applied(patch, expected):
    schema = {
        "twist": {"angular": ["a"]},
        "wrench": {"frame": "world", "point": "flange", "mount": {"unit": "mm"}},
    }
    before = copy.deepcopy(schema)
    assert scoring.apply_remedy(schema, schema_lines(patch, schema)) == {**schema, **expected}
    assert schema == before


def test_scores_classify_silent_and_misled_cases():
    fine = scoring.Score("log", "fault", "observable", 30.0, (), False, "yes", 1.9)
    assert fine.detectable
    assert not fine.silent
    assert not fine.misled
    assert replace(fine, largest_error=2.1).silent
    assert not replace(fine, largest_error=2.1, usable="no").silent
    led = replace(fine, remedy="schema", verdict_after_remedy="yes", error_after_remedy=2.1)
    assert led.misled
    assert replace(led, verdict_after_remedy="with care").misled
    assert not replace(led, verdict_after_remedy="no").misled
    assert not replace(led, remedy="").misled
    assert not replace(fine, log_likelihood_gain=19.0).detectable


@pytest.mark.parametrize("number", range(24))
def test_power_of_several_matches_their_maps(subject, number):
    parts = [draw(np.random.default_rng(number)) for draw in (several._gain, several._turned)]
    changed = subject
    for _, change, _ in parts:
        changed = change(changed, np.random.default_rng(0))
    G = np.linalg.lstsq(subject.wrench, changed.wrench, rcond=None)[0].T
    power = sum(power(1.0) for _, _, power in parts)
    assert_close(power, 2.0 * np.linalg.slogdet(G)[1], 1e-6)


def test_combined_faults_are_detectable_when_each_is_distinguishable(subject, monkeypatch):
    monkeypatch.setattr(scoring, "subject", lambda log, seed: subject)
    scoring._spread.cache_clear()
    late = ("late", several._deterministic(faults.delay_wrench(0.005)), several._no_power)
    both = several._map("both x 0.9", 0.9 * np.eye(6))
    gains = []
    push = ("push", several._deterministic(faults.add_contact(5.0, 1.0)), several._no_power)
    for drawn in ([late, both], [late, push], [both, push]):
        monkeypatch.setattr(several, "_draw_changes", lambda number, seed, d=drawn: d)
        done = several.several(0, 1)
        wrong = tuple(done.make(subject, np.random.default_rng(0)))
        gains.append(scoring._smallest_separate_gain("here", "several 0", 1, wrong, done))
    scoring._spread.cache_clear()
    assert abs(gains[0]) < 1e-6  # no log detects a common gain
    assert gains[1] > scoring.DETECTABLE_LLR
    assert abs(gains[2]) < 1e-6  # nor one that does not scale what is left of a contact
