"""The mock model's HTTP server: on 127.0.0.1 only, a thread of this process, everything it is sent kept."""

import json
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import NamedTuple

from overdeck.probe.mock.script import Reply, Script
from overdeck.probe.mock.wire import Document, Issued, ToolResult, Wire, strings

HOST = "127.0.0.1"


class Request(NamedTuple):
    """One request of the client. ``at`` in monotonic seconds; ``conversation`` is empty for what is no turn."""

    at: float
    method: str
    path: str
    conversation: str
    document: Document


class MockModel:
    """A model that answers ``wire`` after ``script``. A context manager: the server ends with it."""

    def __init__(self, wire: Wire, script: Script) -> None:
        self.wire = wire
        self._script = script
        self._lock = threading.Lock()
        self._said: Counter[str] = Counter()
        self._requests: list[Request] = []
        self._issued: list[Issued] = []
        self._server = _Server((HOST, 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> "MockModel":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """``http://127.0.0.1:PORT``."""
        return f"http://{HOST}:{self._server.server_address[1]}"

    @property
    def requests(self) -> list[Request]:
        """All it was sent so far, the oldest first."""
        with self._lock:
            return list(self._requests)

    @property
    def issued(self) -> list[Issued]:
        """Every tool call it made, the oldest first."""
        with self._lock:
            return list(self._issued)

    @property
    def turns(self) -> list[Request]:
        """The requests for a message of a conversation."""
        return [one for one in self.requests if one.conversation]

    def results(self) -> dict[str, ToolResult]:
        """What the model was told of its calls, by id; the last word on each."""
        return {one.id: one for request in self.turns for one in self.wire.results(request.document)}

    def heard(self, text: str) -> bool:
        """Whether ``text`` stands in anything that a turn told the model."""
        return any(text in said for request in self.turns for said in strings(request.document))

    def answer(self, path: str, document: Document) -> tuple[int, str, bytes]:
        """Keep a POST and say what the model says: (status, content type, body)."""
        if not self.wire.is_turn(path):
            self.keep("POST", path, "", document)
            return 200, _JSON, json.dumps(self.wire.other(path)).encode()
        said = self.wire.aside(path, document)
        conversation = "" if said is not None else self._script.conversation(self.wire.first_message(document))
        with self._lock:
            number = len(self._requests)
            if said is None:
                reply = self._script.reply(conversation, self._said[conversation])
                self._said[conversation] += 1
            else:
                reply = Reply(said)
            first = len(self._issued)
            issued = [Issued(f"toolu_{first + n:020d}", call) for n, call in enumerate(reply.calls)]
            self._issued += issued
            self._requests.append(Request(time.monotonic(), "POST", path, conversation, document))
        time.sleep(reply.delay_s)  # a slow model, as the script says
        if reply.status:
            return reply.status, _JSON, json.dumps(self.wire.error(reply.status)).encode()
        body = self.wire.body(reply, issued, document, number)
        if self.wire.streams(path, document):
            return 200, "text/event-stream", self.wire.events(body)
        return 200, _JSON, json.dumps(body).encode()

    def keep(self, method: str, path: str, conversation: str, document: Document) -> None:
        """Remember a request."""
        with self._lock:
            self._requests.append(Request(time.monotonic(), method, path, conversation, document))


_JSON = "application/json"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away while it was answered is no error of ours."""


def _handler(model: MockModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self._send(200, "text/plain", b"")

        def do_GET(self) -> None:
            model.keep("GET", self.path, "", {})
            self._send(200, _JSON, json.dumps(model.wire.other(self.path)).encode())

        def do_CONNECT(self) -> None:
            """A client that takes us for its proxy wants another host: refused, and kept."""
            model.keep("CONNECT", self.path, "", {})
            self._send(403, "text/plain", b"the mock model is no proxy\n")

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            try:
                document = json.loads(raw)
            except ValueError:
                document = None
            self._send(*model.answer(self.path, document if isinstance(document, dict) else {}))

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
