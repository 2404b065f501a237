"""Choice between fits of small sensor faults."""

from types import SimpleNamespace

import numpy as np

from identify.errors import ProblemError
from identify.estimation import EstimatorSettings
from identify.pipeline import small_fault_fit
from identify.pipeline.scanned_log import scan_log
from identify.signals import Interpretation
from tests.small_faults import still


def test_a_large_cable_stays_if_a_fit_without_it_fails(monkeypatch):
    fitted = SimpleNamespace(sizes={"cable": 1e3})

    def fit_effects(statistics, recordings, settings, model):
        if any(block.fault.name == "cable" for block in model.blocks):
            return fitted
        raise ProblemError("not identifiable")

    monkeypatch.setattr(small_fault_fit, "fit_effects", fit_effects)
    log = scan_log(still(3), Interpretation(), all_columns=True)
    assert small_fault_fit.fit_small_faults([log], EstimatorSettings()) is fitted


def test_logs_without_a_sample_in_the_bands_explain_nothing():
    """As of a log that a longer delay leaves without motion in the bands it is compared by."""
    logs = small_fault_fit.FittedLogs((scan_log(still(3), Interpretation(), all_columns=True),))
    bands = small_fault_fit.comparison_bands(logs.scanned)
    assert np.isfinite(small_fault_fit.deviance(logs, bands))
    assert small_fault_fit.deviance(logs, [()]) == np.inf
