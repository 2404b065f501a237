"""What may be wrong with a log: one file a family, each a generator of faults from facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from identify.diagnosis.facts import LogFacts
from identify.diagnosis.fault import Fault
from identify.diagnosis.faults.gravity import gravity_faults
from identify.diagnosis.faults.pose import pose_faults
from identify.diagnosis.faults.timing import timing_faults
from identify.diagnosis.faults.wrench import sign_faults, wrench_faults

FAMILIES: list[Callable[[LogFacts], Iterator[Fault]]] = [
    sign_faults,
    wrench_faults,
    gravity_faults,
    pose_faults,
    timing_faults,
]


def faults_of(facts: Sequence[LogFacts]) -> list[tuple[Fault, ...]]:
    """All faults that make sense for every log, each as it is of each log.

    Args:
        facts: of each log.
    """
    of_logs = [
        {fault.name: fault for family in FAMILIES for fault in family(of_log)} for of_log in facts
    ]
    names = [name for name in of_logs[0] if all(name in of_log for of_log in of_logs)]
    return [tuple(of_log[name] for of_log in of_logs) for name in names]
