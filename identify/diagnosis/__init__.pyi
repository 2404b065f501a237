from identify.diagnosis.agreement import Change as Change, changed as changed
from identify.diagnosis.calibration import (
    Calibration as Calibration,
    calibrated as calibrated,
)
from identify.diagnosis.facts import LogFacts as LogFacts
from identify.diagnosis.hypotheses import HYPOTHESES as HYPOTHESES, Hypothesis as Hypothesis
from identify.diagnosis.motion import Excitation as Excitation, excitation as excitation
from identify.diagnosis.ranking import Cause as Cause, Diagnosis as Diagnosis, causes as causes
from identify.diagnosis.robust import segments as segments
from identify.diagnosis.score_test import ScoreTest as ScoreTest, score_tests as score_tests
from identify.diagnosis.sensor_drift import (
    Drift as Drift,
    drift as drift,
)
from identify.diagnosis.spans import (
    SignalWatch as SignalWatch,
    Span as Span,
    signal_spans as signal_spans,
)
