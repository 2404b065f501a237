from dataclasses import replace

import numpy as np

from identify.pipeline.messages import of_drift
from tests.diagnosis.logs import still
from tests.diagnosis.test_sensor_drift import found_in


def test_a_drift_that_is_not_corrected_is_not_offered_to_be():
    moving = np.linspace(-1.0, 1.0, 40)[:, None] * np.array([0.5] * 3 + [0.05] * 3)
    found = found_in(still(3, 40, moving))
    assert found is not None
    assert "--apply drift" in of_drift(found).remedy
    refused = of_drift(replace(found, refused="it would be all there is"))
    assert "--apply" not in refused.remedy
    assert "it would be all there is" in refused.text
