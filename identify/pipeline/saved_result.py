"""`result.npz`: a fit without the rows of its logs, from which its report can be rebuilt."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np

from identify.errors import IdentifyError, ModelError
from identify.estimation.priors.prior import BALL
from identify.exchange.estimate_json import estimate_digest
from identify.files import digest, require_file
from identify.inertia import InertialParameters
from identify.pipeline.result import Result
from identify.regressors import LogSummary, RowLayout, Statistics
from identify.serialisation import from_json_and_arrays, to_json_and_arrays
from identify.spatial.columns import FIT_COLUMN_COUNT
from identify.validation import Validation, residual_and_noise
from identify.validation.replaying import CompletedReplays

RESULT, ESTIMATE = "result.npz", "estimate.json"
"""File names of a saved result and of its estimate."""

MAX_SAVED_POINTS = 60_000
"""Maximum number of saved samples of all logs together: 9 MB."""

_MAX_FILE_BYTES = 50_000_000
_FILE_VERSION = 1


class ResultFileError(ModelError):
    """A result.npz is damaged, or does not match the estimate.json in its folder."""


def result_bytes(result: Result, truth: InertialParameters | None = None) -> bytes:
    """Serialise a result: arrays by their paths, such as `logs.0.time`, and JSON for all else.

    In addition it contains `logs.0.residual`, measured minus predicted wrench [N, N m], for other
    programs. Saved are the estimate, the series of each log thinned to some stretches, the replays
    and the checks; full-rate states and sufficient statistics are not.

    Args:
        result: of a fit; missing replays are simulated.
        truth: the true body, if known.
    """
    arrays: dict[str, np.ndarray] = {}
    kept = reportable_part(result)
    document = {
        "version": _FILE_VERSION,
        "estimate_sha256": estimate_digest(result.estimate),
        "truth": to_json_and_arrays(truth, arrays, "truth"),
        "result": {
            name: to_json_and_arrays(getattr(kept, name), arrays, name)
            for name in ("estimate", "logs", "validation", "settings", "checks")
        },
    }
    buffer = BytesIO()
    for number, (log, offset) in enumerate(zip(kept.logs, kept.estimate.biases, strict=True)):
        moved = kept.estimate.moving_assembly(number).phi
        arrays[f"logs.{number}.residual"] = residual_and_noise(log, moved, offset)[0]
    text = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)
    np.savez(buffer, said=text, **arrays)  # pyright: ignore[reportArgumentType]
    return buffer.getvalue()


def reportable_part(result: Result) -> Result:
    """Return a fit's result without the data that only further fits need, for a report."""
    share = MAX_SAVED_POINTS // len(result.logs)
    validation = result.validation
    alone = validation.unloaded
    estimate = result.estimate
    others = {name: replace(body, region=None) for name, body in estimate.others.items()}
    return replace(
        result,
        estimate=replace(estimate, region=None, others=others),
        logs=tuple(_reportable_log(log, share) for log in result.logs),
        validation=Validation(
            validation.scores,
            CompletedReplays.of(validation.replays),
            None if alone is None else CompletedReplays.of(alone),
        ),
        # Terms and priors may be of a user's class.
        settings=replace(result.settings, terms=(), prior=BALL),
        uncorrected_statistics=(),
    )


def _reportable_log(log: LogSummary, max_samples: int) -> LogSummary:
    """Return a log thinned to at most `max_samples` samples, without data for further fits."""
    log = log.thinned(max_samples)
    return replace(
        log,
        rows=log.rows[:, :FIT_COLUMN_COUNT],
        segments=(),
        corrections=(),
        statistics=_sample_counts_only(log.statistics),
        folds=_sample_counts_only(log.statistics),
    )


def _sample_counts_only(statistics: Statistics) -> Statistics:
    """Return regression statistics that contain only the numbers of samples."""
    layout = RowLayout(("1",), statistics.layout.groups[:1], 1)
    samples, effective = statistics.samples.sum(), statistics.effective_samples.sum()
    return Statistics.from_factor(layout, np.zeros((1, 1)), samples, effective)


def load_result(folder: Path | str) -> tuple[Result, InertialParameters | None]:
    """Load the result of a fit from its folder, and the true body where one was given.

    It suffices for reports and figures: it has no full-rate states and no sufficient statistics,
    so it cannot be fitted again.

    Args:
        folder: with result.npz and the estimate.json of the same fit.

    Raises:
        MissingFile: one of them is missing.
        ResultFileError: result.npz is damaged, of another version, or of another estimate.json.
    """
    path = Path(folder) / RESULT
    require_file(path)
    require_file(path.with_name(ESTIMATE))
    if path.stat().st_size > _MAX_FILE_BYTES:
        raise ResultFileError(f"{path}: exceeds the limit of {_MAX_FILE_BYTES // 1_000_000} MB")
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        document = json.loads(arrays.pop("said").tobytes())
        version, sha256 = document["version"], document["estimate_sha256"]
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise _damaged_file_error(path, error) from error
    if version != _FILE_VERSION:
        raise ResultFileError(
            f"{path}: has version {version!r}, expected {_FILE_VERSION}; fit the logs again with "
            "this version of the toolkit"
        )
    if digest(path.with_name(ESTIMATE)) != sha256:
        raise ResultFileError(
            f"{path}: belongs to an estimate.json with the sha256 {str(sha256)[:12]}…, not to the "
            "one in its folder: a fit was interrupted, or one of the files was changed. Fit the "
            "logs again"
        )
    try:
        packed = document["result"].items()
        result = Result(**{name: from_json_and_arrays(value, arrays) for name, value in packed})
        truth = from_json_and_arrays(document["truth"], arrays)
        intact = estimate_digest(result.estimate) == sha256
    except (IdentifyError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged_file_error(path, error) from error
    if not intact:
        raise _damaged_file_error(path, "its estimate differs from estimate.json")
    return result, truth


def _damaged_file_error(path: Path, reason: object) -> ResultFileError:
    return ResultFileError(f"{path}: damaged ({reason}); fit the logs again")
