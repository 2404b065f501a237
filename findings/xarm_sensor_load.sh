#!/usr/bin/env bash
# xarm-python-sdk 1.18.4: the load that the wrist sensor identified becomes a wrong payload setting.
#
# set_ft_sensor_load_offset takes the centre of mass in millimetres (metres before SDK 1.11). With
# association_setting_tcp_load=True it sets the payload as the sum of sensor (.27 kg) and load, in
# millimetres; the load's coordinates were turned to metres before, so 40 mm count as .04 mm.
# The correct payload is (m_s c_s + m (c + [0, 0, 32 mm])) / (m_s + m), on the flange.
#
# Versions: xarm-python-sdk 1.18.4
# Seen: 1.27 kg at (-3.58, 1.90, 27.75) mm set, at (27.88, -13.83, 74.95) mm correct.
set -eu
FINDING=$(mktemp -d)
trap 'rm -rf "$FINDING"' EXIT
"${PYTHON:-python3}" -m venv "$FINDING"
cd "$FINDING"
bin/python -m pip install --quiet xarm-python-sdk==1.18.4
bin/python - <<'PYTHON'
from types import SimpleNamespace

from xarm.wrapper import XArmAPI

mass, centre = 1.0, (40.0, -20.0, 60.0)  # kg, mm
settings = []
api = XArmAPI("127.0.0.1", do_not_open=True)
arm = api._arm
arm._stream = SimpleNamespace(connected=True, close=lambda: None)
arm.arm_cmd = SimpleNamespace(ft_sensor_cali_load=lambda numbers: [0])
arm.set_state = lambda state: 0
arm.set_tcp_load = lambda weight, point: settings.append((weight, point)) or 0

assert api.set_ft_sensor_load_offset([mass, *centre, *[0.0] * 6], True) == 0
[(weight, point)] = settings
expected = [
    (0.27 * sensor + mass * (load + thickness)) / (mass + 0.27)
    for sensor, load, thickness in zip((-17.0, 9.0, 11.8), centre, (0.0, 0.0, 32.0), strict=True)
]
print(f"payload set: {weight:.3f} kg at {[round(x, 2) for x in point]} mm")
print(f"correct:     {mass + 0.27:.3f} kg at {[round(x, 2) for x in expected]} mm")
assert abs(point[0] - (0.27 * -17.0 + mass * 0.040) / 1.27) < 1e-9
assert abs(point[2] - (0.27 * 11.8 + mass * (32.0 + 0.060)) / 1.27) < 1e-9
assert expected[0] - point[0] > 30.0 and expected[2] - point[2] > 40.0
PYTHON
