from identify.signals.preparation import prepare as prepare
from identify.signals.prepared import PreparedLog as PreparedLog, Segment as Segment
