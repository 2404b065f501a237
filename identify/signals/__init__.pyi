from identify.signals.preparation import (
    NoSegment as NoSegment,
    full_rate as full_rate,
    prepare as prepare,
)
from identify.signals.prepared import (
    FullRate as FullRate,
    PreparedLog as PreparedLog,
    Segment as Segment,
)
from identify.signals.reading import Reading as Reading
from identify.signals.streams import on_one_clock as on_one_clock
