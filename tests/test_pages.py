"""A page that code or another page names is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NAMED = re.compile(r"(?<![\w/])docs/(?:plans/)?[\w-]+\.md\b")


@pytest.mark.parametrize("folder", ["overdeck", "modules", "hooks", "bench", "docs", "incidents"])
def test_every_page_that_is_named_is_there(folder: str) -> None:
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".c", ".md", ".toml")]
    named = {(path, page) for path in files for page in NAMED.findall(path.read_text("utf-8"))}
    assert {f"{path.relative_to(ROOT)}: {page}" for path, page in named if not (ROOT / page).is_file()} == set()


def test_no_line_stands_in_a_page_twice() -> None:
    """A merge of two versions of a paragraph keeps both, and reads well enough to be overlooked."""
    twice = []
    for page in (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs" / "plans").glob("*.md"))):
        lines = [
            line for line in page.read_text("utf-8").splitlines() if len(line) > 45 and set(line) - set("|-: ")
        ]
        twice += [f"{page.name}: {line}" for line in sorted({line for line in lines if lines.count(line) > 1})]
    assert twice == []
