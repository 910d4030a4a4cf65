"""docs/plans/seed-map.md names tests and modules that there are."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "plans" / "seed-map.md").read_text("utf-8")
TESTS = {
    path.relative_to(ROOT).as_posix(): path
    for top in ("tests", "hooks/test")
    for path in (ROOT / top).rglob("*.py")
}
NAMED = re.findall(r"`(?:([\w/]+\.py): )?(test_\w+)`|`([\w/]*\btest_\w+\.py)", PAGE)


def test_every_file_of_tests_that_it_names_is_there() -> None:
    files = {file for in_file, _, alone in NAMED for file in (in_file, alone) if file}
    assert len(files) > 20
    assert [file for file in files if not any(name.endswith(f"/{file}") or name == file for name in TESTS)] == []


def test_every_test_that_it_names_is_there() -> None:
    names = {name for _, name, _ in NAMED if name} | set(re.findall(r"\.py: (test_\w+)`", PAGE))
    texts = "\n".join(path.read_text("utf-8") for path in TESTS.values())
    assert len(names) > 10
    assert [name for name in names if f"def {name}(" not in texts] == []


def test_no_rule_has_two_rows_and_no_row_stands_outside_a_table() -> None:
    for section in re.split(r"^#+ ", PAGE, flags=re.MULTILINE):
        lines = section.split("\n")
        rules = [line.split(" | ")[0] for line in lines if line.startswith("| ")]
        assert sorted(rules) == sorted(set(rules))
        starts = [
            at for at, line in enumerate(lines) if line.startswith("|") and not lines[at - 1].startswith("|")
        ]
        assert [lines[at] for at in starts if not lines[at + 1].startswith("|---")] == []


def test_every_row_says_where_the_rule_went() -> None:
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in PAGE.splitlines() if line.startswith("| ")]
    assert len(rows) > 100
    assert {len(row) for row in rows} == {3}
    assert [row for row in rows if not row[0].strip() or not row[1].strip()] == []
    assert [row[0] for row in rows if "not built" in row[1] and ":" not in row[1].partition("not built")[2]] == []
