"""`identify shape`: compute the inertia of a box, a cylinder, a mesh, … of uniform density."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.bodies import POSE_METAVAR, PoseNumbers, pose_from_numbers
from identify.commands.command import Command, Flag, Number, Outcome, UsageError, option
from identify.commands.output import require_writable_file, write_file

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.inertia.shapes import Shape as Geometry

_MESH_SHAPE = "mesh"
_SHAPE_NAMES_HELP = (
    "box, box-shell, capsule, capsule-shell, cone, cone-shell, cylinder, cylinder-shell, disc, "
    "ellipsoid, ellipsoid-shell, plate, rod, sphere, sphere-shell, tube, or mesh with a file."
)

_MAX_MASS, _MAX_INERTIA = 1e15, 1e24
"""Maximum plausible mass [kg] and inertia [kg m²]."""

_MAX_FACET_LOSS = 0.01
"""Share of the volume that the facets of a rounded mesh may cut off without a note."""

_MAX_MESH_EXTENT = 100.0
"""Extent of a mesh [m] above which a note states that its unit may not be the metre."""


@dataclass(frozen=True, slots=True)
class ShapeCommand(Command):
    """Compute the inertia of a shape of uniform density, and print or write it.

    The origin is the centre of the shape (for a cone, the centre of its base), and the axis of
    symmetry is z; a mesh keeps the frame of its file. `identify shape box` without sizes lists the
    sizes of a box, and for shells which ends are closed. A tube is open at both ends.
    """

    name: Annotated[str, Positional, option("NAME", "(required)", help=_SHAPE_NAMES_HELP)]

    sizes: Annotated[tuple[str, ...], Positional, option("[SIZE ...]")] = ()
    """Sizes of the shape [m], or the file of a mesh (STL, OBJ, PLY, …)."""

    mass: Annotated[Number, option("KG")] = None
    """Mass of the shape; give this or --density."""

    density: Annotated[Number, option("RHO")] = None
    """Density: kg/m³ for solids, kg/m² for shells, plates and discs, kg/m for a rod."""

    scale: Annotated[float, option("S", "(default: 1)")] = 1.0
    """Length unit of the mesh file [m], 0.001 for millimetres."""

    hull: Flag = False
    """Use the convex hull of a mesh that is not closed."""

    at: Annotated[PoseNumbers | None, option(POSE_METAVAR, "(default: zeros)")] = None
    """Pose of the shape's frame in the target frame: position [m] and rotation vector [rad]."""

    output: Annotated[Path | None, option("OUT.json", "(default: print)", short="-o")] = None
    """File for an estimate.json with this body, as other commands read it."""

    def with_extra_positionals(self, words: Sequence[str]) -> ShapeCommand:
        """Append the shape's sizes that stand after an option on the command line."""
        return replace(self, sizes=(*self.sizes, *words))

    def run(self, invocation: str) -> Outcome:
        """Compute the body, and print or write it."""
        require_writable_file(self.output)
        import numpy as np

        from identify.exchange import SavedEstimate
        from identify.exchange.estimate_json import estimate_text
        from identify.inertia.shapes import Mesh
        from identify.reporting.parameter_table import TABLE_GROUPS, parameter_rich_table

        geometry, notes = self._geometry()
        body = geometry.body(mass=self.mass, density=self.density)
        _require_plausible(body)
        frame = f"that of the shape: {' '.join((self.name, *self.sizes))}"
        if self.at is not None:
            body = body.in_frame(pose_from_numbers(self.at, "shape"))
            frame = f"the frame in which {frame} is at {' '.join(map(str, self.at))}"
        saved = SavedEstimate(body, frame, provenance={"command": invocation})
        lines = [parameter_rich_table(saved, groups=TABLE_GROUPS)] if self.output is None else ()
        if self.output is not None:
            write_file(self.output, estimate_text(saved).encode())
        if isinstance(geometry, Mesh):
            extent = float(np.ptp(geometry.corners, axis=0).max())
            if extent > _MAX_MESH_EXTENT:
                hint = "if its file is in millimetres, give --scale 0.001"
                notes.append(f"note: the mesh is {extent:.4g} m wide; {hint}")
            angle = geometry.facet_angle
            missing = 1.0 - np.sinc(angle / np.pi)
            if missing > _MAX_FACET_LOSS:
                notes.append(
                    f"note: its faces meet at {np.degrees(angle):.3g}°; if they stand for a round "
                    f"surface, up to {100.0 * missing:.2g} % of the volume is missing: export it "
                    "with finer facets"
                )
        return Outcome(
            lines=lines,
            messages=notes,
            document=lambda: {"estimate": saved.to_dict()},
            files=[] if self.output is None else [self.output],
        )

    def _geometry(self) -> tuple[Geometry, list[str]]:
        """Return the shape, and notes on changes made to its mesh."""
        from identify.documents import lookup
        from identify.errors import ModelError
        from identify.inertia import shapes

        if self.name == _MESH_SHAPE:
            if len(self.sizes) != 1:
                raise UsageError(f"shape: mesh takes one file, got {len(self.sizes)} arguments")
            try:
                return shapes.read_mesh(self.sizes[0], scale=self.scale), []
            except ModelError as error:
                if not (self.hull and self.scale > 0.0):
                    raise
                hull = shapes.convex_hull(self.scale * shapes.read_triangles(Path(*self.sizes))[0])
                hint = f"its convex hull of {hull.measure:.4g} m³ is used"
                return hull, [f"note: {str(error).partition(';')[0]}; {hint}"]
        if self.scale != 1.0 or self.hull:
            raise UsageError("shape: --scale and --hull apply to a mesh; give sizes in metres")
        lookup({**shapes.SHAPES, _MESH_SHAPE: None}, self.name, "shape", ModelError)  # if unknown
        return shapes.shape_from_sizes(self.name, [_number(word) for word in self.sizes]), []


def _require_plausible(body: InertialParameters) -> None:
    if body.mass > _MAX_MASS or abs(body.phi).max() > _MAX_INERTIA:
        raise UsageError(
            f"shape: the body has {body.mass:g} kg and up to {abs(body.phi[4:]).max():g} kg m²; "
            f"expected at most {_MAX_MASS:g} kg and {_MAX_INERTIA:g} kg m²: check mass, density "
            "and sizes [SI]"
        )


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError as error:
        raise UsageError(f"shape: expected a size [m], got {word!r}") from error
