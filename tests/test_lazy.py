import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import identify
from identify.lazy import attach, installed_version


def lazy_packages():
    found = [identify.__name__]
    found += [
        info.name for info in pkgutil.walk_packages(identify.__path__, "identify.") if info.ispkg
    ]
    return [name for name in found if "= attach(" in source_of(name)]


def source_of(package):
    parts = package.split(".")[1:]
    return Path(identify.__path__[0], *parts, "__init__.py").read_text(encoding="utf-8")


def names_for_the_type_checker(package):
    """What the stub exports, as the typing rules have it."""
    path = Path(identify.__path__[0], *package.split(".")[1:], "__init__.pyi")
    body = ast.parse(path.read_text(encoding="utf-8")).body
    imports = [one for one in body if isinstance(one, ast.ImportFrom)]
    given = [one for one in body if isinstance(one, ast.Assign)]
    return {alias.name for one in imports for alias in one.names if alias.name == alias.asname} | {
        ast.unparse(one.targets[0]) for one in given
    }


@pytest.mark.parametrize("package", lazy_packages())
def test_lazy_package_exports_the_names_of_its_stub(package):
    module = importlib.import_module(package)
    assert set(module.__all__) - {"__version__"} == names_for_the_type_checker(package)
    assert all(hasattr(module, name) for name in module.__all__)
    assert dir(module) == sorted(module.__all__)


@pytest.mark.parametrize("package", lazy_packages())
def test_exported_names_do_not_shadow_modules(package):
    module = importlib.import_module(package)
    beside = {info.name for info in pkgutil.iter_modules(module.__path__)} & set(module.__all__)
    # Once imported, another module would be found in the name's place.
    assert all(isinstance(getattr(module, name), ModuleType) for name in beside)


def test_importing_the_package_loads_no_submodule():
    found = subprocess.run(
        [sys.executable, "-c", "import identify, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert [name for name in found.stdout.split() if name.startswith("identify.")] == [
        "identify.lazy"
    ]


def test_lazy_name_can_be_replaced_and_is_cached(tmp_path):
    stub = tmp_path / "__init__.pyi"
    stub.write_text("from identify.errors import IdentifyError\n\nProblem = IdentifyError\n")
    load, names, public = attach("identify", str(stub.with_suffix(".py")))
    assert names() == public == ["Problem"]
    try:
        assert load("Problem") is identify.IdentifyError
        assert vars(identify)["Problem"] is identify.IdentifyError
    finally:
        vars(identify).pop("Problem", None)


def test_submodule_can_be_exported():
    plot = importlib.import_module("identify.reporting.plot")
    assert identify.plot is importlib.import_module("identify.reporting").plot is plot


def test_unknown_name_raises_attribute_error():
    with pytest.raises(AttributeError, match="module 'identify' has no attribute 'nothing'"):
        identify.nothing  # noqa: B018


@pytest.mark.slow
def test_fit_and_figures_load_required_modules_only(tmp_path):
    """Of the project no more than 189 modules for a fit and 250 with its report; no pyplot."""
    code = f"""
import sys, numpy as np, identify

count = lambda: len([name for name in sys.modules if name.split(".")[0] == "identify"])
folder = "datasets/payload_arm/"
recording = identify.read_log(folder + "payload_arm.parquet", folder + "schema.toml")
result = identify.fit(recording)
print(count())
from identify.reporting import plot, report
print([m for m in ("matplotlib", "jinja2", "rich") if m in sys.modules])
report(result, {str(tmp_path / "report.html")!r})
print(count())
from identify.reporting.poinsot_animation import poinsot_html
from identify.simulation.poinsot import poinsot_motion
free = poinsot_motion(np.diag([1, 2, 2.5]), [0, 0, 0, 1], [1, 0.2, 0.3], np.arange(3.0))
plot.poinsot(free), poinsot_html(free)
print("matplotlib.pyplot" in sys.modules, "matplotlib" in sys.modules)
"""
    root = Path(identify.__path__[0]).parent
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    fit, nothing, report, pyplot = done.stdout.splitlines()
    assert nothing == "[]"
    assert int(fit) <= 189
    assert int(fit) < int(report) <= 250
    assert pyplot == "False True"


WITHOUT_EXTRAS = """
import importlib, pkgutil, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1:]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import identify
for info in pkgutil.walk_packages(identify.__path__, "identify."):
    if not info.name.startswith("identify.logs.readers.") and info.name != "identify.__main__":
        importlib.import_module(info.name)
"""
"""Imports every module but the readers of single formats, with the packages named absent."""


def test_no_module_but_the_reader_of_a_format_needs_an_extra():
    extras = ("rosbags", "mcap", "h5py", "pyulog", "trimesh", "distributed", "pinocchio", "pydrake")
    subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS, *extras], check=True)


def test_the_version_of_cvxpy_is_also_that_of_its_base(tmp_path, monkeypatch):
    metadata = tmp_path / "madeup_base-1.2.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: madeup-base\nVersion: 1.2\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert installed_version("madeup") == installed_version("madeup-base") == "1.2"
    assert installed_version("madeup-base-base") is None


def test_modules_by_the_other_name_of_the_package_are_the_same():
    program = (
        "import inertia_identify.inertia.shapes as shapes, identify.inertia.shapes as same\n"
        "import inertia_identify, pickle\n"
        "assert shapes is same is inertia_identify.inertia.shapes\n"
        "assert shapes.__spec__.name == shapes.__name__ == 'identify.inertia.shapes'\n"
        "from inertia_identify.inertia import InertialParameters\n"
        "assert InertialParameters is inertia_identify.InertialParameters\n"
        "assert pickle.loads(pickle.dumps(InertialParameters)) is InertialParameters\n"
        "import inertia_identify.__main__ as main\n"
        "assert main.__name__ == 'inertia_identify.__main__'\n"
        "import inertia_identify.inertia.nothing\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: No module named 'inertia_identify.inertia.nothing'"
    )
