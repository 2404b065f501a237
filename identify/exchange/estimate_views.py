"""Views of an estimate: its body's properties, one line of text, and a table."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from identify.arrays import Array, Mat33, Vec3
from identify.inertia import PHI, UNITS, InertialParameters
from identify.inertia.matrices import entries_from_symmetric
from identify.inertia.parameters import describe_body
from identify.relevance import ROUNDED_POSE_TOLERANCE

if TYPE_CHECKING:
    import pandas as pd

    from identify.findings import Finding, Verdict
    from identify.spatial import BodyFrame

PRINCIPAL_MOMENT_NAMES = ("I1", "I2", "I3")
"""Names of the principal moments about the centre of mass, ascending."""

CENTRAL_PARAMETER_NAMES = ("cx", "cy", "cz", *(f"Ic{name[1:]}" for name in PHI[4:]))
"""Names of the coordinates of the centre of mass and of the entries of the inertia about it."""


class EstimateViews:
    """Base class of views common to an estimate in memory and one read from its file."""

    __slots__ = ()

    if TYPE_CHECKING:
        parameters: InertialParameters
        frame: str
        intervals: Mapping[str, tuple[float, float] | None]
        covariance: Array | None
        decided_by: Mapping[str, str]
        default_body: str | None
        frames: BodyFrame
        verdict: Verdict | None
        findings: tuple[Finding, ...]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Return the ten parameters about Bo in B, so that an estimate can be used as a body."""
        return self.parameters.__array__(dtype, copy)

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return self.parameters.mass

    @property
    def com(self) -> Vec3:
        """Centre of mass p_BoBcm_B [m], shape (3,)."""
        return self.parameters.com

    @property
    def inertia_about_com(self) -> Mat33:
        """Rotational inertia about the centre of mass, I_BBcm_B [kg m²], shape (3, 3)."""
        return self.parameters.inertia_about_com

    @property
    def frame_description(self) -> str:
        """Readable name of the body frame: "B (wrist sensor)", "B (the flange)", or "B".

        It says that the origin is at the wrench's point if the pose's is further from that than
        `ROUNDED_POSE_TOLERANCE`.
        """
        frames = self.frames
        if frames.name is not None:
            name = f"B ({frames.name})"
        elif frames.tcp is not None:  # the log is of a tool point
            name = "B (the flange)"
        else:
            name = "B" if self.frame == "body" else f"B ({self.frame})"
        displaced = self.point_displacement > ROUNDED_POSE_TOLERANCE
        return f"{name} at the wrench's point" if displaced else name

    @property
    def point_displacement(self) -> float:
        """Distance of the point of the pose from that of the wrench, the origin of B [m].

        The two are one point by the schema; 0 unless the fit found `kinematic_offset`. What the
        user knows of B is its place relative to one of them at most.
        """
        sizes = (f.evidence.get("size") for f in self.findings if f.code == "kinematic_offset")
        return max((float(np.linalg.norm(size)) for size in sizes if size is not None), default=0.0)

    @property
    def flange_displacement(self) -> float:
        """Largest error of the flange's place in the schema [m]; 0 without a flange."""
        return 0.0 if self.frames.flange is None else self.point_displacement

    def apply_to(self, model: Any, name: str) -> None:
        """Write the body into a model in memory, as `InertialParameters.apply_to`."""
        self.parameters.apply_to(model, name)

    def to_dataframe(self) -> pd.DataFrame:
        """Return a table of the parameters: value, 95 % interval, SI unit and `decided_by`.

        The rows are the ten of phi, then the centre of mass, the inertia about it and its principal
        moments; the interval (low, high) is NaN for parameters that the data do not identify.
        """
        import pandas as pd

        body = self.parameters
        about_com = np.full(12, np.nan)  # a frame without mass has none
        if body.mass != 0.0:
            six = entries_from_symmetric(body.inertia_about_com)
            about_com = [*body.com, *six, *body.principal_moments]
        values = [*body.phi, *about_com]
        intervals = [self.intervals.get(name) or (np.nan, np.nan) for name in _ROW_NAMES]
        return pd.DataFrame(
            {
                "value": values,
                "low": [low for low, _ in intervals],
                "high": [high for _, high in intervals],
                "unit": [*UNITS, *("m",) * 3, *UNITS[4:], *UNITS[4:7]],
                "decided_by": [
                    *(
                        self.decided_by.get(name, self.decided_by.get(deciding, ""))
                        for name, deciding in zip(_ROW_NAMES, (*PHI, *PHI[1:]), strict=False)
                    ),
                    *[self._inertia_decided_by] * 3,
                ],
            },
            index=pd.Index(_ROW_NAMES, name="parameter"),
        )

    @property
    def _inertia_decided_by(self) -> str:
        """Least certain source that decided an entry of the inertia."""
        sources = {self.decided_by.get(name, "") for name in PHI[4:]}
        order = ("nothing", "default", "constraint", "prior", "data")
        return next((source for source in order if source in sources), "")

    def __repr__(self) -> str:
        completed = [name for name in PHI if self.decided_by.get(name) == "default"]
        suffix = f"; completed by the default body: {', '.join(completed)}" if completed else ""
        return f"{type(self).__name__}({describe_body(self.parameters)}{suffix})"

    def __str__(self) -> str:
        """Return the line of `repr`, and a line for each parameter with its 95 % interval in SI."""
        lines = [repr(self)]
        for name, value, low, high, unit, by in self.to_dataframe().itertuples():
            half = 0.5 * (high - low)
            known = half > 0.0 and np.isfinite(half)
            digits = int(np.clip(1 - np.floor(np.log10(half)), 0, 15)) if known else 0
            spread = f"{value:.{digits}f} ± {half:.{digits}f}" if known else f"{value:.6g}"
            lines.append(f"{name:<4} {spread} {unit}, {by}" if by else f"{name:<4} {spread} {unit}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self.to_dataframe().to_html(na_rep='–')}"


_ROW_NAMES = (*PHI, *CENTRAL_PARAMETER_NAMES, *PRINCIPAL_MOMENT_NAMES)
