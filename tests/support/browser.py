"""A headless Chromium, driven over its debugging pipe: no port, no host, no library."""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium")
_PATIENCE_S = 60.0


class Page:
    """One tab. ``problems`` collects what the console complains of, ``requests`` every address that was asked for."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write
        self._numbers = itertools.count(1)
        self._rest = b""
        self._session = ""
        self.problems: list[str] = []
        self.requests: list[str] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **params: Any) -> Any:
        """One command and its answer; events that come before it are kept in mind."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, path: Path, *, width: int, dark: bool = False) -> None:
        """Show the file at a width in CSS pixels, and wait until it has loaded."""
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.ask("Emulation.setEmulatedMedia", features=features)
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self._loaded = False
        self.ask("Page.navigate", url=path.as_uri())
        while not self._loaded:
            self._next()

    def say(self, script: str) -> Any:
        """The value of an expression in the page."""
        result = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def picture(self, path: Path) -> Path:
        """The whole page as a PNG."""
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))
        return path

    def printed(self) -> bytes:
        """The page as a PDF."""
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True)["data"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], _PATIENCE_S)
            piece = os.read(self._read, 1 << 16) if ready else b""
            assert piece, "the browser is gone, or says nothing"
            self._rest += piece
        first, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        method, params = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method in ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
            self.problems.append(json.dumps(params))
        return message


@contextmanager
def browser(home: Path) -> Iterator[Page]:
    """A browser without a network and with ``home`` for what it writes; ends with the block."""
    assert PROGRAM is not None
    to_them, write = os.pipe()
    read, from_them = os.pipe()
    options = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking", "--remote-debugging-pipe",
        f"--user-data-dir={home / 'profile'}", "about:blank",
    ]  # fmt: skip

    # the browser reads commands from 3 and writes answers to 4
    wired = 'exec 3<&"$0" 4>&"$1"; shift; exec "$@"'
    process = subprocess.Popen(
        ["bash", "-c", wired, str(to_them), str(from_them), PROGRAM, *options],
        pass_fds=(to_them, from_them),
        env={"PATH": os.defpath, "HOME": str(home), "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(to_them)
    os.close(from_them)
    try:
        page = Page(read, write)
        yield page
        page._session = ""
        page.ask("Browser.close")
    finally:
        os.close(write)
        os.close(read)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
