"""Follows the references between a repository's documents, when one of them, or what they refer to, has changed.

A turn that changed none of it costs a look at the documents' stamps. Told once: what was broken at the last look is not
told again, and what cannot be remembered is not told. Reads and writes nothing of the repository but its documents.
Does not see: what a document means; addresses on the network; references in code, in HTML or over two lines; headings
of documents that are not among those it was given; links that lead out of the repository.
"""

import posix
import time

from overdeck.dispatch import jsontext
from overdeck.dispatch.eventlog import emit
from overdeck.dispatch.kit.ownfolder import Folder
from overdeck.dispatch.kit.upwards import is_there, work_trees
from overdeck.dispatch.module import Call, Verdict, advise, tell
from overdeck.dispatch.plan import digest, is_regular, opened, start_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIXES = (".md", ".markdown")
MAX_DOCUMENTS = 2000
MAX_FOLDERS = 500
MAX_ENTRIES = 20_000
"""Of all folders together; what is beyond them is not looked at."""
MAX_TEXT = 1 << 19
SECONDS = 1.0
"""For reading documents that have changed; what is left then is read at the next turn's end."""
MAX_TARGETS = 5000
"""Files that are no documents and are looked at at every turn's end; more are followed when a document changes."""
SHOWN = 5
MAX_SHOWN = 100
"""Letters of a reference."""
KEPT_S = 90 * 86_400
MAX_KEPT = 100
_FOLDER = 0o4  # of a mode's type, as in S_IFDIR
_SKIPPED = ("node_modules", "vendor", "target", "build", "dist", "_build", "__pycache__")


def evaluate(call: Call) -> Verdict | None:
    """Tell the references that lead nowhere now and did not at the last look."""
    wanted = call.config["documents"]
    if not all(
        isinstance(name, str) and name[:1] not in ("", "/") and ".." not in name.split("/") for name in wanted
    ):
        raise ValueError("[modules.doc-integrity] documents must be paths below the repository's top")
    top = next(work_trees(call.cwd), "")
    if not top:
        return None
    found = sorted(_documents(top, wanted))
    mark = digest(repr((found, wanted, call.config["anchors"])).encode("utf-8", "replace"))
    name = digest(top.encode("utf-8", "replace"))
    with Folder(call.state) as state:
        if _is_as_before(state, f"{name}.seen", mark, top):
            return None
        broken, all_broken = _followed(state, f"{name}.json", found, mark, top, call.config["anchors"])
        state.forget(KEPT_S, MAX_KEPT)
    emit(call, "document.checked", documents=len(found), broken=all_broken, news=len(broken))
    if not broken:
        return None
    more = f"; and {len(broken) - SHOWN} more of the kind" if len(broken) > SHOWN else ""
    cut = f" Only {MAX_DOCUMENTS} documents were looked at." if len(found) >= MAX_DOCUMENTS else ""
    said = f"References that lead nowhere: {'; '.join(broken[:SHOWN])}{more}.{cut}"
    said = "".join(letter if letter.isprintable() else "\ufffd" for letter in said)  # it may go to a terminal
    to_model = call.config["tell_model"] and call.payload.get("stop_hook_active") is not True
    return advise(said) if to_model else tell(said)


def _leads_to(path: str) -> bool:
    """Whether a reference to ``path`` finds something: a site leaves out the suffix of a page."""
    if is_there(path):
        return True
    return "." not in path.rpartition("/")[2] and (is_there(f"{path}.md") or is_there(f"{path}/index.md"))


def _documents(top: str, wanted: list[str]) -> "Iterator[tuple[str, int, int, int]]":
    """Path below the top and stamp of each document; links are not followed, hidden and built folders left out."""
    count = 0
    folders = []
    for name in wanted:
        name = "/".join(part for part in name.split("/") if part not in ("", "."))
        try:
            st = posix.lstat(f"{top}/{name}")
        except OSError:
            continue
        if st.st_mode >> 12 == _FOLDER:
            folders.append(name)
        elif is_regular(st) and name.endswith(SUFFIXES):
            count += 1
            yield name, st.st_mtime_ns, st.st_size, st.st_ino
    seen = entries = 0
    end = time.monotonic() + SECONDS
    while folders and seen < MAX_FOLDERS:
        folder = folders.pop()
        seen += 1
        if time.monotonic() > end:
            raise OSError(f"{top} was not looked through in {SECONDS} s: name fewer documents")
        try:
            listing = posix.scandir(f"{top}/{folder}")
        except OSError:
            continue
        for entry in listing:
            entries += 1
            if entries > MAX_ENTRIES:
                return
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.startswith(".") or entry.name in _SKIPPED:
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(path)
            elif entry.name.endswith(SUFFIXES) and entry.is_file(follow_symlinks=False):
                if count >= MAX_DOCUMENTS:
                    return
                try:
                    st = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                count += 1
                yield path, st.st_mtime_ns, st.st_size, st.st_ino


