"""Estimates stay what they were: numbers stored by `store_estimates.py`, which says how.

The file holds, for each log, how far kernels of linear algebra were seen to move its estimate.
"""

import json
import os
from pathlib import Path

import pytest

from tests.endtoend.store_estimates import STORED, Difference, difference, logs, stored
from tests.slow import mostly_slow

OLD = json.loads(STORED.read_text())
OTHERS = list(OLD)[list(OLD).index("panda_optoforce") + 1 :]
QUICK = OLD.keys() - OTHERS | set(OTHERS[::5])
"""All but the many measured tools, each with four noises, of which every fifth log."""


@pytest.fixture(scope="module")
def at_hand(tmp_path_factory):
    """Log and schema by name, of the logs that are at hand."""
    shared = os.environ.get("IDENTIFY_SHARED_DATA")
    folder = tmp_path_factory.mktemp("noisy")
    found = logs(Path(shared) if shared else None, folder)
    return {name: (log, schema) for name, log, schema in found}


@pytest.mark.parametrize("name", mostly_slow(OLD, QUICK))
def test_estimates_match_stored_values(name, at_hand):
    if name not in at_hand:
        pytest.skip("IDENTIFY_SHARED_DATA is not set: the logs of others are not at hand")
    old, new = OLD[name], stored(*at_hand[name])
    assert new["decided_by"] == old["decided_by"]
    found, most = difference(old, new), Difference(*old["allowed"])
    assert found.groups <= most.groups, (found, most)
    assert found.widths <= most.widths, (found, most)
    assert found.covariance <= most.covariance, (found, most)
