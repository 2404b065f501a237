"""Public data sets: where they come from, what they must hash to, and where they lie here."""

from identify.catalog.dataset import Dataset, DatasetFile
from identify.catalog.errors import (
    DamagedDataset,
    FetchError,
    MissingDataset,
    RegistryError,
    UnknownDataset,
)
from identify.catalog.fetch import fetch
from identify.catalog.holdings import Holding, dataset_path, holdings
from identify.catalog.joint_log import JointLog, read_joint_log
from identify.catalog.places import Place, cache_folder, places
from identify.catalog.registry import dataset_names, find_dataset
from identify.catalog.wrench_logs import DatasetLog, dataset_logs

__all__ = [
    "DamagedDataset",
    "Dataset",
    "DatasetFile",
    "DatasetLog",
    "FetchError",
    "Holding",
    "JointLog",
    "MissingDataset",
    "Place",
    "RegistryError",
    "UnknownDataset",
    "cache_folder",
    "dataset_logs",
    "dataset_names",
    "dataset_path",
    "fetch",
    "find_dataset",
    "holdings",
    "places",
    "read_joint_log",
]
