"""`make fuzz`: many damaged inputs; exit status 1 where one escapes the errors that are ours."""

import argparse
import sys
import time
from collections import Counter
from itertools import islice

from tests.fuzz.cases import cases
from tests.fuzz.estimate_flips import fitted, flips_read_as_other_contents
from tests.fuzz.running import run, warm_up

_OWN_PROCESS = 50
"""One case of so many runs in a process of its own."""


def fuzz(seed: int, count: int, first: int = 0, *, warm: bool = True) -> int:
    """Run cases, print how many there were by kind, and how many escaped.

    Args:
        seed: of the cases.
        count: how many.
        first: number of the first: to meet one again.
        warm: whether to run what is good first, so that a thousand cases need not import it all.
    """
    if warm:
        warm_up()
    began = time.monotonic()
    by_kind: Counter[str] = Counter()
    statuses: Counter[tuple[str, int]] = Counter()
    slowest: dict[str, float] = {}
    largest: dict[str, float] = {}
    escapes = 0
    for number, case in enumerate(islice(cases(seed), first, first + count), first):
        outcome = run(case, forked=number % _OWN_PROCESS != 0)
        by_kind[case.kind] += 1
        statuses[case.kind, outcome.status] += 1
        slowest[case.kind] = max(slowest.get(case.kind, 0.0), outcome.seconds)
        largest[case.kind] = max(largest.get(case.kind, 0.0), outcome.megabytes)
        if outcome.escape:
            escapes += 1
            words = " ".join(word[:60] for word in case.words)
            print(f"escape: --seed {seed} --first {number} --count 1: {ascii(words)[1:-1]}")
            print(f"  {ascii(outcome.escape)[1:-1]}", flush=True)
    print(f"{'kind':<20} {'cases':>6} {'slowest':>9} {'memory':>8}  exit statuses")
    for kind, many in by_kind.items():
        ends = ", ".join(
            f"{status}: {statuses[key, status]}" for key, status in sorted(statuses) if key == kind
        )
        print(f"{kind:<20} {many:>6} {slowest[kind]:>7.1f} s {largest[kind]:>5.0f} MB  {ends}")
    total = sum(by_kind.values())
    print(f"{total} cases of seed {seed} in {time.monotonic() - began:.0f} s: {escapes} escaped")
    return int(escapes > 0)


def flip(seed: int, count: int) -> int:
    """Turn over bits of an estimate.json, print how many flips were read as other contents."""
    escaped = flips_read_as_other_contents(fitted(), seed, count)
    for byte, bit in escaped:
        print(f"escape: bit {bit} of byte {byte} of an estimate.json")
    print(f"{count} bits of an estimate.json turned over: {len(escaped)} read as other contents")
    return int(bool(escaped))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--flips", type=int, default=2000, help="of single bits of an estimate")
    parser.add_argument("--cold", action="store_true", help="for a few cases")
    given = parser.parse_args()
    status = fuzz(given.seed, given.count, given.first, warm=not given.cold)
    sys.exit(status | flip(given.seed, given.flips))
