"""The data set "tx40" made in its format, and registered data sets with checksums of made files."""

import shutil
from pathlib import Path

import numpy as np

from identify.catalog import Dataset, find_dataset
from identify.files import digest

ARM = Path(__file__).parents[2] / "datasets" / "arms" / "six_axes" / "arm.urdf"


def with_checksums(name: str, root: Path) -> Dataset:
    """A registered data set with the sizes and checksums of its files under a root, if there."""
    entry = find_dataset(name)
    paths = {file: root / entry.folder / file.path for file in entry.files}
    files = tuple(
        file.model_copy(update={"size": path.stat().st_size, "sha256": digest(path)})
        for file, path in paths.items()
        if path.is_file()
    )
    return entry.model_copy(update={"files": files})


def write_tx40(folder: Path) -> None:
    """Positions and torques of motors at 5 kHz, at first at rest in the zero position of joints."""
    folder.mkdir()
    time = np.arange(3000)[:, None] / 5000.0
    moving = np.clip(time - 0.1, 0.0, None)
    rates = np.arange(10.0, 16.0)
    gears = np.array([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
    q = gears * np.sin(rates * moving)
    q[:, 5] += 32.0 * np.sin(rates[4] * moving[:, 0])  # motor 6 also turns with joint 5
    q += gears * np.array([0.0, np.pi / 2, -np.pi / 2, 0.0, 0.0, 0.0])
    for name, values in {"pos_read_data": q, "curr_data": 0.3 * np.cos(rates * time)}.items():
        header = ",".join(f"Joint_{k}" for k in range(1, 7))
        np.savetxt(folder / f"{name}.csv", values, delimiter=",", header=header, comments="")
    shutil.copy(ARM, folder / "tx40.urdf")
    (folder / "reference_base_parameters.csv").write_text("zz1,1.0,2.0,1.0,2.0\n")
