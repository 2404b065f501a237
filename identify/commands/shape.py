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

_DENSITY_HELP = (
    "Density: kg/m³ for solids, or a material (steel, aluminium, titanium, brass, pla, petg, abs, "
    "nylon, pom, …); kg/m² for shells, plates and discs, kg/m for a rod."
)

_MAX_MASS, _MAX_INERTIA = 1e15, 1e24
"""Maximum plausible mass [kg] and inertia [kg m²]."""

_MAX_FACET_LOSS = 0.01
"""Share of the volume that the facets of a rounded mesh may cut off without a note."""

_MAX_MESH_EXTENT = 10.0
"""Extent of a mesh [m] above which a note states that its unit may not be the metre."""

_MIN_SOLID_DENSITY = 1.2
"""Density of air [kg/m³], below which a mesh with a mass is in another unit than it was read in."""

_MESH_SUFFIXES = (".stl", ".obj", ".ply", ".off", ".3mf", ".glb", ".gltf", ".dae")
"""Suffixes of mesh files, which may stand in place of the name of a shape."""

_NEGLIGIBLE = 1e-12
"""Ratio to a body's size, or to its largest moment, below which a number is rounding."""


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

    density: Annotated[str | None, option("RHO", help=_DENSITY_HELP)] = None

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
        body = geometry.body(mass=self.mass, density=self._density(geometry))
        _require_plausible(body)
        if isinstance(geometry, Mesh):
            _require_plausible_unit(body, geometry, self.scale)
        frame = f"that of the shape: {' '.join((self.name, *self.sizes))}"
        if self.at is not None:
            body = body.in_frame(pose_from_numbers(self.at, "shape"))
            frame = f"the frame in which {frame} is at {' '.join(map(str, self.at))}"
        body = _without_rounding(body)
        saved = SavedEstimate(body, frame, provenance={"command": invocation})
        table = parameter_rich_table(saved, groups=TABLE_GROUPS)
        lines = [_measure_line(body, geometry), table] if self.output is None else ()
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

        file_alone = Path(self.name).suffix.lower() in _MESH_SUFFIXES
        if file_alone or self.name == _MESH_SHAPE:
            mesh_files = (self.name, *self.sizes) if file_alone else self.sizes
            if len(mesh_files) != 1:
                raise UsageError(f"shape: mesh takes one file, got {len(mesh_files)} arguments")
            (mesh_file,) = mesh_files
            try:
                return shapes.read_mesh(mesh_file, scale=self.scale), []
            except ModelError as error:
                if not (self.hull and self.scale > 0.0):
                    raise
                hull = shapes.convex_hull(self.scale * shapes.read_triangles(Path(mesh_file))[0])
                hint = f"its convex hull of {hull.measure:.4g} m³ is used"
                return hull, [f"note: {str(error).partition(';')[0]}; {hint}"]
        if self.scale != 1.0 or self.hull:
            raise UsageError("shape: --scale and --hull apply to a mesh; give sizes in metres")
        lookup({**shapes.SHAPES, _MESH_SHAPE: None}, self.name, "shape", ModelError)  # if unknown
        return shapes.shape_from_sizes(self.name, [_number(word) for word in self.sizes]), []

    def _density(self, geometry: Geometry) -> float | None:
        """Return the given density [SI], by its number or the name of a material."""
        from identify.documents import lookup
        from identify.inertia.shapes import MATERIAL_DENSITIES

        if self.density is None:
            return None
        try:
            return float(self.density)
        except ValueError:
            if geometry.measure_kind != "volume":
                raise UsageError(
                    f"shape: --density {self.density}: a material is of a solid; give the density "
                    f"of a {self.name} as a number"
                ) from None
            return lookup(MATERIAL_DENSITIES, self.density.lower(), "material", UsageError)


def _measure_line(body: InertialParameters, geometry: Geometry) -> str:
    """Return volume (area, length) and density in a line."""
    from identify.inertia.shapes import DENSITY_UNITS

    unit = DENSITY_UNITS[geometry.measure_kind]
    density = body.mass / geometry.measure
    power = {"volume": (1e6, "cm³"), "area": (1e4, "cm²"), "length": (1e3, "mm")}
    scale, name = power.get(geometry.measure_kind, (1.0, "kg"))
    kind = geometry.measure_kind.capitalize()
    return f"{kind} {scale * geometry.measure:.6g} {name}, density {density:.6g} {unit}."


def _without_rounding(body: InertialParameters) -> InertialParameters:
    """Return a body whose coordinates and products that are rounding are zero."""
    import numpy as np

    from identify.inertia import InertialParameters

    com, inertia = np.array(body.com), np.array(body.inertia_about_com)
    size = np.abs(com).max() + np.sqrt(np.trace(inertia) / body.mass)
    com[np.abs(com) < _NEGLIGIBLE * size] = 0.0
    inertia[np.abs(inertia) < _NEGLIGIBLE * np.trace(inertia)] = 0.0
    return InertialParameters.from_com(body.mass, com, inertia)


def _require_plausible_unit(body: InertialParameters, mesh: Geometry, scale: float) -> None:
    """Raise if the density of a mesh with a mass shows that it is in another unit."""
    from identify.exchange.link_inertia import MAX_MATERIAL_DENSITY

    density = body.mass / mesh.measure
    if _MIN_SOLID_DENSITY <= density <= MAX_MATERIAL_DENSITY:
        return
    factor, words = (
        (1e-3, "lighter than air")
        if density < _MIN_SOLID_DENSITY
        else (1e3, "denser than any metal")
    )
    raise UsageError(
        f"shape: {body.mass:g} kg in {mesh.measure:.4g} m³ is {words} ({density:.3g} kg/m³): is "
        f"the file in another unit? With --scale {factor * scale:g} it would be "
        f"{density / factor**3:.4g} kg/m³"
    )


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
