import json

import numpy as np
import pytest

from identify.inertia import InertialParameters
from tests.close import group_errors
from tests.endtoend.estimates import load
from tests.slow import mostly_slow
from tests.tool_logs import TOOLS

pytestmark = pytest.mark.usefixtures("no_report")


@pytest.mark.parametrize("tool", mostly_slow(TOOLS, TOOLS[:3]))
def test_noise_free_tool_log_is_fitted(cli, tool_logs, tmp_path, tool):
    """Of twenty workshop tools, files of nine digits: every group of errors within 5e-6."""
    log = tool_logs / "stars_tools" / f"{tool}.csv"
    schema = tool_logs / "schemas" / "stars_tools.toml"
    out = cli.done("fit", log, "--schema", schema, "-o", tmp_path, "--verbose")
    assert "Optimal for the data: " in out
    truth = json.loads((tool_logs / "stars_tools" / "truth.json").read_text())[tool]
    body = InertialParameters.from_com(
        truth["mass"],
        np.array(truth["com_in_sensor"]),
        np.array(truth["inertia_about_com_in_sensor"]),
    )
    estimate = load(tmp_path)
    errors = group_errors(estimate["phi"], body.phi)
    assert max(errors) <= 5e-6, errors
    assert "default" not in estimate["decided_by"].values()


@pytest.mark.slow
def test_measured_arm_log_is_fitted(cli, shared_data, tmp_path):
    """Raw text at 1 kHz with repeated rows; the motion hardly excites the inertia."""
    log = shared_data / "panda_optoforce" / "run_11-32-28.txt"
    schema = shared_data / "schemas" / "panda_optoforce.toml"
    status, out, err = cli("fit", log, "--schema", schema, "-o", tmp_path, "--verbose")
    # The schema reads its position in the wrong axes, which is found.
    assert status == 4
    assert "position_axes" in err
    estimate = load(tmp_path)
    assert estimate["verdict"]["usable"] == "no"
    assert estimate["findings"][0]["code"] == "position_axes"
    assert 1.0 <= estimate["mass"] <= 1.20
    assert {estimate["decided_by"][name] for name in ("m", "hx", "hy", "hz")} == {"data"}
    assert "Low-pass: 5 Hz for all signals (default)." in out
