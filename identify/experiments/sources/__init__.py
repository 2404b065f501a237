"""Where the logs of a study come from: files, data sets, generators; by name in `registry`."""
