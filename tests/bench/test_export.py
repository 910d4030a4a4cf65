"""What others read a comparison from: the shape of each file, and that no name of an arm can break it."""

import json
import math
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from statistics import mean, median, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs import made_run

from overdeck.bench.export import ArmRuns, Measured, destinations, write_exports
from overdeck.bench.export.hyperfine import HyperfineJson
from overdeck.bench.export.markdown import COLUMNS, Markdown, Summary
from overdeck.bench.statistics import Ratio
from overdeck.errors import ExitCode, OverdeckError
from overdeck.spawn.launch import Run

HYPERFINE = {
    "command",
    "mean",
    "stddev",
    "median",
    "user",
    "system",
    "min",
    "max",
    "times",
    "memory_usage_byte",
    "exit_codes",
}


def run(wall_ms: float, cpu_ms: float, *exits: int | None) -> Run:
    user_us, system_us = round(cpu_ms * 750), round(cpu_ms * 250)
    return made_run(wall_ms=wall_ms, user_us=user_us, system_us=system_us, rss_kb=20_480, exits=exits or (0,))


def arm(name: str, shown: str, *walls: float, exits: tuple[int | None, ...] = (0,)) -> ArmRuns:
    runs = tuple(run(wall, wall / 2, *exits) for wall in walls)
    return ArmRuns(name, shown, runs, starts="3-4", rss="20 MB", exits="0 ×2, 3 ×1")


TWICE = Ratio(2.0, 1.9, 2.1, 0.001)


def measured(*arms: ArmRuns, warnings: tuple[str, ...] = (), ratio: Ratio = TWICE) -> Measured:
    return Measured(
        arms=arms,
        ratios={one.name: {"cpu": ratio, "wall": ratio} for one in arms[1:]},
        metric="cpu",
        sentences=tuple(f"{one.name} takes 2.000x A's CPU: slower" for one in arms[1:]),
        seed=7,
        warnings=warnings,
    )


OPEN = Ratio(2.0, 0.0, math.inf, 0.4)
TWO = measured(arm("A", "python3 old.py", 10, 12, 11), arm("B", "python3 new.py", 20, 25, 21))


def rows(markdown: bytes) -> list[list[str]]:
    """The cells of the one table, as a reader of GitHub's Markdown splits them."""
    lines = [line for line in markdown.decode().splitlines() if line.startswith("|")]
    table = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    assert len({len(row) for row in table}) == 1, "every row has as many cells"
    assert set("".join(table[1])) == {"-", ":"}
    return [table[0], *table[2:]]


def test_the_json_has_the_fields_of_hyperfine_in_its_units():
    results = json.loads(HyperfineJson().render(TWO))["results"]
    assert [set(one) for one in results] == [HYPERFINE, HYPERFINE]
    first = results[0]
    times = [0.010, 0.012, 0.011]
    assert first["command"] == "python3 old.py"
    assert first["times"] == pytest.approx(times)
    for key, value in (
        ("mean", mean(times)),
        ("stddev", stdev(times)),
        ("median", median(times)),
        ("min", 0.010),
        ("max", 0.012),
    ):
        assert first[key] == pytest.approx(value)
    assert (first["user"], first["system"]) == (pytest.approx(0.004125), pytest.approx(0.001375))
    assert first["memory_usage_byte"] == [20_480 * 1024] * 3
    assert first["exit_codes"] == [0, 0, 0]


@pytest.mark.parametrize(
    ("exits", "code"), [((0, 0), 0), ((0, 3, 4), 3), ((-9,), 137), ((0, -15), 143), ((None,), None)]
)
def test_an_exit_code_is_the_first_that_is_not_zero_as_a_shell_says_it(exits, code):
    said = json.loads(HyperfineJson().render(measured(arm("A", "a", 1, exits=exits), arm("B", "b", 1))))
    assert said["results"][0]["exit_codes"] == [code]
    assert said["results"][0]["stddev"] is None, "one run has no spread"


