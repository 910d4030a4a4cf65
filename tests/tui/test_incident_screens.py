"""The incidents page as it looks, in each of its states, on a small and on a large screen."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import logbooks
import pages
import pytest
from pages import Seen, both_sizes, home_environ
from registries import grow
from snapshots import drawn

from overdeck.errors import ExitCode, OverdeckError
from overdeck.files import busy
from overdeck.incidents import creating
from overdeck.tui.forms import Form
from overdeck.tui.incidents.calls import CALLS, Done
from overdeck.tui.incidents.page import IncidentsPage
from overdeck.tui.incidents.proof import Proof, Stage
from overdeck.tui.incidents.window import ProofWindow
from overdeck.tui.surroundings import Surroundings

pytestmark = pytest.mark.timeout(60)
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
Size = tuple[int, int]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    logbooks.write(tmp_path / "incidents")
    return tmp_path / "incidents"


@asynccontextmanager
async def opened(root: Path, size: Size) -> AsyncIterator[Seen]:
    around = Surroundings(home_environ(root.parent), cwd=root.parent, clock=lambda: NOW, live=False)
    async with pages.opened(around, "incidents", size=size) as seen:
        yield seen


def same_now(seen: Seen, name: str) -> None:
    """The same as ``seen.same`` while a question waits."""
    drawn(seen.app, f"{name}-{seen.app.size.width}x{seen.app.size.height}")


@both_sizes
async def test_the_open_ones_with_a_timeline(root: Path, size: Size) -> None:
    async with opened(root, size) as seen:
        await seen.press("down")
        await seen.until(lambda: "4.8 s" in seen.text("#story"))
        await seen.same("incidents-open")


@both_sizes
async def test_all_with_the_evidence_of_one(root: Path, size: Size) -> None:
    async with opened(root, size) as seen:
        await seen.press("t", "t", "t", "t", "d")
        await seen.until(lambda: len(seen.keys) == 5)
        seen.table.select(next(key for key in seen.keys if "every prompt" in seen.row(key)[-2]))
        await seen.until(lambda: "parent: failed, exit 1" in seen.text("#proofs"))
        await seen.same("incidents-evidence")


@both_sizes
async def test_a_playbook(root: Path, size: Size) -> None:
    async with opened(root, size) as seen:
        await seen.press("d", "d")
        await seen.settled()
        await seen.same("incidents-playbook")


@both_sizes
async def test_a_search(root: Path, size: Size) -> None:
    async with opened(root, size) as seen:
        await seen.press("t", "t", "t", "t", "slash")
        await seen.type("hook timeout")
        await seen.until(lambda: "search 'hook timeout'" in seen.text("#twin"))
        seen.app.screen.query_one("#filter").cursor_blink = False
        await seen.same("incidents-search")


@both_sizes
async def test_no_registry_yet(size: Size) -> None:
    nowhere = Path("/nowhere/project")
    around = Surroundings(home_environ(Path("/nowhere/home")), cwd=nowhere, clock=lambda: NOW, live=False)
    async with pages.opened(around, "incidents", size=size) as seen:
        await seen.same("incidents-no-registry")


@both_sizes
async def test_no_incident_yet(tmp_path: Path, size: Size) -> None:
    creating.create(tmp_path / "incidents")
    async with opened(tmp_path / "incidents", size) as seen:
        await seen.same("incidents-none")


@both_sizes
async def test_paused_and_stale(root: Path, size: Size) -> None:
    async with opened(root, size) as seen:
        await seen.press("p")
        (root / "log" / "host2-0123456789.jsonl").write_text("")
        seen.page._load_by_itself()
        await seen.until(lambda: "stale" in seen.text("#status"))
        await seen.same("incidents-stale")


@both_sizes
async def test_locked(root: Path, size: Size) -> None:
    async with opened(root, size) as seen:
        held = busy("another writer of this log is at work: it holds log/host1-0123456789.jsonl")
        seen.page.post_message(IncidentsPage.Ended(CALLS["note"], "OD-7K2M", {"text": "slow again"}, held))
        await seen.until(lambda: isinstance(seen.app.screen, Form))
        seen.app.screen.query("Input").first().cursor_blink = False
        await seen.press("escape")
        await seen.same("incidents-locked")


FORMS = {"o": "open", "n": "note", "x": "resolve", "w": "leave", "u": "reopen"}
"""The key of each question, and what it is called."""


@both_sizes
async def test_each_form_and_one_that_was_refused(root: Path, size: Size) -> None:
    async with opened(root, size) as seen:
        for key, name in FORMS.items():
            if key == "u":
                await seen.press("t")
                await seen.until(lambda: "resolved" in seen.text("#status"))
            await seen.press(key)
            await seen.until(lambda: isinstance(seen.app.screen, Form))
            seen.app.screen.query("Input").first().cursor_blink = False
            await seen.same(f"incidents-form-{name}")
            await seen.press("escape")
            await seen.until(lambda: seen.app.screen is seen.page)
        await seen.press("n", "enter")
        await seen.until(lambda: seen.text("#refused"))
        seen.app.screen.query("Input").first().cursor_blink = False
        await seen.same("incidents-form-refused")


@both_sizes
async def test_paused_the_help_and_the_palette(root: Path, size: Size) -> None:
    async with opened(root, size) as seen:
        await seen.press("p")
        await seen.same("incidents-paused")
        await seen.press("question_mark")
        await seen.same("incidents-help")
        await seen.press("escape")
        await seen.palette("reopen")
        await seen.same("incidents-palette")


@both_sizes
async def test_the_page_alone(root: Path, size: Size) -> None:
    around = Surroundings(home_environ(root.parent), cwd=root.parent, clock=lambda: NOW, live=False)
    async with pages.opened(around, "incidents", size=size, alone=True) as seen:
        await seen.same("incidents-alone")


@both_sizes
async def test_a_missing_playbook(root: Path, size: Size) -> None:
    (root / "playbooks" / "hook-timeout.md").unlink()
    async with opened(root, size) as seen:
        await seen.press("d", "d")
        await seen.until(lambda: "There is no page for this class." in seen.text("#no-page"))
        assert "playbooks/hook-timeout.md" in seen.text("#no-page")
        await seen.same("incidents-no-playbook")


@both_sizes
@pytest.mark.parametrize("broken", ["registry.toml", "taxonomy.toml", "log"])
async def test_what_is_broken_in_the_registry(root: Path, size: Size, broken: str) -> None:
    file = root / "log" / "host1-0123456789.jsonl" if broken == "log" else root / broken
    if broken == "log":
        file.write_bytes(file.read_bytes().replace(b"p95 is", b"p96 is") + b"{torn")
    else:
        file.write_text("[[[")
    async with opened(root, size) as seen:
        await seen.until(lambda: seen.text("#notice"))
        await seen.same(f"incidents-broken-{broken.partition('.')[0]}")


@both_sizes
async def test_a_thousand(tmp_path: Path, size: Size) -> None:
    grow(tmp_path / "incidents", 1_000, 2_000)
    async with opened(tmp_path / "incidents", size) as seen:
        await seen.until(lambda: len(seen.keys) > 100)
        await seen.same("incidents-thousand")


STEPS = [
    "fetching origin/main into /srv/fleet",
    f"making a clean worktree of commit {logbooks.SHA[:12]}",
    f"running on commit {logbooks.SHA[:12]}, 300 s at most: python3 test_rules.py once",
]
PLAN = [
    f"in a clean worktree of commit {logbooks.SHA[:12]}: python3 test_rules.py once",
    f"in a clean worktree of parent {logbooks.PARENT[:12]}, test_rules.py of commit {logbooks.SHA[:12]} laid over it: "
    "python3 test_rules.py once",
]
REFUSED = OverdeckError(
    f"test:test_rules.py::once@{logbooks.SHA} passes on parent {logbooks.PARENT[:12]} as well as on commit "
    f"{logbooks.SHA[:12]}: it proves nothing about what changed",
    code="passes-on-both",
    exit_code=ExitCode.REJECTED,
    hint="name a test that fails without the fix",
)


KEYS = {
    Stage.running: [" x cancel", "esc close, it goes on "],
    Stage.asking: [" y run it", "n do not", "x cancel", "esc close, it goes on "],
    Stage.done: [" esc close "],
    Stage.refused: [" e change", "esc close "],
}
"""The keys that work in each stage, and no other, as the window's last line names them."""


