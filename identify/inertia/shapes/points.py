"""Bodies of weighted point masses, and CSV files of points."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from identify.arrays import Array, Vec3, require_positive, seal
from identify.errors import ModelError, did_you_mean
from identify.files import require_file
from identify.inertia.shapes.shape import MeasureKind, Shape, ShapeMoments


@dataclass(frozen=True, slots=True, eq=False)
class PointMasses(Shape):
    """Body of point masses; `body()` takes the weights as masses, `body(mass=...)` scales them.

    Attributes:
        positions: in A [m], shape (n, 3), n ≥ 1.
        weights: masses [kg] or relative masses, shape (n,), zero or more.
    """

    measure_kind: ClassVar[MeasureKind] = "weight"

    positions: Vec3
    weights: Array

    def __post_init__(self) -> None:
        positions = seal(self.positions, "points: positions", (None, 3))
        weights = seal(self.weights, "points: weights", (len(positions),))
        if (weights < 0.0).any():
            k = int(np.flatnonzero(weights < 0.0)[0])
            raise ModelError(f"points: weight {k} is {weights[k]:g}; expected zero or more")
        if not weights.sum() > 0.0:
            raise ModelError("points: the weights are all zero, or there is no point")
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "weights", weights)

    def moments(self) -> ShapeMoments:
        """Return the sum of the weights [kg], and weighted mean [m] and covariance [m²]."""
        total = self.weights.sum()
        mean = self.weights @ self.positions / total
        offsets = self.positions - mean
        return ShapeMoments(
            float(total), mean, (offsets * (self.weights / total)[:, None]).T @ offsets
        )


_CSV_COLUMNS = ("x", "y", "z", "volume", "part")


def read_points(path: Path | str, *, scale: float = 1.0) -> tuple[Vec3, Array | None]:
    """Read points from a CSV file with columns x, y, z and, optionally, the volume of each.

    A column `part` is ignored.

    `scale`: metres per unit of the file, 0.001 for millimetres; volumes are in its cube.
    Returns points [m], shape (n, 3), and volumes [m³], shape (n,), or None.
    Raises `MissingFile`: no such file; `ModelError`: missing or unknown columns, or an entry that
    is not a number.
    """
    import pandas as pd

    path = Path(path)
    require_file(path)
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, skipinitialspace=True)
    except (ValueError, OSError) as error:
        raise ModelError(f"{path}: expected a CSV file of points x,y,z: {error}") from error
    names = [str(name).strip() for name in table.columns]
    for name in names:
        if name not in _CSV_COLUMNS:
            raise ModelError(
                f"{path}: column {name!r}; expected x,y,z[,volume][,part] in the first line"
                f"{did_you_mean(name, _CSV_COLUMNS)}"
            )
    if missing := [name for name in _CSV_COLUMNS[:3] if name not in names]:
        raise ModelError(f"{path}: no column {missing[0]!r}; expected x,y,z[,volume][,part]")
    table.columns = names
    used = [name for name in _CSV_COLUMNS[:4] if name in names]
    numbers = table[used].apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    bad = ~np.isfinite(numbers)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ModelError(
            f"{path}: {used[column]} of line {row + 2} is {table[used[column]].iloc[row]!r}; "
            "expected a number"
        )
    unit = require_positive(scale, f"{path}: scale", "m")
    return unit * numbers[:, :3], unit**3 * numbers[:, 3] if len(used) > 3 else None
