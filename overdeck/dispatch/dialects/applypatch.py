"""The files that an ``apply_patch`` names, as Claude's Write and Edit.

Codex and OpenCode read a patch leniently, so this reads more than they do: a line that could be a header is one. A gate
then sees a file too many, never one too few.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from overdeck.dispatch.dialects.heard import Wording

BEGIN = "*** Begin Patch"
_END = "*** End Patch"
_END_OF_FILE = "*** End of File"
_HEADERS = (("*** Add File:", "add"), ("*** Update File:", "update"), ("*** Delete File:", "delete"))
_MOVE = "*** Move to:"


class PatchError(ValueError):
    """The headers of a patch cannot be read; the message says what stands there."""


class _File:
    __slots__ = ("hunks", "kind", "path")

    def __init__(self, kind: str, path: str, hunks: list[tuple[list[str], list[str]]]) -> None:
        self.kind = kind
        self.path = path
        self.hunks = hunks

    def add(self, line: str) -> None:
        mark = line[:1]
        if self.kind == "add" and mark != "+":
            return
        if line.startswith("@@") or not self.hunks:
            self.hunks.append(([], []))
        if line.startswith("@@"):
            return
        old, new = self.hunks[-1]
        if mark != "+":
            old.append(line[1:])
        if mark != "-":
            new.append(line[1:])


def calls(patch: str) -> list[list[Wording]]:
    """One call a file, each in the wordings that a module may be asked in; raises PatchError.

    A moved file is two: where it was, and where it goes.
    """
    files: list[_File] = []
    begun = ended = False
    for line in patch.split("\n"):
        line = line.rstrip("\r")
        bare = line.strip()
        kind, path = _header(bare)
        if kind:
            ended = False  # a second patch in one text, or a reader that goes on
            if not path:
                raise PatchError(f"{bare[:60]!r} names no file")
            if kind == "move" and not files:
                raise PatchError(f"{bare[:60]!r} moves nothing")
            # Behind a blank it may be a header or a line of the file before it: then what follows counts for both.
            both = kind == "move" or (files and line[0] == " ")
            files.append(_File("update" if kind == "move" else kind, path, files[-1].hunks if both else []))
        elif bare.startswith(BEGIN):
            begun = True
        elif bare.startswith(_END):
            ended = ended or line[0] == "*"  # behind a blank it may be a line of the file
        elif line.startswith("***") and bare != _END_OF_FILE:
            raise PatchError(f"{bare[:60]!r} is no header of a patch")
        elif files and not ended and bare != _END_OF_FILE:
            files[-1].add(line)
    if not begun:
        raise PatchError(f"there is no {BEGIN!r}")
    if not files:
        raise PatchError("it names no file")
    return [_wordings(file) for file in files]


def _header(bare: str) -> tuple[str, str]:
    for marker, kind in (*_HEADERS, (_MOVE, "move")):
        if bare.startswith(marker):
            return kind, bare[len(marker) :].strip()
    return "", ""


def _wordings(file: _File) -> list[Wording]:
    """The best wording first. Every module that looks at one of these tools sees the file."""
    edits = [{"old_string": "\n".join(old), "new_string": "\n".join(new)} for old, new in file.hunks]
    old = "\n".join(edit["old_string"] for edit in edits)
    new = "\n".join(edit["new_string"] for edit in edits)
    if file.kind == "add" and new:
        new += "\n"
    write: Wording = ("Write", {"file_path": file.path, "content": "" if file.kind == "delete" else new})
    edit: Wording = ("Edit", {"file_path": file.path, "old_string": old, "new_string": new})
    several: Wording = ("MultiEdit", {"file_path": file.path, "edits": edits})
    return [edit, several, write] if file.kind == "update" else [write, edit, several]
