"""A ULog of a free flight: its angular part, with the mass given."""

import numpy as np
import pytest

from identify.logs import read_log
from tests.endtoend.estimates import load
from tests.recordings import Path

pytest.importorskip("pyulog")
from tests.logs.containers import write_ulog

MASS = 1.2
SIX = [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]
INERTIA = np.array([[20.0, 2.0, -1.0], [2.0, 30.0, 0.6], [-1.0, 0.6, 45.0]]) * 1e-3
RATES = {"vehicle_angular_velocity": 400.0, "vehicle_torque_setpoint": 200.0}
RATES |= {"vehicle_attitude": 100.0, "sensor_combined": 250.0}


@pytest.fixture(scope="module")
def flight(tmp_path_factory):
    """A body that turns by a torque, nothing else told of it; every topic at its own times."""
    rng, path = np.random.default_rng(4), Path.random(3, angle=1.2)
    stamps = {
        name: np.round(1e6 * np.arange(5.0 + 0.003 * k, 20.0, 1.0 / rate)).astype(np.uint64)
        for k, (name, rate) in enumerate(RATES.items())
    }
    time = {name: 1e-6 * of.astype(float) - 5.0 for name, of in stamps.items()}
    w, alpha = (
        of(time["vehicle_torque_setpoint"])
        for of in (path.angular_velocity, path.angular_acceleration)
    )
    torque = alpha @ INERTIA + np.cross(w, w @ INERTIA)
    quaternion = path.rotation(time["vehicle_attitude"]).as_quat()[:, [3, 0, 1, 2]]
    values = {
        "vehicle_angular_velocity": {
            "xyz": path.angular_velocity(time["vehicle_angular_velocity"]),
        },
        "vehicle_torque_setpoint": {"xyz": torque},
        "vehicle_attitude": {"q": quaternion, "delta_q_reset": 0.0 * quaternion},
        "sensor_combined": {
            "gyro_rad": path.angular_velocity(time["sensor_combined"]),
            "accelerometer_m_s2": np.zeros((len(time["sensor_combined"]), 3)),
        },
    }
    sizes = {"vehicle_angular_velocity": 1e-3, "vehicle_torque_setpoint": 2e-3}
    topics = {
        name: {"timestamp": ("uint64_t", stamps[name])}
        | {
            field: ("float", of + sizes.get(name, 0.0) * rng.standard_normal(of.shape))
            for field, of in fields.items()
        }
        for name, fields in values.items()
    }
    return write_ulog(tmp_path_factory.mktemp("flight") / "flight.ulg", topics)


@pytest.mark.usefixtures("no_report")
def test_init_writes_the_schema_with_which_the_inertia_is_found(cli, flight, tmp_path):
    schema, out = tmp_path / "s.toml", tmp_path / "out"
    outcome = cli("init", flight, "-o", schema, "--yes")
    assert outcome.status == 2
    assert "does not determine the mass: give it with --mass" in outcome.out
    assert "vehicle_torque_setpoint" in schema.read_text()
    assert "PX4's own is normalised to ±1" in schema.read_text()
    assert "give it with --mass" in cli.refused("fit", flight, "--schema", schema, "-o", out)
    assert cli("fit", flight, "--schema", schema, "--mass", MASS, "-o", out).status == 0
    found = load(out)
    assert {finding["code"] for finding in found["findings"]} == {"free_flight", "clocks_joined"}
    for name, moment in zip(("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"), INERTIA[SIX], strict=True):
        low, high = found["intervals"][name]
        assert low - 0.5 * (high - low) < moment < high + 0.5 * (high - low)  # two half-widths
    assert cli("check", flight, "--schema", schema, "--mass", MASS).status == 0


def test_flight_without_torque_names_missing_scale(cli, flight, tmp_path):
    text = '[log]\ntime = "timestamp"\ntopic = "vehicle_angular_velocity"\n[imu]\ngyro = "xyz"\n'
    schema = tmp_path / "s.toml"
    schema.write_text(text)
    log = read_log(flight, schema)
    assert not log.signals["force"].any()
    refused = cli.refused("fit", flight, "--schema", schema, "--mass", MASS, "-o", tmp_path / "o")
    assert "neither force nor torque" in refused
    assert "only the ratios of the moments of inertia, not their scale" in refused
