"""Estimators that a study compares: each computes an estimate from the data of a log.

A new one is a class and one line of `ESTIMATORS`.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from pydantic import Field, PrivateAttr, StrictBool

from identify.errors import ProblemError, SolveError, StudyError, did_you_mean
from identify.estimation import (
    EstimatorSettings,
    body_system,
    estimate_body,
    ordinary_least_squares,
    weighted_least_squares,
)
from identify.estimation.priors import NearBody, Prior, ShapePrior
from identify.estimation.priors.prior import BALL
from identify.findings import Finding
from identify.inertia.shapes import PointMasses
from identify.regressors import Offsets
from identify.spatial import Pose
from identify.studies.arm_estimators import (
    ArmOrdinaryLeastSquares,
    ArmPayload,
    ArmWeightedLeastSquares,
    ConsistentArm,
)
from identify.studies.command_estimator import CommandEstimator
from identify.studies.estimator import Estimator, EstimatorOutput, TrialData, output_of
from identify.studies.options import Positive, Scalar, canonical_json, format_call


class OrdinaryLeastSquares(Estimator):
    """Ordinary least squares without constraints: of a wrench with its offset, or of the rows."""

    kind: ClassVar[str] = "ols"

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """Return the parameters with the least sum of squared residuals."""
        if data.log.sensor != "wrench":
            return EstimatorOutput(data.rows.least_squares())
        system = body_system([data.blocks], EstimatorSettings())
        return EstimatorOutput(ordinary_least_squares(system))


GivenMass: TypeAlias = Positive | Literal["known"] | None
"""Option for a fixed mass [kg]; "known" takes it from the log's source, None fits the mass."""


class WeightedLeastSquares(Estimator):
    """Weighted least squares without constraints, completed by a default body.

    Attributes:
        bias: "per_log" (default) or "none".
        mass: fixed at a number of kg, or "known".
    """

    kind: ClassVar[str] = "wls"

    bias: Offsets = "per_log"
    mass: GivenMass = None

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """Return the weighted least-squares estimate; very wide intervals count as unidentified."""
        settings = EstimatorSettings(self.bias, self._mass(data))
        system = body_system([data.blocks], settings)
        fit = weighted_least_squares(system, settings.all_terms)
        return EstimatorOutput(fit.x, int((fit.identifiability.half_widths < 1.0).sum()))

    def _mass(self, data: TrialData) -> float | None:
        """Return the fixed mass [kg], or None.

        Raises `ProblemError`: the option is "known", and the source of the log has no mass.
        """
        if self.mass != "known":
            return self.mass
        if data.mass is None:
            raise ProblemError('mass = "known": the source of this log has no mass')
        return data.mass


class ConsistentLeastSquares(WeightedLeastSquares):
    """Weighted least squares under Pi ⪰ 0, certified, with intervals, as in `identify fit`."""

    kind: ClassVar[str] = "psd"

    def _prior(self, data: TrialData) -> Prior:
        return BALL

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """Return the constrained estimate, its intervals and the status of the solver."""
        settings = EstimatorSettings(self.bias, self._mass(data), prior=self._prior(data))
        return output_of(estimate_body([data.blocks], settings))


class KnownShape(ConsistentLeastSquares):
    """Constrained least squares with the known shape of the body as prior.

    Attributes:
        of: "solid", the body fills the shape; "box", it lies somewhere in the shape's bounding box
            along the axes of B.
        overreach: whether points may reach beyond the solid by their volumes.
        alone: take the body of uniform density with the mass of least squares, without the log.
    """

    kind: ClassVar[str] = "shape"

    of: Literal["solid", "box"] = "solid"
    overreach: StrictBool = True
    alone: StrictBool = False

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """Return the estimate, or only the mean of the prior if `alone`."""
        if not self.alone:
            return super().estimate(data)
        system = body_system([data.blocks], EstimatorSettings(self.bias))
        mass = float(weighted_least_squares(system).x[0])
        return EstimatorOutput(mass * self._prior(data).mean, 0)

    def _prior(self, data: TrialData) -> ShapePrior:
        if data.shape is None:
            raise ProblemError("the source of this log has no shape")
        shape = data.shape
        if self.of == "box":
            corners = shape.positions if isinstance(shape, PointMasses) else shape.corners
            lower, upper = corners.min(axis=0), corners.max(axis=0)
            return ShapePrior.of_box(upper - lower, at=Pose(np.eye(3), 0.5 * (lower + upper)))
        if not isinstance(shape, PointMasses):
            return ShapePrior.of_shape(shape)
        prior = ShapePrior.of_points(shape.positions, shape.weights)
        return prior if self.overreach else replace(prior, spacing=0.0)


class Entropic(Estimator):
    """Entropic prior of a ball of water with the fitted mass and centre of mass.

    Attributes:
        bias: "per_log" (default) or "none".
        weight: of the prior; by default chosen by evidence.
    """

    kind: ClassVar[str] = "entropic"

    bias: Offsets = "per_log"
    weight: Positive | None = None

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """Return the estimate, with the intervals of Laplace's posterior."""
        settings = EstimatorSettings(self.bias)
        fit = weighted_least_squares(body_system([data.blocks], settings))
        ball = NearBody(fit.scaling.x(fit.default_theta), weight=self.weight or "evidence")
        return output_of(estimate_body([data.blocks], replace(settings, prior=ball)))


