"""The same motion to 60 digits by other formulas: Euler angles and Legendre's integrals in mpmath.

The tensor's and state's doubles are taken as exact. ω from mpmath's Jacobi functions, the angle
about L from Legendre's Π(n; φ, m) with the one base rate L/I₃, the attitude as a product of three
rotation matrices. Nothing is shared with the package.
"""

from typing import Any

import numpy as np

DIGITS = 60


def reference(mp: Any, inertia: np.ndarray, q: np.ndarray, w: np.ndarray, times: list[float]):
    """Rotation matrices R_WB (mpmath) and ω (float) of a body at times.

    Args:
        mp: the module mpmath.
        inertia: about the centre of mass, shape (3, 3).
        q: unit quaternion as given; normalised here to all digits.
        w: shape (3,).
        times: [s].
    """
    with mp.workdps(DIGITS):
        return _Reference(mp, inertia, w).at(_matrix_of_quaternion(mp, q), times)


class _Reference:
    def __init__(self, mp: Any, inertia: np.ndarray, w: np.ndarray) -> None:
        self.mp = mp
        values, vectors = mp.eigsy(mp.matrix(inertia.tolist()))
        spin = vectors.T * mp.matrix([mp.mpf(float(x)) for x in w])
        rank = sorted(range(3), key=lambda k: values[k])
        twice_energy = sum(values[k] * spin[k] ** 2 for k in range(3))
        square = sum((values[k] * spin[k]) ** 2 for k in range(3))
        if twice_energy * values[rank[1]] > square:
            rank.reverse()
        columns = [vectors[:, k] * (-1 if spin[k] < 0 else 1) for k in rank]
        P = mp.matrix([[columns[k][i] for k in range(3)] for i in range(3)])
        if mp.det(P) < 0:
            P[:, 1] = -P[:, 1]
        self.P = P
        self.I = [values[k] for k in rank]
        self.w = P.T * mp.matrix([mp.mpf(float(x)) for x in w])
        self._constants(twice_energy, square)

    def _constants(self, twice_energy: Any, square: Any) -> None:
        mp, (I1, I2, I3), w = self.mp, self.I, self.w
        self.L = mp.sqrt(square)
        X = abs(square - twice_energy * I3)
        Y = abs(square - twice_energy * I1)
        d12, d23, d13 = abs(I1 - I2), abs(I2 - I3), abs(I1 - I3)
        self.m = d12 * X / (d23 * Y)
        self.rate = mp.sqrt(d23 * Y / (I1 * I2 * I3))
        self.s = 1 if I3 > I1 else -1
        self.amplitude = (
            mp.sqrt(X / (I1 * d13)),
            self.s * mp.sqrt(X / (I2 * d23)),
            mp.sqrt(Y / (I3 * d13)),
        )
        self.n = -I3 * d12 / (I1 * d23)
        self.C = self.L * (I1 - I3) / (I1 * I3 * self.rate)
        self.K = mp.ellipk(self.m)
        phase = mp.atan2(w[1] / self.amplitude[1], w[0] / self.amplitude[0])
        self.u0 = mp.ellipf(phase, self.m)

    def _euler(self, time: Any) -> tuple[Any, list[Any]]:
        """R_NP and ω in P at a time."""
        mp, K = self.mp, self.K
        u = self.rate * time + self.u0
        halves = mp.floor((u + K) / (2 * K))
        rest = u - 2 * K * halves
        sn, cn, dn = (mp.ellipfun(name, rest, m=self.m) for name in ("sn", "cn", "dn"))
        third = mp.ellippi(self.n, mp.atan2(sn, cn), self.m)
        psi = self.L * time / self.I[2] - self.C * (2 * halves * mp.ellippi(self.n, self.m) + third)
        sign = -1 if int(halves) % 2 else 1
        A = self.amplitude
        w = [A[0] * cn * sign, A[1] * sn * sign, A[2] * dn]
        l = [self.I[k] * w[k] / self.L for k in range(3)]
        phi = mp.atan2(l[1], l[0])
        theta = mp.atan2(mp.sqrt(l[0] ** 2 + l[1] ** 2), l[2])
        return _z(mp, psi) * _y(mp, -theta) * _z(mp, -phi), w

    def at(self, R_WB: Any, times: list[float]) -> tuple[list[Any], np.ndarray]:
        first, _ = self._euler(self.mp.mpf(0))
        R_WN = R_WB * self.P * first.T
        rotations, spins = [], []
        for time in times:
            R_NP, w = self._euler(self.mp.mpf(float(time)))
            rotations.append(R_WN * R_NP * self.P.T)
            spins.append([float(x) for x in self.P * self.mp.matrix(w)])
        return rotations, np.array(spins)

    @property
    def period(self) -> float:
        return float(4 * self.K / self.rate)


def period(mp: Any, inertia: np.ndarray, w: np.ndarray) -> float:
    with mp.workdps(DIGITS):
        return _Reference(mp, inertia, w).period


def attitude_error(mp: Any, q: np.ndarray, rotation: Any) -> float:
    """Angle between a quaternion in double precision and a rotation matrix."""
    with mp.workdps(DIGITS):
        D = _matrix_of_quaternion(mp, q).T * rotation
        twice = [D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]]
        sine = mp.sqrt(sum(x**2 for x in twice))
        return float(mp.atan2(sine, D[0, 0] + D[1, 1] + D[2, 2] - 1))


def _matrix_of_quaternion(mp: Any, q: np.ndarray) -> Any:
    x, y, z, w = (mp.mpf(float(value)) for value in q)
    norm = mp.sqrt(x * x + y * y + z * z + w * w)
    x, y, z, w = x / norm, y / norm, z / norm, w / norm
    return mp.matrix(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _z(mp: Any, a: Any) -> Any:
    c, s = mp.cos(a), mp.sin(a)
    return mp.matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def _y(mp: Any, a: Any) -> Any:
    c, s = mp.cos(a), mp.sin(a)
    return mp.matrix([[c, 0, s], [0, 1, 0], [-s, 0, c]])
