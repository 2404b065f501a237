import math
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pacsv
import pytest

from experiments import design, rows
from experiments.silent_study import subjects as silent_study
from experiments.verdicts_study import logs as verdicts_study
from identify.catalog import DatasetLog
from identify.commands.main import main
from identify.errors import DatasetError, ProblemError, StudyError
from identify.files import digest
from identify.inertia import InertialParameters
from identify.logs import load_schema
from identify.logs.log_writing import write_log
from identify.logs.synthetic import BOX_DENSITIES, synthetic_recording
from identify.studies import (
    document,
    load_study,
    open_results,
    parse_study,
    run_study,
    sources,
    work,
)
from tests.studies.studies import QUICK, quick


def labels(study: Any) -> list[str]:
    return [perturbation.label for perturbation in study.perturbations]


def test_a_list_is_a_grid_and_the_last_key_moves_fastest() -> None:
    study = quick(perturbations=[{"kind": "noise", "force": [0.1, 0.2], "torque": [0.01, 0.02]}])
    assert labels(study) == [
        "noise(force=0.1, torque=0.01)",
        "noise(force=0.1, torque=0.02)",
        "noise(force=0.2, torque=0.01)",
        "noise(force=0.2, torque=0.02)",
    ]


def test_steps_are_combined_in_sequence() -> None:
    steps = [{"kind": "delay", "wrench": [0.01, 0.02]}, {"kind": "noise", "force": [0.1, 0.2]}]
    study = quick(perturbations=[{"steps": steps}])
    assert labels(study)[1] == "delay(wrench=0.01) + noise(force=0.2)"
    assert [len(each.steps) for each in study.perturbations] == [2] * 4
    assert study.perturbations[0].columns()["delay_wrench"] == 0.01


def test_trials_are_counted_and_deterministic_perturbations_have_single_seed() -> None:
    study = quick()
    trials = list(study.trials())
    assert len(trials) == len(study) == 2 * (1 + 2 * 3) * 2
    assert len({trial.key for trial in trials}) == len(trials)


NOISE, SYNTHETIC = {"kind": "noise"}, {"kind": "synthetic"}

WRONG: list[tuple[str, Any, str]] = [
    ("estimators", ["pds"], r"\[\[estimators\]\] no\. 1: .*'pds' .*'psd'"),
    ("metrics", ["mas_error"], "metrics: .*'mas_error' .*'mass_error'"),
    ("perturbations", ["noize"], "'noize' .*'noise'"),
    ("logs", [{"kind": "sythetic"}], "'sythetic' .*'synthetic'"),
    *((key, [], rf"{key} = \[\]") for key in ("logs", "estimators", "seeds", "metrics")),
    ("seeds", [1, 1], "duplicate seed '1'"),
    ("seeds", 0, "seeds: .*got 0"),
    ("seed", -1, "seed: "),
    ("colour", "red", "'colour'"),
    *(("timeout", value, "timeout: ") for value in (0.0, -1.0, math.inf, "1")),
    ("perturbations", [NOISE | {"force": []}], r"1: force = \[\]"),
    ("perturbations", [NOISE | {"forze": 1.0}], "'forze'; did you mean 'force'"),
    ("perturbations", [NOISE | {"force": -1.0}], "force: .* got -1.0"),
    ("perturbations", [NOISE | {"force": "x"}], "force: .* got 'x'"),
    ("perturbations", [NOISE | {"label": 3}], "label: .*got 3"),
    ("perturbations", [{"force": 1.0}], "'kind' is missing"),
    ("perturbations", [{"kind": "delay"}], "'wrench' is missing"),
    ("perturbations", [{"steps": []}], "steps: expected a list of tables"),
    ("perturbations", [{"steps": ["none"], "force": 1.0}], "'force' beside"),
    ("perturbations", ["none", "none"], "duplicate perturbation 'none'"),
    ("estimators", ["ols", "ols"], "duplicate estimator 'ols'"),
    ("estimators", [{"kind": "psd", "mass": -1.0}], "mass: .* got -1.0"),
    ("logs", [SYNTHETIC | {"mass": {"from": 2.0, "to": 1.0}}], "from = 2 "),
    ("logs", [SYNTHETIC | {"number": 10**9}], "number: .*100000, got 1000000000"),
    ("logs", [SYNTHETIC | {"duration": 1e6}], r"duration = 1e\+06 .* 1e\+08 rows"),
    ("logs", [SYNTHETIC | {"rate_hz": 1e300, "duration": 1e300}], "inf rows"),
    ("logs", [SYNTHETIC | {"rate_hz": 1e-3}], "0.02 rows"),
]


