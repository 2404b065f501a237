"""What a reader of an estimate.json may count on, checked on every one the tests make."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from identify.inertia import PHI, pseudo_inertia

KEYS = (
    "schema_version",
    "frame",
    "frames",
    "phi",
    "mass",
    "com",
    "inertia_about_com",
    "inertia_about_origin",
    "covariance",
    "calibration",
    "intervals",
    "interval_kind",
    "degrees_of_freedom",
    "certified_bounds",
    "variance_shares",
    "principal_axes",
    "decided_by",
    "prior_share",
    "default_body",
    "bias",
    "residual_rms",
    "samples",
    "effective_samples",
    "dropped_rows",
    "certificate",
    "provenance",
    "findings",
    "r_squared",
    "verdict",
    "digest",
)
INTERVALS = (
    *PHI,
    *("cx", "cy", "cz"),
    *("Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz"),
    *("I1", "I2", "I3"),
)
SIX = (0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2)
"""Rows and columns of the entries xx, xy, xz, yy, yz, zz of a symmetric matrix."""


def load(folder: Path) -> dict[str, Any]:
    """The estimate.json of a folder, after checking all that every one must hold."""
    estimate = json.loads((folder / "estimate.json").read_text(encoding="utf-8"))
    assert tuple(estimate) == KEYS
    assert estimate["schema_version"] == 3
    assert estimate["frame"] == "body"
    _check_body(estimate)
    _check_uncertainty(estimate)
    _check_certificate(estimate)
    _check_provenance(estimate)
    _check_verdict(estimate)
    return estimate


def values(estimate: dict[str, Any]) -> dict[str, float]:
    """The parameters by the names of their intervals."""
    central = np.array(estimate["inertia_about_com"])[SIX]
    moments = np.linalg.eigvalsh(np.array(estimate["inertia_about_com"]))
    numbers = [*estimate["phi"], *estimate["com"], *central, *moments]
    return dict(zip(INTERVALS, map(float, numbers), strict=True))


def _check_body(estimate: dict[str, Any]) -> None:
    phi, mass, com = np.array(estimate["phi"]), estimate["mass"], np.array(estimate["com"])
    central = np.array(estimate["inertia_about_com"])
    about_origin = np.array(estimate["inertia_about_origin"])
    assert phi.shape == (10,)
    assert com.shape == (3,)
    assert central.shape == about_origin.shape == (3, 3)
    assert mass == phi[0] > 0.0
    np.testing.assert_allclose(mass * com, phi[1:4], rtol=0, atol=1e-14 * mass)
    np.testing.assert_array_equal(about_origin[SIX], phi[4:])
    np.testing.assert_array_equal(about_origin, about_origin.T)
    steiner = mass * (com @ com * np.eye(3) - np.outer(com, com))
    np.testing.assert_allclose(
        central + steiner, about_origin, rtol=0, atol=1e-12 * np.trace(about_origin)
    )
    assert np.linalg.eigvalsh(pseudo_inertia(phi))[0] > 0.0
    moments = np.linalg.eigvalsh(central)
    assert 0.0 < moments[2] < moments[0] + moments[1]


def _check_uncertainty(estimate: dict[str, Any]) -> None:
    covariance = np.array(estimate["covariance"])
    assert covariance.shape == (10, 10)
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert (np.abs(covariance - covariance.T) <= 1e-10 * scale).all()
    assert tuple(estimate["intervals"]) == INTERVALS
    counted = "noise of wrench and motion counted", "noise of the wrench counted by what the fit"
    assert any(said in estimate["interval_kind"] for said in counted)
    decided_by = estimate["decided_by"]
    assert tuple(decided_by) == PHI
    assert set(decided_by.values()) <= {"data", "constraint", "given", "default"}
    assert (estimate["default_body"] is None) == ("default" not in decided_by.values())
    for name, value in values(estimate).items():
        bounds = estimate["intervals"][name]
        if decided_by.get(name) == "default":
            assert bounds is None, f"{name} is not measured and has an interval"
        elif decided_by.get(name) == "data":
            assert bounds[0] <= value <= bounds[1]

    six = [decided_by[name] for name in PHI[4:]]
    assert (estimate["intervals"]["I1"] is None) == ("default" in six)
    for number, axis in enumerate(estimate["principal_axes"], start=1):
        np.testing.assert_allclose(np.linalg.norm(axis["direction"]), 1.0, atol=1e-12)
        low, high = estimate["intervals"][f"I{number}"]
        assert 0.0 <= low <= axis["moment"] <= high
        assert axis["half_angle"] is None or 0.0 <= axis["half_angle"] < 0.8
    for shares in estimate["variance_shares"].values():
        assert min(shares.values()) >= 0.0
        np.testing.assert_allclose(sum(shares.values()), 1.0, atol=1e-9)


def _check_certificate(estimate: dict[str, Any]) -> None:
    certificate = estimate["certificate"]
    assert certificate["solver"] in ("none", "Clarabel")
    assert np.array(certificate["eigenvalues"]).shape == (4,)
    assert min(certificate["eigenvalues"]) >= 0.0
    assert certificate["primal_residual"] <= 1e-9
    assert certificate["gap"] >= -1e-9
    assert certificate["rank"] <= 10
    assert set(certificate) >= {
        *("dual_residual", "distance_to_optimum", "margin", "condition", "status", "iterations"),
        *("versions", "build_time", "solve_time"),
    }
    rms = np.array(estimate["residual_rms"])
    assert rms.shape == (6,)
    assert (rms >= 0.0).all()


def _check_verdict(estimate: dict[str, Any]) -> None:
    verdict, findings = estimate["verdict"], estimate["findings"]
    care = ("completed", "at_the_edge")
    asking = [one for one in findings if one["severity"] != "info" or one["code"] in care]
    errors = [one for one in findings if one["severity"] == "error"]
    expected = "no" if errors else "with care" if asking else "yes"
    if expected == "yes" and not all(verdict.get("needs", {}).values()):
        expected = "with care"
    assert verdict["usable"] == expected
    assert set(verdict["reasons"]) == {one["code"] for one in asking}
    assert ("completed" in verdict["reasons"]) == (estimate["default_body"] is not None)
    assert verdict["explains_data"] == ("unexplained" not in verdict["reasons"])
    assert verdict["possible"] is True
    assert all(estimate["decided_by"][name] != "default" for name in verdict["identifiable"])
    assert estimate["r_squared"] is None or len(estimate["r_squared"]) == 6


def _check_provenance(estimate: dict[str, Any]) -> None:
    provenance = estimate["provenance"]
    assert set(provenance) == {"command", "options", "logs", "versions"}
    assert set(provenance["versions"]) >= {"python", "inertia-identify", "numpy", "cvxpy"}
    digests = [log["sha256"] for log in provenance["logs"]]
    assert [bias["sha256"] for bias in estimate["bias"]] == digests
    assert all(len(bias["wrench"]) == len(bias["half_width"]) == 6 for bias in estimate["bias"])
    assert all(len(digest) == 64 for digest in digests)
    assert estimate["effective_samples"] > 0
    assert 0 < estimate["samples"] <= sum(log["rows"] for log in provenance["logs"])
    dropped = [sum(log["dropped_rows"].values()) for log in provenance["logs"]]
    assert estimate["dropped_rows"] == sum(dropped)