class WholeFit(Estimator):
    """The fit of `identify fit`, whose verdict may refuse it; of rows `identify.solve`.

    Of a load on an arm it is `ArmPayload`.
    """

    kind: ClassVar[str] = "fit"

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """Return the estimate, and whether its verdict is "no" and by which findings.

        An error with a finding, such as of a misread log, refuses least squares of its rows.
        """
        import inertia_identify

        log = data.log
        try:
            if log.rows is not None:
                A, b, channels = log.rows
                return output_of(inertia_identify.solve(A, b, groups=channels))
            if log.robot is not None:
                return ArmPayload().estimate(data)
            result = inertia_identify.fit(data.recording, cutoff_hz=data.cutoff_hz)
        except (ProblemError, SolveError) as error:
            cause = getattr(error, "finding", None)
            if not isinstance(cause, Finding):
                raise
            phi = data.rows.least_squares()
            return EstimatorOutput(None, refused=True, reasons=(cause.code,), refused_phi=phi)
        refused = result.verdict.usable == "no"
        errors = (f.code for f in result.all_findings if refused and f.severity == "error")
        reasons = tuple(dict.fromkeys(errors))
        return replace(output_of(result.estimate), refused=refused, reasons=reasons)


ESTIMATORS: Mapping[str, type[Estimator]] = {
    estimator.kind: estimator
    for estimator in (
        OrdinaryLeastSquares,
        WeightedLeastSquares,
        ConsistentLeastSquares,
        KnownShape,
        Entropic,
        WholeFit,
        CommandEstimator,
        ArmOrdinaryLeastSquares,
        ArmWeightedLeastSquares,
        ConsistentArm,
        ArmPayload,
    )
}
"""Estimators by the `kind` of an `[[estimators]]` table."""


_FILE_SEPARATOR = ".py:"
"""Separator of file and function name in the `kind` of a user's estimator."""


def is_function_kind(kind: object) -> bool:
    """Return whether the `kind` of an estimator names a user's function in a file."""
    return isinstance(kind, str) and _FILE_SEPARATOR in kind


class FunctionEstimator(Estimator):
    """Estimator by a user's function of two arguments: a trial's data, and its table's options.

    Its source is kept, so that a worker needs no file and runs the code of the digest.

    Attributes:
        function: as in the study file, `my_estimators.py:ridge`.
        sha256: of the file, hexadecimal: part of the key of a trial.
        options: the other keys of its table.
    """

    kind: ClassVar[str] = "own"

    function: str
    sha256: str
    options: dict[str, object] = Field(default_factory=dict)

    _source: str = PrivateAttr(default="")

    @classmethod
    def read(cls, kind: str, options: Mapping[str, object], folder: Path) -> FunctionEstimator:
        """Read a user's estimator from its file without running it.

        `kind`: a path, relative to the folder, and a function: `my_estimators.py:ridge`.
        Raises `StudyError`: the file or function does not exist, or does not take two arguments.
        """
        file, _, name = kind.rpartition(":")
        path = folder / file
        try:
            content = path.read_bytes()
            tree = ast.parse(content, str(path))
        except OSError as error:
            raise StudyError(f"{kind}: {path} cannot be read: {error.strerror or error}") from error
        except (SyntaxError, ValueError) as error:
            raise StudyError(f"{kind}: {path} is not valid Python: {error}") from error
        functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        if name not in functions:
            known = ", ".join(functions) or "none"
            hint = did_you_mean(name, list(functions))
            raise StudyError(f"{kind}: {path} has no function {name!r}{hint}; it has {known}")
        signature = functions[name].args
        count = len(signature.posonlyargs) + len(signature.args)
        takes_two = count - len(signature.defaults) <= 2 and (count >= 2 or signature.vararg)
        if not takes_two or any(value is None for value in signature.kw_defaults):
            raise StudyError(
                f"{kind}: expected a function of two arguments, the data of the trial and the "
                f"options of its table, got {name}({ast.unparse(signature)})"
            )
        digest = hashlib.sha256(content).hexdigest()
        estimator = cls(function=kind, sha256=digest, options=dict(options))
        estimator._source = content.decode("utf-8")
        return estimator

    def display_name(self) -> str:
        """Return the function's name with its options for tables: `ridge(alpha=0.1)`."""
        return format_call(self.function.rpartition(":")[2], self.options)

    def columns(self, prefix: str) -> dict[str, Scalar]:
        """Return result columns for the function, the digest of its file, and each option."""
        options = {
            f"{prefix}_{name}": value if isinstance(value, Scalar) else canonical_json(value)
            for name, value in self.options.items()
        }
        return {f"{prefix}_function": self.function, f"{prefix}_sha256": self.sha256, **options}

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """Run the function, and return its estimate.

        Raises `StudyError`: it returns neither ten numbers nor an `EstimatorOutput`.
        """
        file, _, name = self.function.rpartition(":")
        namespace: dict[str, Any] = {"__name__": Path(file).stem, "__file__": file}
        exec(compile(self._source, file, "exec"), namespace)
        output = namespace[name](data, dict(self.options))
        if isinstance(output, EstimatorOutput):
            return output
        try:
            phi = np.asarray(output, dtype=np.float64)
        except (TypeError, ValueError):
            phi = np.empty(0)
        if phi.shape != (10,):
            raise StudyError(
                f"{self.function}: expected ten numbers (m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, "
                f"Izz about Bo in B, SI) or an EstimatorOutput, got {_format_value(output)}"
            )
        return EstimatorOutput(phi)


def _format_value(value: object) -> str:
    if isinstance(value, np.ndarray | Sequence) and not isinstance(value, str):
        return f"{type(value).__name__} of shape {np.shape(value)}"
    return f"{value!r:.80}"
