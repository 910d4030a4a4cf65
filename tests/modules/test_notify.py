"""notify: what reaches the owner, by which way, and what no configuration can make it do."""

import json
import os
import posix
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from fronts import Front, names_of, recorded
from waiting import ended, until

from overdeck.dispatch import keepgoing

NOTIFY = names_of("notify")


class Server(ThreadingHTTPServer):
    """A notice server on the loopback device: what it got, and what it answers."""

    def __init__(self) -> None:
        self.status = 200
        self.headers: dict[str, str] = {}
        self.got: list[tuple[str, dict[str, Any]]] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/notify"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, json.loads(body)))
        self.send_response(self.server.status)
        for key, value in self.server.headers.items():
            self.send_header(key, value)
        self.end_headers()

    def do_GET(self) -> None:
        self.server.got.append((f"GET {self.path}", {}))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def front(tmp_path: Path) -> Front:
    return Front(tmp_path)


def configured(front: Front, **config: object) -> Front:
    """notify and, beside it, events at the end of a turn only: each event more is a plan to be made."""
    front.ship("notify", "events")
    manifest = front.modules / "events" / "module.toml"
    head, _, events = manifest.read_text().partition("[events]\n")
    manifest.write_text(
        "\n".join([head, "[events]", *(event for event in events.splitlines() if event in AT), ""])
    )
    lines = [f"{key} = {json.dumps(value)}" for key, value in {"desktop": "", **config}.items() if key != "fields"]
    fields = config.get("fields", {})
    assert isinstance(fields, dict)
    table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in fields.items())
    tables = f"[modules.notify]\n{chr(10).join(lines)}\n" + (f"[modules.notify.fields]\n{table}" if table else "")
    front.config.write_text(front.config.read_text() + tables)
    front.install()
    return front


AT = ('Notification = "*"', 'Stop = "*"', 'StopFailure = "*"')


def program(tmp_path: Path, body: str = 'printf "%s\\n" "$@" >> "$0.got"') -> Path:
    path = tmp_path / "told"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def events(front: Front) -> list[tuple[str, ...]]:
    path = front.state / "events.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [(line["type"], line["about"], line["by"]) for line in lines if line["type"].startswith("notice.")]


def told(front: Front, count: int = 1) -> list[tuple[str, ...]]:
    until(lambda: len(events(front)) >= count)
    return events(front)


STOP = recorded("claude-code/Stop")


def test_a_server_gets_the_notice_as_json_with_the_owners_own_fields(front: Front, server: Server) -> None:
    configured(front, url=server.url, fields={"voice_id": "v1", "voice_enabled": True})
    payload = {
        **STOP,
        "cwd": "/home/dev/proj",
        "last_assistant_message": "Long.\n🎯 COMPLETED: the parser is fixed\n",
    }
    assert front.call(payload).stdout == ""
    assert told(front) == [("notice.sent", "done", "http")]
    path, body = server.got[0]
    assert path == "/notify"
    assert body == {
        "title": "claude: proj",
        "message": "the parser is fixed",
        "about": "done",
        "session": STOP["session_id"],
        "client": "claude",
        "voice_id": "v1",
        "voice_enabled": True,
    }


def test_a_turn_that_a_module_keeps_going_is_not_over(front: Front, server: Server) -> None:
    gate = front.module(
        "unproven", "return None if call.payload['stop_hook_active'] else keep_going('proof?')",
        events={"Stop": "*"},
    )  # fmt: skip
    gate.rename(front.user / gate.name)
    configured(front, url=server.url)
    assert "proof?" in front.call({**STOP, "last_assistant_message": "COMPLETED: at first"}).stdout
    front.call({**STOP, "stop_hook_active": True, "last_assistant_message": "COMPLETED: in the end"})
    told(front)
    assert [body["message"] for _, body in server.got] == ["in the end"]


