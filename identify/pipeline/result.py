"""`Result`: the result of a fit of logs of any sensor, with a summary of the checks of its logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, TypeAlias

from identify.diagnosis import Span
from identify.errors import ProblemError
from identify.estimation import Estimate, FittedEffects
from identify.findings import Finding, Verdict, sort_findings
from identify.pipeline.settings import FitSettings
from identify.regressors import LogSummary, SensorLog, Statistics
from identify.sensors import Sensor, sensor_named
from identify.significance import HALF_WIDTH_SIGMA, SIGNIFICANT_SIGMA
from identify.validation import Validation

if TYPE_CHECKING:
    import pandas as pd

    from identify.arms import FittedArm
    from identify.pipeline.checks import Checks


@dataclass(frozen=True, slots=True)
class RankedInterpretation:
    """Possible interpretation or fault of the logs, with its likelihood.

    Attributes:
        description: the fault in words.
        code: of its finding; empty for the logs as read.
        log_likelihood_ratio: log-likelihood ratio to the logs as read, times two.
        mass: of the body under this interpretation [kg].
        schema_patch: keys of the schema with the values of this interpretation, if keys give it.
    """

    description: str
    code: str
    log_likelihood_ratio: float
    mass: float
    schema_patch: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SmallFault:
    """Fitted small fault of a sensor, such as a gain error or a delay, with its interval.

    Attributes:
        name: of the group, and its entry.
        unit: of its size.
        size, half_width: fitted value and half-width of its 95 % interval.
        significant: whether it is significant.
    """

    name: str
    unit: str
    size: float
    half_width: float
    significant: bool


@dataclass(frozen=True, slots=True)
class CheckSummary:
    """Summary of the checks of a fit, for its result and its report.

    Attributes:
        interpretations: all compared readings, the likeliest first; empty where none were compared.
        small_faults: small faults of the sensors.
        spans: faulty spans of time of each log.
        motion_advice: motions that would identify the remaining parameters, a sentence each.
    """

    interpretations: tuple[RankedInterpretation, ...] = ()
    small_faults: tuple[SmallFault, ...] = ()
    spans: tuple[tuple[Span, ...], ...] = ()
    motion_advice: tuple[str, ...] = ()


def summarise_checks(checks: Checks, findings: Sequence[Finding]) -> CheckSummary:
    """Summarise the checks of logs, and the findings on them, for the result of their fit.

    Motions that would excite more parameters are advised only if nothing is wrong with the logs.
    """
    ranking = checks.ranking
    advised = None if any(f.severity == "error" for f in findings) else checks.excitation
    return CheckSummary(
        interpretations=()
        if ranking is None
        else tuple(
            RankedInterpretation(e.text, e.code, e.log_likelihood_ratio, e.mass, e.schema_patch)
            for e in ranking.explanations
        ),
        small_faults=()
        if checks.small_faults is None
        else tuple(_describe_small_faults(checks.small_faults)),
        spans=checks.spans,
        motion_advice=() if advised is None else advised.advice,
    )


def _describe_small_faults(small_faults: FittedEffects) -> Iterator[SmallFault]:
    for block in small_faults.model.blocks:
        if not block.fault.message:  # an applied fault, reported as a correction
            continue
        per, unit = block.fault.unit_si, block.fault.unit
        sizes = small_faults.eta_including_removed[block.columns]
        errors = small_faults.errors[block.columns]
        for entry, size, error in zip(
            block.fault.columns, sizes.tolist(), errors.tolist(), strict=True
        ):
            name = f"{block.fault.code.replace('_', ' ')}, {entry}"
            is_significant = abs(size) > SIGNIFICANT_SIGMA * error > 0.0
            yield SmallFault(name, unit, size / per, HALF_WIDTH_SIGMA * error / per, is_significant)


LogRecord: TypeAlias = LogSummary | SensorLog
"""Summary of a log in a result, without its rows: of a wrench, or of another sensor."""


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """Result of a fit of logs of any sensor, the input of reports and plots.

    Attributes:
        estimate: the body; of a payload and its carrier, or the arm that holds it, the payload; of
            an arm by itself its first link, with the others.
        logs: summaries of the fitted logs, those with the payload first.
        settings: of the fit.
        validation: held-out scores and replays of a wrench.
        checks: summary of the checks of the logs.
        uncorrected_statistics: statistics of the logs with the small faults of their sensors.
        arm: torques, friction and links of an arm, from logs of its joints; None for others.
    """

    estimate: Estimate
    logs: tuple[LogRecord, ...]
    settings: FitSettings
    validation: Validation = field(default_factory=lambda: Validation(None))
    checks: CheckSummary = field(default_factory=CheckSummary)
    uncorrected_statistics: tuple[Statistics, ...] = ()
    arm: FittedArm | None = None

    @property
    def sensor(self) -> Sensor:
        """Sensor of the logs."""
        return sensor_named(self.logs[0].recording.sensor)

    @property
    def wrench_logs(self) -> tuple[LogSummary, ...]:
        """Summaries of logs of a wrench; none for other sensors."""
        return tuple(log for log in self.logs if isinstance(log, LogSummary))

    @property
    def body_fitted(self) -> bool:
        """Whether the estimate is that of a body by itself, and not of an arm's links."""
        return self.arm is None or self.arm.frame is not None

    def moved_in_log(self, number: int) -> dict[str, object]:
        """Return what moved in a log, for its provenance: bodies, or whether the load did."""
        if self.arm is not None:
            return {"loaded": number < self.arm.loaded} if self.arm.frame else {}
        if not self.estimate.others:
            return {}
        return {"bodies": list(self.estimate.moving_assembly(number).bodies)}

    def __repr__(self) -> str:
        logs = ", ".join(map(_describe_log, self.logs))
        bodies = ", ".join(map(repr, self.estimate.bodies))
        if self.arm is not None and not self.body_fitted:
            error = f"{100.0 * self.arm.errors.total:.2g} % of the torques remain"
            bodies = f"links {', '.join(self.arm.robot.links)}; {error}"
        return f"Result({bodies}, logs=[{logs}], usable={self.verdict.usable!r})"

    def __str__(self) -> str:
        """Return the line of `repr`, and the parameters of each body with their intervals."""
        titled = [str(body) for body in self.estimate.bodies]
        if self.arm is not None and not self.body_fitted:
            titled = [
                f"{name}: {text}" for name, text in zip(self.arm.robot.links, titled, strict=True)
            ]
        return "\n".join((repr(self), *titled))

    @property
    def carrier(self) -> Result | None:
        """Result for the carrier of a payload, without needs; None if the fit has no carrier."""
        if not self.estimate.unloaded:
            return None
        (estimate,) = self.estimate.others.values()
        return replace(self, estimate=estimate, settings=replace(self.settings, needs=""))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of the estimate, the most severe first."""
        return self.estimate.findings

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """Findings of every body of the fit, each once."""
        more = self.carrier.findings if self.carrier else ()
        return sort_findings(
            [*self.findings, *(each for each in more if each not in self.findings)]
        )

    @property
    def corrected(self) -> tuple[str, ...]:
        """Corrections that were applied before the fit, one sentence each."""
        done = self.estimate.provenance.get("applied")
        return tuple(f"{each['meaning']}." for each in done) if isinstance(done, list) else ()

    @property
    def not_applied(self) -> tuple[str, ...]:
        """Requested codes without a correction, because every fit already includes their effect."""
        done = self.estimate.provenance.get("applied")
        applied = done if isinstance(done, list) else ()
        return tuple(each["code"] for each in applied if len(each) == 2)

    @property
    def verdict(self) -> Verdict:
        """Summary of the quality of the estimate, from its findings."""
        return self.estimate.verdict

    def _repr_html_(self) -> str:
        logs = escape("; ".join(map(_describe_log, self.logs)))
        tables = "".join(one._repr_html_() for one in self.estimate.bodies)
        return f"{tables}<p>{logs}</p>"

    def to_dict(self) -> dict[str, object]:
        """Return plain data in SI: the content of estimate.json, the logs and held-out scores.

        Of an arm the errors of its torques and its friction in place of scores; of an arm without a
        load the content of arm.json, without its statistics.
        """
        scores = self.validation.scores
        carrier, arm = self.carrier, self.arm
        if arm is not None and arm.frame is None:
            links = zip(arm.robot.links, self.estimate.bodies, strict=True)
            return {
                "links": {name: body.parameters.phi.tolist() for name, body in links},
                "joints": dict(arm.scalars),
                **self.arm_report(),
            }
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
            **({} if arm is None else arm.record()),
            "held_out": None
            if scores is None
            else {
                "folds": scores.folds,
                "rms": scores.rms.tolist(),
                "r_squared": scores.r_squared.tolist(),
            },
        }

    def arm_report(self) -> dict[str, object]:
        """Return what the arm.json of a fit without a load says besides numbers, as plain values.

        Raises:
            ProblemError: the fit is of another kind.
        """
        provenance = dict(self.estimate.provenance)
        robot = provenance.pop("robot", None)
        if self.arm is None or self.body_fitted or not isinstance(robot, dict):
            raise ProblemError("only a fit of an arm without a load has an arm.json")
        provenance.pop("body", None)
        return {
            **self.arm.report,
            "model_sha256": robot["sha256"],
            "locked": robot["locked"],
            "torque_scale": robot["torque_scale"],
            "findings": [finding.record() for finding in self.findings],
            "provenance": provenance,
        }

    def to_dataframe(self) -> pd.DataFrame:
        """Return the parameters by name with intervals and units, see `Estimate.to_dataframe`."""
        return self.estimate.to_dataframe()


def _describe_log(log: LogRecord) -> str:
    rate = "" if log.rate_hz is None else f", {log.duration:.4g} s at {log.rate_hz:.4g} Hz"
    return f"{log.name} ({log.recording.rows} rows{rate})"
