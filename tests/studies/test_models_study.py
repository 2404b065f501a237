from pathlib import Path

from experiments.models import main

ROBOTS = Path(__file__).resolve().parents[1] / "exchange/models/robots"


def test_models_table(tmp_path, mujoco):
    """Two robots that are not those of the list, which is an exit status."""
    path = tmp_path / "models.md"
    assert main(["--robots", str(ROBOTS), "-o", str(path)]) == 1
    text = path.read_text()
    assert "9 inertials with mass or inertia of 2 URDF files" in text
    assert "NOT the files of robots.sha256" in text
    (row,) = (line for line in text.splitlines() if line.startswith("| MuJoCo"))
    assert row == "| MuJoCo | 7 | 7 | 0 | 0 | 0 |"
    assert "2 the nearest physically consistent inertia" in text
    assert "1 its visual geometry" in text
    assert "0 of the repaired links are denser than 100000 kg/m³; 0 are not repaired." in text
