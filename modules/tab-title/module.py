"""The state of a main session in its terminal's title: working, asking, done, failed; by owner's choice in colour.

A hook has no terminal of its own (the client starts it in a session without one), so it is the client's that is written
to: the controlling terminal of the first process above us that has one, opened through a descriptor that this process
holds of it. Where there is none, nothing is written. No text reaches the terminal but letters that can be printed; all
that drives it stands in this file.

Does not see: that a permission was given (the title asks until the turn ends); a title that the client sets itself.
"""

import posix
import select

from overdeck.dispatch.eventlog import emit
from overdeck.dispatch.kit import sessionfiles
from overdeck.dispatch.module import Call, Verdict

MAX_NAME = 40
"""Columns of a name, about; what a folder is called may be longer."""
MAX_TITLE = 80
WRITE_S = 0.2
"""A terminal that takes nothing (stopped by Ctrl-S) is given up after so long."""
FAILED = ("error", "failed", "failure", "blocked")
PTS_MAJORS = range(136, 144)
UNFIT = ("", "dumb", "linux", "cons25")
"""Terminals that would print a title as text."""
PROGRESS = {"working": "3", "asking": "4;100", "done": "0", "failed": "2;100", "": "0"}
COLOURS = {"working": 0xB35A00, "asking": 0x0D4F4F, "done": 0x022800, "failed": 0xB35A00}
"""The seed's: orange, teal, green, orange."""
TEXTS = (0x002B80, 0xFFFFFF, 0xA0A0A0)
"""Its active tab, always dark blue, and the letters there and elsewhere."""


def evaluate(call: Call) -> Verdict | None:
    """Write title and state of this moment to the client's terminal, if there is one."""
    state = state_of(call)
    if state is None or _environ(b"TERM") in UNFIT:
        return None
    terminal = open_terminal(posix.getppid())
    if terminal < 0:
        return None
    try:
        name = name_of(call, keep=True) if state else ""
        written = write(terminal, sequence(call.config, state, name, utf8=_utf8()))
    finally:
        posix.close(terminal)
    if written:
        emit(call, "tab.updated", state=state or "reset")
    return None


def state_of(call: Call) -> str | None:
    """working, asking, done or failed; empty for a clean title, None where nothing is to be changed."""
    if call.event in ("SessionStart", "SessionEnd"):
        return "" if call.payload.get("source") != "compact" else None
    if call.event in ("UserPromptSubmit", "PostToolUse"):
        return "working"
    if call.event == "PreToolUse":
        return "asking"
    if call.event == "Notification":
        asks = call.payload.get("notification_type") in ("permission_prompt", "elicitation_dialog")
        return "asking" if asks else None
    return "failed" if call.event == "StopFailure" else ended(call.payload.get("last_assistant_message"))


def ended(answer: object) -> str:
    """How a turn ended, by its answer: a line "STATUS: …" that says so, a question at its end, else done."""
    text = answer.strip() if isinstance(answer, str) else ""
    for line in text.splitlines():
        said = line.partition("STATUS:")[2].lower() if "STATUS:" in line else ""
        if any(word in said for word in FAILED):
            return "failed"
    return "asking" if text.endswith(("?", "？")) else "done"


def name_of(call: Call, *, keep: bool) -> str:
    """What a session is about: its name, else the words of its last prompt that has some, else its folder."""
    from overdeck.dispatch.kit.sessionnames import name_from
    from overdeck.dispatch.kit.sessionnames import name_of as kept_name

    name = kept_name(call.overdeck_state, call.session)
    if name:
        return name
    prompt = call.payload.get("prompt")
    if isinstance(prompt, str):
        name = name_from(prompt, columns=MAX_NAME)
        if name and keep:
            sessionfiles.write(call, "name", [name])
    return name or next(iter(sessionfiles.read(call, "name")), "") or call.cwd.rstrip("/").rpartition("/")[2]


def sequence(config: dict, state: str, name: str, *, utf8: bool) -> bytes:
    """The bytes for the terminal; raises ValueError for colours that no terminal is known for."""
    title = printable(config[state].replace("{name}", printable(name)[:MAX_NAME])) if state else ""
    said = f"\x1b]0;{title[:MAX_TITLE].strip()}\x07"
    if config["progress"]:
        said += f"\x1b]9;4;{PROGRESS[state]}\x07"
    if config["colours"] == "iterm2":
        said += _iterm2(COLOURS.get(state))
    elif config["colours"] == "kitty":
        said += _kitty(COLOURS.get(state))
    elif config["colours"]:
        raise ValueError('[modules.tab-title] colours may be "", "iterm2" or "kitty"')
    # Elsewhere a byte from 0x80 to 0x9f, which UTF-8 is full of, is a control of its own.
    return said.encode("utf-8" if utf8 else "ascii", "ignore")


