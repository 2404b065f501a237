import re

import numpy as np
import pytest

from identify.exchange.link_checks import LinkRequirements, check_links, find_typo
from identify.exchange.models import read_model
from identify.exchange.repair import RepairSettings, repair_model
from identify.exchange.simulators import SIMULATORS
from tests.close import assert_close

SIX = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def urdf(numbers, name="a", mass="0.64", shapes=""):
    six = " ".join(f'{key}="{x}"' for key, x in zip(SIX, numbers.split(), strict=True))
    return (
        f'<link name="{name}"><inertial><origin xyz="0.01 0 0" rpy="0.3 0.1 -0.2"/>'
        f'<mass value="{mass}"/><inertia {six}/></inertial>{shapes}</link>'
    )


def sdf(numbers, name="a"):
    six = "".join(f"<{key}>{x}</{key}>" for key, x in zip(SIX, numbers.split(), strict=True))
    return (
        f'<link name="{name}"><inertial><mass>0.64</mass><inertia>{six}</inertia></inertial></link>'
    )


def mjcf(numbers, name="a"):
    xx, xy, xz, yy, yz, zz = numbers.split()
    six = f'fullinertia="{xx} {yy} {zz} {xy} {xz} {yz}"'
    if {xy, xz, yz} == {"0"}:
        six = f'diaginertia="{xx} {yy} {zz}"'
    return f'<body name="{name}"><freejoint/><inertial pos="0 0 0" mass="0.64" {six}/></body>'


WRITE = {
    "urdf": ('<robot name="r">', urdf, "</robot>"),
    "sdf": ('<sdf><model name="m">', sdf, "</model></sdf>"),
    "mjcf": ("<mujoco><worldbody>", mjcf, "</worldbody></mujoco>"),
}


def model(folder, *links, form="urdf"):
    before, write, after = WRITE[form]
    path = folder / "model.xml"
    path.write_text(before + "\n".join(x if x[0] == "<" else write(x) for x in links) + after)
    return path


def repaired(path, **settings):
    done = repair_model(path, settings=RepairSettings(**settings))
    path.write_bytes(done.content)
    return done, read_model(path).links


MENDED = {
    "a thousand": ("4.77 0 0 0.0043 0 0.0035", "0.00477 0 0 0.0043 0 0.0035", "ixx 1000 times too"),
    "a tenth": ("0.002 0 0 0.0003 0 0.004", "0.002 0 0 0.003 0 0.004", "iyy 10 times too small"),
    "turned": ("0.02 1e-4 0 0.003 0 0.004", "0.002 1e-4 0 0.003 0 0.004", "ixx 10 times too large"),
    "sign": ("0.002 0 0 0.003 0 -0.004", "0.002 0 0 0.003 0 0.004", "a sign: izz -0.004 → 0.004"),
    "product": ("0.002 0.01 0 0.003 0 0.004", "0.002 0.001 0 0.003 0 0.004", "ixy 10 times too"),
    "stripped zero": ("0.002 0 0 0.003 0 12", "0.002 0 0 0.003 0 0.0012", "izz 10000 times too"),
    "names swapped": ("0.002 0.003 0 1e-4 0 0.004", "0.002 1e-4 0 0.003 0 0.004", "ixy and iyy sw"),
    "typing error": (
        "0.001 0 0 0.002 0 0.05",
        "0.001 0 0 0.002 0 0.002",
        "0.001 to 0.003 .* guess",
    ),
}
ORDERS = {
    "rows": ("urdf", "0.002 1e-4 2e-4 1e-4 0.003 3e-5", "0.002 1e-4 2e-4 0.003 3e-5 0.003"),
    "diagonal rows": ("sdf", "0.002 0 0 0 0.003 0", "0.002 0 0 0.003 0 0.003"),
    "diagonal first": (
        "urdf",
        "0.002 0.003 0.004 1e-4 2e-4 3e-5",
        "0.002 1e-4 2e-4 0.003 3e-5 0.004",
    ),
    "columns": ("sdf", "0.002 1e-4 0.003 2e-4 3e-5 0.004", "0.002 1e-4 2e-4 0.003 3e-5 0.004"),
    # What `fullinertia` reads of xx, xy, xz, yy, yz, zz, here in the order of URDF.
    "URDF in MJCF": (
        "mjcf",
        "0.002 0.003 3e-5 1e-4 0.004 2e-4",
        "0.002 1e-4 2e-4 0.003 3e-5 0.004",
    ),
}


