"""The frame of every page: pages behind keys, one registry of actions, refreshing, filter, clipboard, questions."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pages
import pytest
from fruits import BASKET, FruitPage
from pages import LARGE, SMALL, Seen, both_sizes, home_environ
from textual.command import CommandPalette
from textual.widgets import Input, Static

from overdeck.tui.actions import bindings, every
from overdeck.tui.app import PAGES
from overdeck.tui.forms import Form
from overdeck.tui.help import Help
from overdeck.tui.keybar import KeyBar, hints
from overdeck.tui.page import TABS, Page
from overdeck.tui.standing import Standing
from overdeck.tui.surroundings import Surroundings

pytestmark = pytest.mark.timeout(60)
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    """A user with nothing: no module, no registry, no run; it is noon."""
    return Surroundings(home_environ(tmp_path), cwd=tmp_path, clock=lambda: NOW, live=False)


@asynccontextmanager
async def fruits(
    around: Surroundings, size: tuple[int, int] = SMALL, theme: str | None = None
) -> AsyncIterator[Seen]:
    async with pages.opened(around, size=size, theme=theme, made=PAGES | {"hooks": FruitPage}) as seen:
        yield seen


def page(seen: Seen) -> FruitPage:
    assert isinstance(seen.page, FruitPage)
    return seen.page


# Pages.


async def test_keys_1_to_4_lead_to_the_pages(around: Surroundings) -> None:
    async with pages.opened(around) as seen:
        for name, key, _title in (*TABS[1:], TABS[0]):
            await seen.press(key)
            await seen.until(lambda name=name: name == seen.page.PAGE)


async def test_a_click_on_a_tab_leads_there(around: Surroundings) -> None:
    async with fruits(around) as seen:
        await seen.pilot.click(
            "#tabs", offset=(str(seen.page.query_one("#tabs", Static).content).index("Bench"), 0)
        )
        await seen.until(lambda: seen.page.PAGE == "bench")


async def test_a_page_that_is_left_is_as_it_was_when_one_comes_back(around: Surroundings) -> None:
    async with fruits(around) as seen:
        await seen.press("s", "down", "3")
        await seen.until(lambda: seen.page.PAGE == "machine")
        await seen.press("1")
        await seen.until(lambda: seen.page.PAGE == "hooks")
        assert (seen.table.sorted_by.key, seen.table.selected_key) == ("colour", "banana")


async def test_a_page_one_comes_back_to_is_read_again(around: Surroundings) -> None:
    async with fruits(around) as seen:
        await seen.press("3")
        await seen.until(lambda: seen.page.PAGE == "machine")
        hidden = seen.app._screen_stacks["hooks"][0]
        assert isinstance(hidden, FruitPage)
        hidden.basket = BASKET[:1]
        await seen.press("1")
        await seen.until(lambda: seen.page is hidden and seen.keys == ["apple"])


async def test_a_paused_page_one_comes_back_to_is_not_read_and_says_how_old_it_is(around: Surroundings) -> None:
    now = [NOW]
    async with fruits(replace(around, clock=lambda: now[0])) as seen:
        await seen.press("p", "3")
        await seen.until(lambda: seen.page.PAGE == "machine")
        hidden = seen.app._screen_stacks["hooks"][0]
        assert isinstance(hidden, FruitPage)
        loads, hidden.basket = hidden.loads, BASKET[:1]
        now[0] += timedelta(minutes=7)
        await seen.press("1")
        await seen.until(lambda: seen.page is hidden)
        await seen.until(lambda: seen.text("#status").startswith("paused · data of 7 min ago"))
        assert (hidden.loads, len(seen.keys)) == (loads, 4)


@pytest.mark.parametrize("visited", [False, True], ids=["never seen", "seen before"])
async def test_one_page_can_send_the_user_to_another_with_its_filter_filled(
    around: Surroundings, visited: bool
) -> None:
    async with fruits(around) as seen:
        if visited:
            await seen.press("2", "1")
            await seen.until(lambda: seen.page.PAGE == "hooks")
        page(seen).post_message(Page.Go("incidents", "hook-timeout"))
        await seen.until(lambda: seen.page.PAGE == "incidents" and seen.page.is_mounted)
        await seen.until(lambda: seen.page.filter_text == "hook-timeout")
        assert seen.page.query_one("#filter").display


async def test_one_page_alone_has_no_other_tab_and_its_key_says_why(around: Surroundings) -> None:
    async with pages.opened(around, "bench", alone=True) as seen:
        assert str(seen.page.query_one("#tabs", Static).content).split() == ["overdeck", "4", "Bench"]
        await seen.press("1")
        await seen.until(lambda: any("overdeck tui" in said for said in seen.said))
        assert seen.page.PAGE == "bench"


@pytest.mark.parametrize("first", [(), ("slash",), ("question_mark",), ("colon",), ("a",)], ids=str)
async def test_ctrl_c_quits_wherever_the_user_is(around: Surroundings, first: tuple[str, ...]) -> None:
    async with fruits(around) as seen:
        await seen.press(*first, "ctrl+c")
        await seen.until(lambda: not seen.app.is_running)
        assert seen.app.return_code == 0


async def test_q_quits(around: Surroundings) -> None:
    async with fruits(around) as seen:
        await seen.press("q")
        await seen.until(lambda: not seen.app.is_running)
        assert seen.app.return_code == 0


# The registry of actions.


@pytest.mark.parametrize("name", PAGES)
def test_no_key_of_a_page_does_two_things(name: str, around: Surroundings) -> None:
    made = PAGES[name](around)
    keys = [key for action in every(made.OWN) for key in action.key.split(",") if key]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("name", PAGES)
def test_every_action_has_a_method_and_a_sentence(name: str, around: Surroundings) -> None:
    made = PAGES[name](around)
    for action in every(made.OWN):
        assert callable(getattr(made, f"do_{action.name}")), action.name
        assert action.title and action.help and not action.help.endswith(".")


@pytest.mark.parametrize("name", PAGES)
def test_what_textual_listens_to_is_what_the_registry_says(name: str, around: Surroundings) -> None:
    made = PAGES[name](around)
    assert list(made.BINDINGS) == bindings(every(made.OWN))


async def test_an_action_that_can_be_done_is_done(around: Surroundings) -> None:
    async with fruits(around) as seen:
        await seen.press("e")
        assert page(seen).eaten == ["apple"]


async def test_an_action_that_cannot_be_done_stays_visible_dimmed_and_says_why(around: Surroundings) -> None:
    async with fruits(around) as seen:
        seen.table.select("quince")
        await seen.until(lambda: seen.text("#detail") == "on quince")
        assert "e Eat" in seen.keybar
        content = seen.page.query_one(KeyBar).content
        dimmed = {str(content)[span.start : span.end].strip() for span in content.spans if span.style.dim}
        assert "Eat" in dimmed and "Ask" not in dimmed
        await seen.press("e")
        await seen.until(lambda: "Eat: a quince is eaten cooked; cook it first" in seen.said)
        assert page(seen).eaten == []


async def test_a_click_on_the_key_bar_is_the_key(around: Surroundings) -> None:
    async with fruits(around) as seen:
        await seen.pilot.click(KeyBar, offset=(seen.keybar.index("Eat"), 0))
        await seen.until(lambda: page(seen).eaten == ["apple"])


async def test_a_page_s_own_actions_come_before_what_every_page_can_do(around: Surroundings) -> None:
    async with fruits(around) as seen:
        bar = seen.keybar
        assert bar.index("Filter") < bar.index("Eat") < bar.index("Ask") < bar.index("Sort")


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("name", PAGES)
def test_help_filter_and_quit_are_in_the_key_bar_of_every_page(
    name: str, around: Surroundings, width: int
) -> None:
    actions = [(action, None) for action in every(PAGES[name](around).OWN) if action.bar]
    first, *more = str(hints(actions, width)).split("\n")
    assert first.startswith(" ? Help  / Filter  ") and [first, *more][-1].endswith(" q Quit ")
    assert len(more) <= 1 and all(len(line) <= width for line in (first, *more))


@pytest.mark.parametrize("width", [20, 40, 80])
async def test_the_key_bar_shows_whole_hints_in_two_lines_at_most(around: Surroundings, width: int) -> None:
    async with fruits(around, size=(width, 24)) as seen:
        shown = seen.keybar.split("\n")
        assert len(shown) <= 2 and all(len(line) <= width for line in shown)
        titles = [action.title for action, _reason in page(seen).actions()]
        assert all(line.split()[-1] in titles for line in shown)
        assert seen.page.query_one(KeyBar).size.height == len(shown)


async def test_the_help_names_every_key_and_why_it_does_nothing_now(around: Surroundings) -> None:
    async with fruits(around) as seen:
        seen.table.select("quince")
        await seen.press("question_mark")
        await seen.until(lambda: isinstance(seen.app.screen, Help))
        shown = seen.text("#keys")
        for action, reason in page(seen).actions():
            assert action.help in shown and (reason or "") in shown
        assert "not now: a quince is eaten cooked" in shown
        await seen.press("escape")
        await seen.until(lambda: seen.app.screen is seen.page)


async def test_the_palette_finds_an_action_and_does_it(around: Surroundings) -> None:
    async with fruits(around) as seen:
        await seen.press("ctrl+p")
        await seen.until(lambda: isinstance(seen.app.screen, CommandPalette))
        await seen.type("eat")
        await seen.until(lambda: seen.offered[:1] == ["Eat"])
        await seen.press("enter")
        await seen.until(lambda: page(seen).eaten == ["apple"])


async def test_the_palette_offers_every_action_and_says_why_one_cannot_be_done(around: Surroundings) -> None:
    async with fruits(around, LARGE) as seen:
        seen.table.select("quince")
        await seen.press("colon")
        await seen.until(lambda: len(seen.offered) == len(page(seen).actions()))
        await seen.type("eat")
        await seen.until(lambda: seen.offered[:1] == ["Eat"])
        await seen.press("enter")
        await seen.until(lambda: any("cook it first" in said for said in seen.said))
        assert page(seen).eaten == []


# Reading again, filter, clipboard.


async def test_a_page_reads_by_itself_until_it_is_paused_and_says_so(around: Surroundings) -> None:
    async with fruits(replace(around, live=True)) as seen:
        await seen.until(lambda: page(seen).loads > 3)
        await seen.press("p")
        await seen.until(lambda: seen.text("#status").startswith("paused"))
        before = page(seen).loads
        page(seen).basket = BASKET[:1]
        for _ in range(20):
            await seen.pilot.pause(0.01)
        assert page(seen).loads <= before + 1  # one may have been on its way
        assert len(seen.keys) == 4
        await seen.press("p")
        await seen.until(lambda: seen.keys == ["apple"])
        assert "paused" not in seen.text("#status")


async def test_a_page_below_a_help_page_does_not_read(around: Surroundings) -> None:
    async with fruits(replace(around, live=True)) as seen:
        await seen.press("question_mark")
        await seen.until(lambda: isinstance(seen.app.screen, Help))
        before = page(seen).loads
        for _ in range(20):
            await seen.pilot.pause(0.01)
        assert page(seen).loads <= before + 1
        await seen.press("escape")
        await seen.until(lambda: page(seen).loads > before + 3)


async def test_a_page_without_a_timer_says_so_when_it_is_paused(around: Surroundings) -> None:
    class Still(FruitPage):
        EVERY_S = None

    async with pages.opened(around, made={"hooks": Still}) as seen:
        await seen.press("p")
        await seen.until(lambda: any("when you press r" in said for said in seen.said))
        assert not seen.page.paused


async def test_the_age_of_the_data_grows_while_nobody_does_anything(around: Surroundings) -> None:
    now = [NOW]
    async with fruits(replace(around, clock=lambda: now[0])) as seen:
        now[0] += timedelta(minutes=1)
        await seen.until(lambda: "data of 1 min ago" in seen.text("#status"))


async def test_the_filter_narrows_as_it_is_typed_enter_keeps_it_and_escape_ends_it(around: Surroundings) -> None:
    async with fruits(around) as seen:
        await seen.press("slash")
        await seen.type("an")
        await seen.until(lambda: seen.keys == ["banana"])
        await seen.press("enter")
        assert seen.table.has_focus and seen.keys == ["banana"]
        await seen.press("escape")
        await seen.until(lambda: len(seen.keys) == 4)
        assert not seen.page.query_one("#filter", Input).display


async def test_letters_typed_into_the_filter_are_no_commands(around: Surroundings) -> None:
    async with fruits(around) as seen:
        await seen.press("slash")
        await seen.type("qeT1p?")
        await seen.until(lambda: seen.page.filter_text == "qeT1p?")
        assert seen.app.is_running and not page(seen).eaten and not page(seen).paused


async def test_one_passing_word_at_a_time_away_from_the_keys_and_gone_at_the_next_key(
    around: Surroundings,
) -> None:
    async with pages.opened(around, made=PAGES | {"hooks": FruitPage}, toasts=True) as seen:
        seen.table.select("柿 persimmon")
        await seen.press("y", "y", "c")
        await seen.until(lambda: len(seen.toasts) == 1)
        await seen.pilot.pause()
        (toast,) = seen.app.screen.query("Toast")
        assert 0 < toast.region.bottom <= SMALL[1] // 2
        await seen.press("down")
        await seen.until(lambda: not seen.toasts)


async def test_what_failed_stays_in_the_status_line_until_something_is_done(around: Surroundings) -> None:
    async with fruits(around) as seen:
        page(seen).fail("the basket is locked. Next: look who holds it")
        await seen.press("down")
        assert seen.text("#status").startswith("failed: the basket is locked. Next: look who holds it")
        await seen.press("y")
        await seen.until(lambda: "failed" not in seen.text("#status"))


async def test_c_copies_the_row_and_y_the_twin(around: Surroundings) -> None:
    async with fruits(around) as seen:
        seen.table.select("柿 persimmon")
        await seen.press("c")
        assert seen.app.clipboard == "柿 persimmon"
        await seen.press("y")
        assert seen.app.clipboard == "overdeck fires --json"
        assert seen.text("#twin").endswith("overdeck fires --json")
        await seen.until(lambda: "sent to the terminal's clipboard: the fruit's name" in seen.said)


async def test_nothing_selected_is_nothing_to_copy(around: Surroundings) -> None:
    async with fruits(around) as seen:
        await seen.press("slash")
        await seen.type("no such fruit")
        await seen.press("enter", "c")
        await seen.until(lambda: "Copy: no row is selected" in seen.said)


# Questions.


async def test_a_question_is_answered_with_enter_and_left_with_escape(around: Surroundings) -> None:
    async with fruits(around) as seen:
        await seen.press("a")
        await seen.until(lambda: isinstance(seen.app.screen, Form))
        await seen.type("hungry")
        await seen.press("enter")
        await seen.until(lambda: page(seen).answers == [{"why": "hungry", "whom": "me"}])
        await seen.press("a", "escape")
        await seen.until(lambda: page(seen).answers[1:] == [None])


async def test_a_question_refuses_an_empty_answer_that_is_needed_and_says_why(around: Surroundings) -> None:
    async with fruits(around) as seen:
        await seen.press("a", "enter")
        await seen.until(lambda: seen.text("#refused") == "a reason is needed")
        assert page(seen).answers == []


# How it looks.


@both_sizes
async def test_a_page_looks_the_same(around: Surroundings, size: tuple[int, int]) -> None:
    async with fruits(around, size) as seen:
        await seen.same("fruits")


@both_sizes
async def test_a_page_that_has_everything_to_say_looks_the_same(
    around: Surroundings, size: tuple[int, int]
) -> None:
    async with fruits(around, size) as seen:
        await seen.press("p", "slash")
        await seen.type("an")
        page(seen).standing = Standing(
            as_of=NOW,
            locked="another process is ingesting",
            missing="no fruit was ever bought. Type: overdeck install",
            warnings=["one fruit is rotten", "two are green"],
            facts=("1 of 4 fruits",),
        )
        await seen.same("fruits-troubles")


@both_sizes
async def test_the_help_looks_the_same(around: Surroundings, size: tuple[int, int]) -> None:
    async with fruits(around, size) as seen:
        await seen.press("question_mark")
        await seen.same("help")


@both_sizes
async def test_a_question_looks_the_same(around: Surroundings, size: tuple[int, int]) -> None:
    async with fruits(around, size) as seen:
        await seen.press("a")
        await seen.same("question")


@both_sizes
async def test_the_palette_looks_the_same(around: Surroundings, size: tuple[int, int]) -> None:
    async with fruits(around, size) as seen:
        await seen.press("colon")
        await seen.type("copy")
        await seen.until(lambda: seen.offered[:2] == ["Copy", "Copy command"])
        await seen.same("palette")


@pytest.mark.parametrize("size", [(20, 6), (80, 24), (200, 60)])
async def test_a_screen_that_is_made_smaller_and_larger_shows_the_same_as_one_of_that_size(
    around: Surroundings, size: tuple[int, int]
) -> None:
    async with fruits(around, size) as straight:
        wanted = straight.app.export_screenshot(simplify=True)
    async with fruits(around, (120, 40)) as seen:
        await seen.pilot.resize_terminal(30, 10)
        await seen.pilot.resize_terminal(*size)
        await seen.settled()
        assert lines(seen.app.export_screenshot(simplify=True)) == lines(wanted)


def lines(svg: str) -> list[str]:
    from snapshots import normalised, text_of

    return text_of(normalised(svg))
