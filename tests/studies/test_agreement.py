from experiments import agreement


def test_equal_bodies_agree_and_heavier_body_is_detected(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(agreement, "SET_SIZES", (2, 4))
    monkeypatch.setattr(agreement, "SETS_DRAWN", 4)
    monkeypatch.setattr(agreement, "MASS_FACTORS", (1.1,))
    path = tmp_path / "agreement.md"
    assert agreement.main(["-o", str(path), "--logs", "10"]) == 0
    text = path.read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line[:3] > "| ."]
    of_one = [row for row in rows if row[0] in ("2", "4")]
    assert [(row[1], row[-1]) for row in of_one] == [("4", "0"), ("4", "0")]
    assert [row for row in rows if row[0] == "10.0 %"] == [["10.0 %", "4", "4", "0"]]
    assert text.splitlines()[-1].startswith("Not the whole study: with other logs.")
    assert capsys.readouterr().out.strip() == text.strip()
