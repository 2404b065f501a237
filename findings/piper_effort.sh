#!/usr/bin/env bash
# piper_sdk 0.6.2: the "effort" of an AgileX Piper is its motor current times one of two constants.
#
# The arm sends no torque. The SDK multiplies the current [mA] by 1.18125 for joints 1-3 and by 0.95844 for
# joints 4-6 and calls it effort in 0.001 N m: gears, friction and temperature are not in it. The
# same record gives the speed, by its documentation, in 0.001 rad/s, the joint message angles in 0.001 degrees.
#
# Versions: piper_sdk 0.6.2, python-can 4.6.1, typing_extensions 4.16.0
# Seen: -1000 mA become an effort of -1181.25 in joint 1 and -958.44 in joint 4.
set -eu
FINDING=$(mktemp -d)
trap 'rm -rf "$FINDING"' EXIT
"${PYTHON:-python3}" -m venv "$FINDING"
cd "$FINDING"
bin/python -m pip install --quiet piper_sdk==0.6.2 python-can==4.6.1 typing_extensions==4.16.0
bin/python - <<'PYTHON'
import math
import struct

import can
from piper_sdk.piper_msgs.msg_v2 import PiperMessage
from piper_sdk.protocol.protocol_v2.piper_protocol_v2 import C_PiperParserV2


def decode(identifier, data):
    frame = can.Message(arbitration_id=identifier, data=data, is_extended_id=False)
    message = PiperMessage()
    assert C_PiperParserV2().DecodeMessage(frame, message)
    return message


for joint in range(1, 7):
    data = struct.pack(">hhi", 0, -1000, 0)
    motor = getattr(decode(0x250 + joint, data), f"arm_high_spd_feedback_{joint}")
    effort = motor.cal_effort()
    print(f"joint {joint}: current {motor.current}, effort {effort:.2f}")
    assert math.isclose(effort, -1181.25 if joint <= 3 else -958.44)
PYTHON
