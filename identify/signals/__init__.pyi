from identify.signals.preparation import prepare as prepare
from identify.signals.prepared import PreparedLog as PreparedLog, Segment as Segment
from identify.signals.streams import on_one_clock as on_one_clock
