import importlib.util
import json

import numpy as np
import pandas as pd
import pytest

from tests.endtoend.conftest import ROOT
from tests.endtoend.estimates import INTERVALS, SIX, load

FOLDER = ROOT / "datasets" / "free_flight"
LOG = (FOLDER / "free_flight.parquet", "--schema", FOLDER / "schema.toml")


@pytest.fixture(scope="module")
def truth():
    return json.loads((FOLDER / "truth.json").read_text())


@pytest.mark.usefixtures("no_report")
def test_free_flight_identifies_inertia_and_centre_of_mass(cli, truth, tmp_path):
    outcome = cli("fit", *LOG, "--mass", truth["mass"], "-o", tmp_path, "--verbose")
    assert outcome.status == 0
    assert "Usable: yes." in outcome.out
    assert "forces without signal" in outcome.out
    found = load(tmp_path)
    assert found["findings"] == []
    assert found["r_squared"][:3] == [None] * 3
    assert min(found["r_squared"][3:]) > 0.99
    assert found["verdict"]["identifiable"] == list(INTERVALS[1:10])
    central = np.array(truth["inertia_about_com"])[SIX]
    moments = np.linalg.eigvalsh(np.array(truth["inertia_about_com"]))
    numbers = [*truth["phi"], *truth["com"], *central, *moments]
    expected = dict(zip(INTERVALS, numbers, strict=True))
    for name in INTERVALS:
        low, high = found["intervals"][name]
        width = max(high - low, 1e-12)
        assert low - width < expected[name] < high + width, name  # three half-widths
    error = np.abs(np.array(found["inertia_about_com"])[SIX] - central).max()
    assert error < 2e-3 * central.max()


def test_check_with_known_mass_has_no_findings(cli, truth):
    outcome = cli("check", *LOG, "--mass", truth["mass"])
    assert outcome.status == 0
    assert "No faults were found." in outcome.out


def test_without_the_mass_a_force_of_zero_is_a_dead_sensor(cli, tmp_path):
    assert "of a body in free flight give the mass" in cli.refused(
        "fit", *LOG, "-o", tmp_path / "out"
    )
    assert not (tmp_path / "out").exists()


def test_flight_log_is_reproduced_by_its_script(tmp_path, truth):
    spec = importlib.util.spec_from_file_location("generate_flight", FOLDER / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(tmp_path)
    made, shipped = (pd.read_parquet(folder / LOG[0].name) for folder in (tmp_path, FOLDER))
    pd.testing.assert_frame_equal(made, shipped, rtol=0.0, atol=2e-7)
    assert json.loads((tmp_path / "truth.json").read_text()) == truth