def test_a_turn_that_ends_by_the_cap_is_over(front: Front, server: Server) -> None:
    gate = front.module("never", "return keep_going('proof?')", events={"Stop": "*"})
    gate.rename(front.user / gate.name)
    configured(front, url=server.url)
    kept = Path(keepgoing.mark(str(front.state), STOP["session_id"]))
    kept.parent.mkdir(mode=0o700)
    kept.write_text(f"{keepgoing.MOST} - 0")
    kept.chmod(0o600)
    assert "letting it end" in front.call({**STOP, "stop_hook_active": True}).stdout
    assert told(front) == [("notice.sent", "done", "http")]


def test_of_an_answer_nothing_is_sent_but_what_stands_behind_the_marker(front: Front, server: Server) -> None:
    configured(front, url=server.url)
    front.call({**STOP, "last_assistant_message": "The password is hunter2."})
    told(front)
    assert server.got[0][1]["message"] == "the turn is over"


def test_a_failed_turn_names_its_class_and_nothing_of_its_text(front: Front, server: Server) -> None:
    configured(front, url=server.url)
    front.call(recorded("claude-code/StopFailure.rate_limit"))
    told(front)
    front.call({**recorded("claude-code/StopFailure.rate_limit"), "error": "Bearer sk-123 was refused"})
    told(front, 2)
    assert [body["message"] for _, body in server.got] == ["the turn failed: rate_limit", "the turn failed"]


def test_a_program_gets_each_text_as_one_word_and_no_shell_reads_it(front: Front, tmp_path: Path) -> None:
    path = program(tmp_path)
    configured(front, command=[str(path), "-t", "{title}", "{message}", "x{message}"])
    message = "$(touch /tmp/x); `id` --help '\"\\\x1b]0;t\x07\nnext"
    front.call({**STOP, "last_assistant_message": f"COMPLETED: -rf {message}", "cwd": "/w/a b"})
    assert told(front) == [("notice.sent", "done", "command")]
    assert (tmp_path / "told.got").read_text().splitlines() == [
        "-t",
        "claude: a b",
        "rf $(touch /tmp/x); `id` --help '\"\\ ]0;t",
        "x{message}",
    ]


def test_the_desktop_is_told_by_notify_send_with_its_markup_escaped(front: Front, tmp_path: Path) -> None:
    path = program(tmp_path, 'printf "%s\\n" "$@" "$DBUS_SESSION_BUS_ADDRESS" >> "$0.got"')
    configured(front, desktop=str(path))
    (tmp_path / "bus").touch()
    front.call(
        {**STOP, "last_assistant_message": "COMPLETED: <b>a</b> & b"}, env={"XDG_RUNTIME_DIR": str(tmp_path)}
    )
    assert told(front) == [("notice.sent", "done", "desktop")]
    said = (tmp_path / "told.got").read_text().splitlines()
    assert said[-3:] == ["claude: sub", "&lt;b&gt;a&lt;/b&gt; &amp; b", f"unix:path={tmp_path}/bus"]


def test_where_there_is_no_desktop_none_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    config = {"about": ["done"], "desktop": str(program(tmp_path)), "command": [], "url": ""}
    monkeypatch.delitem(posix.environ, b"XDG_RUNTIME_DIR", raising=False)
    assert NOTIFY["ways_of"](config) == []
    monkeypatch.setitem(posix.environ, b"XDG_RUNTIME_DIR", os.fsencode(tmp_path))
    assert NOTIFY["ways_of"](config) == []
    (tmp_path / "bus").touch()
    assert [by for by, _ in NOTIFY["ways_of"](config)] == ["desktop"]
    assert NOTIFY["ways_of"]({**config, "desktop": str(tmp_path / "missing")}) == []


def test_a_question_is_told_and_an_idle_client_only_where_the_owner_asks_for_it(
    front: Front, server: Server
) -> None:
    configured(front, url=server.url)
    front.call(recorded("claude-code/Notification.idle_prompt"))
    front.call(recorded("claude-code/Notification.permission_prompt"))
    assert told(front) == [("notice.sent", "asking", "http")]
    assert [body["message"] for _, body in server.got] == ["Claude needs your permission"]


