"""The command as a client runs it: whatever happens, one line and exit 0, in time."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fronts import Front, laborious
from statuslines import START, Desk

import overdeck
from overdeck.dispatch.kit import updatecheck
from overdeck.statusline import entry


def test_it_shows_a_recorded_session(desk: Desk) -> None:
    assert desk.shown() == "9251e759 · Opus 4.8 (1M context)"


@pytest.mark.parametrize("stdin", [
    b"", b"{", b"null", b"[1]", b"\xff\xfe", b"\xef\xbb\xbf{}", b'{"session_id": 5}', b"[" * 100_000,
    b'"' + b"x" * 2_000_000,
])  # fmt: skip
def test_a_stdin_that_says_nothing_leaves_a_line_about_what_is_known(desk: Desk, stdin: bytes) -> None:
    desk.called(deny="error")
    assert desk.shown(stdin) == "✗ deny"


@pytest.mark.parametrize("said", [b"", b'{"session_id": "5'])
def test_a_stdin_that_is_never_closed_costs_a_quarter_of_a_second(desk: Desk, said: bytes) -> None:
    package = str(Path(overdeck.__file__).parent.parent)
    with subprocess.Popen(
        [sys.executable, "-c", f"import time; t = time.monotonic()\nimport atexit, sys; atexit.register(lambda: "
         f"sys.stderr.write(str(time.monotonic() - t)))\n{START}"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**desk.environ, "PYTHONPATH": package},
    ) as child:  # fmt: skip
        assert child.stdin is not None and child.stdout is not None and child.stderr is not None
        child.stdin.write(said)
        child.stdin.flush()
        assert child.stdout.read() == b"overdeck\n"
        assert float(child.stderr.read()) < 5
        child.stdin.close()
    assert (entry.IDLE_S, entry.TOTAL_S) == (0.15, 0.25)


def test_a_whole_document_is_enough_without_its_end(desk: Desk) -> None:
    reading, writing = os.pipe()
    os.write(writing, b'{"session_id": "abcdefgh-1"}')
    package = str(Path(overdeck.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", START], stdin=reading, capture_output=True, check=True, timeout=30,
        env={**desk.environ, "PYTHONPATH": package},
    )  # fmt: skip
    os.close(writing)
    os.close(reading)
    assert done.stdout == b"abcdefgh\n"


def test_what_goes_wrong_inside_is_a_short_text(desk: Desk) -> None:
    raising = "def no(*_): raise KeyError('\\x1b' + 'x' * 200)"
    broken = f"import overdeck.statusline.look as look\n{raising}\nlook.stamp = no\n{START}"
    shown = desk.shown(code=broken)
    assert shown.startswith("overdeck statusline: KeyError") and len(shown) <= 80 and shown.isprintable()


def test_without_home_terminal_or_folder_there_is_still_a_line(desk: Desk, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = f"import os; os.rmdir({str(gone)!r})\n{START}"
    desk.environ = {"XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "TERM": "dumb"}
    assert desk.shown(b"{}", code=code, cwd=gone) == "overdeck"


def test_a_reader_that_is_gone_is_no_error(desk: Desk) -> None:
    package = str(Path(overdeck.__file__).parent.parent)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-c", START], stdin=subprocess.DEVNULL, stdout=writing, stderr=subprocess.PIPE, check=False,
        env={**desk.environ, "PYTHONPATH": package},
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(("columns", "room"), [("60", 60), ("", 80), ("x", 80), ("-5", 80), ("3", 20), ("٤٠", 80)])
def test_the_line_is_as_wide_as_the_client_says_or_80_columns(desk: Desk, columns: str, room: int) -> None:
    desk.environ["COLUMNS"] = columns
    desk.payload["session_name"] = "模" * 300
    desk.payload["model"] = "none"
    desk.called(us=5, **{f"module_{number:03}": "error" for number in range(200)})
    from rich.cells import cell_len

    assert room - 1 <= cell_len(desk.shown()) <= room


ALLOWED = ("overdeck", "overdeck.cli", "overdeck.cli.start", "overdeck.dispatch", "overdeck.statusline")


def test_a_redraw_loads_only_what_it_needs(desk: Desk) -> None:
    """Of the standard library ``select`` and ``_json``, as a call of the front does."""
    desk.called(us=1500)
    loaded = "print(*sorted(set(sys.modules) - before))"
    code = f"import sys; before = set(sys.modules)\nimport atexit; atexit.register(lambda: {loaded})\n{START}"
    package = str(Path(overdeck.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", code], input=b"{}", capture_output=True, check=True, timeout=30, cwd=desk.root,
        env={**desk.environ, "PYTHONPATH": package},
    )  # fmt: skip
    names = done.stdout.decode().splitlines()[-1].split()
    assert {name for name in names if not name.startswith("overdeck")} <= {
        "__future__",
        "atexit",
        "select",
        "_json",
    }
    ours = {name for name in names if name.startswith("overdeck")}
    assert {name for name in ours if not name.startswith(ALLOWED)} == set() and len(ours) < 20, ours


def test_a_redraw_starts_the_update_check_and_waits_for_nobody(desk: Desk, tmp_path: Path) -> None:
    front = Front(tmp_path / "fleet")
    front.module("gate", "return None")
    front.install()
    laborious(front)
    desk.state.parent.mkdir(parents=True)
    front.state.rename(desk.state)
    front.recipe.plans = str(desk.state / "plans" / "claude")
    (desk.state / "plans" / "claude" / "recipe").write_bytes(front.recipe.encode())
    started = time.monotonic()
    assert desk.shown() == "9251e759 · Opus 4.8 (1M context)"
    assert time.monotonic() - started < 10, "the worker is at work for seconds"
    pid = updatecheck.holder(str(desk.state))
    assert pid
    os.kill(pid, 9)
