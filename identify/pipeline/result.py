"""`FitSettings`, what a person may choose about a fit, and `FitResult`, what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from identify.documents import lookup
from identify.errors import SchemaError
from identify.estimation import Estimate, EstimatorSettings, IntervalRoute
from identify.estimation.terms import Term
from identify.findings import CORRECTABLE, Finding, Verdict, ranked
from identify.pipeline.diagnose import Checks
from identify.pipeline.needs import parse_needs
from identify.regressors import LogSummary, Offsets
from identify.validation import Validation

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class FitSettings:
    """Choices of a fit.

    Attributes:
        bias: sensor offset fitted per log (default), shared by all logs, or none.
        mass: known mass [kg], if any.
        cutoff_hz: highest frequency that is used [Hz]; chosen where not given: min(5, rate/10), or
            higher where the motion is faster or all segments of a log are too short for that.
        gravity: g in W [m/s²] in place of the logs' own.
        terms: what else is known of the body, such as `MassBetween(1.0, 1.5)`.
        needs: what the intervals have to reach, such as "mass 1%, com 2mm, inertia 10%".
        interval: how intervals come about: by "formula" from the noise that is found, or by
            "bootstrap" from the spread of refits to blocks of time.
        simultaneous: whether 95 % is that all intervals of a body hold at once.
        apply: codes of findings to correct before the fit, in this order.
        check: try all other readings of the logs, also where nothing seen at once asks for it.
    """

    bias: Offsets = "per_log"
    mass: float | None = None
    cutoff_hz: float | None = None
    gravity: tuple[float, float, float] | None = None
    terms: tuple[Term, ...] = ()
    needs: str = ""
    interval: IntervalRoute = "formula"
    simultaneous: bool = False
    apply: tuple[str, ...] = ()
    check: bool = False

    def __post_init__(self) -> None:
        if not (isinstance(self.terms, tuple) and all(isinstance(t, Term) for t in self.terms)):
            raise SchemaError(
                f"terms: expected a list of terms such as MassBetween(1.0, 1.5), got {self.terms!r}"
            )
        parse_needs(self.needs)  # raises where they are none
        for code in self.apply:
            lookup(dict.fromkeys(CORRECTABLE), code, "code of a finding that can be corrected")
        for name in ("mass", "cutoff_hz"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, int | float | np.number):
                raise SchemaError(f"{name}: expected a number, got {value!r}")
        if self.bias not in ("per_log", "shared", "none"):
            raise SchemaError(f'bias: expected "per_log", "shared" or "none", got {self.bias!r}')
        if self.interval not in get_args(IntervalRoute):
            routes = " or ".join(f'"{route}"' for route in get_args(IntervalRoute))
            raise SchemaError(f"interval: expected {routes}, got {self.interval!r}")
        if self.cutoff_hz is not None and not (np.isfinite(self.cutoff_hz) and self.cutoff_hz > 0):
            raise SchemaError(f"cut-off: expected a positive number of Hz, got {self.cutoff_hz}")
        if self.mass is not None and not (np.isfinite(self.mass) and self.mass > 0.0):
            raise SchemaError(f"mass: expected a positive number of kg, got {self.mass}")
        if self.gravity is not None and not _is_vector(self.gravity):
            raise SchemaError(f"gravity: expected three finite numbers [m/s²], got {self.gravity}")

    @property
    def estimator(self) -> EstimatorSettings:
        """What the estimator needs of them."""
        return EstimatorSettings(
            bias=self.bias,
            mass=self.mass,
            terms=self.terms,
            interval=self.interval,
            simultaneous=self.simultaneous,
        )


def _is_vector(value: object) -> bool:
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return numbers.shape == (3,) and bool(np.isfinite(numbers).all())


@dataclass(frozen=True, slots=True, repr=False)
class FitResult:
    """What `fit` returns; reports and plots take it.

    Attributes:
        estimate: the body; of a payload and its carrier the payload.
        logs: summaries of the logs it was fitted to, those of the carrier alone last.
        validation: how it fares out of sample and in simulation.
        settings: the choices made.
        checks: what was looked at, besides.
    """

    estimate: Estimate
    logs: tuple[LogSummary, ...]
    validation: Validation
    settings: FitSettings
    checks: Checks = field(default_factory=Checks)

    def __repr__(self) -> str:
        logs = ", ".join(map(_log_in_short, self.logs))
        bodies = ", ".join(map(repr, self.estimate.bodies))
        return f"FitResult({bodies}, logs=[{logs}], usable={self.verdict.usable!r})"

    @property
    def carrier(self) -> FitResult | None:
        """The same fit as the carrier's, where it is of a payload on one; needs are not its."""
        if not self.estimate.others:
            return None
        (estimate,) = self.estimate.others.values()
        return replace(self, estimate=estimate, settings=replace(self.settings, needs=""))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is to know before it is believed, the gravest first."""
        return self.estimate.findings

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """Those of every body of the fit, each once."""
        more = self.carrier.findings if self.carrier else ()
        return ranked([*self.findings, *(one for one in more if one not in self.findings)])

    @property
    def corrected(self) -> tuple[str, ...]:
        """What was corrected before the fit, as asked, a sentence each."""
        done: Any = self.estimate.provenance
        return tuple(f"{each['meaning']}." for each in done.get("applied", ()))

    @property
    def verdict(self) -> Verdict:
        """What the findings come to."""
        return self.estimate.verdict

    def _repr_html_(self) -> str:
        logs = escape("; ".join(map(_log_in_short, self.logs)))
        tables = "".join(one._repr_html_() for one in self.estimate.bodies)
        return f"{tables}<p>{logs}</p>"

    def to_dict(self) -> dict[str, object]:
        """Plain data, SI: the content of the estimate.json, the logs, and the held-out scores."""
        scores = self.validation.scores
        carrier = self.carrier
        return {
            "estimate": self.estimate.to_dict(),
            **({} if carrier is None else {"carrier": carrier.estimate.to_dict()}),
            "logs": [
                {
                    "name": log.name,
                    "sha256": log.recording.sha256,
                    "rows": log.recording.rows,
                    "duration": log.duration,
                    "rate_hz": log.rate_hz,
                }
                for log in self.logs
            ],
            "held_out": None
            if scores is None
            else {
                "folds": scores.folds,
                "rms": scores.rms.tolist(),
                "r_squared": scores.r_squared.tolist(),
            },
        }

    def to_frame(self) -> pd.DataFrame:
        """The parameters by name with intervals and units, as `Estimate.to_frame`."""
        return self.estimate.to_frame()


def _log_in_short(log: LogSummary) -> str:
    rate = "" if log.rate_hz is None else f", {log.duration:.4g} s at {log.rate_hz:.4g} Hz"
    return f"{log.name} ({log.recording.rows} rows{rate})"
