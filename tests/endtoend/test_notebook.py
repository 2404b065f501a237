import json
import os
import subprocess
import sys

import pytest

from tests.endtoend.conftest import ROOT

NOTEBOOK = ROOT / "docs" / "notebooks" / "from_log_to_export.ipynb"


@pytest.mark.slow
def test_the_notebook_runs_from_the_log_to_the_export(tmp_path):
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(cells) <= 12
    assert all(cell["outputs"] == [] for cell in code)
    (tmp_path / "datasets").symlink_to(ROOT / "datasets")
    folder = tmp_path / "docs" / "notebooks"
    folder.mkdir(parents=True)
    run = subprocess.run(
        [sys.executable, "-c", "\n".join("".join(cell["source"]) for cell in code)],
        cwd=folder,
        env=os.environ | {"MPLBACKEND": "agg", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "set_target_payload(1.29" in run.stdout
    assert "about the flange, from [body.flange]" in run.stdout
    assert (folder / "out" / "estimate.json").exists()
    assert (folder / "out" / "report.html").exists()
