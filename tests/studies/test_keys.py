from dataclasses import dataclass, make_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import create_model

from identify.studies import study as study_module
from identify.studies.estimators import (
    ESTIMATORS,
    ConsistentLeastSquares,
    OrdinaryLeastSquares,
    WeightedLeastSquares,
)
from identify.studies.keys import (
    CodeFingerprint,
    code_fingerprint,
    derive_seed,
    fields_except,
    noise_seed,
    numerics_digest,
    result_key,
    to_plain,
)
from identify.studies.options import Options
from identify.studies.perturbations import PERTURBATIONS
from identify.studies.perturbations.perturbation import PerturbationSequence
from identify.studies.sources import Synthetic
from identify.studies.study import NamedEstimator, Study
from tests.studies.studies import quick


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    label: str = "p"


@dataclass(frozen=True, slots=True)
class Other:
    x: float
    label: str = "p"


DIFFERENT = [
    *(None, True, False, 1, 0, 1.5, -0.5, "1", "", "\udcff", "None"),
    *(float("inf"), float("-inf"), float("nan"), "inf"),
    *((), (1,), (1, 2), ((1,), 2), {}, {"a": 1}, {"a": 2}, {"b": 1}, ("a", 1)),
    *(np.zeros(2), np.zeros(3), np.zeros((1, 2)), np.zeros(2, int), np.array([0.0, np.nan])),
    *(Point(1.0), Point(2.0), Point(1.0, "q"), Other(1.0), {"x": 1.0, "label": "p"}),
    *(
        WeightedLeastSquares(),
        WeightedLeastSquares(mass=1.0),
        ConsistentLeastSquares(),
        OrdinaryLeastSquares(),
    ),
]


def test_other_values_make_other_keys() -> None:
    keys = [result_key(value) for value in DIFFERENT]
    assert len(set(keys)) == len(keys)
    assert {len(key) for key in keys} == {32}
    assert result_key(1, 2) != result_key((1, 2)) != result_key(12)


def test_equal_values_make_the_same_key() -> None:
    assert result_key({"a": 1, "b": 2}) == result_key({"b": 2, "a": 1})
    assert result_key((np.float64(0.1), np.int64(3))) == result_key([0.1, 3])
    assert result_key(Point(1.0)) == result_key(Point(1.0, "p"))
    assert result_key(WeightedLeastSquares()) == result_key(WeightedLeastSquares(bias="per_log"))


@pytest.mark.parametrize("value", [object(), len, {1, 2}, b"a", 1j, {1: 2}, Point, Path("a")])
@pytest.mark.parametrize("within", [lambda v: v, lambda v: (1, [v]), lambda v: {"a": Point(v)}])
def test_value_without_canonical_form_raises(value: object, within: Any) -> None:
    with pytest.raises(TypeError, match=r"a key cannot be made of .* has no canonical form"):
        to_plain(within(value))


def test_excluded_field_must_exist() -> None:
    assert fields_except(Point(1.0), "label") == {"x": 1.0}
    with pytest.raises(TypeError, match="Point has no fields lable"):
        fields_except(Point(1.0), "lable")


def trial_keys(study: Study) -> set[str]:
    return {trial.key for trial in study.trials()}


def test_its_name_its_file_and_its_time_limit_are_not_in_the_keys_of_a_studys_trials() -> None:
    study = quick()
    changed = replace(study, name="other", timeout=5.0, path=Path("study.toml"))
    assert trial_keys(changed) == trial_keys(study)


@pytest.mark.parametrize("field", ["seed", "metrics", "cutoff_hz"])
def test_trial_keys_depend_on_study_settings(field: str) -> None:
    study = quick(perturbations=[{"kind": "noise", "force": 0.1}])
    other: dict[str, Any] = {"seed": 6, "metrics": ("mass_error",), "cutoff_hz": 3.0}
    changed = replace(study, **{field: other[field]})
    assert trial_keys(changed).isdisjoint(trial_keys(study))


def with_field(base: type, value: object) -> Any:
    """A dataclass that has a field more than another, with that value by default."""
    return make_dataclass("More", [("added", object, value)], bases=(base,), frozen=True)


def converted(value: Any, kind: type) -> Any:
    """A value as one of a subclass of its class."""
    return kind(**fields_except(value))