def test_the_markdown_is_one_table_with_a_row_an_arm():
    head, first, second = rows(Markdown().render(TWO))
    assert tuple(head) == COLUMNS
    assert first[:4] == ["A", "`python3 old.py`", "5.50 ms", "1"]
    assert second[:4] == ["B", "`python3 new.py`", "10.50 ms", "2.000 (1.900-2.100)"]
    assert second[6:] == ["3-4", "20 MB", "0 ×2, 3 ×1"]


def test_an_interval_that_a_few_blocks_cannot_bound_is_open_as_on_the_terminal():
    said = rows(Markdown().render(measured(*TWO.arms, ratio=OPEN)))
    assert said[2][3] == "2.000 (0.0-…)"


@given(st.text(alphabet="ab|`\\\n*_<>[]#$ é", min_size=1, max_size=30))
def test_no_command_line_breaks_the_markdown(shown):
    found = rows(Markdown().render(measured(arm("A", shown, 1), arm("B", f"sh -c '{shown}'", 2))))
    assert len(found) == 3
    assert all(len(row) == len(COLUMNS) for row in found)


def test_a_summary_stands_behind_what_is_there_and_everything_else_takes_its_place(tmp_path):
    summary, page = tmp_path / "summary.md", tmp_path / "page.md"
    for file in (summary, page):
        file.write_text("before\n")
    write_exports(TWO, destinations(summary=summary, markdown=page))
    write_exports(TWO, destinations(summary=summary, markdown=page))
    assert summary.read_text().startswith("before\n### hookbench ab\n\n**B takes 2.000x A's CPU: slower**\n")
    assert summary.read_text().count("### hookbench ab") == 2
    assert page.read_bytes() == Markdown().render(TWO)


def test_a_summary_tells_the_warnings_and_what_they_say_means_nothing_to_markdown():
    said = Summary().render(measured(*TWO.arms, warnings=("load of `x` | <b>", "two"))).decode()
    assert "> [!WARNING]\n> - load of \\`x\\` \\| \\<b\\>\n> - two\n" in said
    assert "WARNING" not in Summary().render(TWO).decode()


def test_three_arms_are_three_rows_and_two_sentences():
    three = measured(*TWO.arms, arm("C", "true", 1, 1, 1))
    said = Markdown().render(three)
    assert [row[0] for row in rows(said)[1:]] == ["A", "B", "C"]
    assert said.decode().count(": slower**") == 2


class TestPlot:
    """Needs the extra."""

    @pytest.fixture(autouse=True)
    def _extra(self):
        pytest.importorskip("matplotlib")

    @pytest.fixture
    def drawn(self, tmp_path):
        def draw(what: Measured, name: str = "plot.svg") -> bytes:
            write_exports(what, destinations(plot=tmp_path / name))
            return (tmp_path / name).read_bytes()

        return draw

    def test_an_svg_is_xml_with_a_dot_a_block_the_estimate_and_both_distributions(self, drawn):
        svg = drawn(TWO)
        root = ET.fromstring(svg)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        dots = root.find(".//*[@id='blocks-B']")
        assert dots is not None
        assert len(dots.findall(".//{http://www.w3.org/2000/svg}use")) == 3
        text = "".join(root.itertext())
        for piece in ("Hodges–Lehmann 2.000", "95 % CI", "B takes 2.000x", "A: python3 old.py", "share of runs"):
            assert piece in text

    def test_the_same_runs_give_the_same_bytes(self, drawn):
        assert drawn(TWO) == drawn(TWO, "again.svg")

    def test_a_png_is_one(self, drawn):
        assert drawn(TWO, "plot.PNG").startswith(b"\x89PNG\r\n\x1a\n")

    @pytest.mark.parametrize("shown", ["echo $HOME $X", "a_b^c \\frac <&>\"'", "x" * 300, "é\n表"])
    def test_no_command_line_breaks_a_picture(self, drawn, shown):
        picture = ET.fromstring(drawn(measured(arm("A", shown, 1, 2), arm("B", shown, 0.01, 500))))
        assert picture.tag.endswith("svg")

    @pytest.mark.filterwarnings("error")
    def test_an_interval_without_bounds_is_not_drawn(self, drawn):
        assert b"95 % CI" not in drawn(measured(*TWO.arms, ratio=OPEN))

    def test_three_arms_are_two_strips(self, drawn):
        svg = drawn(measured(*TWO.arms, arm("C", "true", 1, 1, 1)))
        assert svg.count(b'id="blocks-') == 2


