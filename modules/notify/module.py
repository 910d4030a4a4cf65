"""Notices for the owner, from main sessions: the desktop, a program, or a server on the loopback device.

Processes of their own deliver them, one a way, after the call has gone on, all within one deadline; what cannot be
delivered is recorded and felt by nobody.
A program is started by its absolute path, without a shell, and each text is one word of it. The only connection that
can be opened goes to an address of this machine's loopback device that was written as one: no name is looked up, no
redirect followed, no proxy asked.
The end of a turn is told when all modules of its call have spoken, and not where one of them keeps the turn going.
Does not see: other hooks that keep it going.
"""

import _signal
import posix
import time

from overdeck.dispatch import record
from overdeck.dispatch.eventlog import emit
from overdeck.dispatch.jsontext import dumps
from overdeck.dispatch.keepgoing import mark
from overdeck.dispatch.module import Call, Verdict
from overdeck.dispatch.plan import PlanError, read_plan

DEADLINE_S = 5
"""For all ways of delivery together: none waits for another."""
PATIENCE_S = 10
"""How long the end of a turn waits for what the other modules of its call say; longer than a call may take."""
MAX_TEXT = 200
"""Letters of a title or a message."""
ABOUT = ("asking", "done", "failed", "idle")
ASKS = ("permission_prompt", "elicitation_dialog")
SHELLS = frozenset(("ash", "bash", "busybox", "csh", "dash", "env", "fish", "ksh", "mksh", "sh", "tcsh", "zsh"))
RUN_AS_CODE = frozenset(("-c", "-e", "--command", "--eval", "--execute"))
TEXTS = ("{title}", "{message}", "{escaped}", "{about}")
"""What stands for a text in a command: a word of its own. ``{escaped}`` is the message for what takes markup."""
MAX_LINKS = 8
LONGEST_ANSWER = 4096


def evaluate(call: Call) -> Verdict | None:
    """Hand a notice to a process of its own; raises ValueError for a configuration that may not be."""
    ways = ways_of(call.config)
    about = about_of(call)
    if about not in call.config["about"] or not ways:
        return None
    asker, kept = posix.getppid(), _kept_going(call)
    for by, how in ways:
        if posix.fork() == 0:
            try:
                posix.setsid()
                posix.close(3)  # the verdict's
                if about != "done" or _over(call, asker, kept):
                    _deliver(call, about, by, how)
            finally:
                posix._exit(0)
    return None


def ways_of(config: dict) -> list[tuple[str, object]]:
    """How notices are delivered: ("desktop", argv), ("command", argv), ("http", (family, address, port, path))."""
    if not set(config["about"]) <= set(ABOUT):
        raise ValueError(f"[modules.notify] about may list {', '.join(ABOUT)}")
    ways: list[tuple[str, object]] = []
    if config["desktop"]:
        program(config["desktop"])
        if posix.access(config["desktop"], posix.X_OK) and bus():
            ways.append(("desktop", [config["desktop"], "--app-name=overdeck", "--", "{title}", "{escaped}"]))
    if config["command"]:
        if not all(isinstance(word, str) for word in config["command"]):
            raise ValueError("[modules.notify] command must be a list of words")
        program(config["command"][0])
        shell = ""
        for before, word in zip(config["command"], config["command"][1:], strict=False):
            shell = shell or (word if word.rpartition("/")[2] in SHELLS else "")
            if word in TEXTS and (shell or before in RUN_AS_CODE):
                raise ValueError(f"[modules.notify] command: {word} behind {shell or before} would be run as code")
        ways.append(("command", config["command"]))
    if config["url"]:
        ways.append(("http", loopback(config["url"])))
    return ways


