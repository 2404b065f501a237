from identify.signals.interpretation import Interpretation as Interpretation
from identify.signals.preparation import (
    NoUsableSegment as NoUsableSegment,
    full_rate_segments as full_rate_segments,
    prepare as prepare,
)
from identify.signals.prepared_log import (
    FullRateSegment as FullRateSegment,
    PreparedLog as PreparedLog,
    Segment as Segment,
)
from identify.signals.stream_resampling import on_one_clock as on_one_clock
