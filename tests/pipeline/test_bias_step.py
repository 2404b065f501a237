import pytest

import identify
from tests.checks import fit_corrected
from tests.recordings import without_effects
from tests.slow import few_or_many, mostly_slow
from tests.small_faults import PHI, exact, logged, with_wrench, wrench_of


def zeroed(log, shares, size=1.0):
    """The sensor is zeroed at some shares of the time: its reading drops by so much of itself."""
    wrench = wrench_of(log)
    for share in shares:
        row = int(share * len(wrench))
        wrench[row:] -= size * wrench[row]
    return with_wrench(log, wrench)


def codes(result):
    return [one.code for one in result.findings]


@pytest.mark.slow
@pytest.mark.parametrize("shares", few_or_many((0.25, 0.7), (0.5,)))
@pytest.mark.parametrize("size", mostly_slow([0.4, 1.0], {0.4}))
def test_zeroing_with_the_payload_on_is_named_and_corrected(shares, size):
    log = zeroed(logged(exact(3)), shares, size)
    found = identify.fit(without_effects(log))
    assert (codes(found)[0], found.verdict.usable) == ("bias_step", "no")
    assert len(found.findings[0].evidence["spans"]) == len(shares)
    assert not {"contact", "body_changed"} & set(codes(found))
    fixed = fit_corrected(log, found, "bias_step")
    assert "bias_step" not in codes(fixed)
    assert fixed.verdict.usable != "no"
    low, high = fixed.estimate.intervals["m"]
    assert low < PHI[0] < high


def test_transient_force_is_a_contact():
    log = logged(exact(3))
    wrench = wrench_of(log)
    third = len(wrench) // 3
    wrench[third : third + 200, :3] += [4.0, -3.0, 5.0]
    found = codes(identify.fit(without_effects(with_wrench(log, wrench))))
    assert "contact" in found
    assert "bias_step" not in found
