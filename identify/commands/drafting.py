"""Schema of logs that are given without one: drafted, settled by the log, completed by questions.

Without `--schema` a command reads `OUT/schema.toml` or, if there is none, `schema.toml` of the
working directory. If both are missing, it drafts a schema as `identify init` does. A draft of a log
with other columns is left as it is, and that of this log is `LOG.schema.toml`.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from identify.commands.arm_options import sensor_of_logs
from identify.commands.command import UsageError
from identify.commands.output import (
    print_text,
    require_writable_file,
    stages_on_terminal,
    write_file,
)
from identify.errors import IdentifyError
from identify.logs.draft_lines import (
    DRAFT_MARK,
    NEEDS_REVIEW,
    UNNAMED_LINE,
    DraftedKey,
    drafted_keys,
    format_toml_value,
    missing_columns_comment,
    with_value,
)
from identify.texts import plain_name

if TYPE_CHECKING:
    from identify.logs.draft_schema import DraftSchema
    from identify.pipeline.draft_settling import SettledDraft

AnswerT = TypeVar("AnswerT")

SCHEMA = "schema.toml"
"""Name of a drafted schema."""

_MAX_ANSWERS = 3
"""Maximum number of answers to a question."""

_TCP_QUESTION = (
    "Tool point as shown on the pendant, X Y Z [mm or m] RX RY RZ [rad] (empty: zeros): "
)

_SENSOR_QUESTION = (
    "Type of the force-torque sensor, such as ur5e or ati_mini40, for the accuracy of its scale "
    "(empty: another, or unknown): "
)

_ROTATION_QUESTION = (
    "Rotation of the tool point as shown on the pendant, RX RY RZ [rad] (empty: unknown): "
)

_PAYLOAD_QUESTION = (
    "Payload set on the pendant, mass [kg] and centre of mass X Y Z [mm or m] (empty: none): "
)

_MAX_METRES = 2.0
"""Maximum distance of tool point or payload from the flange [m]; a larger number is in mm."""

_ROTATION_NOTE = (
    "The rotation of the tool point in [body.tcp] is unknown and set to zeros. If the pendant "
    "shows another, the centre of mass is rotated by this error about the tool point."
)

_NO_FLANGE_NOTE = (
    "for a payload setting give [body.flange], the flange's pose in the logged frame (empty if "
    "they are one); or identify export --to NAME --at X Y Z RX RY RZ, its inverse"
)

_MISSING_KEYS: Mapping[str, Mapping[str, Mapping[int, str]]] = {
    "time": {"the time stamps": {1: "log.time"}},
    "the pose": {
        "the rotation, 4 of a quaternion, 3 of angles or 9 of a matrix": {
            3: "pose.rotation_vector",
            4: "pose.quaternion",
            9: "pose.matrix",
        },
        "the position": {3: "pose.position"},
    },
    "the position": {"the position": {3: "pose.position"}},
    "force and torque": {"the force": {3: "wrench.force"}, "the torque": {3: "wrench.torque"}},
}
"""Questions about each missing signal: the keys of its columns, by their number."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft, and what to know about it.

    Attributes:
        schema: the drafted schema.
        notes: on what is unknown.
        settled: the draft as the log settled it; None if it cannot be checked.
        problem: error because of which it cannot be checked.
        refusal: error of the first question that got no valid answer; None if all did.
    """

    schema: DraftSchema
    notes: tuple[str, ...] = ()
    settled: SettledDraft | None = None
    problem: IdentifyError | None = None
    refusal: UsageError | None = None

    @property
    def uncertain(self) -> list[DraftedKey]:
        """Keys that need a review."""
        return [key for key in drafted_keys(self.schema.text) if key.uncertain]


def make_draft(
    log: Path,
    path: Path,
    preset: str | None,
    robot: Path | None,
    *,
    asks: bool,
    sensor: str | None = None,
) -> Draft:
    """Draft the schema of a log, with sensor and tool point as the user answers.

    `path`: file of the schema, for relative paths in it; `preset`, `sensor`: names of a
    preset and of a type of force-torque sensor, if they are given.
    """
    from identify.logs.draft_schema import draft_schema, lacks_gain_accuracy

    model = None
    if robot is not None:
        from identify.robots import read_robot

        model = replace(read_robot(robot), path=Path(relpath(robot, path.parent)))
    draft = draft_schema(log, preset, robot=model, sensor=sensor)
    if asks and sensor is None and lacks_gain_accuracy(draft):
        try:
            sensor = _ask(_SENSOR_QUESTION, _sensor_name)
        except UsageError as error:
            return Draft(draft, refusal=error)
        draft = draft_schema(log, preset, robot=model, sensor=sensor)
    if not (asks and "[body.tcp]" in draft.text):
        return Draft(draft)
    tcp = [0.0] * 6
    payload = [0.0] * 4
    refusal = None
    known_rotation = False
    of_controller = not any(
        key.place == "wrench.frame" and key.uncertain for key in drafted_keys(draft.text)
    )
    try:
        tcp = _ask_numbers(_TCP_QUESTION, 6, 3) or tcp
        tcp[:3] = _in_metres(tcp[:3], "tool point")
        rotation = tcp[3:] or _ask_numbers(_ROTATION_QUESTION, 3)
        known_rotation = bool(rotation)
        tcp[3:] = rotation or [0.0] * 3
        if of_controller:
            payload = _ask_numbers(_PAYLOAD_QUESTION, 4) or payload
            payload[1:] = _in_metres(payload[1:], "centre of mass")
    except UsageError as error:
        refusal = error
        tcp += [0.0] * (6 - len(tcp))
    draft = draft_schema(log, preset, tcp, payload, model, sensor)
    if known_rotation and any(tcp):  # no question again
        text = with_value(draft.text, "body.tcp.pose", tcp, "as shown on the pendant")
        draft = replace(draft, text=text)
    return Draft(draft, () if known_rotation else (_ROTATION_NOTE,), refusal=refusal)


def require_answers(draft: Draft, path: Path) -> None:
    """Write a draft of which a question got no valid answer, with the others, and raise.

    Raises `UsageError`: the question, and where the draft is.
    """
    if draft.refusal is None:
        return
    _write_draft(draft, path)
    raise UsageError(
        f"{draft.refusal}. The answers before it are in {path}: enter what is missing there, and "
        "run the command again"
    )


def _write_draft(draft: Draft, path: Path) -> None:
    require_writable_file(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, draft.schema.text.encode())


def settle(draft: Draft, log: Path, path: Path, robot: Path | None) -> Draft:
    """Let the log settle the choices of a draft; a draft that cannot be checked stays as it is."""
    from identify.logs.schema import schema_from_text
    from identify.pipeline.draft_settling import settle_draft

    if draft.schema.missing_signals:
        return draft
    try:
        sensor = schema_from_text(draft.schema.text, path).sensor
        if sensor != "wrench" and (sensor != "joints" or robot is None):
            return draft
        with stages_on_terminal():
            settled = settle_draft(log, draft.schema.text, path, robot)
    except IdentifyError as error:
        return replace(draft, problem=error)
    schema = replace(draft.schema, text=settled.text)
    return replace(draft, schema=schema, settled=settled)


def schema_path(
    given: Path | None,
    logs: Sequence[Path],
    command: str,
    folder: Path | None = None,
    robot: Path | None = None,
    *,
    asks: bool = True,
    quiet: bool = False,
) -> Path:
    """Return the schema of a command's logs: the one given, one that is there, or a draft.

    `logs`: of the command, also as folders and patterns; a draft is of the first one; `folder`:
    output folder of the command; by default the working directory.
    Raises `UsageError`: the draft has uncertain keys, and nobody can be asked; or the log is of
    joints, and there is no `robot`.
    """
    if given is not None:
        return given
    written, draft_file = (folder or Path()) / SCHEMA, Path(SCHEMA)
    own_name = f"{_log_name(logs)}.{SCHEMA}"
    for path in (written, draft_file, written.with_name(own_name), Path(own_name)):
        if path.exists():
            if path.name == SCHEMA and (signals := _signals_of_another_log(path, logs)):
                line = f"identify: {path} is a draft of another log: no columns of its {signals}"
                print_text(*[line] * (not quiet), file=sys.stderr)
                written, draft_file = written.with_name(own_name), Path(own_name)
                continue
            marked = path.read_text(errors="replace").count(f"# {NEEDS_REVIEW}")
            review = f"; lines in it marked {NEEDS_REVIEW}: {marked}" if marked else ""
            line = f"identify: the schema is {path}, which exists (another: --schema){review}"
            lines = [line, *_lines_on_another_draft(path, logs)]
            print_text(*lines * (not quiet), file=sys.stderr)
            return path
    log = _first_log(logs)
    asks = asks and not quiet and sys.stdin.isatty() and sys.stdout.isatty()
    file = written if asks else draft_file  # to which paths in the draft are relative
    draft = make_draft(log, file, None, robot, asks=asks)
    if asks and draft.refusal is None:
        draft = _with_missing_columns(draft, log)
    require_answers(draft, file)
    if robot is None and "\n[wrench]" not in draft.schema.text:
        sensor_of_logs("joints", None, command)
    draft = settle(draft, log, file, robot)
    if asks:
        draft = _with_answers(draft, written)
        require_answers(draft, written)
    failed = bool(draft.uncertain or draft.schema.missing_signals) and not asks
    file = draft_file if failed else written
    _write_draft(draft, file)
    if failed:
        raise _review_error(draft, file)
    if not quiet:
        changes = () if draft.settled is None else draft.settled.changes
        lines = [*draft.notes, f"wrote the schema {written}", *map(str, changes)]
        if (
            command == "fit"
            and "\n[wrench]" in draft.schema.text
            and ("\n[body" not in draft.schema.text)
        ):
            lines.append(_NO_FLANGE_NOTE)
        print_text(*(f"identify: {line}" for line in lines), file=sys.stderr)
    return written


def _log_name(logs: Sequence[Path]) -> str:
    """Return the name of the first log without its ending."""
    with suppress(IdentifyError):
        return _first_log(logs).stem
    return logs[0].stem


def _signals_of_another_log(path: Path, logs: Sequence[Path]) -> str:
    """Return the signals of a drafted schema whose columns the first log does not have."""
    from identify.logs.column_use import signals_without_columns
    from identify.logs.readers import list_tables

    text = path.read_text(encoding="utf-8", errors="replace")
    if DRAFT_MARK not in text:
        return ""
    with suppress(IdentifyError, tomllib.TOMLDecodeError):  # reported when log and schema are read
        log = _first_log(logs)
        return ", ".join(signals_without_columns(log, list_tables(log), tomllib.loads(text)))
    return ""


def _lines_on_another_draft(path: Path, logs: Sequence[Path]) -> list[str]:
    """Say for which log a schema was drafted, and the units that a draft of this one would have."""
    from identify.logs.draft_lines import drafted_log_name, other_units
    from identify.logs.draft_schema import draft_schema

    text = path.read_text(encoding="utf-8", errors="replace")
    with suppress(IdentifyError):  # reported when the log is read
        log = _first_log(logs)
        name = drafted_log_name(text)
        if name in (None, plain_name(log.resolve().name)):
            return []
        units = other_units(text, draft_schema(log).text)
        remedy = f"; units of {log.name} are others, {'; '.join(units)}: draft its own with "
        remedy += f"identify init {log} -o {log.stem}.{SCHEMA}"
        return [f"identify: {path} was drafted for {name}{remedy if units else ''}"]
    return []


def _first_log(logs: Sequence[Path]) -> Path:
    """Return the first of the logs, of which the first word may be a folder or a pattern."""
    from identify.commands.log_jobs import matching_logs
    from identify.logs.readers import is_log_folder

    word = logs[0]
    return word if is_log_folder(word) else next(matching_logs(word, folder_is_log=False))


def _review_error(draft: Draft, path: Path) -> UsageError:
    lines = [f"no columns look like {signal}: name them" for signal in draft.schema.missing_signals]
    lines += [UNNAMED_LINE] * (UNNAMED_LINE in draft.schema.text)
    lines += map(str, draft.uncertain)
    if draft.problem is not None:
        lines.append(f"the log cannot be checked with it: {draft.problem}")
    if draft.settled is not None:
        unknown_tool = any(key.table == "body.tcp" for key in draft.uncertain)
        lines += [
            f"[{finding.code}] {finding}"
            for finding in draft.settled.check.findings
            if finding.severity == "error" and not (unknown_tool and finding.code == "imprecise")
        ]
    head = f"the log does not determine all of its schema, drafted as {path}; review"
    tail = f"Correct what is wrong in {path}, and run the same command again: it reads the file"
    return UsageError("\n  ".join((head, *lines)) + f"\n{tail}")


def _with_missing_columns(draft: Draft, log: Path) -> Draft:
    """Ask for the columns of signals that no column looks like."""
    from identify.logs.readers import list_tables

    text, missing = draft.schema.text, list(draft.schema.missing_signals)
    names = [name for table in list_tables(log) for name in table.names]
    for signal in draft.schema.missing_signals:
        comment = missing_columns_comment(signal)
        for vector, keys in _MISSING_KEYS.get(signal, {}).items():
            try:
                columns = _ask_columns(vector, names, tuple(keys))
            except UsageError as error:
                schema = replace(draft.schema, text=text, missing_signals=tuple(missing))
                return replace(draft, schema=schema, refusal=error)
            if not columns:
                continue
            place = keys[len(columns)]
            if place == "log.time":
                text = with_value(text, "log.rate_hz", None)
            text = with_value(text, place, columns[0] if place == "log.time" else columns)
            missing = [other for other in missing if other != signal]
            text = text.replace(f"{comment}\n", "")
    return replace(draft, schema=replace(draft.schema, text=text, missing_signals=tuple(missing)))


def _ask_columns(vector: str, names: Sequence[str], counts: Sequence[int]) -> list[str]:
    """Ask for columns of a signal, by names or numbers; an empty answer gives none."""
    from identify.documents import lookup

    shown = ", ".join(names[:20]) + ", …" * (len(names) > 20)
    question = f"Columns of {vector}, separated by commas (of {shown}): "

    def columns(answer: str) -> list[str]:
        words = [word.strip() for word in answer.split(",")] if answer else []
        for word in words:
            lookup(dict.fromkeys(names), word, "column", UsageError)
        if words and len(words) not in counts:
            expected = " or ".join(map(str, counts))
            raise UsageError(f"expected {expected} columns, got {len(words)}")
        return words

    return _ask(question, columns)


def _with_answers(draft: Draft, path: Path) -> Draft:
    """Ask for each uncertain key, and return the draft with the answers."""
    from identify.logs.schema import schema_from_text

    text = draft.schema.text
    if draft.uncertain:
        schema_from_text(text, path)  # what is missing is said before the questions
    for key in draft.uncertain:
        comment = f" ({key.comment})" if key.comment else ""
        question = f"[{key.table}] {format_toml_value(key.name, key.value)}{comment}; Enter keeps: "
        try:
            text = _ask(question, partial(_with_answer, text, key, path))
        except UsageError as error:
            return replace(draft, schema=replace(draft.schema, text=text), refusal=error)
    return replace(draft, schema=replace(draft.schema, text=text))


def _with_answer(text: str, key: DraftedKey, path: Path, answer: str) -> str:
    """Return a drafted schema with the answer on a key; raise if that is no schema."""
    from identify.logs.schema import schema_from_text

    if not answer:
        return with_value(text, key.place, key.value, key.comment)
    value: object = answer.strip("\"'")  # words need no quotes
    with suppress(tomllib.TOMLDecodeError):
        value = tomllib.loads(f"value = {answer}")["value"]
    text = with_value(text, key.place, value)
    if (key.place, value) == ("wrench.frame", "sensor"):
        for name, unit in (("translation", "m"), ("rotation_vector", "rad")):
            question = f"[wrench.mount] {name} of the sensor in the body [{unit}] (empty: zeros): "
            text = with_value(text, f"wrench.mount.{name}", _ask_numbers(question, 3) or [0.0] * 3)
    schema_from_text(text, path)
    return text


def _ask(question: str, convert: Callable[[str], AnswerT]) -> AnswerT:
    """Ask up to three times until an answer can be converted; a refusal precedes the question."""
    refusal = ""
    for _ in range(_MAX_ANSWERS):
        kept = f"{refusal}; the other answers are kept. " if refusal else ""
        try:
            return convert(input(f"{kept}{question}").strip())
        except EOFError:
            raise UsageError(f"no answer to: {question.strip()}") from None
        except IdentifyError as error:
            refusal = str(error)
    raise UsageError(f"{refusal}, in answer to: {question.strip()}")


def _ask_numbers(question: str, *counts: int) -> list[float]:
    """Ask for numbers separated by spaces or commas; an empty answer gives an empty list."""

    def numbers(answer: str) -> list[float]:
        try:
            values = [float(word) for word in answer.replace(",", " ").split()]
        except ValueError:
            values = [0.0]
        if len(values) not in (0, *counts):
            raise UsageError(f"expected {counts[0]} numbers, got {answer!r}")
        return values

    return _ask(question, numbers)


def _sensor_name(answer: str) -> str | None:
    """Return the name of a known type of force-torque sensor; None for an empty answer."""
    from identify.documents import lookup
    from identify.logs.wrench_sensors import wrench_sensors

    if answer:
        lookup(wrench_sensors(), answer, "force-torque sensor", UsageError)
    return answer or None


def _in_metres(point: list[float], name: str) -> list[float]:
    """Convert a point to metres if it is in millimetres, and print the assumed unit."""
    in_millimetres = max(map(abs, point)) > _MAX_METRES
    if any(point):
        print(f"The {name} is taken to be in {'millimetres' if in_millimetres else 'metres'}.")
    return [round(1e-3 * x, 12) if in_millimetres else x for x in point]
