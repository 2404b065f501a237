from identify.diagnosis.agreement import Change as Change, changed as changed
from identify.diagnosis.facts import LogFacts as LogFacts
from identify.diagnosis.fault import Fault as Fault, Sizes as Sizes
from identify.diagnosis.motion import Excitation as Excitation, excitation as excitation
from identify.diagnosis.ranking import Explanation as Explanation, Ranking as Ranking
from identify.diagnosis.robust import segments as segments, without_long_ends as without_long_ends
from identify.diagnosis.score_test import ScoreTest as ScoreTest, score_tests as score_tests
from identify.diagnosis.search import (
    Diagnosis as Diagnosis,
    calibration as calibration,
    find_faults as find_faults,
    sized_faults as sized_faults,
)
from identify.diagnosis.sensor_drift import (
    Drift as Drift,
    drift as drift,
)
from identify.diagnosis.spans import (
    SignalWatch as SignalWatch,
    Span as Span,
    signal_spans as signal_spans,
)
