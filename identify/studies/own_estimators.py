"""Estimators of a person's own: a function in a file beside the study, `my_estimators.py:ridge`."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, PrivateAttr

from identify.errors import StudyError, did_you_mean
from identify.studies.estimators import Estimator, EstimatorOutput, TrialData
from identify.studies.options import Scalar, canonical, spelled

_MARK = ".py:"


def is_own(kind: object) -> bool:
    """Whether a `kind` names a function in a file."""
    return isinstance(kind, str) and _MARK in kind


class OwnEstimator(Estimator):
    """A function of two arguments, the data of a trial and the options of its table.

    Its source is kept, so that a worker needs no file and runs what the digest is of.

    Attributes:
        function: as the study has it, `my_estimators.py:ridge`.
        sha256: of the file, hexadecimal: part of the key of a trial.
        options: the other keys of its table.
    """

    kind: ClassVar[str] = "own"

    function: str
    sha256: str
    options: dict[str, Any] = Field(default_factory=dict)

    _source: str = PrivateAttr(default="")

    @classmethod
    def read(cls, kind: str, options: Mapping[str, Any], folder: Path) -> OwnEstimator:
        """The estimator of a `kind`; the file is read, and nothing in it runs.

        Args:
            kind: a path, relative to the folder, and a function: `my_estimators.py:ridge`.
            options: of its table.
            folder: of the study file.

        Raises:
            StudyError: there is no such file or function, or it does not take two arguments.
        """
        file, _, name = kind.rpartition(":")
        path = folder / file
        try:
            content = path.read_bytes()
            tree = ast.parse(content, str(path))
        except OSError as error:
            raise StudyError(f"{kind}: {path} cannot be read: {error.strerror or error}") from error
        except (SyntaxError, ValueError) as error:
            raise StudyError(f"{kind}: {path} is no Python: {error}") from error
        functions = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
        if name not in functions:
            there = ", ".join(functions) or "none"
            hint = did_you_mean(name, list(functions))
            raise StudyError(f"{kind}: {path} has no function {name!r}{hint}; it has {there}")
        taken = functions[name].args
        most = len(taken.posonlyargs) + len(taken.args)
        required = any(value is None for value in taken.kw_defaults)
        fits = most - len(taken.defaults) <= 2 and (most >= 2 or taken.vararg) and not required
        if not fits:
            raise StudyError(
                f"{kind}: expected a function of two arguments, the data of the trial and the "
                f"options of its table, got {name}({ast.unparse(taken)})"
            )
        digest = hashlib.sha256(content).hexdigest()
        made = cls(function=kind, sha256=digest, options=dict(options))
        made._source = content.decode("utf-8")
        return made

    def spelled(self) -> str:
        """The function's name with its options, as tables show it: `ridge(alpha=0.1)`."""
        return spelled(self.function.rpartition(":")[2], self.options)

    def columns(self, prefix: str) -> dict[str, Scalar]:
        """The function, the digest of its file, and the options, a column each."""
        own = {
            f"{prefix}_{name}": value if isinstance(value, Scalar) else canonical(value)
            for name, value in self.options.items()
        }
        return {f"{prefix}_function": self.function, f"{prefix}_sha256": self.sha256, **own}

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """What the function returns.

        Raises:
            StudyError: that is neither ten numbers nor an `EstimatorOutput`.
        """
        file, _, name = self.function.rpartition(":")
        space: dict[str, Any] = {"__name__": Path(file).stem, "__file__": file}
        exec(compile(self._source, file, "exec"), space)
        found = space[name](data, dict(self.options))
        if isinstance(found, EstimatorOutput):
            return found
        try:
            phi = np.asarray(found, dtype=np.float64)
        except (TypeError, ValueError):
            phi = np.empty(0)
        if phi.shape != (10,):
            raise StudyError(
                f"{self.function}: expected ten numbers (m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, "
                f"Izz about Bo in B, SI) or an EstimatorOutput, got {_shown(found)}"
            )
        return EstimatorOutput(phi)


def _shown(value: object) -> str:
    if isinstance(value, np.ndarray | Sequence) and not isinstance(value, str):
        return f"{type(value).__name__} of shape {np.shape(value)}"
    return f"{value!r:.80}"
