from identify.catalog.dataset_files import (
    Dataset as Dataset,
    DatasetCopy as DatasetCopy,
    DatasetFile as DatasetFile,
    cache_folder as cache_folder,
    dataset_names as dataset_names,
    dataset_path as dataset_path,
    fetch as fetch,
    find_copy as find_copy,
    find_dataset as find_dataset,
)
from identify.catalog.dataset_log import (
    DatasetLog as DatasetLog,
    dataset_logs as dataset_logs,
)