def program(path: str) -> None:
    """Raise ValueError for a program that is not named by its whole path, or takes its words for commands."""
    if not path.startswith("/") or "\0" in path:
        raise ValueError(f"[modules.notify] {path!r} is no absolute path of a program")
    names = {path.rpartition("/")[2]}
    link = path
    while _is_link(link) and len(names) < MAX_LINKS:
        to = posix.readlink(link)
        link = to if to.startswith("/") else f"{link.rpartition('/')[0]}/{to}"
        names.add(link.rpartition("/")[2])
    if names & SHELLS:
        raise ValueError(f"[modules.notify] {path} is a shell: name the program itself")


def loopback(url: str) -> tuple[int, str, int, str]:
    """(family, address, port, path) of an http URL on this machine; raises ValueError for every other.

    >>> loopback("http://127.0.0.1:8888/notify"), loopback("http://[::1]/")
    ((2, '127.0.0.1', 8888, '/notify'), (10, '::1', 80, '/'))
    """
    import _socket  # only where a url is set

    wrong = ValueError(f"[modules.notify] url {url!r} is not http://127.0.0.0/8, http://[::1] or http://localhost")
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    if scheme != "http" or not all("!" <= letter <= "~" for letter in url) or "#" in url:
        raise wrong
    family = _socket.AF_INET
    if host.startswith("["):
        family = _socket.AF_INET6
        host, bracket, port = host[1:].partition("]")
        if not bracket or (port and not port.startswith(":")):
            raise wrong
        port = port[1:] or "80"
    else:
        host, colon, port = host.partition(":")
        port = port if colon else "80"
    if host == "localhost":
        host = "127.0.0.1"
    try:
        packed = _socket.inet_pton(family, host)
    except OSError:
        raise wrong from None
    ours = packed[0] == 127 if family == _socket.AF_INET else packed == b"\0" * 15 + b"\1"
    if not ours or not (port.isdigit() and len(port) <= 5 and 0 < int(port) < 65536):
        raise wrong
    return int(family), _socket.inet_ntop(family, packed), int(port), slash + path or "/"


def about_of(call: Call) -> str:
    """What there is to say: one of ABOUT, or nothing."""
    if call.event == "Notification":
        kind = call.payload.get("notification_type")
        return "asking" if kind in ASKS else "idle" if kind == "idle_prompt" else ""
    return "failed" if call.event == "StopFailure" else "done"


def texts(call: Call, about: str) -> tuple[str, str]:
    """Title and message. Of an answer only what stands behind the marker; of an error only a word that is a class."""
    title = clean(f"{call.client}: {call.cwd.rstrip('/').rpartition('/')[2] or 'session'}")
    if about == "failed":
        kind = call.payload.get("error")
        known = isinstance(kind, str) and len(kind) <= 40 and not kind.strip("abcdefghijklmnopqrstuvwxyz_")
        return title, f"the turn failed: {kind}" if known and kind else "the turn failed"
    if about == "done":
        answer, marker = call.payload.get("last_assistant_message"), call.config["marker"]
        lines = answer.splitlines() if isinstance(answer, str) and marker else []
        said = [clean(line.partition(marker)[2]) for line in lines if marker in line]
        return title, next((text for text in reversed(said) if text), "the turn is over")
    said = call.payload.get("message")
    return title, clean(said) if isinstance(said, str) and clean(said) else f"the client is {about}"


def clean(text: str) -> str:
    """Text that drives nothing: no controls, no marks of direction, no sign in front that were an option or a file to
    a program (``-x``, ``@file``), nothing that tmux would run where it shows a text (``#(id)``).
    """
    plain = "".join(letter if letter.isprintable() else " " for letter in text[: MAX_TEXT * 4])
    for opening in "({[":
        plain = plain.replace(f"#{opening}", f"# {opening}")
    return " ".join(plain.split()).lstrip("-*@+ ")[:MAX_TEXT]


def _kept_going(call: Call) -> tuple[int, int]:
    """What tells one count of how often the session was kept going from the next."""
    try:
        st = posix.stat(mark(call.overdeck_state, call.session))
    except OSError:
        return 0, 0
    return st.st_ino, st.st_mtime_ns


