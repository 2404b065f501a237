"""The schema of a log: which column is what, in which unit, frame and sign (a TOML file).

Every key a schema may have is a field of a table here. Checks that need one table only stand with
it, those that need several with the whole in `document`.
"""

from identify.logs.schema.document import GROUPS, Group, Schema, SchemaLike, load_schema
from identify.logs.schema.fields import Column
from identify.logs.schema.layout import LogTable
from identify.logs.schema.signals import AccelerationTable, PoseTable, TwistTable, WrenchTable

__all__ = [
    "GROUPS",
    "AccelerationTable",
    "Column",
    "Group",
    "LogTable",
    "PoseTable",
    "Schema",
    "SchemaLike",
    "TwistTable",
    "WrenchTable",
    "load_schema",
]