def _is_as_before(state: Folder, name: str, mark: str, top: str) -> bool:
    """Whether no document has changed since the last look, and of what they refer to nothing has come or gone."""
    try:
        lines = state.read(name, 4 << 20).decode("utf-8", "surrogateescape").split("\n")
    except OSError:
        return False
    return lines[0] == mark and all((line[0] == "+") == _leads_to(f"{top}/{line[1:]}") for line in lines[1:-1])


def _followed(
    state: Folder, name: str, found: list[tuple[str, int, int, int]], mark: str, top: str, with_anchors: bool
) -> tuple[list[str], int]:
    """Follow every reference: those that broke since the last look, and how many are broken. Remembered before said."""
    from overdeck.dispatch.kit import markdownlinks

    before = _read(state, name)
    known: dict[str, list[object]] = before.get("documents", {})
    read: dict[str, list[object]] = {}
    end = time.monotonic() + SECONDS
    for path, *stamp in found:
        kept = known.get(path)
        if kept is None or kept[0] != stamp:
            if time.monotonic() > end:
                continue  # the next look goes on from here
            links, anchors = markdownlinks.read(_text(f"{top}/{path}"))
            kept = [stamp, [list(link) for link in links], anchors]
        read[path] = kept
    broken: dict[str, str] = {}
    targets: dict[str, bool] = {}
    names: dict[str, frozenset[str]] = {}
    for path, (_, links, _) in read.items():
        for number, target, part in links:
            file = _resolved(path, target) if target else path
            if file is None:
                continue
            if file not in read and file not in targets:
                there = _leads_to(f"{top}/{file}")
                if not there and target.startswith("/") and "." not in file.rpartition("/")[2]:
                    continue  # an address of the site that is made of the documents
                targets[file] = there
            if not targets.get(file, True):
                broken[f"{path} {target}"] = f"{path}:{number} {target[:MAX_SHOWN]} is not there"
            elif part and with_anchors and file in read and part.lower() != "top":
                if file not in names:
                    names[file] = frozenset(read[file][2])
                whole = len(names[file]) < markdownlinks.MAX_ANCHORS
                if whole and markdownlinks.fragment(part) not in names[file]:
                    broken[f"{path} {target}#{part}"] = (
                        f"{path}:{number} no heading is called #{part[:MAX_SHOWN]} in {file}"
                    )
    state.replace(name, jsontext.dumps({"v": 1, "top": top, "documents": read, "broken": list(broken)}).encode())
    some = [(file, there) for file, there in targets.items() if "\n" not in file][:MAX_TARGETS]
    listed = "".join(f"{'+' if there else '-'}{file}\n" for file, there in some)
    whole = mark if len(read) == len(found) else "some documents are not read yet"
    state.replace(f"{name.removesuffix('.json')}.seen", f"{whole}\n{listed}".encode("utf-8", "surrogateescape"))
    old = before.get("broken", [])
    return [said for key, said in broken.items() if key not in old], len(broken)


def _read(state: Folder, name: str) -> dict[str, object]:
    """What was remembered of the last look; nothing where there was none, or where it is damaged."""
    try:
        before = jsontext.loads(state.read(name, 64 << 20).decode())
        documents, broken = before["documents"], before["broken"]
        whole = isinstance(documents, dict) and isinstance(broken, list) and before["v"] == 1
        if whole and all(isinstance(kept, list) and len(kept) == 3 for kept in documents.values()):
            return {"documents": documents, "broken": frozenset(broken)}
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return {}


def _text(path: str) -> str:
    try:
        fd = opened(path, follow=False)
    except OSError:
        return ""
    try:
        return start_of(fd, MAX_TEXT).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        posix.close(fd)


def _resolved(document: str, target: str) -> str | None:
    """The path below the top that a reference in a document leads to; None where it leads out of the repository."""
    parts = [] if target.startswith("/") else document.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
