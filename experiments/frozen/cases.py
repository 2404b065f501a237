"""The cases: what each runs, as a user types it, in an empty folder.

`$made` is the folder that `inputs.py` wrote, `$shared` that of logs of others
(IDENTIFY_SHARED_DATA). `solve` and `online` are functions of `run_case.py`.
"""

from __future__ import annotations

from experiments.frozen.inputs import CLOCKS, FAULTS

Steps = tuple[str, ...]


def wrench(log: str, schema: str) -> Steps:
    """Return the steps for a log of a wrench."""
    words = f"{log} --schema {schema}"
    return f"fit {words} -o fit --no-report", f"check {words} --json"


def shared(log: str, schema: str) -> Steps:
    """Return the steps for a log of others, of a wrench."""
    return wrench(f"$shared/{log}", f"$shared/schemas/{schema}.toml")


def payload_arm() -> dict[str, Steps]:
    """Return the cases of the shipped log of a wrench: all commands, all options."""
    words = "$made/payload_arm/payload_arm.parquet --schema $made/payload_arm/schema.toml"
    return {
        "payload_arm": (
            f"fit {words} -o fit --truth $made/payload_arm/truth.json",
            f"check {words}",
            "report fit -o again.html",
            f"replay {words} --estimate fit/estimate.json -o replay",
            f"compensate {words} --estimate fit/estimate.json -o without.csv",
            *(f"export fit/estimate.json --to {name}" for name in ("urdf", "mjcf", "ur", "kuka")),
            "add fit/estimate.json fit/estimate.json --at 0 0 .1 0 0 0 -o sum.json",
            "subtract sum.json fit/estimate.json",
            "inspect fit/estimate.json",
            "design --wrist --time 15 --starts 1 -o motion.csv --program ur",
        ),
        "payload_arm_options": (
            f"fit {words} -o 1 --no-report --bounds --simultaneous --cutoff 3",
            f"fit {words} -o 2 --no-report --need 'mass 1%, com .1mm' --known-mass-check 1.3",
            f"fit {words} -o 3 --no-report --shape box .1 .1 .2 --com-box 0 .01 0 .01 0 .1",
            f"fit {words} -o 4 --no-report --prior 3/estimate.json --prior-error .1",
            f"fit {words} -o 5 --no-report --mass 1.31 --no-bias",
        ),
    }


def free_flight() -> Steps:
    """Return the steps for the shipped log of a free flyer."""
    words = (
        "$made/free_flight/free_flight.parquet --schema $made/free_flight/schema.toml --mass 4.3"
    )
    simulate = "simulate fit/estimate.json --duration 2 --dt .01 --angular 1 2 3 -o motion"
    return f"fit {words} -o fit", f"check {words}", simulate


def shipped_arm(name: str) -> Steps:
    """Return the steps for an arm of `datasets/arms`."""
    folder = f"$made/arms/{name}"
    robot = f"--schema {folder}/schema.toml --robot {folder}/arm.urdf"
    load = f"fit {folder}/loaded.parquet {robot} --frame tool0"
    return (
        f"fit-arm {folder}/empty.parquet {robot} -o arm --export fixed.urdf",
        f"{load} --unloaded {folder}/empty.parquet -o pair --truth {folder}/truth.json --no-report",
        f"{load} --arm arm/arm.json -o saved",
        f"{load} --arm arm/arm.json -o known --known-load 2 --no-report",
        "export saved/estimate.json --to ur",
        "inspect fixed.urdf",
    )


def ur10e(schema: str) -> Steps:
    """Return the steps for the load of the UR10e."""
    folder = "$shared/ur10e_payload"
    robot = f"--schema $shared/schemas/{schema}.toml --robot {folder}/ur10e.urdf"
    pair = f"{folder}/loaded.csv --unloaded {folder}/empty.csv --frame tool0"
    return (
        f"fit-arm {folder}/empty.csv {robot} -o arm --no-report",
        f"fit {pair} {robot} -o load --no-report",
    )


