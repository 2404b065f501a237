import os
import subprocess
import sys

import pytest

from tests.fuzz.estimate_flips import fitted, flips_read_as_other_contents
from tests.fuzz.running import ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

KINDS = 10


@pytest.mark.slow
@pytest.mark.parametrize("count", [KINDS, 3 * KINDS])
def test_damaged_inputs_raise_identify_errors(count: int) -> None:
    """In a process of its own: it forks, and other tests leave threads."""
    words = ("--seed", "4", "--count", str(count), "--flips", "0", "--cold")
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.run", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count} cases of seed 4" in done.stdout
    assert ": 0 escaped" in done.stdout


def test_flipped_bit_of_estimate_is_detected() -> None:
    assert flips_read_as_other_contents(fitted(), seed=4, count=200) == []
