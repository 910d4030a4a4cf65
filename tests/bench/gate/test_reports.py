"""``hookbench gate --summary --junit``: what a CI reads says INVALID from the start until a verdict is there."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from gated import BURN_60_MS, GATE, HOOK
from homes import Ran
from waiting import until

from overdeck.process import argv_of

STREAMS = ("stdout", "stderr")
GREEN = """<?xml version='1.0' encoding='utf-8'?>
<testsuite name="hookbench gate" tests="1" failures="0" errors="0" skipped="0"><testcase name="x"/></testsuite>"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A summary that another step has begun, and the green XML of an earlier run."""
    summary, xml = tmp_path / "summary.md", tmp_path / "junit.xml"
    summary.write_bytes(b"# another step \xff\n")
    xml.write_text(GREEN)
    return summary, xml


@pytest.fixture
def reported(gate: Callable, files: tuple[Path, Path]) -> Callable:
    return lambda *words: gate("--summary", files[0], "--junit", files[1], *words)


def said(summary: Path) -> str:
    return summary.read_text("utf-8", "replace")


def cases(xml: Path) -> dict[str, list[str]]:
    """Outcome by ``scenario/metric``: the tags below each case."""
    suite = ElementTree.parse(xml).getroot()
    found = {f"{case.get('classname')}/{case.get('name')}": [child.tag for child in case] for case in suite}
    for plural, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert suite.get(plural) == str(sum(tag in tags for tags in found.values()))
    assert suite.get("tests") == str(len(found))
    return found


def test_a_failing_gate_has_a_case_for_each_metric_and_a_failure_for_the_dear_one(reported, repository, files):
    summary, xml = files
    repository.hook(HOOK + BURN_60_MS)
    assert reported().code == 1
    assert set(cases(xml)) == {"a call/cpu", "a call/wall", "a call/starts", "a call/control"}
    assert cases(xml)["a call/cpu"] == ["failure"]
    assert cases(xml)["a call/starts"] == []
    assert summary.read_bytes().startswith(b"# another step \xff\n\n### hookbench gate: FAIL\n")
    text = said(summary)
    assert "| a call | cpu | fail |" in text
    assert "INVALID" not in text


def test_a_second_gate_appends_its_own_section(reported, repository, files):
    repository.gate(GATE.format(base=""))
    reported()
    reported()
    assert said(files[0]).count("### hookbench gate: INVALID") == 2


def test_a_gate_without_a_base_leaves_no_green_file(reported, repository, files):
    repository.gate(GATE.format(base=""))
    assert reported().code == 4
    assert cases(files[1]) == {"hookbench gate/finished": ["error"]}
    assert "no base is pinned" in said(files[0])


def test_a_gate_without_a_gate_file_leaves_no_green_file(reported, files):
    assert reported("--config", "none.toml").code == 2
    assert cases(files[1]) == {"hookbench gate/finished": ["error"]}


def test_an_invalid_scenario_is_an_error_for_each_metric_whatever_its_hook_printed(reported, repository, files):
    repository.hook("#!/bin/sh\nprintf '\\033[31m<&\\001' >&2\nno-such-program\n")
    repository.gate(GATE.format(base=repository.commit()))
    assert reported().code == 4
    assert cases(files[1]) == {f"a call/{metric}": ["error"] for metric in ("cpu", "wall", "starts")}
    assert "exited 127" in said(files[0])


def test_a_killed_gate_leaves_invalid_in_both_files(gate, repository, environ, files, tmp_path):
    summary, xml = files
    started = tmp_path / "started"
    repository.hook(f"#!/bin/sh\n: >{started}\nexec sleep 300\n")
    repository.gate(GATE.format(base=repository.commit()))
    running = subprocess.Popen(
        [*argv_of("hookbench"), "gate", "--summary", summary, "--junit", xml],
        cwd=repository.root,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    until(lambda: started.exists() or running.poll() is not None, within_s=60)
    assert running.poll() is None
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=60)  # until the spawner too, which ends its arms, has closed its output
    assert cases(xml) == {"hookbench gate/finished": ["error"]}
    assert "### hookbench gate: INVALID\n\nthe gate did not finish" in said(summary)


