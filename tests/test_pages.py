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
