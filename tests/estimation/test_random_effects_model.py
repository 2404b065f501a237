"""Which small faults the logs of a fit have, and what each makes of their columns."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.estimation.random_effects_model import (
    MIN_LEVER_ARM,
    SENSOR_FAULT_TYPES,
    BodyScale,
    EffectModel,
)
from identify.logs import Recording
from identify.logs.effect_keys import EFFECT_KEYS
from identify.regressors import block_statistics
from identify.regressors.log_corrections import gravity_tilt
from identify.signals import prepare
from identify.spatial import Pose
from identify.spatial.columns import ATTITUDE, POSITION, WRENCH
from tests.close import assert_close
from tests.recordings import ALL, Path, record, still_poses, without_effects
from tests.small_faults import with_schema, with_wrench, wrench_of
from tests.strategies import random_body

BODY = random_body(np.random.default_rng(3), 1.2, 0.1)
TIME = np.arange(0.0, 4.0, 0.01)
SENSOR = Pose(Rotation.from_rotvec([0.3, -0.5, 0.9]).as_matrix(), np.array([0.02, 0.01, 0.1]))
TURNS = Rotation.random(12, rng=np.random.default_rng(1))
GRAVITY_TOO = {"world": {"gravity_accuracy": 0.002}}
WEIGHT = (0.7, 0.01, -0.02, 0.03)

MOVING = record(Path.random(1), BODY, TIME)
STILL = still_poses(BODY, TURNS)
MOUNTED = record(Path.random(2), BODY, TIME, wrench="sensor", X_BS=SENSOR)
FREE = record(
    Path.random(1), BODY, TIME, ("angular_velocity", "linear_acceleration"), kind="proper"
)
LOGS = {
    "with an attitude": MOVING,
    "of static poses": STILL,
    "with a compensated weight": replace(MOVING, compensated=WEIGHT),
    "of static poses with a compensated weight": replace(STILL, compensated=WEIGHT),
    "with a mounted sensor": MOUNTED,
    "with a mounted sensor and a compensated weight": replace(MOUNTED, compensated=WEIGHT),
    "of an accelerometer": FREE,
}


def names_of(model: EffectModel) -> list[str]:
    return [block.fault.name for block in model.blocks]


def columns_of(model: EffectModel, name: str, sensor: int = 0) -> slice:
    (columns,) = [b.columns for b in model.blocks if (b.fault.name, b.sensor) == (name, sensor)]
    return columns


def component_of(model: EffectModel, name: str):
    (component,) = [component for group, component in model.variance_components() if group == name]
    return component


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_tangents_are_differences_of_the_maps_at_zero(log):
    model = EffectModel.of([with_schema(log, **GRAVITY_TOO)])
    (tangent,) = model.tangents
    assert tangent.shape == (43, 19, model.effect_count)
    step = 1e-3
    for k in range(model.effect_count):
        ends = [
            model.maps(size * step * np.eye(model.effect_count)[k])[0] for size in (1, -1, 2, -2)
        ]
        difference = (8.0 * (ends[0] - ends[1]) - ends[2] + ends[3]) / (12.0 * step)
        assert difference.any()
        assert_close(tangent[..., k], difference[:, :19], 1e-8)


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_the_map_of_no_effect_leaves_every_column_as_it_is(log):
    model = EffectModel.of([log, with_schema(log, wrench={"sensor": "other"})])
    assert_close(model.maps(np.zeros(model.effect_count)), np.tile(np.eye(43), (2, 1, 1)), 1e-14)


ALWAYS = ["gain", "common_gain", "crosstalk", "misalignment_deg"]
MOVED = ["delay_s", "filter_s", *ALWAYS, "tilt_deg", "clock", "cable", "point_m"]


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (MOVING, MOVED),
        (STILL, [*ALWAYS, "tilt_deg", "cable"]),
        (FREE, ["delay_s", "filter_s", *ALWAYS, "point_m"]),
        (record(Path.random(1), BODY, TIME, ALL, kind="proper"), [*MOVED[:6], "cable", "point_m"]),
        (with_schema(MOVING, **GRAVITY_TOO), [*MOVED[:7], "gravity", *MOVED[7:]]),
        (with_schema(FREE, **GRAVITY_TOO), [*MOVED[:6], "point_m"]),
    ],
    ids=["moving", "still", "no attitude", "proper", "gravity is inexact", "no weight is added"],
)
def test_a_log_has_the_groups_that_it_can_have(log, expected):
    assert names_of(EffectModel.of([log])) == expected


def test_a_moving_log_keeps_its_groups_beside_static_poses_of_the_same_sensor():
    model = EffectModel.of([MOVING, STILL])
    assert model.sensors == (0, 0)
    assert names_of(model) == MOVED


@pytest.mark.parametrize("name", EFFECT_KEYS)
def test_a_group_that_the_schema_leaves_out_is_absent_and_the_others_stay(name):
    model = EffectModel.of([with_schema(MOVING, effects={name: False})])
    whole = EffectModel.of([MOVING])
    left_out = (name, "common_gain") if name == "gain" else (name,)
    assert names_of(model) == [other for other in MOVED if other not in left_out]
    left = {"force_drift": 0, "torque_drift": 1}.get(name)
    assert [setting is None for setting in model.drift] == [k == left for k in range(2)]
    assert None not in whole.drift


@pytest.mark.parametrize("key", EFFECT_KEYS.values(), ids=EFFECT_KEYS)
def test_effect_size_of_schema_sets_prior_in_si(key):
    given = 0.5 * key.prior_size
    model = EffectModel.of([with_schema(MOVING, effects={key.name: given})])
    if key.name.endswith("drift"):
        setting = model.drift[key.name == "torque_drift"]
        assert (setting.prior_size, setting.max_size) == (given, key.max_size)
        return
    component, power = component_of(model, key.name), 1 + (key.name == "filter_s")
    angle = np.pi / 180.0 if key.name.endswith("_deg") else 1.0
    assert_close(component.prior_size, (angle * given) ** power, 1e-14)
    assert_close(component.max_size, (angle * key.max_size) ** power, 1e-14)
    assert not component.size_is_fixed
    own = [key.name, "common_gain"] if key.name == "gain" else [key.name]
    columns = [np.arange(model.effect_count)[columns_of(model, name)] for name in own]
    both = np.concatenate((component.columns, component.tied))
    assert sorted(both.tolist()) == np.concatenate(columns).tolist()
    assert len(component.tied) == (4 if key.name == "cable" else 0)  # of a vertical pull


MATRIX = 1e-3 * np.arange(1.0, 37.0).reshape(6, 6)


@pytest.mark.parametrize(
    ("accuracy", "expected"),
    [
        (0.02, [0.02] * 8),
        ([0.02, 0.01], [0.02] * 3 + [0.01] * 3 + [0.02, 0.01]),
        ([0.01, 0.02, 0.03, 0.04, 0.05, 0.06], [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.0, 0.0]),
        (MATRIX.tolist(), [*np.diag(MATRIX), 0.0, 0.0]),
        (0.0, [0.0] * 8),
    ],
    ids=["a number", "of force and torque", "six", "a matrix", "zero"],
)
def test_an_accuracy_of_the_schema_gives_the_deviations_of_gains(accuracy, expected):
    log = with_schema(MOVING, wrench={"gain_accuracy": accuracy}, effects={"gain": False})
    model = EffectModel.of([log])
    units = model.units(BodyScale(10.0, 0.1))
    for name, own in (("gain", expected[:6]), ("common_gain", expected[6:])):
        assert_close(units[columns_of(model, name)], own, 1e-15)
        assert component_of(model, name).size_is_fixed
    crosstalk = component_of(model, "crosstalk")
    assert crosstalk.size_is_fixed == (np.ndim(accuracy) == 2)
    if crosstalk.size_is_fixed:
        rows = [MATRIX[i, j] for i in range(6) for j in range(6) if i != j]
        assert_close(units[columns_of(model, "crosstalk")], rows, 1e-15)
    of_scale = ["gain", "common_gain", *(["crosstalk"] if crosstalk.size_is_fixed else [])]
    columns = [np.arange(model.effect_count)[columns_of(model, name)] for name in of_scale]
    assert model.scale_columns.tolist() == np.concatenate(columns).tolist()


def test_an_accuracy_of_gravity_is_the_deviation_of_its_size():
    model = EffectModel.of([with_schema(MOVING, **GRAVITY_TOO)])
    columns = columns_of(model, "gravity")
    assert component_of(model, "gravity").size_is_fixed
    assert_close(model.units(BodyScale(10.0, 0.1))[columns], [0.002], 1e-15)
    assert columns.start in model.scale_columns


def test_crosstalk_between_force_and_torque_is_in_units_of_the_lever():
    scale = BodyScale.of(np.array([2.0, 0.0, 0.3, 0.4, *[0.0] * 6]))
    assert_close([scale.weight, scale.lever], [2.0 * 9.80665, 0.25], 1e-14)
    assert BodyScale.of(np.array([2.0, 0.002, *[0.0] * 8])).lever == MIN_LEVER_ARM
    model = EffectModel.of([MOVING])
    names = next(group.columns for group in SENSOR_FAULT_TYPES if group.name == "crosstalk")
    units = dict(zip(names, model.units(scale)[columns_of(model, "crosstalk")], strict=True))
    assert units["fx from fy"] == units["tz from tx"] == 1.0
    assert_close([units["fx from ty"], units["tx from fz"]], [4.0, 0.25], 1e-14)


def test_logs_share_effect_columns_per_sensor():
    other = record(Path.random(4), BODY, TIME)
    together = EffectModel.of([MOVING, other])
    assert together.sensors == (0, 0)
    assert names_of(together) == MOVED
    assert len(together.variance_components()) == len(MOVED) - 1  # gains of all axes and in common
    named = [with_schema(log, wrench={"sensor": n}) for log, n in ((MOVING, "a"), (other, "b"))]
    apart = EffectModel.of([*named, named[0]])
    assert apart.sensors == (0, 1, 0)
    assert names_of(apart) == [*MOVED, *MOVED]
    assert apart.effect_count == 2 * together.effect_count
    # One size for both of them, but columns, and so effects, of each.
    assert len(apart.variance_components()) == len(MOVED) - 1
    gains = [columns_of(apart, "clock", sensor) for sensor in range(2)]
    assert component_of(apart, "clock").columns.tolist() == [gains[0].start, gains[1].start]
    eta = np.zeros(apart.effect_count)
    eta[gains[1]] = 0.01
    first, second, third = apart.maps(eta)
    assert_close(first, np.eye(43), 0.0)
    assert_close(third, np.eye(43), 0.0)
    assert np.abs(second - np.eye(43)).max() > 0.01
    assert not apart.tangents[0][..., gains[1]].any()
    assert apart.tangents[1][..., gains[1]].any()


def test_effect_map_depends_on_log_for_shared_sensor():
    tilted = replace(MOVING, gravity=np.array([0.0, -9.80665, 0.0]))
    model = EffectModel.of([MOVING, tilted])
    assert model.sensors == (0, 0)
    assert names_of(model) == MOVED
    eta = np.zeros(model.effect_count)
    eta[columns_of(model, "tilt_deg")] = 0.01
    both = model.maps(eta)
    for log, M in zip((MOVING, tilted), both, strict=True):
        assert_close(M, EffectModel.of([log]).maps(eta)[0], 0.0)
    assert np.abs(both[0] - both[1]).max() > 0.01


def moments(log: Recording, M: np.ndarray | None = None) -> np.ndarray:
    """Moments of the columns that a fit reads in each group of rows, shape (groups, 19, 19)."""
    statistics = block_statistics(prepare(log, 5.0, wide=True))
    statistics = statistics if M is None else statistics.mapped(M)
    found = np.zeros((len(statistics.layout.groups), 19, 19))
    for group, factor in zip(statistics.group, statistics.factors[..., :19], strict=True):
        found[group] += factor.T @ factor
    return found


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_reading_effects_match_log_with_changed_readings(log):
    """First gains, then crosstalk, then the turn, of what was logged."""
    model, rng = EffectModel.of([log]), np.random.default_rng(0)
    eta = np.zeros(model.effect_count)
    gains, common, crosstalk = (rng.normal(size=size) for size in (6, 2, 30))
    turn = rng.normal(size=3)
    for name, own in zip(ALWAYS, (gains, common, crosstalk, turn), strict=True):
        eta[columns_of(model, name)] = own = 0.02 * own
    first = np.diag(1.0 + 0.02 * gains) @ np.diag(1.0 + 0.02 * np.repeat(common, 3))
    second = np.eye(6)
    second[~np.eye(6, dtype=bool)] = 0.02 * crosstalk
    third = np.kron(np.eye(2), Rotation.from_rotvec(0.02 * turn).as_matrix())
    read = with_wrench(log, wrench_of(log) @ (third @ second @ first).T)
    expected = moments(read)
    assert np.abs(expected - moments(log)).max() > 1e-3 * np.abs(expected).max()
    assert_close(moments(log, model.maps(eta)[0]), expected, 1e-9)


@pytest.mark.parametrize("name", [name for name in LOGS if name != "of an accelerometer"])
def test_tilt_effect_matches_log_under_tilted_gravity(name):
    log, tilt = LOGS[name], np.array([0.01, -0.02])
    model = EffectModel.of([log])
    eta = np.zeros(model.effect_count)
    eta[columns_of(model, "tilt_deg")] = tilt
    other = replace(log, gravity=log.gravity + gravity_tilt(tilt, log.gravity))
    expected = moments(other)
    assert np.abs(expected - moments(log)).max() > 1e-3 * np.abs(expected).max()
    assert_close(moments(log, model.maps(eta)[0]), expected, 1e-9)


@pytest.mark.parametrize("up", [(0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (0.6, 0.0, -0.8)])
@pytest.mark.parametrize("name", ["with an attitude", "with a compensated weight"])
def test_cable_map_adds_the_pull_of_a_spring_at_a_point_of_the_body(name, up):
    log = replace(LOGS[name], gravity=-9.80665 * np.array(up))
    model = EffectModel.of([log], [block_statistics(prepare(log, 5.0, wide=True))])
    (setup,) = model.setups
    stiffness, anchor, arm = 7.0, np.array([0.3, -0.2, 0.5]), np.array([0.02, 0.05, -0.04])
    centre = np.array(setup.mean_position)
    assert np.linalg.norm(centre - log.signals["position"].mean(axis=0)) < 0.05
    # The rows as they are, so that filters of pose and wrench differ in nothing.
    rows = prepare(log, 5.0, wide=True).rows
    into_body, position = rows[:, ATTITUDE].reshape(-1, 3, 3), rows[:, POSITION]
    columns, axes = columns_of(model, "cable"), []
    for k in (1, 2, 3):
        eta = np.zeros(model.effect_count)
        eta[columns.start + k] = 1.0
        pulled = (rows @ model.maps(eta)[0])[0, WRENCH] - rows[0, WRENCH]
        axes.append(np.linalg.solve(into_body[0], pulled[:3]))
    assert_close(axes @ np.transpose(axes), np.eye(3), 1e-9)
    assert_close(axes[2], up, 1e-9)
    pull = axes @ (stiffness * (anchor - centre))
    eta = np.zeros(model.effect_count)
    eta[columns] = [stiffness, *pull, *(stiffness * arm), *np.outer(arm, pull).ravel()]
    force = stiffness * (into_body @ anchor - position)
    expected = rows[:, WRENCH] + np.concatenate((force, np.cross(arm, force)), axis=1)
    assert_close((rows @ model.maps(eta)[0])[:, WRENCH], expected, 1e-12)


def test_a_fit_of_schemas_that_leave_all_out_has_no_effects():
    model = EffectModel.of([without_effects(MOVING)])
    assert (model.effect_count, model.blocks, model.drift) == (0, (), (None, None))
