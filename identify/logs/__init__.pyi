from identify.logs.log_file import (
    LogFile as LogFile,
    open_log as open_log,
    read_log as read_log,
)
from identify.logs.recording import Recording as Recording
from identify.logs.recording_parts import (
    DroppedRows as DroppedRows,
    Imu as Imu,
    JointAxes as JointAxes,
    SourceFile as SourceFile,
    Stream as Stream,
)
from identify.logs.schema import Schema as Schema, load_schema as load_schema
from identify.logs.synthetic import Noise as Noise, synthetic_recording as synthetic_recording