@pytest.mark.parametrize("form", WRITE)
@pytest.mark.parametrize("case", MENDED)
def test_typo_is_reported_and_other_numbers_are_kept(tmp_path, form, case):
    numbers, meant, text = MENDED[case]
    path = model(tmp_path, numbers, form=form)
    (judged,) = check_links(read_model(path).links)
    assert re.search(f"likely a typo, .*{text}", judged.reasons[-1])
    done, (link,) = repaired(path)
    assert_close(link.printed[4:], np.array(meant.split(), dtype=float), 1e-8)
    assert done.repairs[0].change == judged.reasons[-1]
    assert not done.warnings


@pytest.mark.parametrize("shape", ["", '<collision><geometry><box size=".2 .1 .1"/>'])
@pytest.mark.parametrize("x", ["51", "0.051"])
def test_a_centre_of_mass_in_millimetres_is_warned_of(tmp_path, x, shape):
    link = urdf("0.002 0 0 0.003 0 0.004", shapes=shape and f"{shape}</geometry></collision>")
    path = model(tmp_path, link.replace('"0.01 0 0"', f'"{x} 0 0"'))
    (judged,) = check_links(read_model(path).links, shapes=read_model(path).shapes())
    assert judged.problem == ""
    assert ("centre of mass is 51 m from" in judged.warning) == (x == "51")
    assert bool(judged.warning) == (x == "51")


@pytest.mark.parametrize("case", ORDERS)
def test_numbers_in_wrong_order_are_reordered(tmp_path, case):
    form, numbers, meant = ORDERS[case]
    done, (link,) = repaired(model(tmp_path, numbers, form=form))
    assert_close(link.printed[4:], np.array(meant.split(), dtype=float), 1e-8)
    named = "iyy repeats ixy .*izz is lost, between .* guess" if "rows" in case else "in the order"
    assert re.search(named, done.repairs[0].change)


