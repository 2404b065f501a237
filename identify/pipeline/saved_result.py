"""Files of a fit: its estimate.json or arm.json, and `result.npz` for its report.

A `result.npz` has the fit without the rows of its logs.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np

from identify.errors import IdentifyError, ModelError
from identify.estimation.priors.prior import BALL
from identify.exchange.estimate_json import estimate_text
from identify.files import digest, digest_of_text, require_file
from identify.inertia import InertialParameters
from identify.pipeline.result import Result
from identify.pipeline.settings import JointSettings
from identify.serialisation import from_json_and_arrays, to_json_and_arrays
from identify.validation import Validation, residual_and_noise
from identify.validation.replaying import CompletedReplays

RESULT = "result.npz"
ESTIMATE = "estimate.json"
CARRIER = "carrier.json"
ARM = "arm.json"
"""File names of a saved result, and of its estimates or its arm."""

MAX_SAVED_POINTS = 60_000
"""Maximum number of saved samples of all logs together: 9 MB."""

_MAX_FILE_BYTES = 50_000_000
_FILE_VERSION = 1


class ResultFileError(ModelError):
    """A result.npz is damaged, or does not match the estimate.json in its folder."""


def result_texts(result: Result) -> dict[str, str]:
    """Return the texts of the estimates of a result, or of its arm, by the names of their files.

    The first is that of the result itself.
    """
    if not result.body_fitted:
        from identify.pipeline.joint_fit import saved_arm_text  # which few fits need

        return {ARM: saved_arm_text(result)}
    texts = {ESTIMATE: estimate_text(result.estimate)}
    carrier = result.carrier
    return texts if carrier is None else {**texts, CARRIER: estimate_text(carrier.estimate)}


def result_digest(result: Result) -> str:
    """Return the sha256 of the file that a result is saved as: its estimate.json or arm.json."""
    if result.arm is not None and result.arm.digest:
        return result.arm.digest
    return digest_of_text(next(iter(result_texts(result).values())))


def result_bytes(result: Result, truth: InertialParameters | None = None) -> bytes:
    """Serialise a result: arrays by their paths, such as `logs.0.time`, and JSON for all else.

    In addition it contains `logs.0.residual`, measured minus predicted wrench [N, N m], for other
    programs. Saved are the estimate, the series of each log thinned to some stretches, the replays
    and the checks; full-rate states and sufficient statistics are not.

    `truth`: the true body, if known.
    """
    arrays: dict[str, np.ndarray] = {}
    kept, (name, text) = reportable_part(result), next(iter(result_texts(result).items()))
    document = {
        "version": _FILE_VERSION,
        "file": name,
        "estimate_sha256": digest_of_text(text),
        "truth": to_json_and_arrays(truth, arrays, "truth"),
        "result": {
            name: to_json_and_arrays(getattr(kept, name), arrays, name)
            for name in ("estimate", "logs", "validation", "settings", "checks", "arm")
        },
    }
    buffer = BytesIO()
    for number, log in enumerate(kept.wrench_logs):
        moved, offset = kept.estimate.moving_assembly(number).phi, kept.estimate.biases[number]
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
        logs=tuple(log.for_report(share) for log in result.logs),
        validation=Validation(
            validation.scores,
            CompletedReplays.of(validation.replays),
            None if alone is None else CompletedReplays.of(alone),
        ),
        # Terms, priors and models may be of a user's class.
        settings=replace(result.settings, terms=(), prior=BALL, joints=JointSettings()),
        uncorrected_statistics=(),
        arm=None if result.arm is None else result.arm.without_logs(result_digest(result)),
    )


def load_result(folder: Path | str) -> tuple[Result, InertialParameters | None]:
    """Load the result of a fit from its folder, and the true body where one was given.

    It suffices for reports and figures: it has no full-rate states and no sufficient statistics,
    so it cannot be fitted again.

    Args:
        folder: with result.npz and the estimate.json, or the arm.json, of the same fit.

    Raises:
        MissingFile: one of them is missing.
        ResultFileError: result.npz is damaged, of another version, or of another estimate.json.
    """
    path = Path(folder) / RESULT
    require_file(path)
    if path.stat().st_size > _MAX_FILE_BYTES:
        raise ResultFileError(f"{path}: exceeds the limit of {_MAX_FILE_BYTES // 1_000_000} MB")
    if not zipfile.is_zipfile(path):
        raise _damaged_file_error(path, "it is no npz file")
    try:
        with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        document = json.loads(arrays.pop("said").tobytes())
        version, sha256 = document["version"], document["estimate_sha256"]
        name = document.get("file", ESTIMATE)
        if name not in (ESTIMATE, ARM):
            raise ValueError(f"it is of a file {name!r}")
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise _damaged_file_error(path, error) from error
    if version != _FILE_VERSION:
        raise ResultFileError(
            f"{path}: has version {version!r}, expected {_FILE_VERSION}; fit the logs again with "
            "this version of the toolkit"
        )
    require_file(path.with_name(name))
    if digest(path.with_name(name)) != sha256:
        raise ResultFileError(
            f"{path}: belongs to an {name} with the sha256 {str(sha256)[:12]}…, not to the "
            "one in its folder: a fit was interrupted, or one of the files was changed. Fit the "
            "logs again"
        )
    try:
        packed = document["result"].items()
        result = Result(**{name: from_json_and_arrays(value, arrays) for name, value in packed})
        truth = from_json_and_arrays(document["truth"], arrays)
        is_intact = result_digest(result) == sha256
    except (IdentifyError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged_file_error(path, error) from error
    if not is_intact:
        raise _damaged_file_error(path, f"it differs from {name}")
    return result, truth


def _damaged_file_error(path: Path, reason: object) -> ResultFileError:
    return ResultFileError(f"{path}: damaged ({reason}); fit the logs again")