@pytest.mark.parametrize(("key", "value", "message"), WRONG)
def test_invalid_study_reports_location(key: str, value: Any, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        parse_study(QUICK | {key: value})


def test_number_of_logs_of_a_study_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_LOGS", 3)
    with pytest.raises(StudyError, match=r"no\. 1: with these the study has more than 3 logs"):
        quick(logs=[SYNTHETIC | {"number": 2, "mass": [1.0, 2.0]}])


@pytest.fixture
def two_logs(tmp_path: Path) -> Path:
    for number in range(2):
        rng = np.random.default_rng(number)
        recording = synthetic_recording(
            [1.0, 0, 0, 0.1, 0.02, 0, 0, 0.02, 0, 0.01], rng=rng, duration=4.0, rate_hz=50.0
        )
        write_log(recording, tmp_path / f"run_{number}.csv", tmp_path / "schema.toml")
    (tmp_path / "truth.json").write_text(
        '{"mass": 1.0, "com": [0, 0, 0.1],'
        ' "inertia_about_com": [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]]}'
    )
    return tmp_path


def study_file(folder: Path, logs: str) -> Path:
    path = folder / "study.toml"
    path.write_text(
        f'name = "files"\nseed = 1\nestimators = ["ols"]\n[[logs]]\nkind = "files"\n{logs}\n'
    )
    return path


def test_logs_in_files_are_found_beside_the_study_file(two_logs: Path) -> None:
    text = 'pattern = "run_*.csv"\nschema = "schema.toml"\ntruth = "truth.json"'
    study = load_study(study_file(two_logs, text))
    assert [log.name for log in study.logs] == ["run_0", "run_1"]
    log, truth = study.logs[1].load()
    assert log.loaded[0].sha256 == study.logs[1].data_digest
    assert truth is not None
    assert truth.phi[0] == 1.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('pattern = "walk_*.csv"\nschema = "schema.toml"', r"'walk_\*\.csv' matches no file under"),
        ('pattern = "fol*"\nschema = "schema.toml"', "matches folders, and the schema does not"),
        ('pattern = "/"\nschema = "schema.toml"', "pattern = '/' names a folder; expected files"),
        ('pattern = ""\nschema = "schema.toml"', "pattern = '' names a folder; expected files"),
        (
            'pattern = "run_*.csv"\nschema = "scheme.toml"',
            "scheme.toml: no such file",
        ),
        ('pattern = "run_*.csv"', "the key 'schema' is missing"),
        (
            'pattern = ["run_0.csv", "run_*.csv"]\nschema = "schema.toml"',
            "the log 'run_0' is in .* already",
        ),
    ],
)
def test_missing_log_files_are_rejected(two_logs: Path, text: str, message: str) -> None:
    (two_logs / "folder").mkdir()
    with pytest.raises(StudyError, match=message):
        load_study(study_file(two_logs, text))


def in_two_files(two_logs: Path, *, named: str) -> None:
    """Each log as a folder with the wrench in a file of its own; the schema names those files."""
    for number in range(2):
        table = pacsv.read_csv(two_logs / f"run_{number}.csv")
        wrench = [name for name in table.column_names if name[0] in "ft" and name != "t"]
        folder = two_logs / "runs" / f"of.{number}"
        folder.mkdir(parents=True)
        pacsv.write_csv(table.drop_columns(wrench), folder / "motion.csv")
        pacsv.write_csv(table.select(["t", *wrench]), folder / "wrench.csv")
    schema = load_schema(two_logs / "schema.toml")
    files = {group: "wrench.csv" if group == "wrench" else "motion.csv" for group in schema.groups}
    lines = [f'[streams.{group}]\nfile = "{files[group]}"' for group in named.split()]
    with (two_logs / "schema.toml").open("a") as file:
        file.write("\n" + "\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("named", "pattern", "names"),
    [
        ("wrench", "runs/*/motion.csv", ["runs/of.0/motion", "runs/of.1/motion"]),
        ("all", "runs/*", ["runs/of.0", "runs/of.1"]),
    ],
)
def test_logs_of_several_files_are_fitted(
    two_logs: Path, named: str, pattern: str, names: list[str]
) -> None:
    groups = " ".join(load_schema(two_logs / "schema.toml").groups)
    in_two_files(two_logs, named=groups if named == "all" else named)
    path = study_file(two_logs, f'pattern = "{pattern}"\nschema = "schema.toml"')
    words = ["study", "run", str(path), "-o", str(two_logs / "out"), "--workers", "0", "--quiet"]
    assert main(words) == 0
    frame = open_results(two_logs / "out").frame
    assert frame["log"].tolist() == names
    assert frame["error"].isna().all()
    assert frame["estimate_m"].tolist() == pytest.approx([1.0, 1.0], rel=1e-6)
    before = {log.name: log.data_digest for log in load_study(path).logs}
    wrench = two_logs / "runs" / "of.1" / "wrench.csv"
    wrench.write_text(wrench.read_text().replace("0.5", "0.6"))
    after = {log.name: log.data_digest for log in load_study(path).logs}
    assert [before[name] == after[name] for name in names] == [True, False]


def test_log_file_changed_during_run_is_an_error(
    two_logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "_LOG_CACHE", OrderedDict())  # no log is in memory
    in_two_files(two_logs, named="wrench")
    text = 'pattern = "runs/*/motion.csv"\nschema = "schema.toml"'
    study = load_study(study_file(two_logs, text))
    wrench = two_logs / "runs" / "of.0" / "wrench.csv"
    wrench.write_text(wrench.read_text().replace("8.4", "8.5"))
    run_study(study, two_logs / "out", workers=0)
    errors = open_results(two_logs / "out").frame["error"]
    assert [str(error).rpartition(": ")[2] for error in errors] == [
        "the file changed after the study was read; run it again",
        "nan",
    ]


