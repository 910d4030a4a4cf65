"""Started by the client in a hook's place: starts the hook, hands everything on as it came, and keeps what it saw.

``python -I -S witness.py FOLDER NUMBER ARGV…``: run by path, so it imports the standard library alone. What it keeps is
``FOLDER/NUMBER-PID.json``: written when the payload is there, and again when the hook has ended; a record without an
end is a hook that the client killed. ``FOLDER/NUMBER-PID.payload`` is the payload as it came.
"""

import json
import os
import subprocess
import sys
import time

_SHELLS_WORD = 127
"""The exit code a shell has for a program that is not there."""


def main(argv: list[str]) -> int:
    folder, number, command = argv[1], argv[2], argv[3:]
    payload = sys.stdin.buffer.read()
    name = f"{folder}/{number}-{os.getpid()}"
    with open(f"{name}.payload", "wb") as file:
        file.write(payload)
    seen: dict[str, object] = {"hook": int(number), "at": time.monotonic()}
    _keep(name, seen)
    begun = time.monotonic()
    try:
        done = subprocess.run(command, input=payload, capture_output=True, check=False)
        code, out, err = done.returncode, done.stdout, done.stderr
    except OSError as error:
        code, out, err = _SHELLS_WORD, b"", f"{command[0]}: {error.strerror}\n".encode()
        seen["not_started"] = f"{error.filename or command[0]}: {error.strerror}"
    seen["wall_s"] = time.monotonic() - begun
    seen |= {"code": code, "stdout": out.decode("utf-8", "replace"), "stderr": err.decode("utf-8", "replace")}
    _keep(name, seen)
    sys.stdout.buffer.write(out)
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(err)
    sys.stderr.buffer.flush()
    return code if code >= 0 else 128 - code


def _keep(name: str, seen: dict[str, object]) -> None:
    with open(f"{name}.new", "w") as file:
        json.dump(seen, file)
    os.rename(f"{name}.new", f"{name}.json")


if __name__ == "__main__":
    sys.exit(main(sys.argv))