def printable(text: str) -> str:
    """Letters, digits, signs and blanks: no control of 7 or 8 bits, nothing invisible, nothing of half a letter.

    Nor ``#``, by which tmux would run what stands in a title.

    >>> printable("a\\x1b]0;b\\x07\\u009bc\\u202ed#(id)")
    'a ]0;b  c d (id)'
    """
    return "".join(letter if letter.isprintable() and letter != "#" else " " for letter in text)


def _iterm2(colour: int | None) -> str:
    if colour is None:
        return "\x1b]6;1;bg;*;default\x07"
    parts = (("red", colour >> 16), ("green", colour >> 8 & 255), ("blue", colour & 255))
    return "".join(f"\x1b]6;1;bg;{part};brightness;{value}\x07" for part, value in parts)


def _kitty(colour: int | None) -> str:
    """kitty's own set-tab-color, as its remote control sends it; the state shows on tabs that are not looked at."""
    colours = (colour, *TEXTS) if colour is not None else (None, None, None, None)
    names = ("inactive_bg", "active_bg", "active_fg", "inactive_fg")
    said = ",".join(
        f'"{name}":{"null" if value is None else value}' for name, value in zip(names, colours, strict=True)
    )
    return (
        '\x1bP@kitty-cmd{"cmd":"set-tab-color","version":[0,20,0],"no_response":true,'
        f'"payload":{{"self":true,"colors":{{{said}}}}}}}\x1b\\'
    )


def open_terminal(pid: int) -> int:
    """A descriptor of the controlling terminal that ``pid`` or a process above it has; -1 where there is none.

    Opened through a standard stream of such a process: a terminal's name may mean another one in a container. Linux.
    """
    number = 0
    for _ in range(64):
        if pid <= 1:
            break
        parent, has = _parent_and_terminal(pid)
        number = number or has
        if number and has == number:
            for stream in (2, 1, 0):
                fd = _opened(f"/proc/{pid}/fd/{stream}", number)
                if fd >= 0:
                    return fd
        pid = parent
    return -1


def _parent_and_terminal(pid: int) -> tuple[int, int]:
    """(parent, device number of the controlling terminal or 0) by /proc/PID/stat."""
    try:
        fd = posix.open(f"/proc/{pid}/stat", posix.O_RDONLY | posix.O_CLOEXEC)
        try:
            fields = posix.read(fd, 4096).rpartition(b")")[2].split()
        finally:
            posix.close(fd)
        return int(fields[1]), int(fields[4])
    except (OSError, IndexError, ValueError):
        return 0, 0


def _opened(path: str, number: int) -> int:
    """``path`` opened for writing if it is the terminal of that number, a pseudo terminal; else -1. Never waits."""
    major = number >> 8 & 0xFFF
    try:
        st = posix.stat(path)
        if major not in PTS_MAJORS or st.st_mode >> 12 != 0o2 or posix.major(st.st_rdev) != major:
            return -1
        if posix.minor(st.st_rdev) != (number & 0xFF | number >> 12 & 0xFFF00):
            return -1
        fd = posix.open(path, posix.O_WRONLY | posix.O_NOCTTY | posix.O_NONBLOCK | posix.O_CLOEXEC)
    except OSError:
        return -1
    if not posix.isatty(fd) or posix.fstat(fd).st_rdev != st.st_rdev:
        posix.close(fd)
        return -1
    return fd


def write(fd: int, raw: bytes) -> bool:
    """Whether the terminal took all of it; half a sequence is finished, if that is possible in a moment."""
    view = memoryview(raw)
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    try:
        while view:
            ready = poll.poll(WRITE_S * 1000)
            if not ready or ready[0][1] & (select.POLLERR | select.POLLHUP):
                return False
            view = view[posix.write(fd, view) :]
    except OSError:
        return False
    return True


def _utf8() -> bool:
    for name in (b"LC_ALL", b"LC_CTYPE", b"LANG"):
        value = _environ(name)
        if value:
            return "utf" in value.lower()
    return False


def _environ(name: bytes) -> str:
    return posix.environ.get(name, b"").decode("ascii", "replace")