def test_typo_is_found_in_any_inconsistent_body(tmp_path):
    """A thousand times too large, of moments between 1 and 2: the least power puts it right."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        six = np.zeros(6)
        six[[0, 3, 5]] = rng.uniform(1e-3, 2e-3, 3).round(6)
        six[[1, 2, 4]] = rng.uniform(-1e-4, 1e-4, 3).round(8)
        slipped = six * np.where(np.arange(6) == rng.choice([0, 3, 5]), 1000.0, 1.0)
        path = model(tmp_path, " ".join(map(repr, slipped.tolist())))
        slip = find_typo(read_model(path).links[0], {}, None)
        assert slip.is_conclusive
        assert_close(slip.inertia, six, 1e-12)


@pytest.mark.parametrize(
    ("good", "bad", "same"),
    [
        ("left_ankle", "right_ankle", True),
        ("LElbow", "RElbow", True),
        ("fl_l_foot", "fr_l_foot", True),
        ("left_ankle", "right_knee", False),
    ],
)
def test_mirrored_link_suggests_correction(tmp_path, good, bad, same):
    """A moment and a product; two products of a mirrored link have the other sign."""
    path = model(
        tmp_path,
        urdf("0.002 1e-4 0 0.003 2e-4 0.004", good),
        urdf("0.002 -1e-4 0 0.0177 -3e-4 0.004", bad),
    )
    done, (_, link) = repaired(path)
    assert (
        f"the mirrored link {good} differs: iyy 0.0177 → 0.003" in done.repairs[0].change
    ) == same
    meant = [0.002, -1e-4, 0, 0.003, -2e-4, 0.004]
    assert np.allclose(link.printed[4:], meant, rtol=1e-8, atol=1e-15) == same


BOX = '<collision><geometry><box size="{}"/></geometry></collision>'


def test_ambiguous_typo_is_corrected_only_when_geometry_decides(tmp_path):
    """Moments of 1, 1.2 and 3: a slip of ten, or any other mistake."""
    numbers = "0.00100 0 0 0.00120 0 0.00300"
    path = model(tmp_path, numbers)
    (judged,) = check_links(read_model(path).links)
    assert judged.reasons[1] == "perhaps a typo, izz 10 times too large: izz 0.003 → 0.0003 kg m²"
    done, _ = repaired(path)
    assert_close(done.repairs[0].moments, [0.0014, 0.0016, 0.003], 1e-6)
    path = model(tmp_path, urdf(numbers, shapes=BOX.format("0.1 0.1 0.15")))
    done, _ = repaired(path)
    assert_close(done.repairs[0].moments, [0.0003, 0.001, 0.0012], 1e-6)
    assert not done.warnings


def test_typo_contradicting_geometry_is_not_proposed(tmp_path):
    path = model(tmp_path, urdf("0.001 0 0 0.001 0 0.5", shapes=BOX.format("0.1 0.1 1.5")))
    (judged,) = check_links(read_model(path).links, None, read_model(path).shapes())
    assert judged.typo is None or "0.0005" not in judged.typo.text


@pytest.mark.parametrize("form", WRITE)
def test_a_repaired_body_larger_than_its_model_is_warned_of(tmp_path, form):
    """Of no number far off, so that nothing but the nearest possible body is left."""
    done, _ = repaired(model(tmp_path, "4.77 0 0 2.2 0 2.1", form=form))
    ((link, warning),) = done.warnings
    assert link.name == "a"
    assert warning.startswith("its radius of gyration is 2.73 m, which makes it lighter than air")


def test_a_repaired_body_larger_than_the_lengths_of_its_model_is_warned_of(tmp_path):
    joint = (
        '<joint name="j" type="fixed"><origin xyz="0.05 0 0"/><parent link="a"/>'
        '<child link="b"/></joint>'
    )
    heavy = urdf("4.77 0 0 2.2 0 2.1", mass="300")
    done, _ = repaired(model(tmp_path, heavy, '<link name="b"/>', joint))
    ((_, warning),) = done.warnings
    assert warning.startswith("it is large now: its radius of gyration is 0.12")
    assert warning.endswith("the largest length in the file 0.05 m")


def test_a_repaired_body_larger_than_its_shape_is_warned_of(tmp_path):
    """Within five radii of gyration of the even shape, where a body as written is not named."""
    numbers, box = "0.0049 0 0 0.002 0 0.002", BOX.format("0.1 0.1 0.1")
    path = model(tmp_path, urdf(numbers, shapes=box))
    done, _ = repaired(path)
    ((_, warning),) = done.warnings
    assert "its shape contradicts its inertia: along [" in warning
    path = model(tmp_path, urdf(numbers, shapes=box))
    done, _ = repaired(path, from_geometry=True)
    ((_, warning),) = done.warnings
    assert "its centre of mass is 0.01 m from that of the shape: is that meant?" in warning
    assert_close(done.repairs[0].moments, np.full(3, 0.64 * 0.01 / 6), 1e-8)


@pytest.mark.parametrize("form", WRITE)
@pytest.mark.parametrize("moment", ["1", "0.001", "1e-6"])
def test_placeholder_is_reported_once(tmp_path, form, moment):
    path = model(tmp_path, f"{moment} 0 0 {moment} 0 {moment}", form=form)
    (judged,) = check_links(read_model(path).links)
    assert judged.problem == ""
    assert judged.warning == (
        f"0.64 kg with {float(moment):g} kg m² about each axis look like a placeholder"
    )
    assert "radius of gyration" not in judged.note
    (judged,) = check_links(
        read_model(model(tmp_path, "0.0012 0 0 0.0012 0 0.0012", form=form)).links
    )
    assert judged.warning == ""


@pytest.mark.parametrize("form", WRITE)
@pytest.mark.parametrize("numbers", ["1e-35 0 0 1e-35 0 5e-35", "0 0 2e-35 0 0 0"])
def test_inertia_at_rounding_level_counts_as_missing(tmp_path, form, numbers):
    path = model(tmp_path, numbers, form=form)
    (judged,) = check_links(
        read_model(path).links, LinkRequirements(SIMULATORS["mujoco"], margin=0.01)
    )
    assert judged.problem == "without inertia"
    assert judged.reasons == (
        "a mass of 0.64 kg, but no inertia",
        "MuJoCo does not compile the file",
    )


def test_plate_is_reported_without_room_for_rounding(tmp_path):
    path = model(tmp_path, "1.5 0.5 0 1.5 0 3")  # a plate, of moments 1, 2 and 3
    (judged,) = check_links(read_model(path).links, LinkRequirements(SIMULATORS["mujoco"]))
    (reason,) = judged.reasons
    assert reason.endswith("is the sum of the others, which leaves no room for rounding")


def test_each_reason_is_a_single_line(tmp_path):
    path = model(tmp_path, "4.77 0 0 2.2 0 2.1")
    (judged,) = check_links(read_model(path).links, LinkRequirements(SIMULATORS["mujoco"]))
    triangle, slip, program = judged.reasons
    assert triangle.startswith("triangle inequality: ")
    assert slip.startswith("perhaps a typo, ixx 10 times too large")
    assert program == "MuJoCo does not compile the file"


def test_sdf_default_entries_are_named(tmp_path):
    text = sdf("1 0 0 1.2 0 1").replace("<izz>1</izz>", "")
    (link,) = read_model(model(tmp_path, text, form="sdf")).links
    assert link.note == "no <izz>: SDFormat gives it 1 kg m² about each axis"


def links_of_cad_products(count):
    """Slender bodies whose products have CAD's sign, by which they are inconsistent."""
    links = []
    rng = np.random.default_rng(3)
    while len(links) < count:
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        moments = np.array([0.5, 2.0, 2.4]) * 1e-3
        matrix = axes @ np.diag(moments) @ axes.T
        six = np.where([True, False, False, True, False, True], 1.0, -1.0)
        six *= matrix[np.triu_indices(3)]
        turned = np.zeros((3, 3))
        turned[np.triu_indices(3)] = six
        turned = turned + turned.T - np.diag(np.diag(turned))
        low, middle, high = np.linalg.eigvalsh(turned)
        if low + middle < 0.97 * high:
            links.append((" ".join(map(repr, map(float, six))), matrix))
    return links


