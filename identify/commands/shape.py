"""`identify shape`: compute the inertia of a box, a cylinder, a mesh, … of uniform density."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, UseAppendAction

from identify.commands.bodies import POSE_METAVAR, PoseNumbers, pose_from_numbers
from identify.commands.command import Command, Flag, Number, Outcome, UsageError, option
from identify.commands.output import require_writable_file, write_file

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.inertia.shapes import Mesh, Shape as Geometry

_MESH_SHAPE = "mesh"
_SHAPE_NAMES_HELP = (
    "box, box-shell, capsule, capsule-shell, cone, cone-shell, cylinder, cylinder-shell, disc, "
    "ellipsoid, ellipsoid-shell, plate, rod, sphere, sphere-shell, tube, or mesh with a file."
)

_DENSITY_HELP = (
    "Density: kg/m³ for solids, or a material (steel, aluminium, titanium, brass, pla, petg, abs, "
    "nylon, pom, …); kg/m² for shells, plates and discs, kg/m for a rod. Of all shapes, or once "
    "for each mesh in order."
)

_MAX_MASS, _MAX_INERTIA = 1e15, 1e24
"""Maximum plausible mass [kg] and inertia [kg m²]."""

_MAX_FACET_LOSS = 0.01
"""Share of the volume that the facets of a rounded mesh may cut off without a note."""

_MAX_MESH_EXTENT = 2.0
"""Extent of a mesh [m] above which its unit is asked for."""

MESH_SUFFIXES = (".stl", ".obj", ".ply", ".off", ".3mf", ".glb", ".gltf", ".dae")
"""Suffixes of mesh files, which may stand in place of the name of a shape."""


@dataclass(frozen=True, slots=True)
class ShapeCommand(Command):
    """Compute the inertia of a shape of uniform density, and print or write it.

    The origin is the centre of the shape (for a cone, the centre of its base), and the axis of
    symmetry is z; a mesh keeps the frame of its file. `identify shape box` without sizes lists the
    sizes of a box, and for shells which ends are closed. A tube is open at both ends.
    """

    name: Annotated[str, Positional, option("NAME", "(required)", help=_SHAPE_NAMES_HELP)]

    sizes: Annotated[tuple[str, ...], Positional, option("[SIZE ...]")] = ()
    """Sizes of the shape [m], or meshes (STL, OBJ, PLY, …) in one frame, such as of an assembly."""

    mass: Annotated[tuple[float, ...], UseAppendAction, option("KG", "(default: none)")] = ()
    """Mass of all shapes, or once for each mesh in order; give this or --density."""

    density: Annotated[
        tuple[str, ...], UseAppendAction, option("RHO", "(default: none)", help=_DENSITY_HELP)
    ] = ()

    scale: Annotated[Number, option("S")] = None
    """Length unit of the mesh file [m], 0.001 for millimetres."""

    hull: Flag = False
    """Use the convex hull of a mesh that is not closed."""

    at: Annotated[PoseNumbers | None, option(POSE_METAVAR, "(default: zeros)")] = None
    """Pose of the shape's frame in the target frame: position [m] and rotation vector [rad]."""

    output: Annotated[Path | None, option("OUT.json", "(default: print)", short="-o")] = None
    """File for an estimate.json with this body, as other commands read it."""

    def run(self, invocation: str) -> Outcome:
        """Compute the body, and print or write it."""
        require_writable_file(self.output)

        from identify.exchange import SavedEstimate
        from identify.exchange.estimate_json import estimate_text
        from identify.inertia import InertialParameters
        from identify.inertia.conventions.mass_properties import without_rounding_noise
        from identify.inertia.shapes import Mesh
        from identify.reporting.parameter_table import TABLE_GROUPS, parameter_rich_table

        geometries, notes = self._geometries()
        bodies = self._bodies(geometries)
        body = sum(bodies[1:], start=bodies[0])
        _require_plausible(body)
        frame = f"that of the shape: {' '.join((self.name, *self.sizes))}"
        if self.at is not None:
            body = body.in_frame(pose_from_numbers(self.at, "shape"))
            frame = f"the frame in which {frame} is at {' '.join(map(str, self.at))}"
        body = InertialParameters.from_com(*without_rounding_noise(body.phi))
        saved = SavedEstimate(body, frame, provenance={"command": invocation})
        table = parameter_rich_table(saved, groups=TABLE_GROUPS)
        lines = [*map(_measure_line, bodies, geometries), table] if self.output is None else ()
        if self.output is not None:
            write_file(self.output, estimate_text(saved).encode())
        notes += [note for mesh in geometries if isinstance(mesh, Mesh) for note in _facets(mesh)]
        return Outcome(
            lines=lines,
            messages=notes,
            document=lambda: {"estimate": saved.to_dict()},
            files=[] if self.output is None else [self.output],
        )

    def _geometries(self) -> tuple[list[Geometry], list[str]]:
        """Return the shapes, and notes on changes made to meshes."""
        from identify.documents import lookup
        from identify.errors import ModelError
        from identify.inertia import shapes

        file_alone = Path(self.name).suffix.lower() in MESH_SUFFIXES
        if file_alone or self.name == _MESH_SHAPE:
            files = (self.name, *self.sizes) if file_alone else self.sizes
            if not files:
                raise UsageError("shape: mesh takes a file or several, got none")
            notes: list[str] = []
            return [self._mesh(Path(file), notes) for file in files], notes
        if self.scale is not None or self.hull:
            raise UsageError("shape: --scale and --hull apply to a mesh; give sizes in metres")
        lookup({**shapes.SHAPES, _MESH_SHAPE: None}, self.name, "shape", ModelError)  # if unknown
        return [shapes.shape_from_sizes(self.name, [_number(word) for word in self.sizes])], []

    def _mesh(self, file: Path, notes: list[str]) -> Geometry:
        """Return a mesh, or its hull on request; its unit is asked for if it is large."""
        import numpy as np

        from identify.errors import ModelError
        from identify.inertia import shapes

        scale = 1.0 if self.scale is None else self.scale
        try:
            mesh = shapes.read_mesh(file, scale=scale)
        except ModelError as error:
            if not (self.hull and scale > 0.0):
                raise
            mesh = shapes.convex_hull(scale * shapes.read_triangles(file)[0])
            hint = f"its convex hull of {mesh.measure:.4g} m³ is used"
            notes.append(f"note: {str(error).partition(';')[0]}; {hint}")
        extent = float(np.ptp(mesh.corners, axis=0).max())
        if self.scale is None and extent > _MAX_MESH_EXTENT and not self.mass:
            raise UsageError(
                f"shape: {file} is {extent:.4g} m wide in metres: is it in millimetres? Give its "
                "unit: --scale 0.001, or --scale 1 for metres"
            )
        return mesh

    def _bodies(self, geometries: Sequence[Geometry]) -> list[InertialParameters]:
        """Return the bodies of shapes, with the given masses or densities."""
        from identify.inertia.shapes import Mesh

        count = len(geometries)
        for name, values in (("--mass", self.mass), ("--density", self.density)):
            if len(values) not in (0, 1, count):
                raise UsageError(
                    f"shape: got {len(values)} times {name}; expected one, or one for each of "
                    f"{count} meshes in order"
                )
        masses: Sequence[float | None] = self.mass or [None] * count
        words: Sequence[str | None] = self.density or [None] * count
        if len(self.mass) == 1:
            volume = sum(geometry.measure for geometry in geometries)
            masses = [self.mass[0] * geometry.measure / volume for geometry in geometries]
        if len(words) == 1:
            words = [*words] * count
        bodies = []
        for geometry, mass, word in zip(geometries, masses, words, strict=True):
            body = geometry.body(mass=mass, density=self._density(word, geometry))
            if isinstance(geometry, Mesh):
                _require_plausible_unit(body, geometry, self.scale or 1.0)
            bodies.append(body)
        return bodies

    def _density(self, word: str | None, geometry: Geometry) -> float | None:
        """Return a density [SI], by its number or the name of a material."""
        from identify.documents import lookup
        from identify.inertia.shapes import MATERIAL_DENSITIES

        if word is None:
            return None
        try:
            return float(word)
        except ValueError:
            if geometry.measure_kind != "volume":
                raise UsageError(
                    f"shape: --density {word}: a material is of a solid; give the density "
                    f"of a {self.name} as a number"
                ) from None
            return lookup(MATERIAL_DENSITIES, word.lower(), "material", UsageError)


