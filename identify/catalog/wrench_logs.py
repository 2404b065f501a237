"""The logs of a data set by name, each with its schema and the true body, for studies."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from identify.arrays import Vec3, seal
from identify.catalog.dataset import Dataset
from identify.catalog.holdings import dataset_path
from identify.catalog.registry import find_dataset
from identify.errors import DatasetError
from identify.inertia import InertialParameters


@dataclass(frozen=True, slots=True)
class DatasetLog:
    """A log of a data set.

    Attributes:
        dataset: name of the data set.
        name: of the log, its file's without suffix.
        path: the log.
        schema: what its columns mean.
        sha256: of the log, verified.
        truth: the true body about the sensor's origin, in the sensor's axes; None where unknown.
        sides: of its bounding box along the sensor's axes [m], shape (3,); None where unknown.
        points: CSV of points that fill the body, with their volume; None where there is none.
    """

    dataset: str
    name: str
    path: Path
    schema: Path
    sha256: str
    truth: InertialParameters | None = None
    sides: Vec3 | None = None
    points: Path | None = None


def dataset_logs(dataset: str | Dataset) -> tuple[DatasetLog, ...]:
    """The logs of a data set, in alphabetical order, all files verified.

        for log in dataset_logs("stars"):
            recording = read_log(log.path, log.schema)

    Raises:
        UnknownDataset, MissingDataset, DamagedDataset: as `dataset_path`.
        DatasetError: its logs are not of a wrench.
    """
    found = find_dataset(dataset)
    if found.kind != "wrench":
        raise DatasetError(
            f"{found.name}: its log is of {found.kind}s, and no schema of a wrench log describes "
            f"it; read it with identify.catalog.read_joint_log({found.name!r})"
        )
    folder = dataset_path(found)
    truth = _truth(found, folder)
    points = {PurePosixPath(file.path).stem: folder / file.path for file in found.of_role("points")}
    logs = []
    for file in sorted(found.of_role("log"), key=lambda file: file.path):
        name = PurePosixPath(file.path).stem
        body, sides = truth.get(name, (None, None))
        logs.append(
            DatasetLog(
                dataset=found.name,
                name=name,
                path=folder / file.path,
                schema=found.schema_path,
                sha256=file.sha256,
                truth=body,
                sides=sides,
                points=points.get(name),
            )
        )
    return tuple(logs)


def _truth(dataset: Dataset, folder: Path) -> dict[str, tuple[InertialParameters, Vec3]]:
    """True bodies and the sides of their bounding boxes by name of the log."""
    bodies: dict[str, tuple[InertialParameters, Vec3]] = {}
    for file in dataset.of_role("truth"):
        for name, body in json.loads((folder / file.path).read_text(encoding="utf-8")).items():
            bodies[name] = (
                InertialParameters.from_com(
                    body["mass"], body["com_in_sensor"], body["inertia_about_com_in_sensor"]
                ),
                seal(body["bounding_box_sides_in_sensor"], f"sides of {name}", (3,)),
            )
    return bodies
