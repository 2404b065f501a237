from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from identify.pipeline import fit
from identify.reporting.study import StudyRows, rows_of_study
from identify.reporting.study.error_tables import target_lines
from identify.studies import Study, load_study, parse_study, run_study
from identify.studies.estimator import TrialData
from identify.studies.keys import code_fingerprint
from identify.studies.work import run_trials
from tests.recordings import without_effects
from tests.slow import few_or_many, mostly_slow

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
FILES = sorted(path.name for path in EXPERIMENTS.glob("*.toml"))
PUBLISHED = ("stars.toml", "stars_all_noise.toml")
OF_DATASETS = (*PUBLISHED, "stars_shape.toml", "coverage.toml", "arms_measured.toml")


@pytest.fixture
def stars(mirror_of_sets) -> Study:
    return load_study(EXPERIMENTS / "stars.toml")


SYNTHETIC = sorted(set(FILES) - set(OF_DATASETS))


@pytest.mark.parametrize("name", mostly_slow(SYNTHETIC, {*SYNTHETIC} - {"arms.toml"}))
def test_synthetic_studies_run_without_datasets(name, tmp_path):
    study = load_study(EXPERIMENTS / name)
    assert study.name == Path(name).stem
    one = replace(study, logs=study.logs[:1], perturbations=study.perturbations[:1], seeds=(0,))
    done = run_study(one, tmp_path, workers=0)
    assert (done.done, done.failed) == (len(study.estimators), 0)


def test_shape_study_defines_noise_and_baselines(stars):
    study = load_study(EXPERIMENTS / "stars_shape.toml")
    assert study.seed != stars.seed
    assert [each.label for each in study.perturbations] == ["none", "low", "moderate", "high"]
    kinds = [each.estimator.kind for each in study.estimators]
    assert kinds == ["psd", *["shape"] * 4]
    assert all(each.estimator.mass is None for each in study.estimators)
    one = replace(study, logs=study.logs[:1], perturbations=study.perturbations[1:2], seeds=(0,))
    trials = list(one.trials())
    rows, _ = run_trials(trials, study="x", metrics=study.metrics, code=code_fingerprint().short)
    errors = {str(row["estimator"]): row["central_inertia_error"] for row in rows}
    assert errors["shape"] < 10.0
    assert errors["box alone"] < 40.0


@pytest.mark.slow
@pytest.mark.parametrize("seeds", few_or_many(1, 2))
def test_the_stars_study_meets_its_targets(stars, tmp_path, seeds):
    """Mean errors within their targets, every estimate consistent, none without an estimate."""
    few = replace(
        stars,
        seeds=tuple(range(seeds)),
        estimators=tuple(each for each in stars.estimators if each.label == "psd"),
    )
    done = run_study(few, tmp_path, workers=0)
    rows = StudyRows(rows_of_study(tmp_path, few), few, done)
    lines = target_lines(rows, few.targets)
    assert len(lines) == 2 * 3 + 1
    assert [line for line in lines if line[-1] != "yes"] == []
    exact = rows.frame[rows.frame["perturbation"] == "none"]
    assert len(exact) == 20
    assert exact[["mass_error", "first_moment_error"]].to_numpy().max() <= 5e-4


def test_trial_matches_fit_without_small_faults():
    study = parse_study(
        {
            "name": "one",
            "seed": 3,
            "seeds": 1,
            "logs": [{"kind": "synthetic", "number": 1, "duration": 10.0}],
            "perturbations": [{"kind": "stars_noise", "level": "low"}],
            "estimators": ["psd"],
        }
    )
    (trial,) = study.trials()
    noisy = trial.noisy
    log = noisy.perturbation.apply(noisy.log.load()[0], noisy.noise_seed)
    (named,) = study.estimators
    output = named.estimator.estimate(TrialData(log))
    estimate = fit(without_effects(log.loaded[0])).estimate
    # The fit reads fewer columns of the statistics, which differ by rounding.
    np.testing.assert_allclose(output.phi, estimate.parameters.phi, rtol=1e-12)
    assert output.intervals.keys() == estimate.intervals.keys()
    for name, interval in estimate.intervals.items():
        np.testing.assert_allclose(output.intervals[name], interval, rtol=1e-9)
