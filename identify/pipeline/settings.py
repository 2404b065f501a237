"""`FitSettings`: the options of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from identify.arrays import as_array, require_positive
from identify.documents import lookup
from identify.errors import SchemaError
from identify.estimation import EstimatorSettings, IntervalRoute
from identify.estimation.priors.prior import BALL, Prior
from identify.estimation.terms import KnownMass, Term
from identify.findings import BODY_CHANGE_CODES, CORRECTABLE_CODES
from identify.pipeline.required_precision import parse_required_precision
from identify.regressors import Offsets
from identify.sensors import Sensor
from identify.signals import Interpretation

if TYPE_CHECKING:
    from identify.arms import Calibration, TorqueScale
    from identify.arms.model import Friction
    from identify.regressors.log_scan import ReadableLog
    from identify.robots import RobotModel


@dataclass(frozen=True, slots=True)
class JointSettings:
    """Options of a fit of joint logs.

    Attributes:
        robot: model of the arm, or its URDF.
        frame: frame of the URDF that the load is fixed to; without one, the arm itself is fitted.
        arm: earlier fit of the arm (its `Result`, or what `saved_arm` and `read_arm` return), or
            its arm.json, in place of logs without the load or with them.
        friction: whether each log has friction of its own, or all logs share it; if not given,
            "own" with a load and "shared" without.
        torque_scale: gains of the torques, or their relative standard errors, of all joints or of
            each; if not given, gains are fitted.
        known_load: mass of this load [kg], from which the scale of the torques is taken.
        link_accuracy: standard deviation of the relative errors of the model's links, which tell
            the gains; 15 % if not given.
        calibration: logs of the arm with a known load, which tell the gains in a fit of the arm.
        held_out: other logs of the arm that score a fit of the arm.

    Raises:
        SchemaError: a choice is invalid.
    """

    robot: RobotModel | Path | str | None = None
    frame: str | None = None
    arm: object = None
    friction: Friction | None = None
    torque_scale: TorqueScale | Sequence[float] | float | None = None
    known_load: float | None = None
    link_accuracy: float | None = None
    calibration: Calibration | None = None
    held_out: Sequence[ReadableLog] = ()

    def __post_init__(self) -> None:
        if self.friction not in (None, "own", "shared"):
            raise SchemaError(f'friction: expected "own" or "shared", got {self.friction!r}')
        if self.link_accuracy is not None and not 0.0 < self.link_accuracy <= 10.0:
            raise SchemaError(
                f"link accuracy: expected a share such as 0.15, up to 10, got {self.link_accuracy}"
            )

    def record(self) -> dict[str, object]:
        """Return the options as plain values, for the provenance."""
        arm = self.arm
        return {
            "arm": Path(arm).name if isinstance(arm, str | Path) else None,
            "friction": self.friction or ("own" if self.frame else "shared"),
            "known_load": self.known_load,
        }


@dataclass(frozen=True, slots=True)
class FitSettings(EstimatorSettings):
    """Options of a fit: of its estimate, and of reading and checking its logs.

    `fit` itself counts the logs that are `unloaded`.

    Attributes:
        cutoff_hz: highest frequency that is used [Hz]; by default min(5, rate/10), or higher where
            the motion is faster or all segments of a log are too short for that.
        gravity: g in W [m/s²] in place of that of the logs.
        needs: needed precision of the intervals, such as "mass 1%, com 2mm, inertia 10%".
        apply: codes of findings to correct before the fit, in this order.
        check: whether to compare all other readings of the logs even without a reason to.
        bounds: whether the estimate keeps its certified bounds (`Estimate.bounds`).
        joints: options of logs of joints.

    Raises:
        SchemaError: a choice is invalid.
    """

    cutoff_hz: float | None = field(default=None, kw_only=True)
    gravity: tuple[float, float, float] | None = field(default=None, kw_only=True)
    needs: str = field(default="", kw_only=True)
    apply: tuple[str, ...] = field(default=(), kw_only=True)
    check: bool = field(default=False, kw_only=True)
    bounds: bool = field(default=False, kw_only=True)
    joints: JointSettings = field(default=JointSettings(), kw_only=True)

    def __post_init__(self) -> None:
        EstimatorSettings.__post_init__(self)
        parse_required_precision(self.needs)  # raises if invalid
        for code in self.apply:
            if code not in BODY_CHANGE_CODES:
                _require_correctable(code)
        if self.cutoff_hz is not None:
            require_positive(self.cutoff_hz, "cut-off", "Hz", SchemaError)
        if self.gravity is not None:
            as_array(self.gravity, "gravity", (3,), SchemaError)

    @property
    def mass_known(self) -> bool:
        """Whether the mass of the body, or of the payload, is given."""
        return any(isinstance(term, KnownMass) for term in self.all_terms)

    def require_applicable(self, sensor: Sensor) -> None:
        """Raise unless all options that are given apply to logs of a sensor.

        Raises:
            SchemaError: an option is of other sensors.
        """
        others = [
            each.name
            for each in fields(self)
            if each.name not in sensor.options and getattr(self, each.name) != each.default
        ]
        if others:
            default = JointSettings()
            given = [
                name
                for name in _JOINT_OPTIONS
                if getattr(self.joints, name) is not getattr(default, name)
            ]
            names = _with_joint_options(others, given)
            verb = "do" if len(names) > 1 else "does"
            known = ", ".join(_with_joint_options(sensor.options, _JOINT_OPTIONS))
            raise SchemaError(
                f"{', '.join(names)} {verb} not apply to logs of {sensor.title}; options that "
                f"do: {known}"
            )

    def record(self, sensor: Sensor) -> dict[str, object]:
        """Return the options that apply to logs of a sensor as plain values, for the provenance."""
        values = asdict(replace(self, terms=(), prior=BALL, joints=JointSettings()))
        del values["unloaded"]  # the logs have it
        record = {name: value for name, value in values.items() if name in sensor.options}
        record |= {"terms": [term.record() for term in self.terms]}
        if "prior" in record:
            record["prior"] = self.prior.record()
        if "joints" in record:
            del record["joints"]
            record |= self.joints.record()
        return record


_JOINT_OPTIONS = tuple(each.name for each in fields(JointSettings))
"""Options of `fit` that are in `FitSettings.joints`."""


def _require_correctable(code: str) -> None:
    from identify.diagnosis.faults import codes_of_faults  # few fits correct a fault
    from identify.pipeline.small_fault_findings import SMALL_FAULT_CODES

    codes = (*codes_of_faults(), *CORRECTABLE_CODES, "body_changed", *SMALL_FAULT_CODES)
    lookup(dict.fromkeys(codes), code, "code of a finding that can be corrected")


def _with_joint_options(names: Sequence[str], joint_options: Sequence[str]) -> list[str]:
    """Return names of settings as options of `fit`, which has those of joints one by one."""
    options = [name for name in names if name != "joints"]
    return [*options, *joint_options] if "joints" in names else options


_PRIOR_WORDS = (
    *("prior", "prior_error", "prior_weight"),
    *("shape", "shape_at", "shape_scale", "shape_error"),
)
"""Options of `fit` that give a prior by words."""


class FitOptions(TypedDict, total=False):
    """Keyword arguments of `fit`: the options of `FitSettings` by name."""

    bias: Offsets | None
    mass: float | None
    terms: Sequence[Term] | None
    prior: Prior | str | None
    prior_error: float | None
    prior_weight: float | str | None
    shape: str | Path | None
    shape_at: Sequence[float] | None
    shape_scale: float | None
    shape_error: float | None
    interval: IntervalRoute | None
    simultaneous: bool | None
    cutoff_hz: float | None
    gravity: tuple[float, float, float] | None
    needs: str | None
    apply: Sequence[str] | None
    check: bool | None
    bounds: bool | None
    robot: RobotModel | Path | str | None
    frame: str | None
    arm: object
    friction: Friction | None
    torque_scale: TorqueScale | Sequence[float] | float | None
    known_load: float | None
    link_accuracy: float | None
    calibration: Calibration | None
    held_out: Sequence[ReadableLog] | None


def interpretation_from_settings(settings: FitSettings) -> Interpretation:
    """Return the uncorrected interpretation of logs under the settings of a fit."""
    reading = Interpretation(cutoff_hz=settings.cutoff_hz)
    if settings.gravity is None:
        return reading
    return reading.with_patch({"world.gravity": tuple(map(float, settings.gravity))})


def merge_settings(settings: object, options: FitOptions) -> FitSettings:
    """Return settings with some options replaced.

    `settings`: all choices in one, or None for the defaults; `options`: by name, taking precedence;
    None means not given.
    Raises `SchemaError`: an option is unknown, or a choice is invalid.
    """
    if not isinstance(settings, FitSettings | None):
        raise SchemaError(
            f"settings: expected FitSettings after the recordings, got {type(settings).__name__}; "
            "give a schema by its name, schema=…, and several logs as a list"
        )
    for name in options:
        lookup(FitOptions.__annotations__, name, "option of fit")
    given: dict[str, object] = {name: value for name, value in options.items() if value is not None}
    if isinstance(apply := given.get("apply"), str):
        given["apply"] = [code.strip() for code in apply.split(",")]
    for name in ("terms", "apply", "held_out"):
        if isinstance(values := given.get(name), list):
            given[name] = tuple(values)
    if isinstance(given.get("prior"), str | None) and given.keys() & _PRIOR_WORDS:
        from identify.pipeline.prior_words import PriorWords  # which few fits need

        words: dict[str, Any] = {name: given.pop(name) for name in _PRIOR_WORDS if name in given}
        given["prior"] = PriorWords(**words).make()
    elif others := given.keys() & set(_PRIOR_WORDS) - {"prior"}:
        names = ", ".join(sorted(others))
        raise SchemaError(f"fit: {names} and prior both define the prior; use only one of them")
    settings = settings or FitSettings()
    joints = {name: given.pop(name) for name in _JOINT_OPTIONS if name in given}
    return replace(settings, joints=replace(settings.joints, **joints), **given)
