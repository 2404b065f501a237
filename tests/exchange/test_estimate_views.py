import json

import numpy as np
import pytest

import identify
from identify.exchange import read_estimate
from identify.inertia import PHI, InertialParameters
from identify.logs.synthetic import Noise, synthetic_recording
from tests.close import assert_close
from tests.recordings import synthetic_still_recording

BODY = InertialParameters.from_com(
    1.3, [0.02, -0.015, 0.06], np.array([[31, 4, -3], [4, 26, 5], [-3, 5, 17]]) * 1e-4
)


def recorded(**options):
    return synthetic_recording(
        BODY.phi,
        rng=np.random.default_rng(2),
        duration=8.0,
        rate_hz=100.0,
        noise=Noise(force=0.02, torque=1e-3),
        **options,
    )


@pytest.fixture(scope="module")
def result():
    return identify.fit(recorded())


def test_a_table_has_the_parameters_with_their_intervals(result):
    estimate, frame = result.estimate, result.to_dataframe()
    assert list(frame.columns) == ["value", "low", "high", "unit", "decided_by"]
    assert set(frame.index) == set(estimate.intervals)
    assert_close(frame.loc[list(PHI), "value"], estimate.parameters.phi, 0.0)
    assert_close(frame.loc[["cx", "cy", "cz"], "value"], estimate.com, 0.0)
    assert frame.loc["Icyz", "value"] == estimate.inertia_about_com[1, 2]
    assert dict(frame["unit"])["m"] == "kg"
    assert dict(frame["unit"])["cz"] == "m"
    assert dict(frame["unit"])["Icxy"] == "kg m²"
    for name, interval in estimate.intervals.items():
        assert tuple(frame.loc[name, ["low", "high"]]) == interval
    assert set(frame["decided_by"]) == {"data"}


def test_plain_data_match_the_file(result, tmp_path):
    path = result.estimate.save(tmp_path / "estimate.json")
    assert result.estimate.to_dict() == json.loads(path.read_text())
    read = read_estimate(path)
    assert read.to_dict() == result.estimate.to_dict()
    assert read.to_dataframe().equals(result.to_dataframe())
    assert read.mass == result.estimate.mass
    document = json.loads(json.dumps(result.to_dict()))
    assert document["estimate"]["phi"] == result.estimate.parameters.phi.tolist()
    assert document["logs"][0]["sha256"] == result.logs[0].recording.sha256
    assert document["held_out"]["r_squared"] == result.validation.scores.r_squared.tolist()


def test_lines_are_short_and_say_mass_centre_of_mass_and_inertia(result):
    for shown in (repr(result.estimate), repr(result), repr(result.estimate.saved)):
        assert len(shown) < 400
        assert f"mass {result.estimate.mass:.6g} kg" in shown
        assert "com [0.0" in shown
        assert "inertia about com [xx 0.003" in shown
    assert "(800 rows, " in repr(result)
    assert "at 100 Hz" in repr(result)
    assert "<table" in result._repr_html_()
    assert "Estimate(mass" in result.estimate._repr_html_()


def test_printed_result_contains_intervals(result):
    text = str(result)
    assert text.startswith(repr(result))
    low, high = result.estimate.intervals["m"]
    assert f"± {0.5 * (high - low):.1g}"[:-1] in text
    (line,) = (one for one in text.splitlines() if one.startswith("cy "))
    value, half = line.removesuffix(" m, data").removeprefix("cy ").split("±")
    assert len(half.strip()) == len(value.strip().lstrip("-"))
    bounds = result.estimate.intervals["cy"]
    assert_close([float(value) - float(half), float(value) + float(half)], bounds, 0.05)


def test_completion_by_default_body_is_printed():
    rng, noise = np.random.default_rng(1), Noise(force=0.02, torque=1e-3)
    result = identify.fit(synthetic_still_recording(BODY.phi, rng=rng, poses=7, noise=noise))
    assert "completed by the default body: Ixx, Ixy" in repr(result.estimate)
    assert np.isnan(result.to_dataframe().loc["Ixx", "low"])
    assert "static poses" not in repr(result)
