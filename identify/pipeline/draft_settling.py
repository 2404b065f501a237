"""Choices of a drafted schema that the log itself settles, such as signs, frames and units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from identify.findings import Finding
from identify.logs.draft_lines import NEEDS_REVIEW, DraftedKey, drafted_keys, with_value
from identify.logs.log_file import open_log
from identify.logs.schema import schema_from_text
from identify.pipeline.log_check import LogCheck, check_logs
from identify.pipeline.settings import FitSettings, JointSettings

_MAX_CHANGES = 4
"""Maximum number of findings whose remedies are written into a draft."""

_UNDETERMINED_TABLES = frozenset(("joints", "body.tcp", "imu.mount", "wrench.mount"))
"""Tables of keys that a log cannot confirm; those of joints only beside a wrench."""

_UNDETERMINED_KEYS = frozenset(
    ("pose.robot", "pose.frame", "wrench.point", "wrench.force_unit", "wrench.torque_unit")
)
"""Other keys that a log cannot confirm: a common factor of force and torque is another body."""

_KEYS_OF_TOOL_POINT = frozenset(("wrench.frame",))
"""Keys that a log cannot confirm before its tool point is known."""

_REASON = "as the log shows: read so, a body explains it"
_TIED_REASON = f"{NEEDS_REVIEW} the likeliest reading, but the log fits another one as well"


@dataclass(frozen=True, slots=True)
class SettledDraft:
    """Drafted schema with the values that explain its log best.

    Attributes:
        text: content of the file; keys that the log confirms are not marked as uncertain.
        changes: keys that the log changed.
        check: of the log with this schema.
    """

    text: str
    changes: tuple[DraftedKey, ...]
    check: LogCheck


def settle_draft(log: Path, text: str, path: Path, robot: Path | None = None) -> SettledDraft:
    """Change the uncertain keys of a drafted schema until a body explains its log, if one does.

    `path`: file of the schema, for its relative paths.
    Raises `SchemaError`: the draft is no schema yet; `LogError`: the log cannot be read with it.
    """
    changed: dict[str, bool] = {}
    check = _check(log, text, path, robot)
    for _ in range(_MAX_CHANGES):
        cause = next((f for f in _errors(check) if f.evidence.get("schema")), None)
        patch: Mapping[str, object] = {} if cause is None else cause.evidence["schema"]
        tables = {key.table for key in drafted_keys(text)}
        if cause is None or not {place.rpartition(".")[0] for place in patch} <= tables:
            break
        tied = bool(cause.evidence.get("equivalent"))
        for place, value in patch.items():
            changed[place] = tied
            text = with_value(text, place, value, _TIED_REASON if tied else _REASON)
        check = _check(log, text, path, robot)
    if check.result is not None and not _errors(check) and check.verdict.explains_data:
        undetermined = _UNDETERMINED_TABLES - {schema_from_text(text, path).sensor}
        unknown_tool = any(k.table == "body.tcp" and k.uncertain for k in drafted_keys(text))
        unsure_places = _UNDETERMINED_KEYS | (_KEYS_OF_TOOL_POINT if unknown_tool else frozenset())
        for key in drafted_keys(text):
            known = key.table not in undetermined and key.place not in unsure_places
            if key.uncertain and known and not changed.get(key.place):
                text = with_value(text, key.place, key.value, key.comment)
    changes = tuple(key for key in drafted_keys(text) if key.place in changed)
    return SettledDraft(text, changes, check)


def _check(log: Path, text: str, path: Path, robot: Path | None) -> LogCheck:
    schema = schema_from_text(text, path)
    joints = JointSettings(robot=robot if schema.sensor == "joints" else None)
    return check_logs(open_log(log, schema), FitSettings(joints=joints))


def _errors(check: LogCheck) -> list[Finding]:
    return [finding for finding in check.findings if finding.severity == "error"]