@pytest.mark.parametrize(("text", "message"), [(None, "no such file"), ("name = ", "not a TOML")])
def test_unreadable_study_file_is_rejected(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "study.toml").write_text(text)
    with pytest.raises(StudyError, match=f"study.toml: {message}"):
        load_study(tmp_path / "study.toml")


def test_a_data_set_of_the_catalog(two_logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A made-up set: the catalog verifies the real ones file by file."""
    truth = InertialParameters.from_com(1.0, (0.0, 0.0, 0.1), np.diag([0.01, 0.01, 0.01]))

    def logs_of(name: str) -> list[DatasetLog]:
        paths = {tool: two_logs / f"run_{number}.csv" for number, tool in enumerate(("Box", "Rod"))}
        return [
            DatasetLog(
                dataset=name,
                name=tool,
                path=path,
                schema=two_logs / "schema.toml",
                sha256=digest(path),
                truth=truth if tool == "Box" else None,
                box_sides=np.array([0.12, 0.15, 0.2]),
            )
            for tool, path in paths.items()
        ]

    monkeypatch.setattr(sources, "dataset_logs", logs_of)
    study = quick(logs=[{"kind": "dataset", "name": "stars", "only": ["B*", "Rod"]}])
    assert [log.name for log in study.logs] == ["stars/Box", "stars/Rod"]
    (log, truth), (_, unknown) = (log.load() for log in study.logs)
    assert log.loaded[0].sha256 == study.logs[0].data_digest
    np.testing.assert_array_equal(truth.sides, [0.12, 0.15, 0.2])
    assert (truth.phi[0], unknown) == (1.0, None)
    with pytest.raises(StudyError, match="stars has no log 'Bax'; did you mean 'Box'"):
        quick(logs=[{"kind": "dataset", "name": "stars", "only": ["Bax"]}])


def test_missing_dataset_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDENTIFY_DATA", str(tmp_path))
    with pytest.raises(DatasetError, match="stars"):
        quick(logs=[{"kind": "dataset", "name": "stars"}])
    with pytest.raises(DatasetError, match="did you mean 'stars'"):
        quick(logs=[{"kind": "dataset", "name": "star"}])


def test_a_range_is_drawn_evenly_in_its_logarithm() -> None:
    logs = [
        {
            "kind": "synthetic",
            "number": 200,
            "mass": {"from": 0.1, "to": 10.0},
            "duration": 1.0,
            "rate_hz": 10.0,
        }
    ]
    masses = [log.load()[1].phi[0] for log in quick(logs=logs).logs]
    assert 0.1 <= min(masses) < 0.2
    assert 5.0 < max(masses) <= 10.0
    assert 0.8 < np.median(masses) < 1.25


def box_density(phi) -> float:
    """Density of the solid box with the moments of a body."""
    body = InertialParameters(phi)
    I1, I2, I3 = np.linalg.eigvalsh(body.inertia_about_com)
    squares = 6.0 / body.mass * np.array([I2 + I3 - I1, I1 + I3 - I2, I1 + I2 - I3])
    return body.mass / np.sqrt(squares.prod())


def test_random_boxes_are_of_a_possible_material() -> None:
    """Light and heavy, small and large."""
    ranges = [
        {"mass": {"from": 0.2, "to": 5.0}, "size": {"from": 0.08, "to": 0.3}},  # the benchmark's
        {"mass": {"from": 1e-3, "to": 1e3}, "size": {"from": 0.03, "to": 2.0}},
        {"mass": 10.0, "size": 0.15},
    ]
    for options in ranges:
        logs = [{"kind": "synthetic", "number": 60, "duration": 1.0, "rate_hz": 10.0, **options}]
        densities = [box_density(log.load()[1].phi) for log in quick(logs=logs).logs]
        assert BOX_DENSITIES[0] <= min(densities) < max(densities) <= BOX_DENSITIES[1]
        assert len(set(densities)) == len(densities)


@pytest.mark.parametrize(
    "draw",
    [
        silent_study.random_body,
        rows.random_body,
        lambda rng: design.random_body(rng).phi,
        lambda rng: verdicts_study.random_box(rng)[0],
    ],
)
def test_bodies_of_the_studies_are_of_a_possible_material(draw) -> None:
    rng = np.random.default_rng(4)
    densities = [box_density(draw(rng)) for _ in range(400)]
    assert BOX_DENSITIES[0] <= min(densities) < max(densities) <= BOX_DENSITIES[1]
    assert len(set(densities)) == len(densities)


@pytest.mark.parametrize(("mass", "size"), [(10.0, 0.08), (1e-3, 0.2)])
def test_no_material_of_a_random_box_is_an_error(mass: float, size: float) -> None:
    (log,) = quick(logs=[SYNTHETIC | {"number": 1, "mass": mass, "size": size}]).logs
    with pytest.raises(ProblemError, match=rf"mass = {mass:g} kg and size = {size:g} m .*: change"):
        log.load()
