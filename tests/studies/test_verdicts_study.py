import json
from dataclasses import replace

import numpy as np
import pytest

from experiments import verdicts
from experiments.verdicts_study.cases import ACCURACIES, Case, Score, is_marked
from experiments.verdicts_study.logs import random_box, simulated_log
from identify.exchange.controllers import Export
from identify.logs.synthetic import wrench_on_body
from identify.spatial.vectors import GRAVITY_W
from tests.close import assert_close
from tests.slow import few_or_many

SCORE = Score(
    usable="with care",
    findings=("warning imprecise", "info completed"),
    truth=(1.0,) * 10,
    quantities={"mass": "yes", "com": "no", "inertia": "with care"},
    half_widths={"mass": 0.01, "com": 3e-3, "inertia": 0.3},
    errors={"mass": 0.021, "com": 1e-3, "inertia": 0.6},
    unmarked={"ur": 6, "kuka": 0},
    seconds=1.0,
)


def test_wrong_yes_and_narrow_no_are_counted():
    fine = replace(SCORE, errors={**SCORE.errors, "mass": 0.019}, unmarked={"ur": 0, "kuka": 0})
    failed = Score(usable="raised", findings=("ProblemError('x')",), truth=(1.0,) * 10)
    cases = [Case(body, "shake", 0.01, 1) for body in range(3)]
    text = verdicts.report(list(zip(cases, (SCORE, fine, failed), strict=True)), 1)
    assert '| "yes" that is wrong, all quantities | ≤ 1 % | 1 of 2 (50.0%) |' in text
    assert '| "no" with a narrow interval | 0 | 2 |' in text
    assert "| unknown numbers for ur, unmarked | 0 | 6 in 1 of 2 settings |" in text
    assert "| unknown numbers for kuka, unmarked | 0 | 0 in 0 of 2 settings |" in text
    assert "| mass | shake | 3 | 2 |  | 1 | 1 | 50.0% |  |" in text
    found = "warning imprecise, info completed"
    assert f"| mass | body 0, shake, 1 % sensor | yes | {found} | 2.1 % | 1 % |" in text
    assert f"| com | body 1, shake, 1 % sensor | no | {found} | 1 mm | 3 mm |" in text
    assert "Findings of all logs: warning imprecise 2, ProblemError 1." in text


def test_report_and_rows_of_some_fits(tmp_path, capsys):
    path, rows = tmp_path / "verdicts.md", tmp_path / "rows.jsonl"
    chosen = ["--bodies", "1", "--only", "6 poses", "--workers", "1", "--rows", str(rows)]
    assert verdicts.main(["-o", str(path), *chosen]) == 0
    text = path.read_text(encoding="utf-8")
    assert capsys.readouterr().out == f"{text}\n"
    assert "(seed 6151); nothing is entered by hand. 4 logs;" in text
    assert text.splitlines()[-1].startswith("Not the whole study: with other bodies, only")
    kept = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    assert [row["motion"] for row in kept] == [*["6 poses, small"] * 2, *["6 poses, large"] * 2]
    for row in kept:
        truth, estimate = (np.array(row[name]) for name in ("truth", "estimate"))
        assert_close(row["errors"]["mass"], abs(estimate[0] / truth[0] - 1.0), 1e-12)
        assert row["quantities"]["inertia"] == "no"  # still poses say nothing about it
    with pytest.raises(SystemExit, match="no motion has 'dance'"):
        verdicts.main(["--only", "dance"])


@pytest.mark.parametrize("motion", few_or_many("3 poses, small", "shake"))
def test_gains_are_drawn_as_the_schema_states_them(motion):
    phi, _ = random_box(np.random.default_rng(1))
    ratios = []
    for seed in range(300):
        log = simulated_log(phi, motion, 0.01, np.random.default_rng(seed))
        assert log.gain_accuracy == (0.01, 0.01)
        exact = wrench_on_body(phi, log.samples, GRAVITY_W)
        ratios.append(log.wrench[0] / exact[0] - 1.0)
    covariance = np.cov(np.array(ratios).T)
    expected = 1e-4 * (np.eye(6) + np.kron(np.eye(2), np.ones((3, 3))))
    assert np.abs(covariance - expected).max() < 0.6e-4


def test_logs_are_of_their_seed_and_differ_between_sensors():
    one, again, other = (
        Case(2, "one axis", accuracy, 5).make_log() for accuracy in (*ACCURACIES[:1] * 2, 0.01)
    )
    assert np.array_equal(one[0].signals["force"], again[0].signals["force"])
    assert np.array_equal(one[1].phi, other[1].phi)
    assert not np.array_equal(one[0].signals["force"][:9], other[0].signals["force"][:9])


def test_marked_quantities_are_recognised():
    marked = Export("setting", (), ("poor inertia: known to ± 57 %",))
    assert is_marked(marked, "inertia")
    assert not is_marked(marked, "mass")
    assert not is_marked(Export("kg m^2 [Ixx] inertia", (), ("not checked",)), "inertia")
