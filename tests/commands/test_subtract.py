import json
import os
from dataclasses import replace

import numpy as np
import pytest

from identify.exchange import SavedEstimate, read_estimate, write_estimate
from identify.findings import Finding, derive_verdict
from identify.inertia import PHI, InertialParameters, in_frame
from identify.inertia.shapes import Box, Cylinder
from identify.spatial import Pose

TOOL = Box(0.1, 0.08, 0.15).body(mass=2.0).phi
PAYLOAD = in_frame(
    Cylinder(0.03, 0.1).body(mass=0.5).phi, Pose(np.eye(3), np.array([0.0, 0.02, 0.12]))
)
SPREAD = np.array([1e-3, *[1e-4] * 3, *[1e-5] * 6])
DECIDED = dict.fromkeys(PHI, "data")


def saved(phi: np.ndarray, *, spread: float = 1.0) -> SavedEstimate:
    return SavedEstimate(
        InertialParameters(phi), covariance=np.diag((spread * SPREAD) ** 2), decided_by=DECIDED
    )


@pytest.fixture
def files(tmp_path):
    def write(first: SavedEstimate, second: SavedEstimate) -> list:
        return [
            write_estimate(first, tmp_path / "with.json"),
            write_estimate(second, tmp_path / "without.json"),
        ]

    return write


def test_the_payload_with_its_intervals(cli, files, tmp_path):
    """Covariances add up: half-widths are 1.96 √(σ₁² + σ₂²)."""
    out = tmp_path / "payload.json"
    status, printed, err = cli("subtract", *files(saved(TOOL + PAYLOAD), saved(TOOL)), "-o", out)
    assert (status, err) == (0, "")
    payload = read_estimate(out)
    np.testing.assert_allclose(payload.parameters.phi, PAYLOAD, rtol=1e-12, atol=1e-15)
    for name, value, sigma in zip(PHI, PAYLOAD, SPREAD, strict=True):
        low, high = payload.intervals[name]
        np.testing.assert_allclose(
            [low, high], value + 1.959964 * np.sqrt(2) * sigma * np.array([-1, 1]), rtol=1e-6
        )
    assert payload.intervals["cz"] is not None
    assert payload.interval_kind == (
        "95 %, from the covariances of the two estimates, assumed independent"
    )
    assert " m     g" in printed or " m     kg" in printed
    assert printed.endswith(f"{out}\n")


def test_nothing_is_printed_of_a_file_that_cannot_be_written(cli, files, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    given = files(saved(TOOL + PAYLOAD), saved(TOOL))
    monkeypatch.setattr(os, "replace", full)
    assert "payload.json: cannot be written to: No space left on device" in cli.refused(
        "subtract", *given, "-o", tmp_path / "payload.json"
    )


def test_body_without_covariance_counts_as_exact(cli, files, tmp_path):
    given, bare = files(saved(TOOL + PAYLOAD), saved(TOOL))
    bare.write_text(json.dumps({"phi": TOOL.tolist()}))
    out = tmp_path / "payload.json"
    status, printed, _ = cli("subtract", given, bare, "-o", out)
    assert status == 0
    exact = f"Note: {bare} has no covariance and counts as exact: the intervals contain only the"
    assert exact in printed
    np.testing.assert_allclose(np.diag(read_estimate(out).covariance), SPREAD**2)


def test_without_any_covariance_there_are_no_intervals(cli, files, tmp_path):
    both = files(*(replace(saved(phi), covariance=None) for phi in (TOOL + PAYLOAD, TOOL)))
    out = tmp_path / "payload.json"
    status, printed, _ = cli("subtract", *both, "-o", out)
    assert status == 0
    assert f"Note: no intervals: {both[0]} and {both[1]} have no covariance.\n" in printed
    assert not read_estimate(out).intervals


def test_inconsistency_within_noise_is_reported_and_projected(cli, files, tmp_path):
    """A thin payload whose least second moment is below zero by less than its noise."""
    thin = np.array([0.5, 0, 0, 0, 1e-4, 0, 0, 1e-4, 0, 2.1e-4])
    out = tmp_path / "payload.json"
    status, printed, _ = cli("subtract", *files(saved(TOOL + thin), saved(TOOL)), "-o", out)
    assert status == 0
    assert "the difference itself is physically inconsistent by 0.4 standard deviations" in printed
    payload = read_estimate(out)
    assert payload.parameters.consistent
    assert payload.decided_by["m"] == "data"
    assert payload.decided_by["Ixx"] == "constraint"
    assert payload.parameters.mass == pytest.approx(0.5)


@pytest.mark.parametrize("known", [True, False])
def test_inconsistency_beyond_noise_raises(cli, files, tmp_path, known):
    out = tmp_path / "payload.json"
    thin = np.array([0.5, 0, 0, 0, 1e-4, 0, 0, 1e-4, 0, 5e-4])
    both = [saved(TOOL + thin), saved(TOOL)]
    if not known:
        both = [replace(one, covariance=None) for one in both]
    assert "with − without is not physically consistent: triangle inequality" in cli.refused(
        "subtract", *files(*both), "-o", out
    )
    assert not out.exists()


def test_swapped_subtraction_is_rejected(cli, files):
    outcome = cli("subtract", *files(saved(TOOL), saved(TOOL + PAYLOAD)))
    assert outcome.status == 2
    assert "the mass is -0.5 kg, not positive" in outcome.message


@pytest.mark.parametrize(("severity", "status"), [("error", 4), ("warning", 0)])
def test_findings_of_either_go_on_to_the_payload(cli, files, tmp_path, severity, status):
    found = Finding("unexplained", severity, "little is explained.", where="tool.csv")
    clean = derive_verdict([], possible=True, optimal=True, identifiable=PHI)
    bad = derive_verdict([found], possible=True, optimal=True, identifiable=PHI)
    given = files(
        replace(saved(TOOL + PAYLOAD), verdict=clean),
        replace(saved(TOOL), findings=(found,), verdict=bad),
    )
    out = tmp_path / "payload.json"
    outcome = cli("subtract", *given, "-o", out)
    assert outcome.status == status
    said = f"{severity}: without it: tool.csv: little is explained. [unexplained]"
    assert outcome.err == f"identify: {said}\n"
    payload = read_estimate(out)
    assert payload.verdict.usable == {"error": "no", "warning": "with care"}[severity]
    assert payload.verdict.reasons == ("unexplained",)
    assert [one.where for one in payload.findings] == ["without it: tool.csv"]
    np.testing.assert_allclose(payload.parameters.phi, PAYLOAD, rtol=1e-12, atol=1e-15)
