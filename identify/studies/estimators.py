"""The estimators a study compares: from the data of a log to an output.

A new one is a class and one line of `ESTIMATORS`.
"""

from __future__ import annotations

import ast
import hashlib
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from pydantic import Field, PrivateAttr, StrictBool

from identify.arrays import Phi
from identify.errors import ProblemError, StudyError, did_you_mean
from identify.estimation import (
    EstimatorSettings,
    body_system,
    entropic_estimate,
    estimate_body,
    ordinary_least_squares,
    score_equations,
    weighted_least_squares,
)
from identify.estimation.intervals import intervals_of
from identify.estimation.priors import Prior, ShapePrior
from identify.estimation.priors.prior import BALL
from identify.findings import NOT_IDENTIFIED
from identify.inertia import PHI
from identify.inertia.shapes import Mesh, Points
from identify.logs import Recording
from identify.regressors import Offsets, Statistics, block_statistics
from identify.signals import PreparedLog, prepare
from identify.spatial import Pose
from identify.studies.options import Options, Positive, Scalar, canonical, spelled


@dataclass(frozen=True)
class TrialData:
    """What an estimator may use of one perturbed log; the estimators of a study share it.

    Attributes:
        recording: the log as it was perturbed.
        mass: of the body as if weighed [kg], for options that ask for it; None where not known.
        cutoff_hz: of the low-pass [Hz]; chosen by the log where None.
        shape: of the body in B, a mesh or points with their volumes, for an estimator that asks
            for it; None where not known.
    """

    recording: Recording
    mass: float | None = None
    cutoff_hz: float | None = None
    shape: Points | Mesh | None = None

    @cached_property
    def prepared(self) -> PreparedLog:
        """The log on an even clock, differentiated and low-passed."""
        return prepare(self.recording, self.cutoff_hz, wide=True)  # as a fit does

    @cached_property
    def blocks(self) -> Statistics:
        """One-pass statistics of the prepared log, by blocks of time."""
        return block_statistics(self.prepared)


@dataclass(frozen=True, slots=True)
class EstimatorOutput:
    """What an estimator says of one log.

    Attributes:
        phi: the ten parameters about Bo in B, shape (10,).
        n_identifiable: how many of them are measured; a default body completes the others.
        intervals: 95 % bounds by name (the ten, cx … cz, Icxx … Iczz, I1 … I3), None where not
            measured.
        solver: what solved it; "none" where closed form was enough.
        status: what the solver said.
    """

    phi: Phi
    n_identifiable: int = 10
    intervals: Mapping[str, tuple[float, float] | None] = field(default_factory=dict)
    solver: str = "none"
    status: str = "solved"


class Estimator(Options):
    """Base of the estimators; the options of one are its fields."""

    @abstractmethod
    def estimate(self, data: TrialData) -> EstimatorOutput:
        """The estimate from one log.

        Raises:
            IdentifyError: there is none; the row of the trial says why.
        """


class OrdinaryLeastSquares(Estimator):
    """All equations alike, no constraint, a sensor offset fitted."""

    kind: ClassVar[str] = "ols"

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """The minimiser of Σ rᵀ r."""
        system = body_system([data.blocks], EstimatorSettings())
        return EstimatorOutput(ordinary_least_squares(system))


GivenMass: TypeAlias = Positive | Literal["known"] | None
"""In kg; "known": as the log's source knows it, as if weighed; None: fitted."""


class WeightedLeastSquares(Estimator):
    """Weighted least squares without constraints; what is not identifiable is completed.

    Attributes:
        bias: "per_log" (default) or "none".
        mass: fixed at a number of kg, or "known".
    """

    kind: ClassVar[str] = "wls"

    bias: Offsets = "per_log"
    mass: GivenMass = None

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """The weighted minimiser; identifiable is what has a half-width below the body's scale."""
        settings = EstimatorSettings(self.bias, self._mass(data))
        system = body_system([data.blocks], settings)
        fit = weighted_least_squares(system, settings.all_terms)
        return EstimatorOutput(fit.x, int((fit.identifiability.half_widths < 1.0).sum()))

    def _mass(self, data: TrialData) -> float | None:
        """The mass to fix [kg], or None.

        Raises:
            ProblemError: it is to be known, and the source of the log does not know it.
        """
        if self.mass != "known":
            return self.mass
        if data.mass is None:
            raise ProblemError('mass = "known": the source of this log does not know the mass')
        return data.mass


