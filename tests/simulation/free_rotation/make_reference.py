"""Writes `reference.json`: attitudes from mpmath, rounded to doubles.

python -m tests.simulation.free_rotation.make_reference
"""

from __future__ import annotations

import json
from pathlib import Path

import mpmath
import numpy as np

from tests.simulation.free_rotation.cases import OSCILLATING, QUATERNION, body
from tests.simulation.free_rotation.reference import DIGITS, period, reference

PERIODS = (0.01, 0.3, 0.77, -2.4, 10.3, 1000.6, 10000.3)
PATH = Path(__file__).with_name("reference.json")


def main() -> None:
    entries = []
    for name, case in OSCILLATING.items():
        for turned in (False, True):
            inertia, w = body(case, turned)
            times = [float(share * period(mpmath, inertia, w)) for share in PERIODS]
            rotations, spins = reference(mpmath, inertia, QUATERNION, w, times)
            entries.append(
                {
                    "name": name,
                    "turned": turned,
                    "inertia": inertia.tolist(),
                    "w": w.tolist(),
                    "times": times,
                    "quaternions": [_quaternion(R) for R in rotations],
                    "spins": spins.tolist(),
                }
            )
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    PATH.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _quaternion(R) -> list[float]:
    """The nearest doubles to the unit quaternion of a matrix in many digits."""
    with mpmath.workdps(DIGITS):
        trace = R[0, 0] + R[1, 1] + R[2, 2]
        squares = [1 + 2 * R[k, k] - trace for k in range(3)] + [1 + trace]
        k = int(np.argmax([float(x) for x in squares]))
        if k == 3:
            q = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], squares[3]]
        else:
            i, j = (k + 1) % 3, (k + 2) % 3
            q = [None] * 4
            q[k], q[3] = squares[k], R[j, i] - R[i, j]
            q[i], q[j] = R[i, k] + R[k, i], R[j, k] + R[k, j]
        norm = mpmath.sqrt(sum(x**2 for x in q))
        return [float(x / norm) for x in q]


if __name__ == "__main__":
    main()
