"""Files that hold several tables: the topics of a bag, the groups of an HDF5 file."""

from __future__ import annotations

from collections.abc import Mapping

from identify.errors import LogError, did_you_mean
from identify.logs.table import Source

_SHOWN = 30
"""Topics that a message names."""


def topic_of(source: Source, known: Mapping[str, str], word: str = "topic") -> str:
    """The topic that the schema names for a source, or the only one of its file.

    Args:
        source: what is asked for.
        known: what each topic of the file holds, such as the type of its messages.
        word: what the format calls one.

    Raises:
        LogError: there is none of that name, or several and none is named.
    """
    wanted, path = source.layout.topic, source.path
    shown = ", ".join(f"{name} ({kind})" if kind else name for name, kind in known.items())
    if len(known) > _SHOWN:
        shown = f"{', '.join(list(known)[:_SHOWN])} and {len(known) - _SHOWN} more"
    if not known:
        raise LogError(f"{path}: has no {word} with numbers", path=path)
    if wanted is None:
        if len(known) == 1:
            return next(iter(known))
        groups = " and ".join(source.groups)
        raise LogError(
            f"{path}: holds {len(known)} {word}s, and the schema does not say which has the "
            f"{groups}; give topic = … in [log], or in [streams.{source.groups[0]}]. There are: "
            f"{shown}",
            path=path,
        )
    bare = wanted.strip("/")
    found = [name for name in known if name.strip("/") == bare]
    if not found:
        hint = did_you_mean(wanted, known)
        raise LogError(f"{path}: no {word} {wanted!r}{hint}. There are: {shown}", path=path)
    return found[0]
