"""Vectors among the columns of a log, recognised by name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from identify.logs.table import TableInfo
from identify.logs.units import ANGLE_UNITS, FORCE_UNITS, LENGTH_UNITS, TORQUE_UNITS

_PER_SECOND_SUFFIXES = "/s", "/sec", "_s", "ps"
_PER_SECOND_SQUARED = "/s^2", "/s2", "/s²", "_s2", "ps2"
_UNIT_SUFFIXES: Mapping[str, tuple[str, str]] = {
    **{unit: (unit, "") for unit in (*LENGTH_UNITS, *FORCE_UNITS, *TORQUE_UNITS, *ANGLE_UNITS)},
    **{
        unit.replace("N", f"N{dot}"): (unit, "")
        for unit in TORQUE_UNITS
        if "N" in unit
        for dot in " .·*"
    },
    **{unit + per: (unit, "angular") for unit in ANGLE_UNITS for per in _PER_SECOND_SUFFIXES},
    **{
        unit + per: (unit, "angular_acceleration")
        for unit in ANGLE_UNITS
        for per in _PER_SECOND_SQUARED
    },
    **{unit + per: (unit, "linear") for unit in LENGTH_UNITS for per in _PER_SECOND_SUFFIXES},
    **{f"m{per}": ("m/s^2", "acceleration") for per in _PER_SECOND_SQUARED},
    "dps": ("deg", "angular"),
    **dict.fromkeys(("°", "degree", "degrees"), ("deg", "")),
    "°/s": ("deg", "angular"),
    "g": ("g", "acceleration"),
}
"""Unit in the schema, and signal that the unit implies, by unit suffix of a column name."""
_SIGNALS_OF_UNITS: Sequence[tuple[Collection[str], tuple[str, ...]]] = (
    (LENGTH_UNITS, ("position", "linear", "acceleration")),
    (FORCE_UNITS, ("force",)),
    (TORQUE_UNITS, ("torque",)),
    (ANGLE_UNITS, ("euler", "rotation_vector", "angular")),
)
"""Signals that may be written in some units; the first is meant where the name says none."""

NUMBERED_ENTRY = re.compile(r"(?P<stem>.*?)[_.]?(?P<open>\[)?(?P<part>\d+)(?(open)\])")
"""Pattern of an entry of an array by number: `q[0]`, `q_0`, `q0`."""
_ENTRY_BY_LETTER = re.compile(
    r"(?P<stem>.*?)[-_./ ]?(?P<part>[xyzwXYZWabcABC])(?:(?: in | ?/ ?|[_ ])?[\[(]?"
    rf"(?P<unit>{'|'.join(map(re.escape, _UNIT_SUFFIXES))})[\])]?)?"
)
_SIGNAL_WORDS: Mapping[str, tuple[str, ...]] = {
    "force": (
        *("f", "force", "forces", "kraft", "krafte", "kraefte", "effort", "efforts"),
        *("fuerza", "forza"),
    ),
    "torque": (
        *("t", "tau", "torque", "torques", "m", "mom", "moment", "trq", "drehmoment", "drehmom"),
        *("momente", "drehmomente", "moments", "couple", "couples", "par", "momento", "coppia"),
    ),
    "position": (
        *("p", "pos", "position", "translation", "xyz", "", "tcp", "tool", "flange"),
        *("ort", "lage", "koordinate", "flansch", "posicion", "posizione"),
    ),
    "quaternion": (
        *("q", "quat", "quaternion", "orientation", "rotation", ""),
        *("orientierung", "drehung", "cuaternion", "orientacion", "quaternione", "orientazione"),
    ),
    "rotation_vector": (
        *("r", "rot", "rotvec", "rotation_vector", "axis_angle"),
        *("rotationsvektor", "drehvektor"),
    ),
    "euler": ("euler", "angle", "angles", "winkel", "angulo", "angolo"),
    "linear": (
        *("v", "vel", "velocity", "linear_velocity", "linear"),
        *("geschwindigkeit", "vitesse", "velocidad", "velocita"),
    ),
    "angular": (
        *("w", "omega", "gyro", "angular_velocity", "angular"),
        *("drehrate", "winkelgeschwindigkeit", "drehgeschwindigkeit"),
    ),
    "acceleration": (
        *("a", "acc", "accel", "acceleration", "linear_acceleration"),
        *("beschleunigung", "aceleracion", "accelerazione"),
    ),
    "wrench": (
        *("wrench", "ft", "force_torque", "ft_raw_wrench", "tcp_force"),
        *("f_ext", "ft_sensor", "ft_data", "wrench_ext"),
    ),
    "pose": ("pose", "tcp_pose"),
}
"""Words in column names that denote a signal, by signal: English, German, French, Spanish and
Italian ones, in small letters without accents."""
_AXIS_WORDS = re.compile(
    r"[- ](achse|richtung|axis|direction)\b|(?<=.) (in|um|entlang|along|about|around|suivant|selon|"
    r"axe|sur|en|autour de)(?= [-xyz])",
    re.I,
)
"""Pattern of words about an axis, as in "Kraft in X-Richtung" and "couple autour de X"."""
_TURN_WORDS = frozenset(("rot", "rotation", "orientation", "drehung", "orientierung", "winkel"))
"""Words before A, B and C, the angles of KUKA about z, y and x."""
_MATRIX_ENTRY = re.compile(
    r"(?P<stem>.*?)[_. ]?[\[(]?(?P<row>\d)(?:\]\[|[,_. ] ?)?(?P<column>\d)[\])]?"
)
"""Pattern of a matrix entry by row and column: `T_0_3`, `R12`, `T[0][3]`."""
_ROLL_PITCH_YAW = (
    ("roll", "pitch", "yaw"),
    ("roll", "nick", "gier"),
    ("roulis", "tangage", "lacet"),
    ("alabeo", "cabeceo", "guinada"),
    ("rollio", "beccheggio", "imbardata"),
)
ROLL = re.compile("roll(io|winkel)?|roulis|alabeo", re.I)
"""Pattern of the word for the first of three Euler angles that are named by words."""
COMMANDED = re.compile(r".*target|action\b", re.I)
"""Pattern of names of commanded values."""
_MATRIX_SHAPES = (3, 3), (3, 4), (4, 4)


@dataclass(frozen=True, slots=True)
class NamedVectors:
    """Column names of a table grouped to vectors, such as force or position, by signal.

    Attributes:
        table: names and layout of the table.
        vectors: lists of column names by signal, the likeliest first.
        unsure: why the columns of a signal may be others, by signal.
    """

    table: TableInfo
    vectors: dict[str, list[list[str]]] = field(default_factory=dict)
    unsure: dict[str, str] = field(default_factory=dict)

    def likeliest(self, role: str) -> list[str] | None:
        """Return the likeliest column names of a signal, such as "force"; None if none fit."""
        return next(iter(self.vectors.get(role, ())), None)

    def unit_of(self, columns: Sequence[str]) -> str:
        """Return the unit in column names (for rates, of the angle); empty if they have none.

        The first column's name has it, or a row of units below the names.
        """
        match = _ENTRY_BY_LETTER.fullmatch(ROLL.sub("x", columns[0]))
        unit = (match and match["unit"]) or self.table.units.get(columns[0], "")
        return _UNIT_SUFFIXES.get(unit.strip("[]() "), ("",))[0]

    def is_abc(self, columns: Sequence[str]) -> bool:
        """Return whether columns are called A, B and C, as angles of KUKA are."""
        match = _ENTRY_BY_LETTER.fullmatch(columns[0])
        return match is not None and match["part"] in "aA"

    @property
    def rotation(self) -> tuple[str, list[str]] | None:
        """Kind and columns of the likeliest rotation; None without one."""
        kinds = ("quaternion", "rotation_vector", "matrix", "euler")
        return next(((kind, self.vectors[kind][0]) for kind in kinds if kind in self.vectors), None)

    @property
    def has_pose(self) -> bool:
        """Whether the table has a pose."""
        return self.rotation is not None


def find_named_vectors(contents: TableInfo) -> NamedVectors:
    """Find the vectors among the columns of a table."""
    parts: dict[tuple[str, bool, str], dict[str, str]] = {}
    matrices = [*_matrix_columns(contents.names)]
    of_matrices = {name for rows in matrices for row in rows for name in row}
    for name in (name for name in contents.names if name not in of_matrices):
        plain = _AXIS_WORDS.sub("", name)
        for pattern in (_ENTRY_BY_LETTER, NUMBERED_ENTRY):
            if (match := pattern.fullmatch(plain)) is not None:
                unit = match.groupdict().get("unit")
                key = (
                    match["stem"],
                    pattern is NUMBERED_ENTRY,
                    _UNIT_SUFFIXES[unit][1] if unit else "",
                )
                parts.setdefault(key, {}).setdefault(match["part"].lower(), name)
                break
    vectors = NamedVectors(contents)

    def add(role: str, names: list[str]) -> None:
        vectors.vectors.setdefault(role, []).append(names)

    for rows in matrices:
        square = len(rows) == len(rows[0])
        add("matrix", [name for row in rows for name in (row if square else row[:3])])
        if not square:
            add("position", [row[3] for row in rows])
    for words in _ROLL_PITCH_YAW:
        turns = [[n for n in contents.names if word in _without_accents(n)] for word in words]
        for names in zip(*turns, strict=False):
            if list(names) not in vectors.vectors.get("euler", ()):
                add("euler", list(names))
    of_units, unnamed = list[tuple[str, list[str]]](), list[tuple[str, list[str]]]()
    for (stem, numbered, by_unit), of in parts.items():
        whole = re.split(r"[./ ]", _without_accents(stem))[-1].strip("_-")
        words = {
            whole,
            *("_".join(whole.split("_")[-k:]) for k in (1, 2)),
            re.split(r"[_\d]", whole)[-1],
        }
        words |= {w.lower() for w in re.findall("[A-Z][a-z]{2,}(?=_?$)", stem)}  # ActualTCPPose
        roles = [role for role, said in _SIGNAL_WORDS.items() if words & set(said)]
        roles = [by_unit] if by_unit else roles
        if numbered:
            roles = [] if words & {"effort", "efforts"} else roles  # of joints
            names = [of[k] for k in sorted(of, key=int)]
            _add_numbered(names, roles, add)
            continue
        placed = {"x", "y", "z"} <= set(of)
        turned = bool(words & _TURN_WORDS)
        if {"a", "b", "c"} <= set(of) and (
            placed or turned or vectors.unit_of([of["a"]]) in ANGLE_UNITS
        ):
            add("euler", [of[k] for k in "abc"])
        if placed:
            if "w" in of:
                add("quaternion", [of[k] for k in "xyzw"])
            columns = [of[k] for k in "xyz"]
            unit = vectors.unit_of(columns)
            meant = next((said for units, said in _SIGNALS_OF_UNITS if unit in units), None)
            if not (roles or meant or "w" in of):
                unnamed.append((stem, columns))
            if meant and not by_unit and not (roles := [r for r in roles if r in meant]):
                of_units.append((meant[0], columns))
            for role in roles:
                if role == "pose" and "position" not in roles:
                    add("position", columns)
                elif role not in ("quaternion", "wrench", "pose"):
                    add(role, columns)
    for role, columns in of_units:  # after those that their names tell
        if role not in vectors.vectors:
            vectors.unsure[role] = "by the unit alone"
        add(role, columns)
    for stem, columns in unnamed:  # x, y and z of an array of any name, beside its rotation
        turn = [f"{name[:-1]}w{name[-1]}" for name in columns]
        angular = vectors.vectors.get("angular", [])
        if not vectors.has_pose and stem.endswith("ee") and turn in angular:  # ee.wx of LeRobot
            angular.remove(turn)
            vectors.unsure["rotation_vector"] = "as in data sets of LeRobot"
            add("rotation_vector", turn)
        rotation = vectors.rotation
        if rotation and "position" not in vectors.vectors and rotation[1][0].startswith(stem):
            add("position", columns)
    bare = parts.get(("", False, ""), {})
    if {"a", "b", "c"} <= set(bare) and "position" in vectors.vectors and not vectors.has_pose:
        add("euler", [bare[k] for k in "abc"])
    for candidates in vectors.vectors.values():  # a controller also logs commanded values
        candidates.sort(key=lambda names: bool(COMMANDED.match(names[0])))
    return vectors


def _without_accents(name: str) -> str:
    """Return a name in small letters without accents."""
    letters = unicodedata.normalize("NFKD", name.lower())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _matrix_columns(names: Sequence[str]) -> Iterator[list[list[str]]]:
    """Return the column names of complete 3×3, 3×4 or 4×4 matrices, by row and column."""
    entries: dict[str, dict[tuple[int, int], str]] = {}
    for match in filter(None, map(_MATRIX_ENTRY.fullmatch, names)):
        place = int(match["row"]), int(match["column"])
        entries.setdefault(match["stem"], {})[place] = match.string
    for of, (height, width), first in product(entries.values(), _MATRIX_SHAPES, (0, 1)):
        rows, columns = range(first, first + height), range(first, first + width)
        if of.keys() == {*product(rows, columns)}:
            yield [[of[i, j] for j in columns] for i in rows]


def _add_numbered(
    names: list[str], roles: Sequence[str], add: Callable[[str, list[str]], None]
) -> None:
    match len(names):
        case 3:
            for role in roles:
                if role not in ("quaternion", "wrench", "pose"):
                    add(role, names)
        case 4 if "quaternion" in roles:
            add("quaternion", names)
        case 6 if "wrench" in roles or "force" in roles:
            add("force", names[:3])
            add("torque", names[3:])
        case 6 if "pose" in roles:
            add("position", names[:3])
            add("rotation_vector", names[3:])
        case 7 if "pose" in roles:
            add("position", names[:3])
            add("quaternion", names[3:])
        case 9 | 16:
            add("matrix", names)
        case _:
            pass