def test_a_subagent_tells_nothing(front: Front, server: Server) -> None:
    configured(front, url=server.url)
    front.call({**STOP, "agent_id": "a1", "agent_type": "x"})
    front.call(STOP)
    told(front)
    assert len(server.got) == 1
    assert "notify" not in front.calls()[0]["ran"]


def test_nobody_waits_for_a_server_that_never_answers(front: Front) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        configured(front, url=f"http://127.0.0.1:{deaf.getsockname()[1]}/")
        front.call(STOP)  # what is loaded once is loaded
        deaf.accept()
        began = time.monotonic()
        front.call(STOP)
        took = time.monotonic() - began
        connection, _ = deaf.accept()  # the second one is being delivered now
        assert took < NOTIFY["DEADLINE_S"] / 2
        connection.close()


def test_a_program_that_hangs_is_killed_with_what_it_started(front: Front, tmp_path: Path) -> None:
    path = program(tmp_path, 'sleep 1000 & echo $! > "$0.child"; echo $$ > "$0.pid"; trap "" TERM; wait')
    folder = front.modules / "notify"
    configured(front, command=[str(path)])
    code = (folder / "module.py").read_text().replace("DEADLINE_S = 5", "DEADLINE_S = 1")
    (folder / "module.py").write_text(code)
    front.install()
    front.call(STOP)
    assert told(front) == [("notice.failed", "done", "command")]
    for name in ("told.pid", "told.child"):
        pid = int((tmp_path / name).read_text())
        until(lambda pid=pid: ended(pid))
    assert "killed by signal 9" in front.errors("notify")[0]["cause"]


def test_a_way_that_hangs_delays_no_other(front: Front, server: Server, tmp_path: Path) -> None:
    path = program(tmp_path, 'echo $$ > "$0.pid"; exec sleep 1000')
    configured(front, command=[str(path)], url=server.url)
    front.call(STOP)
    assert told(front) == [("notice.sent", "done", "http")]
    until((tmp_path / "told.pid").exists)
    assert told(front, 2)[1] == ("notice.failed", "done", "command")


def test_a_redirect_is_not_followed(front: Front, server: Server) -> None:
    with Server() as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        server.status, server.headers = 302, {"Location": other.url}
        configured(front, url=server.url)
        front.call(STOP)
        assert told(front) == [("notice.failed", "done", "http")]
        other.shutdown()
        assert other.got == []
        assert "302" in front.errors("notify")[0]["cause"]


def test_a_proxy_of_the_environment_is_not_asked(front: Front, server: Server) -> None:
    with Server() as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{proxy.server_port}"
        names = ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy", "https_proxy")
        configured(front, url=server.url)
        front.call(STOP, env=dict.fromkeys(names, address))
        told(front)
        proxy.shutdown()
        assert (len(server.got), proxy.got) == (1, [])


