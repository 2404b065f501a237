from experiments.rows import main


def test_the_study_of_rows_counts_every_fault_of_a_problem(tmp_path, capsys):
    path = tmp_path / "rows.md"
    assert main(["--problems", "2", "-o", str(path)]) == 0
    written = path.read_text(encoding="utf-8")
    assert "| noise | estimated | intervals |" in written
    assert "| sign of a group | 2 | 2 | 0 |" in written
    assert "| unit of a group | 2 | 2 | 0 |" in written
    assert "Not the whole study: with other problems" in written
    assert written.strip() in capsys.readouterr().out
