from identify.signals.preparation import NoSegment as NoSegment, prepare as prepare
from identify.signals.prepared import PreparedLog as PreparedLog, Segment as Segment
from identify.signals.reading import Reading as Reading
from identify.signals.streams import on_one_clock as on_one_clock
