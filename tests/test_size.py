from scripts.size import HEADER, main

FILES = {
    "__init__.py": "",
    "alone.py": "import os\nONE, TWO = 1, -2.5\nNAME = 'a'\nclass A:\n    pass\n",
    "pair/__init__.py": "",
    "pair/__init__.pyi": "from house.pair.left import left as left\n",
    "pair/left.py": "def left():\n    if 1:\n        from house.pair.right import other\n",
    "pair/right.py": "from house.pair import left\n",
}


def test_packages_are_counted_and_cycles_found(tmp_path, capsys):
    for name, content in FILES.items():
        path = tmp_path / "house" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    main(str(tmp_path / "house"))
    *rows, cycle = capsys.readouterr().out.splitlines()
    assert [row.split() for row in rows] == [
        " ".join(HEADER).split(),
        ["__init__", "0", "1", "0", "0", "0", "0"],
        ["alone", "5", "1", "1", "2", "0", "1"],
        ["pair", "4", "3", "0", "0", "2", "2"],
        ["all", "9", "5", "1", "2", "2", "2"],
    ]
    assert cycle == "cycle: house.pair.left, house.pair.right"
