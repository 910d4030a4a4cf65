"""How long a person waits, roughly: the figures are in bench/RESULTS.md; here only what would be a disaster fails."""

from pathlib import Path
from statistics import median

import pytest
import screens

from overdeck.bench import compare

pytestmark = [pytest.mark.measure, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 modules that are on, half a million fires taken in, 1,000 incidents."""
    root = tmp_path_factory.mktemp("screens") / "home"
    screens.home(root, fires=500_000, calls=50_000)
    return root


def test_the_first_row_comes_within_a_few_times_what_its_imports_take(home: Path) -> None:
    for what, imports, page in screens.rows(home):
        outcome = compare(imports, page, payload=b"", pairs=8, allow_diff=True, timeout_s=120.0)
        assert outcome.ratios["wall"].low < screens.BAR, what


def test_a_key_is_answered_while_the_page_takes_in_two_million_lines(home: Path) -> None:
    alone = median(screens.keys_without_ingest(home))
    beside = screens.keys_during_ingest(home)
    assert len(beside) > 5
    # On a machine that is busy with something else, too, both are slower.
    assert median(beside) < max(screens.KEY_BAR_MS, 5 * alone)