def test_what_delivers_holds_nothing_of_the_call(front: Front, tmp_path: Path) -> None:
    path = program(tmp_path, 'ls -l /proc/$$/fd > "$0.got"; env >> "$0.got"')
    configured(front, command=[str(path)])
    front.call(STOP, env={"ANTHROPIC_API_KEY": "sk-secret"})
    told(front)
    got = (tmp_path / "told.got").read_text()
    assert "pipe:" not in got and "socket:" not in got and "sk-secret" not in got


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/", "http://example.com/", "https://127.0.0.1/", "http://127.0.0.1.example.com/",
        "http://127.0.0.1@example.com/", "http://user:pw@127.0.0.1/", "http://0.0.0.0/", "http://127.1/",
        "http://0x7f000001/", "http://2130706433/", "http://[::]/", "http://[::ffff:127.0.0.1]/", "http://[fe80::1]/",
        "http://[::1", "http://[::1]80/", "http://[::1%25lo]/", "http://localhost.example.com/", "http://LOCALHOST.evil/",
        "http://127.0.0.1:0/", "http://127.0.0.1:65536/", "http://127.0.0.1:8x/", "http://127.0.0.1:/", "http:///x",
        "http://127.0.0.1/a b", "http://127.0.0.1/\r\nHost: x", "http://127.0.0.1/#x", "ftp://127.0.0.1/", "127.0.0.1",
        "http://127.0.0.1\\@example.com/", "http://127.0.0.1?@example.com/", "http://128.0.0.1/", "http://١٢٧.0.0.1/",
        "file:///etc/passwd", "unix:///run/x.sock", "",
    ],
)  # fmt: skip
def test_no_address_is_taken_but_one_of_the_loopback_device(url: str) -> None:
    with pytest.raises(ValueError, match="url"):
        NOTIFY["loopback"](url)


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("http://127.0.0.1:8888/notify", ("127.0.0.1", 8888, "/notify")),
        ("http://127.255.3.4/", ("127.255.3.4", 80, "/")),
        ("http://localhost:1/a?b=c", ("127.0.0.1", 1, "/a?b=c")),
        ("http://[::1]:65535", ("::1", 65535, "/")),
    ],
)
def test_every_address_of_the_loopback_device_is_taken(url: str, where: tuple[str, int, str]) -> None:
    assert NOTIFY["loopback"](url)[1:] == where


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"command": ["notify-send", "{message}"]}, "no absolute path"),
        ({"command": ["/bin/sh", "-c", "{message}"]}, "a shell"),
        ({"command": ["/usr/bin/env", "sh"]}, "a shell"),
        ({"command": ["/usr/bin/python3", "-c", "{message}"]}, "run as code"),
        ({"command": ["/usr/bin/timeout", "5", "bash", "-lc", "{message}"]}, "behind bash would be run as code"),
        ({"command": ["/usr/bin/nice", "/bin/sh", "-x", "-c", "{title}"]}, "behind /bin/sh would be run as code"),
        ({"desktop": "notify-send"}, "no absolute path"),
        ({"url": "http://192.168.1.1/"}, "url"),
        ({"about": ["everything"]}, "about"),
    ],
)
def test_a_configuration_that_may_not_be_is_refused(config: dict[str, Any], why: str) -> None:
    usual = {"about": ["done"], "desktop": "", "command": [], "url": ""}
    with pytest.raises(ValueError, match=why):
        NOTIFY["ways_of"]({**usual, **config})


def test_a_refused_configuration_is_an_error_that_the_client_never_sees(front: Front) -> None:
    configured(front, url="http://192.168.1.1/")
    assert front.call(STOP).stdout == ""
    assert "http://192.168.1.1/" in front.errors("notify")[0]["cause"]
    assert events(front) == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("done #(touch /tmp/x) #{E:x} #[fg=red] #12", "done # (touch /tmp/x) # {E:x} # [fg=red] #12"),
        ("##(id)", "## (id)"),
        ("@/etc/passwd", "/etc/passwd"),
        ("-@ -x", "x"),
        ("+%s", "%s"),
        ("a\x1b]0;b\x07\u009bc\u202ed\u2028e\x00", "a ]0;b c d e"),
    ],
)
def test_what_an_answer_says_drives_no_program_that_shows_it(said: str, told: str) -> None:
    assert NOTIFY["clean"](said) == told


def test_a_shell_behind_links_is_one(tmp_path: Path) -> None:
    (tmp_path / "inner").symlink_to("/bin/sh")
    (tmp_path / "outer").symlink_to("inner")
    with pytest.raises(ValueError, match="a shell"):
        NOTIFY["program"](str(tmp_path / "outer"))


def test_a_way_that_fails_keeps_no_other_from_being_gone(front: Front, server: Server, tmp_path: Path) -> None:
    configured(front, command=[str(tmp_path / "missing"), "{message}"], url=server.url)
    assert front.call(STOP).stdout == ""
    assert sorted(told(front, 2)) == [("notice.failed", "done", "command"), ("notice.sent", "done", "http")]
    assert (front.state / "errors" / "notify.jsonl").stat().st_mode & 0o777 == 0o600
