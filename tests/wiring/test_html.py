"""The page of an audit: what it says, what it lets nobody say, and how it looks in a real browser."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import PROGRAM, Page, browser
from homes import Home
from messyhomes import HOSTILE, SLOW, messy

from overdeck.wiring.html.place import MARK

WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, Path, str]:
    """The page of a messy home, and what the command printed beside it."""
    home = Home(tmp_path_factory.mktemp("html") / "home")
    project = messy(home, 60, plugins=10, broken=True, recorded=True)
    page = home.root / "audit.html"
    ran = home.run("overdeck", "audit", "--html", str(page), cwd=project)
    assert ran.code == 0, ran.err
    return home, page, ran.out + ran.err


def test_the_page_says_what_the_terminal_says(written: tuple[Home, Path, str]) -> None:
    _, page, said = written
    text = page.read_text("utf-8")

    assert f"written: {page}" in said
    for words in ("60 hooks in 12 files", "dropped-file", SLOW, "/opt/gone/guard.sh", "3 errors", "killed"):
        assert words in text
    assert "the recorded p50 as wall time" in said and "transcripts, CPU model" in text


def test_nothing_comes_from_elsewhere_and_no_script_is_in_it(written: tuple[Home, Path, str]) -> None:
    text = written[1].read_text("utf-8")

    assert not re.search(r"<script|\bsrc=|@import|url\(|https?:|\son\w+=", text)
    assert "default-src 'none'" in text


def test_a_hostile_command_is_text_and_nothing_else(written: tuple[Home, Path, str]) -> None:
    text = written[1].read_text("utf-8")

    assert "&lt;script&gt;document.title=" in text
    assert "\u202e" in HOSTILE and "\u202e" not in text


def test_a_file_that_is_no_page_of_ours_is_not_overwritten_and_one_that_is_is(home: Home) -> None:
    home.settings.write_text(json.dumps({"hooks": {}}))
    page = home.root / "report.html"
    page.write_text("<html>mine</html>")
    ran = home.run("overdeck", "audit", "--html", str(page), "--json")

    ran.check_refused(2, "not-ours", str(page))
    assert page.read_text() == "<html>mine</html>"
    page.write_text(f"<head>{MARK}")
    assert home.run("overdeck", "audit", "--html", str(page)).code == 0
    assert "<h1>" in page.read_text()


def test_a_folder_and_a_place_that_cannot_be_written_are_refused(home: Home) -> None:
    home.settings.write_text(json.dumps({"hooks": {}}))
    (home.root / "file").write_text("")

    assert home.run("overdeck", "audit", "--html", str(home.root)).code == 2
    assert home.run("overdeck", "audit", "--html", str(home.root / "file" / "a.html")).code == 2


def test_a_home_without_any_hook_has_a_page_too(home: Home) -> None:
    home.settings.write_text("{}")
    page = home.root / "a.html"

    assert home.run("overdeck", "audit", "--html", str(page)).code == 0
    assert "0 hooks in 1 file" in page.read_text()


def test_a_hook_of_a_skill_is_not_among_those_that_never_run(home: Home) -> None:
    home.settings.write_text(
        json.dumps({"hooks": {"Stopp": [{"hooks": [{"type": "command", "command": "never"}]}]}})
    )
    skill = home.root / ".claude" / "skills" / "s" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    hook = "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: sometimes\n"
    skill.write_text(f"---\nname: s\n{hook}---\n")
    page = home.root / "a.html"
    assert home.run("overdeck", "audit", "--html", str(page)).code == 0
    never, _, seldom = (
        page.read_text("utf-8").partition("hooks that never run</h2>")[2].partition("skills and agents</h2>")
    )

    assert "never</code>" in never and "sometimes" not in never
    assert "sometimes</code>" in seldom and "only while its skill is at work" in seldom


def test_the_library_of_the_template_is_loaded_for_a_page_only(home: Home) -> None:
    home.settings.write_text("{}")

    assert "jinja2" not in home.loaded_by("overdeck", "audit")
    assert "jinja2" in home.loaded_by("overdeck", "audit", "--html", str(home.root / "a.html"))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    if PROGRAM is None:
        pytest.skip("no chromium on PATH (Debian: apt-get install chromium)")
    with browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


def test_it_loads_without_a_complaint_and_asks_for_nothing_else(
    page: Page, written: tuple[Home, Path, str]
) -> None:
    page.problems.clear()
    page.requests.clear()
    page.open(written[1], width=1280)

    assert page.problems == []
    assert page.requests == [written[1].as_uri()]
    assert page.say("document.title").startswith("Hook audit")


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(page: Page, written: tuple[Home, Path, str], width: int) -> None:
    page.open(written[1], width=width)

    assert page.say("document.documentElement.scrollWidth") <= width
    assert (
        page.say("""[...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll, svg') &&
        e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))""")
        == []
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_every_chart_has_a_size_a_name_and_something_drawn(
    page: Page, written: tuple[Home, Path, str], width: int
) -> None:
    page.open(written[1], width=width)
    charts = page.say("""[...document.querySelectorAll('svg')].map(s => { const b = s.getBoundingClientRect();
        return [b.width, b.height, s.getAttribute('aria-label') || '', s.querySelectorAll('rect:not(.track)').length,
            Math.max(...[...s.querySelectorAll('rect:not(.track)')].map(r => r.getBoundingClientRect().width))]; })""")

    assert len(charts) > 10
    assert all(
        wide > 50 and high >= 14 and name and drawn and widest > 0 for wide, high, name, drawn, widest in charts
    )
    names = " ".join(chart[2] for chart in charts)
    assert "one Bash call" in names and "waited for hooks, by week" in names and "Kill rate" in names


@pytest.mark.parametrize("width", WIDTHS)
def test_no_text_of_a_chart_is_cut(page: Page, written: tuple[Home, Path, str], width: int) -> None:
    page.open(written[1], width=width)
    cut = page.say("""[...document.querySelectorAll('svg text')].filter(t => { const b = t.getBoundingClientRect(),
        s = t.closest('svg').getBoundingClientRect(); return b.left < s.left - 1 || b.right > s.right + 1 ||
        b.top < s.top - 1 || b.bottom > s.bottom + 1; }).map(t => t.textContent)""")

    assert cut == []
    assert page.say("document.querySelectorAll('svg text').length") > 4


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_stands_out_from_its_ground(page: Page, written: tuple[Home, Path, str], dark: bool) -> None:
    """WCAG 2.2, 1.4.3: 4.5 to 1."""
    page.open(written[1], width=1280, dark=dark)
    ground = page.say("getComputedStyle(document.body).backgroundColor")
    weak = page.say("""(() => {
        const parse = c => c.match(/[\\d.]+/g).map(Number);
        const light = c => { const [r, g, b] = parse(c).map(v => { v /= 255;
            return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return .2126*r + .7152*g + .0722*b; };
        const solid = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
            if (parse(c)[3] !== 0) return c; } return 'rgb(255, 255, 255)'; };
        const bad = [];
        for (const e of document.querySelectorAll('body *')) {
            if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
            const style = getComputedStyle(e), svg = e.closest('svg');
            const [a, b] = [light(svg ? style.fill : style.color), light(solid(svg ? svg.parentElement : e))];
            const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
            if (ratio < 4.5) bad.push([e.className, e.textContent.slice(0, 40), ratio]);
        }
        return bad; })()""")

    assert (ground == "rgb(255, 255, 255)") is not dark
    assert weak == []


def test_it_prints_on_pages(page: Page, written: tuple[Home, Path, str]) -> None:
    page.open(written[1], width=1280)

    assert page.printed().startswith(b"%PDF")


def test_the_hostile_command_did_nothing(page: Page, written: tuple[Home, Path, str]) -> None:
    page.open(written[1], width=1280)

    assert "owned" not in page.say("document.title")
    assert page.say("document.querySelectorAll('script, iframe, img, link, object, embed').length") == 0