@pytest.mark.parametrize("others", [(), ("0.002 1e-4 2e-4 0.003 3e-5 0.004",)])
def test_products_of_other_sign_explain_all_links(tmp_path, others):
    wrong = links_of_cad_products(4)
    texts = [six for six, _ in wrong] + list(others)
    path = model(tmp_path, *(urdf(six, f"l{i}") for i, six in enumerate(texts)))
    checks = check_links(read_model(path).links)
    for check in checks[: len(wrong)]:
        assert "as CAD prints them: so of all 4 such links" in check.reasons[-1]
    _, links = repaired(path)
    for link, (_, matrix) in zip(links, wrong, strict=False):
        assert_close(link.printed[4:], matrix[np.triu_indices(3)], 1e-7)


@pytest.mark.parametrize("kind", ["few", "other fault", "consistent as written alone"])
def test_products_of_other_sign_do_not_explain(tmp_path, kind):
    texts = [six for six, _ in links_of_cad_products(3 if kind == "few" else 4)]
    if kind == "other fault":
        texts.append("4.77 0 0 0.0043 0 0.0035")
    if kind == "consistent as written alone":
        as_matrix = links_of_cad_products(5)[-1][1][np.triu_indices(3)]
        texts.append(" ".join(map(repr, map(float, as_matrix))))
    path = model(tmp_path, *(urdf(six, f"l{i}") for i, six in enumerate(texts)))
    reasons = [" ".join(check.reasons) for check in check_links(read_model(path).links)]
    assert not any("as CAD prints them" in reason for reason in reasons)
