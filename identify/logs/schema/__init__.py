"""The schema of a log: which column is what, in which unit, frame and sign (a TOML file).

Every key a schema may have is a field of a table here. Checks that need one table only stand with
it, those that need several with the whole in `document`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.logs.schema.document import GROUPS as GROUPS
    from identify.logs.schema.document import Group as Group
    from identify.logs.schema.document import Schema as Schema
    from identify.logs.schema.document import SchemaLike as SchemaLike
    from identify.logs.schema.document import load_schema as load_schema
    from identify.logs.schema.fields import Column as Column
    from identify.logs.schema.layout import LogTable as LogTable
    from identify.logs.schema.signals import AccelerationTable as AccelerationTable
    from identify.logs.schema.signals import PoseTable as PoseTable
    from identify.logs.schema.signals import TwistTable as TwistTable
    from identify.logs.schema.signals import WrenchTable as WrenchTable
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "document": ("GROUPS", "Group", "Schema", "SchemaLike", "load_schema"),
            "fields": ("Column",),
            "layout": ("LogTable",),
            "signals": ("AccelerationTable", "PoseTable", "TwistTable", "WrenchTable"),
        },
    )
