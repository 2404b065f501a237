"""The study of what is silently wrong: it counts what its table says."""

from __future__ import annotations

from experiments import silent


def test_a_fault_is_counted_as_named_and_a_clean_log_as_clean(tmp_path, monkeypatch, capsys):
    two = [case for case in silent.cases() if case.name in ("torque sign", "delay [s] 0.03")]
    monkeypatch.setattr(silent, "cases", lambda: iter(two))
    monkeypatch.setattr(silent, "NOISES", silent.NOISES[1:2])
    path = tmp_path / "silent.md"
    assert silent.main(["-o", str(path), "--logs", "1", "--clean", "1"]) == 0
    text = path.read_text(encoding="utf-8")
    assert "Clean logs: 0 of 1 with a warning or an error." in text
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line[:3] > "| ."]
    assert [row[:4] for row in rows[1:]] == [[case.name, "1", "1", "0"] for case in two]
    assert capsys.readouterr().out.strip() == text.strip()
