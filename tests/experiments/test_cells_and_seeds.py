"""Keys and seeds: made of what a trial is, and of nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from identify.errors import SchemaError
from identify.experiments import study as study_module
from identify.experiments.keys import (
    CodeFingerprint,
    code_fingerprint,
    noise_seed,
    numerics_digest,
    seed_of,
    source_digest,
)
from tests.experiments.studies import quick


def seeds_of(study) -> dict[tuple[str, str, int], int]:
    return {
        (noisy.log.name, noisy.perturbation.label, noisy.seed_index): noisy.noise_seed
        for noisy in study.noisy_logs()
    }


def keys_of(study) -> dict[tuple[str, str, int, str], str]:
    return {
        (
            trial.noisy.log.name,
            trial.noisy.perturbation.label,
            trial.noisy.seed_index,
            trial.estimator.label,
        ): trial.key
        for trial in study.trials()
    }


def test_every_noisy_log_has_a_seed_of_its_own() -> None:
    seeds = seeds_of(quick())
    assert len(set(seeds.values())) == len(seeds)


def test_estimators_share_the_noise() -> None:
    assert seeds_of(quick()) == seeds_of(quick(estimators=["psd"]))


def test_a_grid_may_grow_without_touching_what_is_there() -> None:
    small = quick()
    large = quick(
        seeds=5,
        logs=[
            {"kind": "synthetic", "number": 2, "duration": 2.0, "rate_hz": 50.0},
            {"kind": "synthetic", "number": 4, "duration": 4.0, "rate_hz": 50.0},
        ],
        perturbations=[
            {"kind": "decimation", "every": 2},
            {"kind": "noise", "force": [0.1, 0.05, 0.2]},
            "none",
        ],
        estimators=["psd", "wls", "ols"],
    )
    assert seeds_of(small).items() <= seeds_of(large).items()
    assert keys_of(small).items() <= keys_of(large).items()


def test_a_label_changes_no_noise() -> None:
    plain = quick(perturbations=[{"kind": "noise", "force": 0.1}])
    named = quick(perturbations=[{"kind": "noise", "force": 0.1, "label": "light"}])
    assert list(seeds_of(plain).values()) == list(seeds_of(named).values())


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 6},
        {"metrics": ["mass_error"]},
        {"cutoff_hz": 3.0},
        {"perturbations": [{"kind": "noise", "force": 0.05, "torque": 0.1}]},
        {"estimators": [{"kind": "wls", "bias": "none"}]},
        {"logs": [{"kind": "synthetic", "number": 2, "duration": 4.0, "rate_hz": 51.0}]},
    ],
)
def test_a_key_changes_with_what_makes_the_trial(changes: dict) -> None:
    before = {trial.key for trial in quick().trials()}
    assert before.isdisjoint(
        trial.key for trial in quick(**changes).trials() if trial.noisy.seed_index
    )


def test_a_key_changes_with_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {trial.key for trial in quick().trials()}
    other = CodeFingerprint("other", code_fingerprint().versions)
    monkeypatch.setattr(study_module, "code_fingerprint", lambda: other)
    assert before.isdisjoint(trial.key for trial in quick().trials())


def test_the_mark_counts_the_versions() -> None:
    mark = code_fingerprint()
    newer = CodeFingerprint(mark.source, (("numpy", "99"), *mark.versions[1:]))
    assert mark.short != newer.short
    assert {name for name, _ in mark.versions} == {"numpy", "scipy", "cvxpy", "clarabel"}


def test_the_source_digest_leaves_out_what_only_shows_results(tmp_path: Path) -> None:
    for part in ("estimation", "reporting", "commands"):
        (tmp_path / part).mkdir()
        (tmp_path / part / "one.py").write_text("x = 1\n")
    before = source_digest(tmp_path)
    (tmp_path / "reporting" / "one.py").write_text("x = 2\n")
    (tmp_path / "commands" / "two.py").write_text("x = 2\n")
    assert source_digest(tmp_path) == before
    (tmp_path / "estimation" / "one.py").write_text("x = 2\n")
    assert source_digest(tmp_path) != before


def test_the_digest_of_some_packages_is_of_these_alone(tmp_path: Path) -> None:
    for part in ("estimation", "signals"):
        (tmp_path / part).mkdir()
        (tmp_path / part / "one.py").write_text("x = 1\n")
    (tmp_path / "arrays.py").write_text("y = 1\n")
    before = source_digest(tmp_path, ["estimation", "arrays"])
    assert before == source_digest(tmp_path, ["arrays", "estimation", "arrays"])
    assert before != source_digest(tmp_path, ["estimation"])
    (tmp_path / "signals" / "one.py").write_text("x = 2\n")
    assert source_digest(tmp_path, ["estimation", "arrays"]) == before
    (tmp_path / "arrays.py").write_text("y = 2\n")
    assert source_digest(tmp_path, ["estimation", "arrays"]) != before


def test_a_package_that_is_not_there_has_no_digest() -> None:
    assert numerics_digest() == code_fingerprint().source != numerics_digest(["estimation"])
    with pytest.raises(SchemaError, match=r"no package of identify 'estimatoin' .*'estimation'"):
        numerics_digest(["estimatoin"])


def test_seeds_do_not_depend_on_the_machine() -> None:
    assert noise_seed(5, "data", "noise", 0) == 0x186BCFCF32FBB042C920908FB72C5AE6
    assert seed_of("a", 1) == seed_of("a", 1) != seed_of("a", 2)
    assert seed_of("ab", "c") != seed_of("a", "bc")
