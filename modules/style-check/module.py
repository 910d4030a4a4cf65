"""Reads prose that was just written and says, in a few lines, what the house would write instead.

Judges what an edit adds, not what stood there before; leaves code, quotations of commands and front matter alone. By
hand: ``overdeck hooks run style-check --file README.md``.
"""

import re

from overdeck.dispatch.module import Call, Verdict, advise

SUFFIXES = (".md", ".markdown", ".qmd", ".rst", ".tex", ".txt", ".adoc")
"""The literals of module.toml: a suffix that is not among them would be skipped before the module is asked."""
SHOWN = 10
MAX_TEXT = 1 << 20

_DOUBLED = re.compile(r"\b([^\W\d_]{2,})[ \t]+\1\b", re.IGNORECASE)
_MEANT = ("had", "that", "is", "her", "bla", "no", "so", "very")
"""Words that stand twice in good sentences."""
_SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+|\n\s*\n|\n\s*(?=[-*#>|\d])")
_CODE = re.compile(r"`[^`\n]*`")


def evaluate(call: Call) -> Verdict | None:
    """Advise with what was found in the text that was added, at most a handful of lines."""
    path = call.input.get("file_path")
    if not isinstance(path, str) or not path.endswith(SUFFIXES) or not _is_in(path, call.config["folders"]):
        return None
    text = _CODE.sub("`…`", _prose(_added(call)[:MAX_TEXT]))
    found = [*_words(text, call.config["words"])]
    if call.config["doubled"]:
        doubled = (match[0] for match in _DOUBLED.finditer(text) if match[1].lower() not in _MEANT)
        found += [f'"{words}": the same word twice' for words in dict.fromkeys(doubled)]
    found += _long(text, call.config["sentence_words"])
    if not found:
        return None
    more = len(found) - SHOWN
    listed = "; ".join(found[:SHOWN]) + (f"; and {more} more of the kind" if more > 0 else "")
    return advise(f"{path}, in what was just written: {listed}. Change what is wrong; leave what is meant.")


def _is_in(path: str, folders: list[str]) -> bool:
    return not folders or any(
        path.startswith(folder.rstrip("/") + "/")
        if folder.startswith("/")
        else f"/{folder.strip('/')}/" in f"/{path}"
        for folder in folders
    )


def _added(call: Call) -> str:
    """The text that a Write or an edit puts there; of an edit only lines that were not there before."""
    if call.tool == "Write":
        content = call.input.get("content")
        return content if isinstance(content, str) else ""
    edits = call.input.get("edits") if call.tool == "MultiEdit" else [call.input]
    added = []
    for edit in edits if isinstance(edits, list) else []:
        old, new = (edit.get("old_string"), edit.get("new_string")) if isinstance(edit, dict) else (None, None)
        if isinstance(old, str) and isinstance(new, str):
            before = set(old.split("\n"))
            added.append("\n".join(line for line in new.split("\n") if line not in before))
    return "\n\n".join(added)


def _prose(text: str) -> str:
    """The text without front matter, fenced and indented code."""
    lines = text.split("\n")
    kept = []
    fence = ""
    front = lines[0].rstrip() == "---"
    for number, line in enumerate(lines):
        mark = line.strip()
        if front:
            front = number == 0 or mark not in ("---", "...")
        elif fence:
            fence = "" if mark.startswith(fence) else fence
        elif mark.startswith(("```", "~~~")):
            fence = mark[:3]
        elif not line.startswith(("    ", "\t")):
            kept.append(line)
    return "\n".join(kept)


def _words(text: str, words: dict[str, str]) -> list[str]:
    lowered = " ".join(text.lower().split())
    found = []
    for phrase, instead in words.items():
        count = len(re.findall(rf"(?<!\w){re.escape(phrase.lower())}(?!\w)", lowered)) if phrase else 0
        if count:
            times = f" ({count} times)" if count > 1 else ""
            found.append(f'"{phrase}"{times}: ' + (f'write "{instead}"' if instead else "leave it out"))
    return found


def _long(text: str, limit: int) -> list[str]:
    if limit <= 0:
        return []
    long = [words for part in _SENTENCE_END.split(text) if len(words := part.split()) > limit and "|" not in part]
    return [f'a sentence of {len(words)} words ("{" ".join(words[:6])} …")' for words in long]