@pytest.mark.parametrize("name", ["plot.pdf", "plot", "plot.svg.gz"])
def test_another_kind_of_picture_is_a_usage_error(tmp_path, name):
    with pytest.raises(OverdeckError, match=r"\.svg or \.png") as error:
        destinations(plot=tmp_path / name)
    assert error.value.exit_code == ExitCode.USAGE


def test_without_matplotlib_the_plot_says_what_to_install_before_anything_runs(tmp_path):
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from importlib import util; util.find_spec = lambda name: None\n"
        "from pathlib import Path\n"
        "from overdeck.bench.export import destinations\n"
        "from overdeck.errors import OverdeckError\n"
        "try: destinations(plot=Path('p.svg'))\n"
        "except OverdeckError as error: print(error.code, error.hint)\n"
    )
    root = Path(__file__).resolve().parent.parent.parent
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(root)},
    ).stdout  # fmt: skip
    assert said.startswith("no-matplotlib pip install 'overdeck[plot]'")


@pytest.mark.parametrize("kind", ["json", "markdown", "summary"])
def test_a_place_that_cannot_be_written_is_told_before_anything_runs(tmp_path, kind):
    for path in (tmp_path / "nowhere" / "file", tmp_path):
        with pytest.raises(OverdeckError, match="cannot be written") as error:
            destinations(**{kind: path})
        assert error.value.exit_code == ExitCode.USAGE


@pytest.mark.parametrize("option", ["--export-json", "--export-markdown", "--summary", "--raw"])
@pytest.mark.parametrize("name", ["call.json", "link.json", "./call.json"])
def test_the_payload_is_never_overwritten(hookbench, payload, tmp_path, option, name):
    (tmp_path / "call.json").write_bytes(payload.read_bytes())
    (tmp_path / "link.json").symlink_to("call.json")
    said = hookbench("ab", "true", "true", "--payload", "call.json", "--pairs", 8, option, name)
    assert said.code == 2
    assert f"{option} would overwrite" in said.err and "the payload" in said.err
    assert (tmp_path / "call.json").read_bytes() == payload.read_bytes()


def test_no_two_files_of_a_measurement_are_one(hookbench, payload, tmp_path):
    for first, second in (
        ("--export-json", "--export-markdown"),
        ("--raw", "--summary"),
        ("--summary", "--export-json"),
    ):
        said = hookbench("ab", "true", "true", "--payload", payload, "--pairs", 8, first, "same", second, "./same")
        assert said.code == 2, (first, second)
        assert "would overwrite" in said.err
        assert not (tmp_path / "same").exists()


@pytest.mark.parametrize("option", ["--export-json", "--export-markdown", "--summary"])
def test_a_report_never_overwrites_its_record(hookbench, payload, tmp_path, option):
    hookbench("ab", "true", "true", "--payload", payload, "--pairs", 8, "--raw", "raw.jsonl", "--no-starts")
    before = (tmp_path / "raw.jsonl").read_bytes()
    said = hookbench("report", "raw.jsonl", option, "raw.jsonl")
    assert said.code == 2 and "the raw record" in said.err
    assert (tmp_path / "raw.jsonl").read_bytes() == before


def test_what_is_no_file_may_take_several_exports(hookbench, payload):
    words = ("--export-json", "/dev/stderr", "--export-markdown", "/dev/stderr")
    assert hookbench("ab", "true", "true", "--payload", payload, "--pairs", 8, "--no-starts", *words).code == 0


def test_words_that_are_no_utf8_are_exported(hookbench, payload, tmp_path):
    words = ("--export-json", "x.json", "--export-markdown", "x.md", "--summary", "x.sum")
    said = hookbench("ab", "echo \udcff", "echo \udcff", "--payload", payload, "--pairs", 8, "--no-starts", *words)
    assert said.code == 0, said.err
    assert json.loads((tmp_path / "x.json").read_bytes())["results"]