def field() -> dict[str, Steps]:
    """Return the cases of small inputs as people send them."""
    folder = "$shared/field"
    still = f"{folder}/still_one_wrong_wrench.csv --schema {folder}/still.toml"
    tables = (
        *("blank_line.csv", "text_column.csv", "sec_nanosec.csv", "posx.csv", "utf16.txt"),
        *("gbk.csv", "loaded_currents.csv", "loaded_effort.csv", "still_accelerometer_g.csv"),
    )
    models = (
        *("bracket_right.urdf", "cad_inertia_at_origin.urdf", "decimal_slip.urdf"),
        *("no_products.urdf", "products_negated.urdf", "mass_of_water_and_steel.urdf"),
        *("auto_inertial.sdf", "quat_not_unit.xml"),
    )
    return {
        "field_init": tuple(f"init {folder}/{name} --yes -o {name}.toml" for name in tables),
        "field_still_g": wrench(
            f"{folder}/still_accelerometer_g.csv", f"{folder}/still_accelerometer.toml"
        ),
        "field_still": (
            f"check {still}",
            f"fit {still} -o fit",
            f"fit {still} -o applied --apply wrong_rows",
        ),
        "field_models": tuple(
            f"inspect {folder}/{model} {options}"
            for model in models
            for options in ("--for mujoco", f"--repair --from-geometry -o {model}")
        ),
        "field_bodies": (
            f"export {folder}/solidworks_mixed_units.txt --to urdf",
            f"add {folder}/franka_desk_gripper.json {folder}/camera.json -o sum.json",
            "export sum.json --to franka_desk",
        ),
    }


CASES: dict[str, Steps] = {
    **payload_arm(),
    "free_flight": free_flight(),
    **{name: shipped_arm(name) for name in ("six_axes", "seven_axes")},
    "kuka": shared("kuka_ati_still/still.csv", "kuka_ati_still"),
    "axia80": shared("axia80_static", "axia80_static"),
    "panda": shared("panda_optoforce/run_11-32-28.txt", "panda_optoforce"),
    "panda_corrected": shared("panda_optoforce/run_11-32-28.txt", "panda_optoforce_corrected"),
    "ur10e_torque": ur10e("ur10e_payload"),
    "ur10e_current": ur10e("ur10e_payload_currents"),
    "tx40": (
        "fit-arm $shared/tx40 --schema $made/tx40.toml --robot $shared/tx40/tx40.urdf "
        "--cutoff 10 --gravity 0 0 -9.81 -o arm --no-report",
    ),
    **{
        f"stars_{tool}": shared(f"stars_tools/{tool}.csv", "stars_tools")
        for tool in ("Adjustable_Wrench", "File", "Hacksaw", "Hammer", "Ruler", "Vise_Grip")
    },
    **field(),
    **{
        f"fault_{name}": wrench(
            f"$made/{name}/log0.npz" + f" $made/{name}/log1.npz" * (name == "two_bodies"),
            f"$made/{name}/schema.toml",
        )
        for name in FAULTS
    },
    **{f"clean_{k}": wrench(f"$made/clean{k}.csv", f"$made/clean{k}.toml") for k in range(6)},
    **{
        f"clocks_{name}": wrench(
            f"$made/{name}" + "/wrench.npz" * (name in ("one_file", "held")),
            f"$made/{name}/schema.toml",
        )
        for name in CLOCKS
    },
    "long_parquet": (
        *wrench("$made/long.parquet", "$made/long.toml"),
        "fit $made/long.parquet --schema $made/long.toml -o 2 --no-report --interval bootstrap",
    ),
    "long_text": wrench("$made/text.csv", "$made/text.toml"),
    "online": ("online $made/online.npz",),
    **{f"solve_{name}": (f"solve $made/{name}.npz",) for name in ("moving", "noisy", "still")},
}
"""Steps of each case, by its name."""
