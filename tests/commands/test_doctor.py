import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

from identify.commands import doctor
from identify.commands.doctor import InstallationCheck, check_names, check_solvers

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    doctor.package_version().startswith("("), reason="inertia-identify is not installed"
)


def write_program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / (f"{name}.bat" if os.name == "nt" else name)
    path.write_text(text)
    path.chmod(0o755)
    return path


def fake_distribution(folder: Path, name: str, version: str, needs: Sequence[str] = ()) -> None:
    metadata = folder / f"{name}-{version}.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {requirement}" for requirement in needs]
    metadata.write_text("\n".join(lines) + "\n")


@pytest.fixture
def own_program(monkeypatch, tmp_path):
    """A PATH on which `identify` and its alias are ours."""
    head = f"#!{sys.executable}\nfrom identify.commands.main import main\n"
    for name in ("identify", "inertia-identify"):
        write_program(tmp_path / "bin", name, head)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin"


def test_doctor_accepts_good_installation(cli, own_program):
    out = cli.done("doctor")
    assert "!!" not in out
    assert out.endswith("No problems were found.\n")
    for title in ("packages:", "solvers:", "extras:", "name:"):
        assert f"{title}\n" in out
    assert f"ok  inertia-identify {doctor.package_version()} in " in out
    assert f"ok  python {sys.version.split()[0]} on " in out
    assert "ok  numpy 2." in out
    assert "CLARABEL" in out
    assert "Clarabel solves a semidefinite program (error " in out
    assert "`import identify` imports this package" in out
    assert f"`identify` on the command line is this package's, {own_program}" in out


def test_extras_are_those_that_all_gathers(monkeypatch, tmp_path):
    needs = [
        "numpy>=2",
        'trimesh; extra == "shapes"',
        'absent>=1; extra == "bags"',
        'numpy; extra == "bags"',
        'pytest; extra == "test"',
        *(f'{name}; extra == "all"' for name in ("trimesh", "absent", "numpy")),
    ]
    fake_distribution(tmp_path, "madeup", "1.0", needs)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(doctor, "DISTRIBUTION", "madeup")
    shapes, bags = doctor.list_extras()
    assert (shapes.mark, bags.mark) == ("ok", "--")  # a missing one is no fault
    assert shapes.text == f"[shapes] trimesh {version('trimesh')}"
    assert bags.text.startswith(f"[bags] absent (missing), numpy {version('numpy')}; to install: ")
    assert bags.text.endswith("pip install 'madeup[bags]'")


def test_no_extra_is_offered_that_nothing_imports():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    (offered,) = (re.fullmatch(r"inertia-identify\[(.*)\]", one)[1] for one in extras["all"])
    sources = "".join(path.read_text() for path in (ROOT / "identify").rglob("*.py"))
    for extra in offered.split(","):
        for requirement in extras[extra]:
            name = re.match(r"[a-z0-9_-]+", requirement)[0]
            assert re.search(rf'(import|from) {name}\b|import_module\("{name}', sources), extra
        assert f"[{extra}]" in (ROOT / "README.md").read_text()


def test_a_missing_package(cli, own_program, monkeypatch):
    monkeypatch.setattr(doctor, "requirements", lambda: {"": ["numpy", "no-such-package"]})
    status, out, _ = cli("doctor")
    assert status == 1
    assert "!!  no-such-package is missing; pip install no-such-package\n" in out
    assert out.endswith("Problems to fix: 1, see the lines marked !!.\n")


def test_a_source_tree_that_is_not_installed(cli, own_program, monkeypatch):
    monkeypatch.setattr(doctor, "DISTRIBUTION", "no-such-distribution")
    status, out, _ = cli("doctor")
    assert status == 1
    assert "(uninstalled source tree)" in out
    assert (
        "!!  no-such-distribution is not installed; in its source tree: pip install --editable"
        in out
    )