def test_ab_writes_every_export_and_report_writes_the_same_from_the_raw_record(hookbench, payload, tmp_path):
    words = ("--export-json", "X.json", "--export-markdown", "X.md", "--summary", "X.summary")
    arms = ("cat", "sh -c cat", "sh -c 'cat; exit'")
    said = hookbench("ab", *arms, "--payload", payload, "--pairs", 10, "--raw", "raw.jsonl", "--seed", 3,
                     *(word.replace("X", "ab") for word in words))  # fmt: skip
    assert said.code == 0, said.err
    again = hookbench("report", "raw.jsonl", *(word.replace("X", "report") for word in words))
    assert again.code == 0, again.err
    for ending in ("json", "md", "summary"):
        assert (tmp_path / f"ab.{ending}").read_bytes() == (tmp_path / f"report.{ending}").read_bytes()
    results = json.loads((tmp_path / "ab.json").read_bytes())["results"]
    assert [one["command"] for one in results] == list(arms)
    assert [len(one["times"]) for one in results] == [10, 10, 10]
    table = rows((tmp_path / "ab.md").read_bytes())
    assert [row[0] for row in table] == ["arm", "A", "B", "C"]
    assert said.out.splitlines()[0].startswith("B takes ") and "seed 3;" in (tmp_path / "ab.md").read_text()


def test_ab_draws_what_it_measured(hookbench, payload, tmp_path):
    pytest.importorskip("matplotlib")
    said = hookbench(
        "ab", "cat", "sh -c cat", "--payload", payload, "--pairs", 8, "--no-starts", "--plot", "p.svg"
    )
    assert said.code == 0, said.err
    ET.fromstring((tmp_path / "p.svg").read_bytes())


@pytest.mark.parametrize(
    "words",
    [("--plot", "p.pdf"), ("--export-json", "no/where.json"), ("--summary", "."), ("--export-markdown", "no/x")],
)
@pytest.mark.parametrize("verb", ["ab", "report"])
def test_an_export_that_could_not_be_written_is_a_usage_error_before_anything_runs(
    hookbench, tmp_path, verb, words
):
    (tmp_path / "raw.jsonl").touch()
    arms = (f"touch {tmp_path}/ran", "true") if verb == "ab" else ("raw.jsonl",)
    said = hookbench(verb, *arms, *words)
    assert (said.code, said.out) == (2, "")
    assert not (tmp_path / "ran").exists()


def test_the_ci_page_is_only_written_where_it_is_asked_for(home, environ, tmp_path):
    page = tmp_path / "page.md"
    words = ("ab", "true", "true", "--pairs", "8", "--no-starts")
    ran = home.run("hookbench", *words, cwd=tmp_path, env={**environ, "GITHUB_STEP_SUMMARY": str(page)})
    assert ran.code == 0, ran.err
    assert not page.exists()
    assert "GITHUB_STEP_SUMMARY" in home.run("hookbench", "ab", "--help").out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
@pytest.mark.parametrize(("option", "told"), [("--export-json", "B takes "), ("--raw", "")])
def test_a_pipe_that_nobody_reads_is_refused_in_words(hookbench, tmp_path, option, told):
    """Where it is an export, the outcome is told first."""
    os.mkfifo(tmp_path / "pipe")
    said = hookbench("ab", "true", "true", "--pairs", 8, "--no-starts", option, tmp_path / "pipe")
    assert (said.code, said.out[:8]) == (2, told)
    assert f"nobody reads the pipe {tmp_path}/pipe" in said.err


def test_a_full_disk_is_told_with_the_file_and_the_outcome_is_not_lost(hookbench, payload):
    words = ("--payload", payload, "--pairs", 8, "--no-starts", "--allow-diff", "--export-markdown", "/dev/full")
    said = hookbench("ab", "true", "cat", *words)
    assert said.code == 2
    assert said.out.startswith("B takes ")
    assert "/dev/full cannot be used: No space left on device" in said.err
