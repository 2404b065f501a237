from identify.catalog.dataset_files import (
    Dataset as Dataset,
    DatasetCopy as DatasetCopy,
    DatasetFile as DatasetFile,
    cache_folder as cache_folder,
    dataset_names as dataset_names,
    dataset_path as dataset_path,
    fetch as fetch,
    find_dataset as find_dataset,
    locate as locate,
)
from identify.catalog.logs import (
    DatasetLog as DatasetLog,
    dataset_logs as dataset_logs,
)