def test_doctor_detects_wrong_solver_results(monkeypatch):
    monkeypatch.setattr(doctor, "_clarabel_error", lambda: 0.1)
    assert list(check_solvers())[-1] == InstallationCheck(
        "!!", "Clarabel solves a semidefinite program wrongly (error 1e-01)"
    )


def test_doctor_says_that_the_package_of_pre_commit_is_there(
    cli, own_program, monkeypatch, tmp_path
):
    fake_distribution(tmp_path / "site", "identify", "2.6.1")
    monkeypatch.syspath_prepend(tmp_path / "site")
    status, out, _ = cli("doctor")
    assert status == 0
    line = next(line for line in out.splitlines() if "PyPI package" in line)
    assert "identify 2.6.1 is installed and overwrites" in line
    assert "`import inertia_identify` and the programs work as before" in line
    assert "pip uninstall identify, then install inertia-identify again" in line


@pytest.mark.parametrize("removed", [False, True])
def test_all_goes_on_beside_the_package_of_pre_commit(tmp_path, removed):
    """Its `identify/__init__.py` in place of ours, or none after it was removed."""
    (tmp_path / "identify").mkdir()
    for path in (ROOT / "identify").iterdir():
        if path.name not in ("__init__.py", "py.typed", "__pycache__"):
            if path.name == "commands":  # whose own path is looked at
                shutil.copytree(path, tmp_path / "identify" / path.name)
            else:
                (tmp_path / "identify" / path.name).symlink_to(path)
    (tmp_path / "inertia_identify").symlink_to(ROOT / "inertia_identify")
    if not removed:
        (tmp_path / "identify" / "__init__.py").write_text("")
    code = (
        "import sys, pathlib; sys.path = [p for p in sys.path if p == sys.path[1] or not "
        "pathlib.Path(p, 'identify', '__init__.py').exists()]; "  # no editable installation
        "import inertia_identify as i, identify; assert i.read_log is identify.read_log; "
        "assert i.__version__ == identify.__version__ and 'fit' in dir(i); "
        "from identify.commands.doctor import check_names; print(next(check_names()).text)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ("was removed and took with it" in run.stdout) == removed
    assert ("imports another package" in run.stdout) is False


def test_both_names_are_the_same():
    import identify
    import inertia_identify

    assert dir(inertia_identify) == dir(identify)
    assert inertia_identify.InertialParameters is identify.InertialParameters
    assert inertia_identify.__version__ == identify.__version__


def test_another_package_of_the_same_name(monkeypatch):
    other = ModuleType("identify")
    other.__file__ = "/elsewhere/identify/__init__.py"
    monkeypatch.setitem(sys.modules, "identify", other)
    finding = next(check_names())
    assert finding.mark == "!!"
    assert "imports another package, /elsewhere/identify/__init__.py" in finding.text


@pytest.mark.skipif(os.name == "nt", reason="programs are found by their extension there")
def test_doctor_detects_program_of_same_name(cli, own_program):
    other = write_program(own_program, "identify", "\x7fELF ImageMagick")
    status, out, _ = cli("doctor")
    assert status == 1
    assert f"!!  `identify` on the command line is another program, {other}" in out
    assert "use `inertia-identify`\n" in out


def test_no_program_on_the_path(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    finding = list(check_names())[-1]
    assert finding.mark == "--"
    assert finding.text.startswith("no program `identify` on the PATH; use `")


def test_a_script_of_this_environment_is_ours():
    scripts = list(doctor._scripts())
    assert {script.stem for script in scripts} == {"identify", "inertia-identify"}
    assert all(doctor.is_own_program(script) for script in scripts)


def test_doctor_detects_failing_solver(monkeypatch):
    def fail() -> float:
        raise ValueError("it gives no answer")

    monkeypatch.setattr(doctor, "_clarabel_error", fail)
    assert list(check_solvers())[-1].text.startswith(
        "Clarabel failed: it gives no answer; pip install"
    )
