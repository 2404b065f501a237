"""Choices of a drafted schema that the log itself settles, such as signs, frames and units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from identify.diagnosis.ranking import MISTAKE_PENALTY
from identify.findings import Finding
from identify.logs.draft_lines import (
    DRAFT_MARK,
    NEEDS_REVIEW,
    DraftedKey,
    drafted_keys,
    format_toml_value,
    with_value,
)
from identify.logs.log_file import open_runs
from identify.logs.patch import Patch
from identify.logs.schema import schema_from_text
from identify.pipeline.log_check import LogCheck, check_logs
from identify.pipeline.settings import FitSettings, JointSettings
from identify.significance import CLEAR_LIKELIHOOD_LEAD

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
_MAX_NAMED_RIVALS = 3
"""Maximum number of other readings that the comment of a key names."""

_MIN_LEAD = CLEAR_LIKELIHOOD_LEAD + MISTAKE_PENALTY
"""Lead of a drafted key over other values of it, without the penalty of these for a mistake: a
guess by the names of columns is no statement of the user."""


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
    drafted = {key.place: key.value for key in drafted_keys(text)}
    changed = set[str]()
    rivals: dict[str, list[Patch]] = {}
    check = _check(log, text, path, robot)
    for _ in range(_MAX_CHANGES):
        keys = {key.place: key for key in drafted_keys(text)}
        patches = list(_patches_of_first_error(check, keys.values()))
        if not patches:
            break
        # A sign of the force alone is rare, and its line is not marked; that of the wrench is.
        chosen = min(patches, key=lambda patch: sum(not _is_uncertain(p, keys) for p in patch))
        for other in patches:
            places = [p for p in {**chosen, **other} if _differs(chosen, other, p)]
            for place in places:
                rivals.setdefault(place, []).append(other)
        for place, value in chosen.items():
            text = with_value(text, place, value, _REASON)
        changed |= set(chosen)
        check = _check(log, text, path, robot)
    if check.result is not None and not _errors(check) and check.verdict.explains_data:
        for reading in check.result.checks.interpretations:
            if reading.log_likelihood_ratio > -_MIN_LEAD:
                for place in reading.schema_patch:
                    rivals.setdefault(place, []).append(reading.schema_patch)
        undetermined = _UNDETERMINED_TABLES - {schema_from_text(text, path).sensor}
        unknown_tool = any(k.table == "body.tcp" and k.uncertain for k in drafted_keys(text))
        unsure_places = _UNDETERMINED_KEYS | (_KEYS_OF_TOOL_POINT if unknown_tool else frozenset())
        for key in drafted_keys(text):
            known = key.table not in undetermined and key.place not in unsure_places
            if key.uncertain and known and key.place not in rivals:
                text = with_value(text, key.place, key.value, key.comment)
    elif _errors(check):
        for key in drafted_keys(text):
            if key.place in changed:
                comment = _doubtful_comment(key.place, drafted.get(key.place))
                text = with_value(text, key.place, key.value, comment)
    for key in drafted_keys(text):
        marked = key.uncertain and key.place not in _UNDETERMINED_KEYS
        if key.place in rivals and (marked or key.place in changed):
            text = with_value(text, key.place, key.value, _rivals_comment(rivals[key.place]))
    if not any(key.uncertain for key in drafted_keys(text)):
        text = text.replace(f"{DRAFT_MARK}, then", f"{DRAFT_MARK} (none is left), then", 1)
    changes = tuple(key for key in drafted_keys(text) if key.place in changed)
    return SettledDraft(text, changes, check)


def _patches_of_first_error(check: LogCheck, keys: Iterable[DraftedKey]) -> Iterator[Patch]:
    """Yield the values of keys with which a body explains the log, the likeliest first."""
    tables = {key.table for key in keys}
    cause = next((f for f in _errors(check) if f.evidence.get("schema")), None)
    if cause is not None:
        for patch in cause.evidence.get("schemas", [cause.evidence["schema"]]):
            if patch and {place.rpartition(".")[0] for place in patch} <= tables:
                yield patch


def _is_uncertain(place: str, keys: Mapping[str, DraftedKey]) -> bool:
    return place in keys and keys[place].uncertain


def _differs(patch: Patch, other: Patch, place: str) -> bool:
    return place not in patch or place not in other or patch[place] != other[place]


def _doubtful_comment(place: str, drafted: object) -> str:
    """Return the comment of a key that makes the log likelier, but leaves it unexplained."""
    other = (
        "" if drafted is None else f" than {format_toml_value(place.rpartition('.')[2], drafted)}"
    )
    return f"{NEEDS_REVIEW} likelier{other}, but errors remain"


def _rivals_comment(rivals: Sequence[Patch]) -> str:
    """Return the comment of a key that the log does not decide, with other readings of the log."""
    others = dict.fromkeys(
        ", ".join(
            format_toml_value(place.rpartition(".")[2], value)
            for place, value in rival.items()
            if value is not None
        )
        for rival in rivals
    )
    named = list(others)[:_MAX_NAMED_RIVALS]
    more = ", …" * (len(others) > len(named))
    return f"{NEEDS_REVIEW} the log fits as well {'; or '.join(named)}{more}"


def _check(log: Path, text: str, path: Path, robot: Path | None) -> LogCheck:
    schema = schema_from_text(text, path)
    joints = JointSettings(robot=robot if schema.sensor == "joints" else None)
    return check_logs(open_runs(log, schema), FitSettings(joints=joints))


def _errors(check: LogCheck) -> list[Finding]:
    return [finding for finding in check.findings if finding.severity == "error"]