def _over(call: Call, asker: int, kept: tuple[int, int]) -> bool:
    """Whether the turn is over once ``asker``, which asks the other modules too, has ended."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            posix.kill(asker, 0)
        except OSError:
            break
        time.sleep(0.02)  # it is not our child: nobody tells us of its end
    if _kept_going(call) == kept:
        return True
    try:
        return read_plan(mark(call.overdeck_state, call.session)).startswith(b"0 ")  # our own cap lets it end
    except PlanError:
        return True


def _deliver(call: Call, about: str, by: str, how: object) -> None:
    """The process that nobody waits for: a deadline, a failure recorded."""
    title, message = texts(call, about)
    try:
        if by == "http":
            _post(call, how, {"title": title, "message": message, "about": about})
        else:
            escaped = message.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
            said = dict(zip(TEXTS, (title, message, escaped, about), strict=True))
            _run([said.get(word, word) for word in how])
    except Exception as error:
        record.error(call.overdeck_state, "notify", call.event, f"{by}: {error}"[:300])
        emit(call, "notice.failed", about=about, by=by)
    else:
        emit(call, "notice.sent", about=about, by=by)


def _run(argv: list[str]) -> None:
    """Start a program and wait for it; at its deadline it and its group are killed. Raises OSError."""
    environ = {key: value for key, value in posix.environ.items() if key not in (b"PWD", b"OLDPWD")}
    if bus():
        environ[b"DBUS_SESSION_BUS_ADDRESS"] = b"unix:path=" + bus()
    pid = posix.fork()
    if pid == 0:
        try:
            posix.setpgid(0, 0)
            posix.execve(argv[0], argv, environ)
        finally:
            posix._exit(127)

    def late(_signum: int, _frame: object) -> None:
        for target in (-pid, pid):
            try:
                posix.kill(target, _signal.SIGKILL)
            except OSError:
                continue

    _signal.signal(_signal.SIGALRM, late)
    _signal.alarm(DEADLINE_S)
    code = posix.waitstatus_to_exitcode(posix.waitpid(pid, 0)[1])
    _signal.alarm(0)
    if code:
        raise OSError(f"{argv[0]} " + (f"ended with {code}" if code > 0 else f"was killed by signal {-code}"))


def _post(call: Call, where: tuple[int, str, int, str], texts: dict[str, str]) -> None:
    """POST one JSON document; raises OSError where it was not taken. What the server answers is not looked into."""
    import _socket

    family, address, port, path = where
    known = {**call.config["fields"], **texts, "session": call.session, "client": call.client}
    body = dumps(known).encode("utf-8", "replace")
    host = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    _signal.signal(_signal.SIGALRM, _late)
    _signal.alarm(DEADLINE_S)
    server = _socket.socket(family, _socket.SOCK_STREAM)
    try:
        server.connect((address, port))
        server.sendall(head.encode() + body)
        answer = b""
        while b"\r\n" not in answer and len(answer) < LONGEST_ANSWER:
            part = server.recv(LONGEST_ANSWER)
            if not part:
                break
            answer += part
    finally:
        server.close()
        _signal.alarm(0)
    status = answer.split(b" ", 2)[1:2]
    if not answer.startswith(b"HTTP/1.") or not status or not status[0].startswith(b"2"):
        raise OSError(f"{host} did not take it: {answer[:60]!r}")


def _late(_signum: int, _frame: object) -> None:
    raise TimeoutError(f"no answer within {DEADLINE_S} s")


def bus() -> bytes:
    """The socket of the desktop's message bus; empty where there is no desktop, as on a server."""
    runtime = posix.environ.get(b"XDG_RUNTIME_DIR", b"")
    path = runtime + b"/bus"
    return path if runtime.startswith(b"/") and posix.access(path, posix.W_OK) else b""


def _is_link(path: str) -> bool:
    try:
        posix.readlink(path)
    except OSError:
        return False
    return True
