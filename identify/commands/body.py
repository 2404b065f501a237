"""`identify body`: read a body as another program prints it, and show or write it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional

from identify.commands.bodies import (
    POSE_METAVAR,
    PoseNumbers,
    exit_status,
    pose_from_numbers,
    reading_notes,
    verdict_messages,
)
from identify.commands.command import Command, Flag, Outcome, option
from identify.commands.output import require_writable_file, write_file
from identify.commands.shape import MESH_SUFFIXES
from identify.errors import ModelError

if TYPE_CHECKING:
    from rich.table import Table

    from identify.exchange import SavedEstimate
    from identify.exchange.body_formats.answers import BodyAnswers
    from identify.spatial import Pose

_PRODUCTS_HELP = (
    "Sign of the products of inertia, if the text does not tell: negative (entries of the matrix, "
    "−∫xy dm) or positive (+∫xy dm)."
)
_ABOUT_HELP = "Reference point of the inertia, if the text does not tell: com or origin."
_DECIMAL_HELP = "Decimal mark, if no number of the text tells: point or comma."


@dataclass(frozen=True, slots=True)
class BodyCommand(Command):
    """Read a body as another program prints it, and show it in SI or write it.

    Reads mass properties of SolidWorks, Fusion (text) and Onshape (JSON), payload settings of
    Franka, KUKA, Universal Robots, ABB and ROS, an estimate.json, MODEL#LINK, and a TOML or JSON of
    your own with units. What a text does not say (a unit, a point, a sign) is asked for, and
    answered by the options below. Other commands take the same files; OUT.json is for those whose
    text has to be answered. Exit status: 2 if a text says too little or contradicts itself, 4 for
    an estimate that must not be used.
    """

    body: Annotated[Path, Positional, option("BODY", "(required)")]
    """The file; of several bodies in it one as FILE#NAME or FILE#NUMBER."""

    products: Annotated[
        Literal["negative", "positive"] | None, option("SIGN", help=_PRODUCTS_HELP)
    ] = None

    about: Annotated[Literal["com", "origin"] | None, option("POINT", help=_ABOUT_HELP)] = None

    mass_unit: Annotated[str | None, option("UNIT")] = None
    """Unit of the mass, where the text has none: kg, g, lb, …"""

    length_unit: Annotated[str | None, option("UNIT")] = None
    """Unit of the centre of mass, where the text has none: m, mm, in, …"""

    inertia_unit: Annotated[str | None, option("UNIT")] = None
    """Unit of the inertia, where the text has none: 'kg m^2', 'g mm^2', 'lb in^2', …"""

    decimal: Annotated[Literal["point", "comma"] | None, option("MARK", help=_DECIMAL_HELP)] = None

    at: Annotated[PoseNumbers | None, option(POSE_METAVAR, "(default: zeros)")] = None
    """Pose of the text's frame in the target frame: position [m] and rotation vector [rad]."""

    forms: Flag = False
    """Print the body in each format of `identify export` as well."""

    output: Annotated[Path | None, option("OUT.json", "(default: print)", short="-o")] = None
    """File for an estimate.json with this body, as other commands read it."""

    def run(self, invocation: str) -> Outcome:
        """Read the body, and print or write it."""
        require_writable_file(self.output)
        if self.body.suffix.lower() in MESH_SUFFIXES and self.body.is_file():
            advice = f"identify shape {self.body} --mass KG (or --density MATERIAL)"
            raise ModelError(f"{self.body}: a mesh has no mass; its inertia is that of {advice}")
        from dataclasses import replace

        import numpy as np

        from identify.exchange.body_files import read_body
        from identify.exchange.estimate_json import estimate_text
        from identify.exchange.link_geometry import com_distance_warning
        from identify.exchange.link_inertia import unit_note
        from identify.inertia import check_consistency, inertia_about_com, phi_from_inertia

        saved = read_body(self.body, self._answers())
        phi = saved.parameters.phi
        if not phi[0] > 0.0:
            raise ModelError(f"{self.body}: a mass of {phi[0]:g} kg; expected more than 0")
        X_AB = None if self.at is None else pose_from_numbers(self.at, "body")
        notes = reading_notes(saved)
        shown = saved if X_AB is None else _at_pose(saved, X_AB)
        lines = [] if self.output else list(self._lines(shown, notes))
        if self.output is not None:
            provenance = {**saved.provenance, "command": invocation}
            written = replace(shown, provenance=provenance)
            write_file(self.output, estimate_text(written).encode())
        verdict = check_consistency(phi)
        doubts = [f"{verdict}"] if verdict.impossible else []
        central = phi_from_inertia(phi[0], np.zeros(3), inertia_about_com(phi))
        doubts += [com_distance_warning(phi, None), unit_note(central, None)]
        return Outcome(
            lines=lines,
            messages=[*(f"warning: {it}" for it in doubts if it), *verdict_messages(saved)],
            document=lambda: {"estimate": shown.to_dict(), "notes": notes},
            files=[] if self.output is None else [self.output],
            status=exit_status(saved.verdict),
        )

    def _answers(self) -> BodyAnswers:
        from identify.exchange.body_formats.answers import BodyAnswers

        return BodyAnswers(
            self.mass_unit,
            self.length_unit,
            self.inertia_unit,
            self.about,
            self.products,
            self.decimal,
        )

    def _lines(self, saved: SavedEstimate, notes: list[str]) -> Iterator[str | Table]:
        from dataclasses import replace

        from identify.inertia import InertialParameters
        from identify.inertia.conventions.mass_properties import without_rounding_noise
        from identify.reporting.parameter_table import TABLE_GROUPS, parameter_rich_table

        if saved.covariance is None:
            plain = InertialParameters.from_com(*without_rounding_noise(saved.parameters.phi))
            saved = replace(saved, parameters=plain)
        yield f"{saved.frame}:"
        yield from (f"  {note}" for note in notes)
        yield parameter_rich_table(saved, groups=TABLE_GROUPS)
        if self.forms:
            yield from _exported_forms(saved, at_given=self.at is not None)


def _at_pose(saved: SavedEstimate, X_AB: Pose) -> SavedEstimate:
    """Return a body in a frame A; a body with intervals moves with its covariance."""
    from identify.commands.bodies import change_frame
    from identify.exchange import SavedEstimate
    from identify.inertia import InertialParameters

    frame_A = SavedEstimate(InertialParameters(saved.parameters.phi), "the frame given by --at")
    return change_frame(saved, X_AB, frame_A)


def _exported_forms(saved: SavedEstimate, *, at_given: bool) -> Iterator[str]:
    """Format a body in each export format, or state why a format does not take it.

    `at_given`: whether the body's frame is that of the text, as `--at` says.
    """
    from identify.exchange import EXPORT_FORMATS, export_body
    from identify.spatial import Pose

    X_AB = Pose.identity() if at_given else None
    for name in EXPORT_FORMATS:
        try:
            text = export_body(saved, name, X_AB=X_AB).text.rstrip()
        except ModelError as error:
            reason = str(error).partition(". ")[0].removeprefix(f"{name}: ")
            text = f"not written: {reason}; give --at"
        yield f"\n{name}:\n{text}"
