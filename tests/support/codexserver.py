"""Codex's app server, as an editor talks to it: a session in which somebody is there to be asked."""

import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

from clientrig import USER, Rig, facts_of, reply

from overdeck.probe.clients import Stage
from overdeck.probe.mock.script import Call, Reply, Script
from overdeck.probe.mock.server import MockModel
from overdeck.probe.session import Session

TRUSTED = {"bypass_hook_trust": True}


class Server:
    """One app server. What it asks its editor is kept in ``asked``, and declined; ``shown`` is what hooks told it."""

    def __init__(self, argv: list[str], environ: dict[str, str], cwd: str) -> None:
        self.asked: list[str] = []
        self.shown: list[str] = []
        self._number = 0
        self._said: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ, cwd=cwd
        )
        threading.Thread(target=self._read, daemon=True).start()
        self.call("initialize", {"clientInfo": {"name": "tests", "version": "1"}})
        self._send({"method": "initialized"})

    def call(self, method: str, params: dict[str, Any], until: str = "", within_s: float = 60) -> dict[str, Any]:
        """The result of one request, when ``until`` was told as well."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        result, told, end = None, not until, time.monotonic() + within_s
        while result is None or not told:
            said = self._said.get(timeout=max(0.0, end - time.monotonic()))
            if said is None:
                raise EOFError(method)
            if "method" in said and "id" in said:
                self.asked.append(said["method"])
                self._send({"id": said["id"], "result": {"decision": "decline"}})
            elif "method" in said:
                told = told or said["method"] == until
                if said["method"] == "hook/completed":
                    self.shown += [entry["text"] for entry in said["params"]["run"]["entries"]]
            elif said["id"] == self._number:
                result = said["result"]
        return result

    def thread(self, cwd: str) -> str:
        """A new thread in which commands that leave the sandbox are asked about; its id."""
        how = {"cwd": cwd, "approvalPolicy": "on-request", "sandbox": "read-only", "config": TRUSTED}
        return self.call("thread/start", how)["thread"]["id"]

    def turn(self, thread: str) -> None:
        """One prompt, to the end of its turn."""
        said = [{"type": "text", "text": "please run it"}]
        self.call("turn/start", {"threadId": thread, "input": said}, until="turn/completed")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.put(json.loads(line))
        self._said.put(None)


def in_server(
    rig: Rig, *replies: Reply | Call, steps: Callable[[Server, str], Any], lay_out: bool = True
) -> dict[str, Any]:
    """What ``steps`` (server, project) returned, what the editor was asked, and the session's facts.

    Without ``lay_out`` the client's config stays as it is, and it has no model.
    """
    script = Script.of(*map(reply, replies))

    def work() -> dict[str, Any]:
        with MockModel(rig.client.wire, script) as model:
            if lay_out:
                rig.client.lay_out(Stage(rig.room, model.url, "open", rig.found, ""))
            environ = rig.room.environ(USER, model.url) | rig.client.environ(rig.room, model.url)
            server = Server([rig.found, "app-server"], environ, str(rig.room.project))
            try:
                made = steps(server, str(rig.room.project))
            finally:
                server.close()
            asides = sum(one.method == "POST" and not one.conversation for one in model.requests)
        facts = facts_of(Session(model, 0, "", "", "", 0, 0))
        return {**facts, "made": made, "asked": server.asked, "shown": server.shown, "asides": asides}

    found: dict[str, Any] = rig.apart(work)
    return found
