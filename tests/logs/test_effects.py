"""`[effects]`: sizes of the small faults of a sensor, as a schema has them and a fit gets them."""

import re
from dataclasses import replace

import numpy as np
import pytest

from identify.errors import SchemaError
from identify.logs import load_schema, open_log, read_log
from identify.logs.effect_keys import EFFECT_KEYS
from identify.logs.log_writing import write_log
from identify.logs.patch import patched
from identify.logs.sensors import effect_sizes
from tests.logs.conftest import NAMES

EFFECTS = {"gain": 0.01, "misalignment_deg": 2, "filter_s": False}


@pytest.fixture
def table(rows) -> dict[str, np.ndarray]:
    return dict(zip(NAMES, rows.T, strict=True))


def test_a_log_without_the_table_has_all_groups_at_their_defaults_in_si(schema, table):
    sizes = effect_sizes(read_log(table, schema()))
    assert {name: (one.prior_size, one.max_size) for name, one in sizes.items()} == {
        "gain": (0.005, 0.05),
        "crosstalk": (0.005, 0.05),
        "misalignment_deg": pytest.approx(np.radians([0.5, 3.0]), rel=1e-14),
        "tilt_deg": pytest.approx(np.radians([0.3, 2.0]), rel=1e-14),
        "point_m": (0.003, 0.15),
        "delay_s": (0.005, 0.06),
        "filter_s": (0.004, 0.04),
        "clock": (0.001, 0.1),
        "cable": (0.02, 1.0),
        "force_drift": (0.01, 0.15),
        "torque_drift": (0.01, 0.15),
    }


def test_a_size_takes_the_place_of_the_default_and_false_leaves_the_group_out(schema, table):
    log = read_log(table, schema(effects=EFFECTS))
    assert log.schema["effects"] == EFFECTS
    sizes, defaults = effect_sizes(log), effect_sizes(read_log(table, schema()))
    assert list(sizes) == [name for name in EFFECT_KEYS if name != "filter_s"]
    assert sizes["gain"].prior_size == 0.01
    assert sizes["misalignment_deg"].prior_size == pytest.approx(np.radians(2.0), rel=1e-14)
    same = sizes.keys() - EFFECTS
    assert {name: sizes[name] for name in same} == {name: defaults[name] for name in same}


def test_a_recording_without_a_schema_has_the_defaults(schema, table):
    log = read_log(table, schema(effects=EFFECTS))
    assert effect_sizes(replace(log, schema={})) == effect_sizes(read_log(table, schema()))


@pytest.mark.parametrize("key", EFFECT_KEYS.values(), ids=EFFECT_KEYS)
def test_effect_sizes_are_limited_by_their_cap(schema, key):
    assert 0.0 < key.prior_size < key.max_size
    assert re.fullmatch(r"[A-Z][^.]+\.", key.description)
    for value in (1e-9, key.prior_size, key.max_size, False):
        loaded = load_schema(schema(effects={key.name: value}))
        assert getattr(loaded.effects, key.name) == value
    for value in (0, -key.prior_size, 1.001 * key.max_size, np.inf):
        with pytest.raises(SchemaError, match=rf"^schema: \[effects\] {key.name}: expected 0 < s"):
            load_schema(schema(effects={key.name: value}))


OF_GAIN = r"\[effects\] gain: expected 0 < size <= 0.05 \[relative\], or false, got "
WRONG = [
    ({"gain": 0}, OF_GAIN + "0$"),
    ({"gain": -0.01}, OF_GAIN + "-0.01$"),
    ({"gain": 0.2}, OF_GAIN + "0.2$"),
    ({"gain": float("nan")}, OF_GAIN + "nan$"),
    ({"gain": True}, OF_GAIN + "True$"),
    ({"gain": None}, OF_GAIN + "None$"),
    ({"gain": "1 %"}, OF_GAIN + "'1 %'$"),
    ({"gain": [0.01]}, OF_GAIN + r"\[0.01\]$"),
    ({"tilt_deg": 10}, r"\[effects\] tilt_deg: expected 0 < size <= 2 \[deg\], or false, got 10$"),
    ({"gian": 0.01}, r"\[effects\] unknown key 'gian'; did you mean 'gain'\?"),
    ({"delay": 0.01}, r"\[effects\] unknown key 'delay'; did you mean 'delay_s'\?"),
    ({"acts_on": "body"}, r"\[effects\] unknown key 'acts_on'; it belongs in \[wrench\]"),
]


@pytest.mark.parametrize(("effects", "message"), WRONG, ids=str)
def test_a_wrong_size_is_rejected_with_its_place(schema, effects, message):
    document = schema()
    document["effects"] = effects
    with pytest.raises(SchemaError, match=message):
        load_schema(document)


def test_a_wrong_value_in_a_file_names_the_file(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text("[effects]\npoint_m = 3.0\n")
    with pytest.raises(SchemaError, match=r"run.toml: \[effects\] point_m: expected .*, got 3.0"):
        load_schema(path)


def test_no_table_and_a_key_in_another_table_are_rejected(schema):
    with pytest.raises(SchemaError, match=r"\[effects\] expected a table, got False"):
        load_schema(schema(effects=False))
    with pytest.raises(SchemaError, match=r"unknown key 'crosstalk'; it belongs in \[effects\]"):
        load_schema(schema(wrench={"crosstalk": 0.01}))


def test_effects_are_equal_for_arrays_and_files(schema, table, lines, write):
    opened = open_log(write(lines), schema(effects=EFFECTS))
    assert opened.schema["effects"] == EFFECTS
    assert effect_sizes(opened) == effect_sizes(read_log(table, schema(effects=EFFECTS)))
    assert "effects" not in read_log(table, schema()).schema


def test_effects_round_trip(tmp_path, schema, table):
    log = read_log(table, schema(effects=EFFECTS, wrench={"sensor": 'the "wrist" – 2'}))
    path = write_log(log, tmp_path / "log.csv")
    again = read_log(tmp_path / "log.csv", path)
    assert again.schema["effects"] == EFFECTS
    assert again.schema["wrench"]["sensor"] == 'the "wrist" – 2'
    bare = write_log(read_log(table, schema()), tmp_path / "bare.csv")
    assert "effects" not in bare.read_text()


def test_a_patch_changes_its_keys_alone(schema, table):
    log = read_log(table, schema())
    patch = {"effects.gain": 0.01, "effects.misalignment_deg": 2, "effects.filter_s": False}
    changed = patched(log, patch)
    assert changed.schema == read_log(table, schema(effects=EFFECTS)).schema
    for name, values in log.signals.items():
        np.testing.assert_array_equal(changed.signals[name], values)
    back = patched(changed, dict.fromkeys(patch))
    assert effect_sizes(back) == effect_sizes(log)
    with pytest.raises(SchemaError, match=OF_GAIN + "0.5"):
        patched(log, {"effects.gain": 0.5})
    with pytest.raises(SchemaError, match="unknown key 'gains'"):
        patched(log, {"effects.gains": 0.01})
