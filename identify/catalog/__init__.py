"""Public data sets: where they come from, what they must hash to, and where they lie here."""

from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.catalog.download import FetchError as FetchError
    from identify.catalog.download import fetch as fetch
    from identify.catalog.holdings import DamagedDataset as DamagedDataset
    from identify.catalog.holdings import Holding as Holding
    from identify.catalog.holdings import MissingDataset as MissingDataset
    from identify.catalog.holdings import cache_folder as cache_folder
    from identify.catalog.holdings import dataset_path as dataset_path
    from identify.catalog.holdings import look_for as look_for
    from identify.catalog.holdings import places as places
    from identify.catalog.logs import DatasetLog as DatasetLog
    from identify.catalog.logs import JointLog as JointLog
    from identify.catalog.logs import dataset_logs as dataset_logs
    from identify.catalog.logs import read_joint_log as read_joint_log
    from identify.catalog.registry import Dataset as Dataset
    from identify.catalog.registry import DatasetFile as DatasetFile
    from identify.catalog.registry import dataset_names as dataset_names
    from identify.catalog.registry import find_dataset as find_dataset
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "download": ("FetchError", "fetch"),
            "holdings": (
                "DamagedDataset",
                "Holding",
                "MissingDataset",
                "cache_folder",
                "dataset_path",
                "look_for",
                "places",
            ),
            "logs": ("DatasetLog", "JointLog", "dataset_logs", "read_joint_log"),
            "registry": (
                "Dataset",
                "DatasetFile",
                "dataset_names",
                "find_dataset",
            ),
        },
    )
