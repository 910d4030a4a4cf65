"""Denies writing a draft that refers to what is not in the ledger.

A Write is judged whole, an edit by the references it adds: a draft that is already wrong can be mended step by step.
Does not see drafts written by a shell command, nor what a citation says. Finding nothing to read is no reason to pass:
a missing ledger and a text over the limit are denied. The files of a patch come as edits, one by one, and a patch that
cannot be read is denied before it comes here (the dialects of the dispatcher).
"""

import os
import re

from overdeck.dispatch import jsontext
from overdeck.dispatch.module import Call, Verdict, deny

SUFFIXES = (".md", ".markdown", ".qmd", ".Rmd", ".rmd", ".tex")
"""The literals of module.toml: a suffix that is not among them would be skipped before the gate is asked."""
MAX_TEXT = 4 << 20
"""Letters of a draft: 0.25 to 0.45 s (docs/plans/modules.md); past the deadline it could only be late."""
MAX_LEDGER = 16 << 20
SHOWN = 8

_PANDOC = re.compile(r"(?<![\w\\@./])@(?:\{([^}\s]+)\}|(\w+(?:[:.#$%&+?<>~/-]\w+)*))")
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_LATEX = re.compile(
    r"\\((?:no|[Pp]aren|[Tt]ext|[Ff]oot|[Aa]uto|[Ss]mart|[Ss]uper|full|footfull)?[Cc]ite"
    r"(?:t|p|alt|alp|author|year|yearpar|title|url|date|num)?s?)\*?((?:\s*(?:\[[^][]*\]|\{[^{}]*\}))+)"
)
_BRACES = re.compile(r"\{([^{}]*)\}")
_LATEX_COMMENT = re.compile(r"(?<!\\)%.*")
_ENTRY = re.compile(r"@\s*([A-Za-z]+)\s*[{(]\s*([^\s,{}()\"]+)\s*,")
_OTHER_IDS = re.compile(r"\bids\s*=\s*[{\"]([^}\"]*)")


def evaluate(call: Call) -> Verdict | None:
    """Deny a write whose references are not all in the ledger."""
    ledger, drafts = _texts(call, "ledger"), _lists(call, "drafts")
    if not ledger:
        return None
    for path, after, before in _written(call):
        root = _draft_root(path, drafts, call.cwd)
        if root is None:
            continue
        if len(after) > MAX_TEXT:
            return deny(f"{path} would have {len(after)} letters, too many to check (limit {MAX_TEXT}): split it")
        pattern, ignore = _texts(call, "pattern"), tuple(_lists(call, "ignore"))
        used = [key for key in _references(after, path, pattern) if not (ignore and key.startswith(ignore))]
        if before is not None and used:
            had = set(_references(before[:MAX_TEXT], path, pattern))
            used = [key for key in used if key not in had]
        if used and (verdict := _judge(path, used, os.path.join(root, ledger), _texts(call, "query"))):
            return verdict
    return None


def _judge(path: str, used: list[str], ledger: str, query: str) -> Verdict | None:
    try:
        known = _known(ledger, query)
    except (OSError, ValueError) as error:
        return deny(f"{path} refers to {_shown(used)}, and the ledger {ledger} cannot be read: {error}")
    missing = [key for key in used if key not in known]
    if not missing:
        return None
    from difflib import get_close_matches

    near = get_close_matches(missing[0], known, n=1)
    hint = f" (nearest to {missing[0]}: {near[0]})" if near else ""
    return deny(
        f"{path} refers to what is not in the ledger {ledger}: {_shown(missing)}{hint}. Refer only to what is in it: "
        "put the source into the ledger first, from the source itself, or take the reference out."
    )


def _written(call: Call) -> list[tuple[str, str, str | None]]:
    """(path, text after, text before or None where the whole is judged) of a Write or an edit."""
    path = call.input.get("file_path")
    if not isinstance(path, str) or not path:
        return []
    if call.tool == "Write":
        content = call.input.get("content")
        return [(path, content, None)] if isinstance(content, str) else []
    edits = call.input.get("edits") if call.tool == "MultiEdit" else [call.input]
    before = _disk(os.path.join(call.cwd, path))
    after = before
    fragments: list[str] = []
    for edit in edits if isinstance(edits, list) else []:
        old, new = (edit.get("old_string"), edit.get("new_string")) if isinstance(edit, dict) else (None, None)
        if isinstance(old, str) and isinstance(new, str):
            fragments.append(new)
            if old and old in after:
                after = after.replace(old, new, -1 if edit.get("replace_all") is True else 1)
            else:
                after += "\n" + new  # a new file, or one that was not as the model thought
    return [(path, after, before)] if fragments else []


