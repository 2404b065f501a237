from identify.diagnosis.agreement import Change as Change, changed as changed
from identify.diagnosis.fault import Fault as Fault, Sizes as Sizes
from identify.diagnosis.motion import Excitation as Excitation, excitation as excitation
from identify.diagnosis.ranking import Explanation as Explanation, Ranking as Ranking
from identify.diagnosis.robust import segments as segments, without_long_ends as without_long_ends
from identify.diagnosis.spans import SignalWatch as SignalWatch, Span as Span
