from identify.diagnosis.body_changes import (
    BodyChange as BodyChange,
    detect_body_changes as detect_body_changes,
)
from identify.diagnosis.contacts import (
    contact_spans as contact_spans,
    without_long_end_contacts as without_long_end_contacts,
)
from identify.diagnosis.fault import Fault as Fault, FaultParameters as FaultParameters
from identify.diagnosis.motion import Excitation as Excitation, excitation as excitation
from identify.diagnosis.ranking import Explanation as Explanation, Ranking as Ranking
from identify.diagnosis.signal_faults import SignalMonitor as SignalMonitor
from identify.diagnosis.spans import Span as Span
