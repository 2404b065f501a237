from identify.catalog.holdings import (
    Dataset as Dataset,
    DatasetFile as DatasetFile,
    Holding as Holding,
    cache_folder as cache_folder,
    dataset_names as dataset_names,
    dataset_path as dataset_path,
    fetch as fetch,
    find_dataset as find_dataset,
    look_for as look_for,
)
from identify.catalog.logs import (
    DatasetLog as DatasetLog,
    JointLog as JointLog,
    dataset_logs as dataset_logs,
    read_joint_log as read_joint_log,
)
