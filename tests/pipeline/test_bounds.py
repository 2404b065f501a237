import json

import numpy as np

from identify.commands.summary import summary
from identify.inertia import InertialParameters
from identify.logs import Noise, synthetic_recording
from identify.pipeline import fit


def test_a_fit_keeps_and_shows_its_bounds_where_they_are_asked_for(tmp_path):
    body = InertialParameters.from_com(1.2, [0.02, 0, 0.1], np.diag([4e-3, 5e-3, 2e-3]))
    rng = np.random.default_rng(1)
    log = synthetic_recording(
        body.phi, rng=rng, duration=5.0, rate_hz=100.0, noise=Noise(force=0.3, torque=1e-2)
    )
    result = fit(log, bounds=True)
    found = result.estimate.certified_bounds
    for name, value in {"m": 1.2, "cz": 0.1, "Icxx": 4e-3}.items():
        assert found[name].low <= value <= found[name].high
    lines = [line for line in summary(result, None) if isinstance(line, str)]
    start = next(k for k, line in enumerate(lines) if line.startswith("Certified 95 % bounds"))
    assert lines[start + 1].startswith("  m 1.")
    assert lines[start + 1].endswith(" kg")
    assert "cx 0.0" in lines[start + 2]
    assert lines[start + 5].startswith("  Icxx ≤ 0.00")
    document = json.loads(result.estimate.save(tmp_path / "e.json").read_text())
    assert document["certified_bounds"]["m"][:2] == list(found["m"][:2])
    assert document["provenance"]["options"]["bounds"] is True
