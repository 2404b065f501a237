"""The cases: what each runs, as a user types it, in an empty folder.

`$made` is the folder that `inputs.py` wrote, `$shared` that of logs of others
(IDENTIFY_SHARED_DATA). `solve` and `online` are functions of `run_case.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PAYLOAD = (
    "$made/datasets/payload_arm/payload_arm.parquet --schema $made/datasets/payload_arm/schema.toml"
)
FLIGHT = (
    "$made/datasets/free_flight/free_flight.parquet --schema $made/datasets/free_flight/schema.toml"
)
UR10E = "--robot $shared/ur10e_payload/ur10e.urdf"
TX40 = "$shared/tx40 --schema $made/tx40.toml --robot $shared/tx40/tx40.urdf"
STARS = ("Adjustable_Wrench", "File", "Hacksaw", "Hammer", "Ruler", "Vise_Grip")


def wrench(log: str, schema: str, more: str = "") -> tuple[str, ...]:
    """Return the steps for a log of a wrench: fit and check."""
    return (
        f"fit {log} --schema {schema} -o fit --no-report {more}".strip(),
        f"check {log} --schema {schema} {more}".strip(),
    )


def arm(name: str) -> tuple[str, ...]:
    """Return the steps for an arm of `datasets/arms`."""
    folder = f"$made/datasets/arms/{name}"
    robot = f"--schema {folder}/schema.toml --robot {folder}/arm.urdf"
    load = f"fit {folder}/loaded.parquet {robot} --frame tool0"
    return (
        f"fit-arm {folder}/empty.parquet {robot} -o arm --export fixed.urdf",
        f"{load} --unloaded {folder}/empty.parquet -o unloaded --truth {folder}/truth.json",
        f"{load} --arm arm/arm.json -o by_arm --no-report",
        f"{load} --arm arm/arm.json --known-load 2 -o known --no-report",
        "export by_arm/estimate.json --to ur",
        "inspect fixed.urdf",
    )


def ur10e(schema: str) -> tuple[str, ...]:
    """Return the steps for the load of the UR10e, by torques or by currents."""
    schema = f"--schema $shared/schemas/{schema}.toml"
    folder = "$shared/ur10e_payload"
    return (
        f"fit-arm {folder}/empty.csv {schema} {UR10E} -o arm --no-report",
        f"fit {folder}/loaded.csv --unloaded {folder}/empty.csv {schema} {UR10E} --frame tool0 "
        "-o load --no-report",
    )


SHIPPED: Final[Mapping[str, tuple[str, ...]]] = {
    "payload_arm": (
        f"fit {PAYLOAD} -o fit --truth $made/datasets/payload_arm/truth.json",
        f"check {PAYLOAD}",
        "report fit -o again.html",
        f"replay {PAYLOAD} --estimate fit/estimate.json -o replay",
        f"compensate {PAYLOAD} --estimate fit/estimate.json -o without.csv",
        *(f"export fit/estimate.json --to {name}" for name in ("urdf", "mjcf", "ur", "kuka")),
        "add fit/estimate.json fit/estimate.json --at 0 0 .1 0 0 0 -o sum.json",
        "subtract sum.json fit/estimate.json",
        "inspect fit/estimate.json",
    ),
    "payload_arm_options": (
        f"fit {PAYLOAD} -o bounds --no-report --bounds --simultaneous --cutoff 3",
        f"fit {PAYLOAD} -o bootstrap --no-report --interval bootstrap --need 'mass 1%, com .1mm'",
        f"fit {PAYLOAD} -o box --no-report --shape box .1 .1 .2 --com-box 0 .01 0 .01 0 .1",
        f"fit {PAYLOAD} -o prior --no-report --prior box/estimate.json --prior-error .1",
        f"fit {PAYLOAD} -o mass --no-report --mass 1.31 --no-bias --known-mass-check 1.3",
    ),
    "free_flight": (
        f"fit {FLIGHT} --mass 4.3 -o fit",
        f"check {FLIGHT} --mass 4.3",
        "simulate fit/estimate.json --duration 2 --dt .01 --angular 1 2 3 -o motion --json",
    ),
    "six_axes": arm("six_axes"),
    "seven_axes": arm("seven_axes"),
    "design": ("design --wrist --time 15 --starts 1 -o motion.csv --program ur",),
}

SHARED: Final[Mapping[str, tuple[str, ...]]] = {
    "kuka_still": wrench("$shared/kuka_ati_still/still.csv", "$shared/schemas/kuka_ati_still.toml"),
    "axia80": wrench("$shared/axia80_static", "$shared/schemas/axia80_static.toml"),
    **{
        name: wrench("$shared/panda_optoforce/run_11-32-28.txt", f"$shared/schemas/{name}.toml")
        for name in ("panda_optoforce", "panda_optoforce_corrected")
    },
    "ur10e_torque": ur10e("ur10e_payload"),
    "ur10e_current": ur10e("ur10e_payload_currents"),
    "tx40": (f"fit-arm {TX40} -o arm --no-report --cutoff 10 --gravity 0 0 -9.81",),
    **{
        f"stars_{tool}": wrench(
            f"$shared/stars_tools/{tool}.csv", "$shared/schemas/stars_tools.toml"
        )
        for tool in STARS
    },
}

FIELD: Final[Mapping[str, tuple[str, ...]]] = {
    **{
        f"field_init_{name}": (f"init $shared/field/{name} --yes",)
        for name in (
            *("blank_line.csv", "text_column.csv", "sec_nanosec.csv", "posx.csv", "utf16.txt"),
            *("gbk.csv", "loaded_currents.csv", "loaded_effort.csv", "still_accelerometer_g.csv"),
        )
    },
    "field_still_accelerometer": wrench(
        "$shared/field/still_accelerometer_g.csv", "$shared/field/still_accelerometer.toml"
    ),
    "field_still_wrong_wrench": (
        *wrench("$shared/field/still_one_wrong_wrench.csv", "$shared/field/still.toml"),
        "fit $shared/field/still_one_wrong_wrench.csv --schema $shared/field/still.toml -o applied "
        "--no-report --apply wrong_rows",
    ),
    "field_models": tuple(
        step
        for model in (
            *("bracket_right.urdf", "cad_inertia_at_origin.urdf", "decimal_slip.urdf"),
            *("no_products.urdf", "products_negated.urdf", "mass_of_water_and_steel.urdf"),
            *("auto_inertial.sdf", "quat_not_unit.xml"),
        )
        for step in (
            f"inspect $shared/field/{model} --for mujoco",
            f"inspect $shared/field/{model} --repair --from-geometry -o fixed_{model}",
        )
    ),
    "field_bodies": (
        "export $shared/field/solidworks_mixed_units.txt --to urdf",
        "add $shared/field/franka_desk_gripper.json $shared/field/camera.json -o sum.json",
        "export sum.json --to franka_desk",
    ),
}

MADE: Final[Mapping[str, tuple[str, ...]]] = {
    **{
        f"faulty_{name}": wrench(
            f"$made/faulty/{name}/log0.npz", f"$made/faulty/{name}/schema.toml"
        )
        for name in (
            *("late", "low_pass", "gain", "turned", "sign", "unit"),
            *("drift", "order", "point", "contact", "spikes"),
        )
    },
    "faulty_two_bodies": wrench(
        "$made/faulty/two_bodies/log0.npz $made/faulty/two_bodies/log1.npz",
        "$made/faulty/two_bodies/schema.toml",
    ),
    **{
        f"clean_{number}": wrench(f"$made/clean/{number}.csv", f"$made/clean/{number}.toml")
        for number in range(6)
    },
    **{
        f"clocks_{name}": wrench(f"$made/clocks/{name}{file}", f"$made/clocks/{name}/schema.toml")
        for name, file in (
            *(("slow_pose", ""), ("slow_wrench", ""), ("gyro", ""), ("imu", "")),
            *(("one_file", "/log.csv"), ("held", "/log.csv")),
        )
    },
    "long_parquet": wrench("$made/long/rows200000.parquet", "$made/long/rows200000.toml"),
    "long_text": wrench("$made/long/rows140000.csv", "$made/long/rows140000.toml"),
    "online": ("online $made/long/online.npz",),
    **{
        f"solve_{name}": (f"solve $made/equations/{name}.npz",)
        for name in ("moving", "noisy", "still")
    },
}

CASES: Final[Mapping[str, tuple[str, ...]]] = {**SHIPPED, **SHARED, **FIELD, **MADE}
"""Steps of each case, by its name."""
