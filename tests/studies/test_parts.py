from dataclasses import replace

import numpy as np
import pytest

from experiments import parts
from identify.estimation import estimate_body
from identify.inertia import PHI, InertialParameters
from identify.logs import Noise, Recording, synthetic_recording
from identify.logs.recording import recording_rows
from identify.regressors import block_statistics
from identify.signals import prepare

BODY = InertialParameters.from_com(1.2, [0.01, -0.02, 0.05], np.diag([3e-3, 2e-3, 4e-3]))


@pytest.fixture(scope="module")
def log() -> Recording:
    noise = Noise(force=0.05, torque=0.005, position=5e-5, orientation=1e-4)
    rng = np.random.default_rng(5)
    return synthetic_recording(BODY.phi, rng=rng, duration=24.0, rate_hz=100.0, noise=noise)


def _changed(log: Recording, first: float, last: float, **added: list[float]) -> Recording:
    assert log.time is not None
    there = ((log.time >= first) & (log.time < last))[:, None]
    signals = {name: log.signals[name] + there * values for name, values in added.items()}
    return replace(log, signals={**log.signals, **signals})


def test_a_ratio_is_the_difference_of_two_fits_by_their_half_widths(log):
    found = parts.compare_parts("whole", log, 2)
    fits = [
        estimate_body([block_statistics(prepare(recording_rows(log, *rows)))])
        for rows in ((0, 1200), (1200, 2400))
    ]
    # Away from limits an interval is the estimate plus and minus its half-width.
    x = np.array([fit.parameters.phi for fit in fits])
    bounds = np.array([[fit.intervals[name] for name in PHI] for fit in fits])
    half = np.sqrt(np.sum((bounds[..., 1] - x) ** 2, axis=0))
    np.testing.assert_allclose(found.of(PHI), np.abs(x[0] - x[1]) / half, rtol=1e-9)
    assert (found.parts, found.failed_parts, found.of(PHI).max() < 1.5) == (2, 0, True)


def test_report_counts_pairs_and_significant_differences(log, tmp_path, monkeypatch):
    assert log.time is not None
    turned = {"force": log.signals["force"] * np.where(log.time < 12.0, 1.0, 1.1)[:, None]}
    heavier = replace(log, name="heavier", signals={**log.signals, **turned})
    monkeypatch.setattr(parts, "logs", lambda: iter([log, heavier]))
    monkeypatch.setattr(parts, "contact_free_part", lambda log: iter(()))
    path = tmp_path / "parts.md"
    assert parts.main(["-o", str(path)]) == 0
    lines = path.read_text(encoding="utf-8").splitlines()
    at_hand = parts.public_log() is not None
    assert lines[-1].startswith("Numerics: `" if at_hand else "Not the whole study: without panda")
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")][2:]
    assert [row[1] for row in rows] == ["2", "4", "both"] * 2
    assert [row[3] for row in rows[:3]] == ["10", "60", "70"]
    assert float(rows[2][4]) > 85.0
    assert "m 1" in rows[3][-1]  # the two halves
    assert "m 4" in rows[4][-1]  # each quarter with those of the other half


@pytest.mark.slow
def test_longest_contact_free_part_is_used_alone(log):
    assert list(parts.contact_free_part(log)) == []
    touched = _changed(log, 16.0, 17.5, force=[0.0, 4.0, 6.0])
    ((what, rest),) = parts.contact_free_part(touched)
    assert what.endswith("contact_free_part")
    assert rest.time is not None
    assert rest.time[0] == 0.0
    assert 15.5 < rest.time[-1] <= 16.0