def _disk(path: str) -> str:
    """The text of a draft as it is; empty where there is none (or no file of a size that could be judged)."""
    try:
        if not os.path.isfile(path) or os.stat(path).st_size > 4 * MAX_TEXT:
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _draft_root(path: str, drafts: list[str], cwd: str) -> str | None:
    """From where relative settings count for a draft; None for a file that is none.

    By resolved paths, so that neither ``..`` nor a link nor a folder of that name elsewhere decides.
    """
    if not path.endswith(SUFFIXES):
        return None
    real = os.path.realpath(os.path.join(cwd, path))
    root = os.path.realpath(cwd)
    folder = os.path.dirname(real)
    while folder != "/":
        if os.path.exists(f"{folder}/.git"):
            root = folder
            break
        folder = os.path.dirname(folder)
    places = [os.path.realpath(os.path.join(root, draft)) for draft in drafts]
    return root if any(real.startswith(place.rstrip("/") + "/") for place in places) else None


def _references(text: str, path: str, pattern: str) -> list[str]:
    """What a draft refers to, each once, in its order."""
    if pattern:
        matcher = re.compile(pattern)
        return list(dict.fromkeys(match[1] if matcher.groups else match[0] for match in matcher.finditer(text)))
    if path.endswith(".tex"):
        return list(dict.fromkeys(_latex(_LATEX_COMMENT.sub("", text))))
    text = _INLINE_CODE.sub("", _prose(text))
    found = [match[1] or match[2] for match in _PANDOC.finditer(text)]
    return list(dict.fromkeys([*found, *_latex(text)]))


def _prose(text: str) -> str:
    """A Markdown text without its front matter and fenced code."""
    lines = text.split("\n")
    kept = []
    fence = ""
    begin = 0
    if lines[0].rstrip() == "---":
        ends = [number for number, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")]
        begin = ends[0] + 1 if ends else 0
    for line in lines[begin:]:
        mark = line.lstrip()
        if fence:
            if mark.startswith(fence) and not mark.strip().strip(fence[0]):
                fence = ""
        elif mark.startswith(("```", "~~~")):
            fence = mark[: len(mark) - len(mark.lstrip(mark[0]))]
        else:
            kept.append(line)
    return "\n".join(kept)


def _latex(text: str) -> list[str]:
    found = []
    for match in _LATEX.finditer(text):
        groups = _BRACES.findall(match[2])
        for group in groups if match[1].endswith("s") else groups[:1]:
            found += [key.strip() for key in group.split(",") if key.strip() not in ("", "*")]
    return found


def _known(ledger: str, query: str) -> set[str]:
    """The references that a ledger holds; raises OSError or ValueError where it cannot be read."""
    if os.stat(ledger).st_size > MAX_LEDGER:
        raise ValueError(f"it is over {MAX_LEDGER >> 20} MiB")
    if ledger.endswith((".sqlite", ".sqlite3", ".db")):
        return _from_database(ledger, query)
    with open(ledger, encoding="utf-8") as file:
        text = file.read()
    if ledger.endswith(".bib"):
        kept = {key for kind, key in _ENTRY.findall(text) if kind.lower() not in ("comment", "preamble", "string")}
        return kept | {key.strip() for group in _OTHER_IDS.findall(text) for key in group.split(",")}
    if ledger.endswith(".jsonl"):
        return set().union(*(_ids(jsontext.loads(line)) for line in text.split("\n") if line.strip()))
    if ledger.endswith(".json"):
        return _ids(jsontext.loads(text))
    return {line.split()[0] for line in text.split("\n") if line.strip() and not line.startswith("#")}


def _ids(data: object) -> set[str]:
    """The ids of CSL-JSON and its like: a list of entries, one entry, or an object of entries by id."""
    if isinstance(data, list):
        return set().union(*map(_ids, data))
    if not isinstance(data, dict):
        return set()
    own = {str(data[key]) for key in ("id", "citekey", "key") if isinstance(data.get(key), str | int)}
    for key in ("items", "references"):
        if isinstance(data.get(key), list):
            return _ids(data[key])
    return own or {key for key, value in data.items() if isinstance(value, dict)}


def _from_database(ledger: str, query: str) -> set[str]:
    import sqlite3
    from urllib.parse import quote

    try:
        database = sqlite3.connect(f"file:{quote(ledger)}?mode=ro", uri=True, timeout=1.0)
        try:
            return {str(row[0]) for row in database.execute(query)}
        finally:
            database.close()
    except sqlite3.Error as error:
        raise ValueError(str(error)) from None


def _shown(keys: list[str]) -> str:
    more = len(keys) - SHOWN
    return ", ".join(keys[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def _texts(call: Call, key: str) -> str:
    value = call.config[key]
    if not isinstance(value, str):
        raise ValueError(f"[modules.ledger-gate] {key} must be a string")
    return value


def _lists(call: Call, key: str) -> list[str]:
    value = call.config[key]
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"[modules.ledger-gate] {key} must be a list of strings")
    return value