class Consistent(WeightedLeastSquares):
    """Weighted least squares under Pi ⪰ 0, certified, with intervals: what `identify fit` gives."""

    kind: ClassVar[str] = "psd"

    def _prior(self, data: TrialData) -> Prior:
        return BALL

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """The estimate, with its intervals and what solved it."""
        settings = EstimatorSettings(self.bias, self._mass(data), prior=self._prior(data))
        estimate = estimate_body([data.blocks], settings)
        return EstimatorOutput(
            phi=estimate.parameters.phi,
            n_identifiable=sum(
                what not in (*NOT_IDENTIFIED, "prior") for what in estimate.decided_by.values()
            ),
            intervals=dict(estimate.intervals),
            solver=estimate.certificate.solver,
            status=estimate.certificate.status or "solved",
        )


class KnownShape(Consistent):
    """The same with the shape of the body as its prior, as the log's source knows it.

    Attributes:
        of: "solid", the body fills the shape; "box", it lies somewhere in the shape's bounding box
            along the axes of B.
        overreach: whether points may reach beyond the solid where their volumes say so.
        alone: the body of even density and of the mass of least squares, without the log.
    """

    kind: ClassVar[str] = "shape"

    of: Literal["solid", "box"] = "solid"
    overreach: StrictBool = True
    alone: StrictBool = False

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """The estimate, or the prior alone."""
        if not self.alone:
            return super().estimate(data)
        system = body_system([data.blocks], EstimatorSettings(self.bias))
        mass = float(weighted_least_squares(system).x[0])
        return EstimatorOutput(mass * self._prior(data).mean, 0)

    def _prior(self, data: TrialData) -> ShapePrior:
        if data.shape is None:
            raise ProblemError("the source of this log does not know the shape")
        shape = data.shape
        if self.of == "box":
            corners = shape.positions if isinstance(shape, Points) else shape.corners
            lower, upper = corners.min(axis=0), corners.max(axis=0)
            return ShapePrior.of_box(upper - lower, at=Pose(np.eye(3), 0.5 * (lower + upper)))
        if not isinstance(shape, Points):
            return ShapePrior.of_shape(shape)
        found = ShapePrior.of_points(shape.positions, shape.weights)
        return found if self.overreach else replace(found, spacing=0.0)


class Entropic(Estimator):
    """With an entropic prior: a ball of water's density, of the mass and the centre of the data.

    Attributes:
        bias: "per_log" (default) or "none".
        weight: of the prior; by evidence where not given.
    """

    kind: ClassVar[str] = "entropic"

    bias: Offsets = "per_log"
    weight: Positive | None = None

    def estimate(self, data: TrialData) -> EstimatorOutput:
        """The estimate, with the intervals of Laplace's posterior."""
        fit = weighted_least_squares(body_system([data.blocks], EstimatorSettings(self.bias)))
        ball, said = fit.scaling.x(fit.prior), score_equations(fit)
        found = entropic_estimate(said, ball, self.weight, centre_of_data=True)
        decided: dict[str, str] = dict.fromkeys(PHI, "data")
        return EstimatorOutput(
            phi=found.phi,
            n_identifiable=int((fit.identifiability.half_widths < 1.0).sum()),
            intervals=intervals_of(found.phi, found.covariance, np.inf, decided),
            solver="newton",
        )


ESTIMATORS: Mapping[str, type[Estimator]] = {
    estimator.kind: estimator
    for estimator in (
        OrdinaryLeastSquares,
        WeightedLeastSquares,
        Consistent,
        KnownShape,
        Entropic,
    )
}
"""By the `kind` of an `[[estimators]]` table."""


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