@pytest.mark.parametrize("part", ["study", "perturbation", "estimator"])
def test_a_field_that_is_added_to_a_part_of_a_study_is_in_the_keys(part: str) -> None:
    study = quick()
    keys = []
    for value in (1, 2):
        if part == "study":
            changed = converted(study, with_field(Study, value))
        elif part == "perturbation":
            kind = with_field(PerturbationSequence, value)
            steps = tuple(converted(each, kind) for each in study.perturbations)
            changed = replace(study, perturbations=steps)
        else:
            kind = with_field(NamedEstimator, value)
            named = tuple(converted(each, kind) for each in study.estimators)
            changed = replace(study, estimators=named)
        keys.append(trial_keys(changed))
    assert keys[0].isdisjoint(keys[1])


def test_a_field_that_is_added_to_a_noisy_log_is_in_its_key() -> None:
    (noisy, *_) = quick().noisy_logs()
    one, two = (converted(noisy, with_field(type(noisy), value)).key() for value in (1, 2))
    assert one != two


REGISTERED = [
    *(("estimators", kind) for kind in ESTIMATORS.values()),
    *(("perturbations", kind) for kind in PERTURBATIONS.values()),
    ("logs", Synthetic),  # logs in files are known by their content, and the key has its digest
]

NEEDED: dict[str, dict[str, Any]] = {
    "command": {"command": ("true",)},
    "noise": {"force": 0.1},
    "stars_noise": {"level": "low"},
    "dropped_rows": {"share": 0.1},
    "decimation": {"every": 2},
    "only": {"keep": ("position",)},
    "delay": {"wrench": 0.01},
}
"""Options that a kind does not do without."""


def options(kind: type[Options], **values: Any) -> Options:
    return kind(**NEEDED.get(kind.kind, {}) | values)


def keys_with(table: str, entry: Options) -> set[str]:
    """The keys of a study whose only log, perturbation or estimator has these options."""
    study = quick()
    if table == "estimators":
        named = (NamedEstimator("same", entry),)  # type: ignore[arg-type]
        return trial_keys(replace(study, estimators=named))
    if table == "perturbations":
        sequence = (PerturbationSequence("same", (entry,)),)  # type: ignore[arg-type]
        return trial_keys(replace(study, perturbations=sequence))
    assert isinstance(entry, Synthetic)
    logs = [replace(log, name="same") for log in entry.logs(Path(), 5)[:1]]
    return trial_keys(replace(study, logs=tuple(logs)))


@pytest.mark.parametrize(("table", "kind"), REGISTERED)
def test_an_option_that_is_added_is_in_the_keys(table: str, kind: type[Options]) -> None:
    more: Any = create_model("More", __base__=kind, added=(int, 0))
    one, two = (keys_with(table, options(more, added=value)) for value in (1, 2))
    assert one.isdisjoint(two)


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


def test_growing_grid_keeps_existing_keys() -> None:
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


def test_a_key_changes_with_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {trial.key for trial in quick().trials()}
    other = CodeFingerprint("other", code_fingerprint().versions)
    monkeypatch.setattr(study_module, "code_fingerprint", lambda: other)
    assert before.isdisjoint(trial.key for trial in quick().trials())


def test_numerics_digest_excludes_reporting(tmp_path: Path) -> None:
    for part in ("estimation", "reporting", "commands"):
        (tmp_path / part).mkdir()
        (tmp_path / part / "one.py").write_text("x = 1\n")
    before = numerics_digest(folder=tmp_path)
    (tmp_path / "reporting" / "one.py").write_text("x = 2\n")
    (tmp_path / "commands" / "two.py").write_text("x = 2\n")
    assert numerics_digest(folder=tmp_path) == before
    (tmp_path / "estimation" / "one.py").write_text("x = 2\n")
    assert numerics_digest(folder=tmp_path) != before


def test_seeds_do_not_depend_on_the_machine() -> None:
    assert noise_seed(5, "data", "noise", 0) == 0x186BCFCF32FBB042C920908FB72C5AE6
    assert derive_seed("a", 1) == derive_seed("a", 1) != derive_seed("a", 2)
    assert derive_seed("ab", "c") != derive_seed("a", "bc")
