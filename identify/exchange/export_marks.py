"""Marks of exported quantities that the log decides too poorly, or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from identify.arrays import Array, Mat33, PhiLike
from identify.exchange.estimate_views import (
    CENTRAL_PARAMETER_NAMES,
    PRINCIPAL_MOMENT_NAMES,
    EstimateViews,
)
from identify.findings import INDISPENSABLE_QUANTITIES, QUANTITIES, default_body_findings
from identify.inertia import InertialParameters
from identify.inertia.frames import frame_map
from identify.relevance import MAX_UNMARKED_HALF_WIDTH, POOR_PRECISION
from identify.significance import HALF_WIDTH_SIGMA
from identify.spatial import Pose

_QUANTITY_NAMES: Mapping[str, str] = MappingProxyType(
    {"mass": "mass", "com": "centre of mass", "inertia": "inertia"}
)
_COLUMNS = {"mass": slice(0, 1), "com": slice(1, 4), "inertia": slice(4, 10)}
"""Places of the quantities among the mass and `CENTRAL_PARAMETER_NAMES`."""

_MOMENTS = [4, 7, 9]
"""Places of the three moments among them."""


@dataclass(frozen=True, slots=True)
class ExportMarks:
    """Remarks on the precision of the numbers of an export.

    Attributes:
        by_quantity: why a quantity is poor, for those that need a mark.
        care: note on the other quantities that the verdict does not call good; may be empty.
        inertia_left_out: whether zero is to be written for the inertia.
    """

    by_quantity: Mapping[str, str] = field(default_factory=dict)
    care: str = ""
    inertia_left_out: bool = False

    @property
    def lines(self) -> tuple[str, ...]:
        """The marks, as lines of a comment."""
        return tuple(self.by_quantity.values())

    @property
    def label(self) -> str:
        """Words for a text without comments, such as " with poor inertia"; empty if all is good."""
        names = " and ".join(_QUANTITY_NAMES[quantity] for quantity in self.by_quantity)
        return f" with poor {names}" if names else ""

    def of_the_weight(self) -> ExportMarks:
        """Return the marks on a text that has no inertia."""
        marks = {name: mark for name, mark in self.by_quantity.items() if name != "inertia"}
        return ExportMarks(marks, self.care)

    def notes(self, without_comments: str = "") -> tuple[str, ...]:
        """Return the notes on an export; of a format without comments its name is given."""
        notes = [*self.lines, self.care]
        if self.lines and without_comments:
            notes.insert(-1, f"{without_comments} has no comments: the mark is only here")
        return tuple(filter(None, notes))


def export_marks(
    body: PhiLike | EstimateViews,
    X_AB: Pose | None = None,
    *,
    pose_given: bool = False,
    zero_inertia: str = "",
    principal: bool = False,
) -> ExportMarks:
    """Return the marks on a body's numbers, none for a body that is not an estimate.

    A quantity is marked if a default body completes it, or if a 95 % half-width of its numbers is
    above `MAX_UNMARKED_HALF_WIDTH` of the mass, of the body's size 2 √(tr I_c / 2m) (the edge of a
    cube, 0.6 of the length of a rod), or of the largest principal moment; or if the
    verdict forbids its use, because the flange may be elsewhere or the log contradicts its schema.
    If those of all three moments are above the whole largest moment, or a default body completes
    all three, zero agrees with the log as well.

    `body`: an estimate about Bo in B; `X_AB`: pose of B in the frame A in whose axes the numbers
    are, if it is another; `pose_given`: whether the user gave it, rather than the schema;
    `zero_inertia`: what zero means where the numbers go; then such an inertia is left out;
    `principal`: whether the numbers are principal moments, and A has their axes.
    """
    if not isinstance(body, EstimateViews):
        return ExportMarks()
    widths, parameters = _half_widths(body, X_AB or Pose.identity()), body.parameters
    largest = float(parameters.principal_moments[-1])
    trace = max(float(np.trace(parameters.inertia_about_com)), 0.0)
    size = 2.0 * float(np.sqrt(trace / (2.0 * body.mass)))
    sizes = {"mass": body.mass, "com": size, "inertia": largest}
    levels = {} if body.verdict is None else body.verdict.quantities
    displacement = body.point_displacement if pose_given else body.flange_displacement
    misplaced = pose_given and not can_be_placed(body)
    least_known_moment = float(np.fmin.reduce(widths[_MOMENTS]))
    marks: dict[str, str] = {}
    care: list[str] = []
    for quantity, name in _QUANTITY_NAMES.items():
        width = float(np.fmax.reduce(widths[_COLUMNS[quantity]]))
        if principal and quantity == "inertia":
            width = float(
                np.fmax.reduce((width, *_saved_half_widths(body, PRINCIPAL_MOMENT_NAMES)))
            )
        displaced = quantity == "com" and displacement > width
        width = displacement if displaced else width
        known = f"known to ± {_format_width(quantity, width, sizes[quantity])} (95 %)"
        if completed := default_body_findings(_sources(body, quantity), body.default_body):
            marks[quantity] = f"poor {name}: {completed[0].text.rstrip('.')}"
            if quantity == "inertia":
                moments = [CENTRAL_PARAMETER_NAMES[k - 1] for k in _MOMENTS]
                least_known_moment = float(np.fmin.reduce(_saved_half_widths(body, moments)))
        elif displaced and (misplaced or levels.get(quantity) == "no"):
            frame, source = ("frame", "pose given") if pose_given else ("flange", "schema")
            marks[quantity] = (
                f"poor {name}: the {frame} may be {1e3 * width:.3g} mm from where the {source} "
                "places it"
            )
        elif width > MAX_UNMARKED_HALF_WIDTH * sizes[quantity]:
            marks[quantity] = f"poor {name}: {known if np.isfinite(width) else 'not measured'}"
        elif levels.get(quantity) == "no" and (doubts := _errors_on(body, quantity)):
            marks[quantity] = f"poor {name}: the log contradicts its schema ({', '.join(doubts)})"
        elif levels.get(quantity, "yes") != "yes":
            care.append(name if np.isnan(width) else f"{name}, {known}")
    left_out = bool(zero_inertia and "inertia" in marks and least_known_moment > largest)
    if left_out:
        if default_body_findings(_sources(body, "inertia"), body.default_body):
            marks["inertia"] = "poor inertia: not identifiable from the data"
        marks["inertia"] += f"; left out: {zero_inertia}"
    return ExportMarks(marks, f"use with care: {'; '.join(care)}" if care else "", left_out)


def unusable_for_export(estimate: EstimateViews) -> tuple[str, ...]:
    """Return the names of the quantities that every export needs and the verdict forbids."""
    levels = {} if estimate.verdict is None else estimate.verdict.quantities
    return tuple(
        _QUANTITY_NAMES[each] for each in INDISPENSABLE_QUANTITIES if levels.get(each) == "no"
    )


def can_be_placed(estimate: EstimateViews) -> bool:
    """Whether a pose of the body frame B that the user gives places the estimate.

    It does not if the points of the pose and of the wrench, either of which the user may mean by
    the origin of B, are further apart than any use allows.
    """
    return estimate.point_displacement <= POOR_PRECISION["com"]


def misplaced_origin(estimate: EstimateViews) -> str:
    """Return the reason why no pose of B that the user gives places an estimate."""
    return (
        "no pose of B places the estimate: it is about the wrench's point, and the point whose "
        f"pose is logged is {1e3 * estimate.point_displacement:.3g} mm away. Put both at one point "
        "by the line of the schema in `kinematic_offset`, and fit again."
    )


def _errors_on(body: EstimateViews, quantity: str) -> list[str]:
    """Return the codes of the errors that concern a quantity."""
    return [f.code for f in body.findings if f.severity == "error" and f.concerns(quantity)]


def _sources(body: EstimateViews, quantity: str) -> dict[str, str]:
    return {entry: body.decided_by.get(entry, "") for entry in QUANTITIES[quantity]}


def _format_width(quantity: str, width: float, size: float) -> str:
    if quantity == "com":
        return f"{1e3 * width:.3g} mm, of a size of {1e3 * size:.3g} mm"
    percent = f"{100.0 * width / max(size, np.finfo(float).tiny):.3g} %"
    return percent if quantity == "mass" else f"{percent} of the largest principal moment"


def _half_widths(estimate: EstimateViews, X_AB: Pose) -> Array:
    """Return 95 % half-widths of mass, centre of mass and I_c in axes of A, shape (10,).

    The saved intervals hold in axes of B; in those of A the standard errors of the covariance are
    scaled such that the widest in B is the widest saved one. NaN if nothing is known.
    """
    saved = _saved_half_widths(estimate, ("m", *CENTRAL_PARAMETER_NAMES))
    if estimate.covariance is None:
        return saved
    in_B, widths = (
        _standard_errors(estimate.parameters, estimate.covariance, R)
        for R in (np.eye(3), X_AB.rotation)
    )
    for columns in _COLUMNS.values():
        known = np.isfinite(saved[columns])
        widest = in_B[columns][known].max(initial=0.0)
        level = saved[columns][known].max() / widest if widest > 0.0 else HALF_WIDTH_SIGMA
        widths[columns] *= level
    return widths


def _saved_half_widths(estimate: EstimateViews, names: Sequence[str]) -> Array:
    """Return the half-widths of intervals; infinite for an open one, NaN for none."""
    intervals = [estimate.intervals.get(name, (np.nan, np.nan)) for name in names]
    return np.array([np.inf if x is None else 0.5 * (x[1] - x[0]) for x in intervals])


def _standard_errors(body: InertialParameters, covariance: Array, R_AB: Mat33) -> Array:
    """Return those of mass, centre of mass and I_c in axes of A, to first order, shape (10,).

    About the centre of mass, h = 0: there dc = dh / m and dI_c = dI.
    """
    F = frame_map(Pose(R_AB, -R_AB @ body.com))
    errors = np.sqrt(np.maximum((F @ covariance * F).sum(axis=1), 0.0))
    errors[1:4] /= body.mass
    return errors
