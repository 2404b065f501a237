"""`identify shape`: the inertia of a box, a cylinder, a mesh, … of even density."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from identify.commands.bodies import AT, PoseNumbers, pose_of
from identify.commands.command import Command, Flag, Number, Outcome, UsageError, option
from identify.commands.output import require_writable_file, write_file

if TYPE_CHECKING:
    from rich.table import Table

    from identify.exchange import SavedEstimate
    from identify.inertia import InertialParameters
    from identify.inertia.shapes import Shape as Geometry

_MESH = "mesh"
_NAMES = (
    "box, box-shell, capsule, capsule-shell, cone, cone-shell, cylinder, cylinder-shell, disc, "
    "ellipsoid, ellipsoid-shell, plate, rod, sphere, sphere-shell, tube, or mesh with a file."
)

_HEAVIEST_BUILT, _LARGEST_BUILT = 1e15, 1e24
"""Mass [kg] and inertia [kg m²] above those of anything that is built."""

_WIDEST_MESH = 100.0
"""Extent of a mesh [m] above which it is asked whether its unit is another."""


@dataclass(frozen=True, slots=True)
class ShapeCommand(Command):
    """Print the inertia of a shape of even density, or write it as an estimate.json.

    The origin of a shape's frame is its centre (of a cone, the middle of its base), its axis of
    symmetry is along z; a mesh is where its file has it. `identify shape box` alone says what sizes
    a box takes, and what is closed of a shell. A tube is open at both ends.
    """

    name: Annotated[str, Positional, option("NAME", "(required)", help=_NAMES)]

    sizes: Annotated[tuple[str, ...], Positional, option("[SIZE ...]")] = ()
    """Sizes [m], as many as the shape takes; of a mesh the file (STL, OBJ, PLY, …)."""

    mass: Annotated[Number, option("KG")] = None
    """Its mass [kg]; either this or --density."""

    density: Annotated[Number, option("RHO")] = None
    """Its density: kg/m³ of a solid, kg/m² of a shell, plate or disc, kg/m of a rod."""

    scale: Annotated[float, option("S", "(default: 1)")] = 1.0
    """Metres per unit of a mesh file, 0.001 for one in millimetres."""

    hull: Flag = False
    """Take the convex hull of a mesh that has holes or no inside, and say so."""

    at: Annotated[PoseNumbers | None, option(AT, "(default: there)")] = None
    """Pose of the shape's frame in the wanted one: position [m] and rotation vector [rad]."""

    output: Annotated[Path | None, option("OUT.json", "(default: print)", short="-o")] = None
    """File to write it to, as other commands read it."""

    def with_more(self, words: Sequence[str]) -> ShapeCommand:
        """The same shape, with the sizes that stand after an option too."""
        return replace(self, sizes=(*self.sizes, *words))

    def run(self, invocation: str) -> Outcome:
        """Print or write the body."""
        require_writable_file(self.output)
        import numpy as np

        from identify.exchange import SavedEstimate
        from identify.exchange.estimate_json import estimate_text
        from identify.inertia.shapes import Mesh

        geometry, notes = self._geometry()
        body = geometry.body(mass=self.mass, density=self.density)
        _require_believable(body)
        frame = f"that of the shape: {' '.join((self.name, *self.sizes))}"
        if self.at is not None:
            body = body.in_frame(pose_of(self.at, "shape"))
            frame = f"one in which {frame} is at {' '.join(map(str, self.at))}"
        saved = SavedEstimate(body, frame, provenance={"command": invocation})
        if self.output is not None:
            write_file(self.output, estimate_text(saved).encode())
        if isinstance(geometry, Mesh):
            extent = float(np.ptp(geometry.corners, axis=0).max())
            if extent > _WIDEST_MESH:
                hint = "if its file is in millimetres, give --scale 0.001"
                notes.append(f"note: the mesh is {extent:.4g} m wide; {hint}")
        return Outcome(
            lines=_table(saved) if self.output is None else (),
            messages=notes,
            document=lambda: {"estimate": saved.to_dict()},
            files=[] if self.output is None else [self.output],
        )

    def _geometry(self) -> tuple[Geometry, list[str]]:
        """The shape, and notes on what was made of its file."""
        from identify.documents import lookup
        from identify.errors import ModelError
        from identify.inertia import shapes

        if self.name == _MESH:
            if len(self.sizes) != 1:
                raise UsageError(f"shape: mesh takes one file, got {len(self.sizes)} words")
            try:
                return shapes.read_mesh(self.sizes[0], scale=self.scale), []
            except ModelError as error:
                if not (self.hull and self.scale > 0.0):
                    raise
                hull = shapes.convex_hull(self.scale * shapes.read_triangles(Path(*self.sizes))[0])
                hint = f"its convex hull of {hull.measure:.4g} m³ is taken"
                return hull, [f"note: {str(error).partition(';')[0]}; {hint}"]
        if self.scale != 1.0 or self.hull:
            raise UsageError("shape: --scale and --hull are for a mesh; sizes are given in metres")
        lookup({**shapes.SHAPES, _MESH: None}, self.name, "shape", ModelError)  # raises if unknown
        return shapes.shape_from_sizes(self.name, [_number(word) for word in self.sizes]), []


def _table(saved: SavedEstimate) -> Iterator[Table]:
    from identify.commands.summary import parameter_table

    yield parameter_table(saved)


def _require_believable(body: InertialParameters) -> None:
    """Refuse what no body is of, and what no table shows."""
    if body.mass > _HEAVIEST_BUILT or abs(body.phi).max() > _LARGEST_BUILT:
        raise UsageError(
            f"shape: it has {body.mass:g} kg and up to {abs(body.phi[4:]).max():g} kg m²; expected "
            f"{_HEAVIEST_BUILT:g} kg and {_LARGEST_BUILT:g} kg m² at the most: check mass, density "
            "and sizes [SI]"
        )


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError as error:
        raise UsageError(f"shape: expected a size [m], got {word!r}") from error
