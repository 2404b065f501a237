from identify.catalog.holdings import (
    DamagedDataset as DamagedDataset,
    FetchError as FetchError,
    Holding as Holding,
    MissingDataset as MissingDataset,
    cache_folder as cache_folder,
    dataset_path as dataset_path,
    fetch as fetch,
    look_for as look_for,
)
from identify.catalog.logs import (
    DatasetLog as DatasetLog,
    JointLog as JointLog,
    dataset_logs as dataset_logs,
    read_joint_log as read_joint_log,
)
from identify.catalog.registry import (
    Dataset as Dataset,
    DatasetFile as DatasetFile,
    dataset_names as dataset_names,
    find_dataset as find_dataset,
)
