from dataclasses import replace

import numpy as np
import pytest

from identify import plot
from identify.inertia import InertialParameters
from identify.logs.synthetic import synthetic_recording
from identify.pipeline import Result, fit
from identify.reporting.body import certificate_blocks
from identify.reporting.content import ReportTable
from identify.reporting.precision import parameter_columns
from identify.reporting.replays import replay_columns
from identify.reporting.wrenches import predict_wrenches, wrench_section
from tests.reporting.conftest import BIAS, BODY, SENSOR

TOOL = InertialParameters.from_com(0.5, [0.0, 0.02, 0.15], np.diag([1e-3, 1.2e-3, 0.8e-3]))


@pytest.fixture(scope="module")
def both() -> Result:
    loaded, empty = (
        replace(
            synthetic_recording(
                body.phi,
                rng=np.random.default_rng(seed),
                duration=8.0,
                rate_hz=100.0,
                bias=BIAS,
                noise=SENSOR,
            ),
            name=name,
        )
        for seed, (name, body) in enumerate({"loaded": TOOL + BODY, "empty": BODY}.items())
    )
    return fit(loaded, unloaded=empty)


def test_predicted_wrench_uses_moving_bodies(both):
    for one in predict_wrenches(both):
        assert np.sqrt(np.mean(one.residual[:, :3] ** 2)) < SENSOR.force
        assert np.abs(one.predicted[:, :3]).max() > 10.0


def test_figures_show_payload_and_carrier(both):
    titles = [column.title for column in parameter_columns(both, TOOL)]
    assert titles == ["Parameters of the payload", "Parameters of the carrier"]
    titles = [column.title for column in replay_columns(both)]
    shown = ["Replay error", "Replayed path", "In one shot"]
    assert titles == [*shown, *(f"{title}, unloaded" for title in shown)]
    for draw in (plot.wrench, plot.residuals, plot.replay, plot.parameters, plot.excitation):
        assert draw(both).axes


def test_tables_show_payload_and_carrier(both):
    blocks = wrench_section(both, None).blocks
    (table,) = (block for block in blocks if isinstance(block, ReportTable))
    assert [head.title for head in table.head][-2:] == [
        "fitted, loaded",
        "fitted, unloaded",
    ]
    assert {len(row.cells) for row in table.rows} == {len(table.head)}
    _, checks, _ = certificate_blocks(both.estimate)
    found = {row.cells[0].text: row.cells[1].text for row in checks.rows}
    for one in both.estimate.bodies:
        shown = found[f"Eigenvalues of the scaled pseudo-inertia of the {one.body}"]
        values = [float(value) for value in shown.split(", ")]
        np.testing.assert_allclose(values, one.certificate.eigenvalues, rtol=0.01)
        assert len(values) == 4
    assert found["Identifiable directions"] == "20 of 20"


def test_notebook_and_plain_data_include_payload_and_carrier(both):
    assert both._repr_html_().count("<table") == 2
    assert set(both.to_dict()) >= {"estimate", "carrier"}
    assert repr(both).count("Estimate(mass") == 2