@pytest.mark.parametrize("option", ["--summary", "--junit"])
def test_a_report_that_cannot_be_written_is_told_before_anything_is_built(gate, repository, tmp_path, option):
    (tmp_path / "file").write_text("")
    said = gate(option, tmp_path / "file" / "report")
    assert said.code == 2
    assert "building" not in said.err
    assert str(tmp_path / "file") in said.err


def is_refused(said: Ran, why: str) -> None:
    assert (said.code, why in said.err, "building" in said.err) == (2, True, False), said


@pytest.mark.parametrize("option", ["--summary", "--junit"])
def test_a_report_that_is_no_file_is_refused_and_left_as_it_is(gate, tmp_path, option):
    os.mkfifo(tmp_path / "pipe")
    is_refused(gate(option, tmp_path / "pipe"), "is not a regular file")
    is_refused(gate(option, tmp_path), "is not a regular file")
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("option", ["--summary", "--junit"])
def test_no_folder_is_made_for_a_report(gate, tmp_path, option):
    is_refused(gate(option, tmp_path / "new" / "report"), "is no folder that is there")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("option", ["--summary", "--junit"])
def test_the_gate_file_is_no_place_for_a_report(gate, repository, option):
    file = repository.root / "bench" / "gate.toml"
    before = file.read_bytes()
    is_refused(gate(option, file), "is the gate file itself")
    assert file.read_bytes() == before


def test_both_reports_in_one_file_are_refused(gate, files, tmp_path):
    (tmp_path / "link").symlink_to(files[1])
    is_refused(gate("--summary", tmp_path / "link", "--junit", files[1]), "are one file")
    is_refused(gate("--summary", tmp_path / "new", "--junit", tmp_path / "new"), "are one file")


def test_junit_replaces_nothing_that_is_not_a_report_of_ours_and_the_summary_stays_too(gate, files, tmp_path):
    (tmp_path / "notes").write_text("mine")
    before = files[0].read_bytes()
    is_refused(gate("--summary", files[0], "--junit", tmp_path / "notes"), "is no JUnit file of a gate")
    assert ((tmp_path / "notes").read_text(), files[0].read_bytes()) == ("mine", before)


@pytest.mark.parametrize("reader_is_gone", ["stdout", "stderr", "both"])
@pytest.mark.parametrize(("burn", "code"), [("", 0), (BURN_60_MS, 1), ("exit 3\n", 4)])
def test_a_reader_that_left_decides_nothing(repository, environ, files, reader_is_gone, burn, code):
    repository.hook(HOOK + burn)
    gone, left = os.pipe()
    os.close(gone)
    streams = {name: subprocess.DEVNULL if reader_is_gone not in (name, "both") else left for name in STREAMS}
    words = ["gate", "--pairs-cap", "16", "--junit", str(files[1])]
    ran = subprocess.run([*argv_of("hookbench"), *words], cwd=repository.root, env=environ, check=False, **streams)
    os.close(left)
    assert ran.returncode == code
    assert ("error" in {tag for tags in cases(files[1]).values() for tag in tags}) == (code == 4)


def test_a_report_that_is_there_keeps_who_may_read_it(reported, repository, files):
    repository.gate(GATE.format(base=""))
    for file in files:
        file.chmod(0o600)
    reported()
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600, 0o600]


def test_what_a_hook_says_means_nothing_to_the_page(reported, repository, files):
    repository.hook("#!/bin/sh\necho '![x](https://example.invalid/x.png) [here](x) `code`' >&2\nexit 127\n")
    repository.gate(GATE.format(base=repository.commit()))
    assert reported().code == 4
    text = said(files[0])
    assert r"!\[x\](https://example.invalid/x.png) \[here\](x) \`code\`" in text
