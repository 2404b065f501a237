"""Logs of a data set, with their schema and, if known, the reference body."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from identify.arrays import Vec3, seal
from identify.catalog.dataset_files import Dataset, dataset_path, find_dataset
from identify.inertia import InertialParameters
from identify.logs import SourceFile
from identify.logs.recording_fields import digest_of_files


@dataclass(frozen=True, slots=True)
class DatasetLog:
    """Log of a data set.

    Attributes:
        dataset: name of the data set.
        name: file name of the log without suffix.
        path: the log: a file, or the folder of the files of one log of joints.
        schema: schema of its columns.
        sha256: verified checksum of the log.
        truth: the reference body about the sensor's origin, in the sensor's axes; None if unknown.
        box_sides: sides of its bounding box along the sensor's axes [m], shape (3,); None if
            unknown.
        points_file: CSV of points that fill the body, with their volume; None if there is none.
    """

    dataset: str
    name: str
    path: Path
    schema: Path
    sha256: str
    truth: InertialParameters | None = None
    box_sides: Vec3 | None = None
    points_file: Path | None = None


def dataset_logs(dataset: str | Dataset) -> tuple[DatasetLog, ...]:
    """List the logs of a data set, in alphabetical order, with all files verified.

        for log in dataset_logs("stars"):
            recording = read_log(log.path, log.schema)
        (arm,) = dataset_logs("tx40")
        recording = read_log(arm.path, arm.schema)

    Raises:
        DatasetError: as `dataset_path`.
    """
    entry = find_dataset(dataset)
    folder = dataset_path(entry)
    if entry.kind == "joint torque":
        held = [SourceFile(folder / file.path, file.sha256) for file in entry.of_role("log")]
        return (
            DatasetLog(entry.name, entry.name, folder, entry.schema_path, digest_of_files(held)),
        )
    truth = _read_reference_bodies(entry, folder)
    points = {PurePosixPath(file.path).stem: folder / file.path for file in entry.of_role("points")}
    logs: list[DatasetLog] = []
    for file in sorted(entry.of_role("log"), key=lambda file: file.path):
        name, path = PurePosixPath(file.path).stem, folder / file.path
        body, sides = truth.get(name, (None, None))
        known = entry.name, name, path, entry.schema_path, file.sha256
        logs.append(DatasetLog(*known, body, sides, points.get(name)))
    return tuple(logs)


def _read_reference_bodies(
    dataset: Dataset, folder: Path
) -> dict[str, tuple[InertialParameters, Vec3]]:
    """Read reference bodies, and the sides of their bounding boxes, by name of the log."""
    bodies: dict[str, tuple[InertialParameters, Vec3]] = {}
    for file in dataset.of_role("truth"):
        text = (folder / file.path).read_text(encoding="utf-8")
        for name, body in json.loads(text).items():
            numbers = body["mass"], body["com_in_sensor"], body["inertia_about_com_in_sensor"]
            sides = seal(body["bounding_box_sides_in_sensor"], f"sides of {name}", (3,))
            bodies[name] = InertialParameters.from_com(*numbers), sides
    return bodies