def proof(seen: Seen, stage: Stage) -> Proof:
    """A proof of the selected incident that has come so far, driven by nobody."""
    key = seen.keys[0]
    answers = {"artifact": f"test:test_rules.py::once@{logbooks.SHA}"}
    made = Proof(CALLS["resolve"], seen.row(key)[0], key, answers, NOW, stage=stage, steps=STEPS[:1])
    if stage is Stage.asking:
        made.plan = PLAN
    else:
        made.steps = [*STEPS]
        made.heard = "collecting …\n起動 🚨 \x1b[31mred\x1b[0m [bold]\n".encode()
    if stage is Stage.refused:
        made.error = REFUSED
    if stage is Stage.done:
        made.outcome = Done([f"{made.id} resolved: test:test_rules.py::once@{logbooks.SHA} (verified)"])
    return made


@both_sizes
@pytest.mark.parametrize("stage", Stage)
async def test_the_window_of_a_proof(root: Path, size: Size, stage: Stage) -> None:
    async with opened(root, size) as seen:
        seen.app.push_screen(ProofWindow(proof(seen, stage), seen.page.around))
        await seen.until(lambda: isinstance(seen.app.screen, ProofWindow) and seen.text("#keys"))
        assert seen.text("#keys").split("  ") == KEYS[stage]
        await seen.pilot.pause()
        same_now(seen, f"incidents-proof-{stage}")


@both_sizes
async def test_being_verified_behind_the_page(root: Path, size: Size) -> None:
    async with opened(root, size) as seen:
        seen.page._proof = proof(seen, Stage.running)
        seen.page._list.show_rows()
        await seen.until(lambda: "being verified" in seen.text("#status"))
        await seen.same("incidents-being-verified")