def _facets(mesh: Mesh) -> Iterator[str]:
    """Yield a note if the facets of a rounded mesh cut off much of its volume."""
    import numpy as np

    if mesh.facet_loss > _MAX_FACET_LOSS:
        yield (
            f"note: its faces meet at {np.degrees(mesh.facet_angle):.3g}°; if they stand for a "
            f"round surface, up to {100.0 * mesh.facet_loss:.2g} % of the volume is missing: "
            "export it with finer facets"
        )


def _measure_line(body: InertialParameters, geometry: Geometry) -> str:
    """Return volume (area, length) and density in a line."""
    from identify.inertia.shapes import DENSITY_UNITS

    unit = DENSITY_UNITS[geometry.measure_kind]
    density = body.mass / geometry.measure
    power = {"volume": (1e6, "cm³"), "area": (1e4, "cm²"), "length": (1e3, "mm")}
    scale, name = power.get(geometry.measure_kind, (1.0, "kg"))
    kind = geometry.measure_kind.capitalize()
    return f"{kind} {scale * geometry.measure:.6g} {name}, density {density:.6g} {unit}."


def _require_plausible_unit(body: InertialParameters, mesh: Geometry, scale: float) -> None:
    """Raise if the density of a mesh with a mass shows that it is in another unit."""
    from identify.exchange.link_inertia import AIR_DENSITY, MAX_MATERIAL_DENSITY

    density = body.mass / mesh.measure
    if AIR_DENSITY <= density <= MAX_MATERIAL_DENSITY:
        return
    factor, words = (
        (1e-3, "lighter than air") if density < AIR_DENSITY else (1e3, "denser than any metal")
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
