"""The mark by which a report knows the code whose numbers it shows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from identify.experiments.code_mark import numerics_digest

STUDY_PACKAGES = (
    *("spatial", "inertia", "logs", "signals", "regressors", "estimation"),
    "experiments",
)
"""Those that the cells of a study file are computed with."""

_DIGITS = 12


def numerics_mark(packages: Sequence[str], files: Sequence[Path]) -> str:
    """What a report says of its code: it is of today's where it has this text.

    Args:
        packages: of `identify`, whose numbers are shown.
        files: that say what is measured, their names and contents: a study file, scripts, logs.

    Raises:
        SchemaError: there is no package of that name.
        OSError: a file cannot be read.
    """
    contents = sorted((path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files)
    study = hashlib.sha256(repr(contents).encode()).hexdigest()
    digest = numerics_digest(packages)[:_DIGITS]
    return f"`{digest}` of {', '.join(packages)}; of the study itself `{study[:_DIGITS]}`"
