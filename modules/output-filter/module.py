"""Sends what a noisy command prints to a file, and shows its head and tail: show.sh, which also gives back its exit
code.

Only in lines that are nothing but commands behind each other (``;``, ``&&``, ``||``, line ends): where a line has
pipes, redirections to files, substitutions, loops, here-documents, comments or ``&``, its author has said where the
output goes. In a permission mode that is not in ``modes`` it is silent, for the client holds the rewritten command
against its allow rules.
"""

from overdeck.dispatch.kit.commandrules import first
from overdeck.dispatch.kit.shell import written
from overdeck.dispatch.module import Call, Verdict, rewrite

_COMPOUND = ("if", "for", "while", "until", "case", "select", "function", "{", "[[", "coproc", "!", "exec")


def evaluate(call: Call) -> Verdict | None:
    """Wrap every noisy command of the line."""
    config = call.config
    text = call.input.get("command")
    if (
        not isinstance(text, str)
        or call.payload.get("permission_mode") not in config["modes"]
        or call.input.get("run_in_background") is True
    ):
        return None
    spans = _steps(text)
    noisy = [span for span in spans if first(config["rules"], text[span[0] : span[1]]) is not None]
    if not noisy:
        return None
    limits = f"{int(config['head_lines'])} {int(config['tail_lines'])} {int(config['max_bytes'])}"
    for start, end in reversed(noisy):
        text = text[:start] + _wrapped(text[start:end], limits) + text[end:]
    return rewrite({**call.input, "command": text})


def _steps(text: str) -> list[tuple[int, int]]:
    """Where each command of a plain line stands; nothing where it is no plain line."""
    spans = []
    gap = 0
    between = ""
    for simple in written(text):
        if simple.depth or simple.targets or simple.script or simple.feeder or simple.words[0].text in _COMPOUND:
            return []
        start, end = simple.words[0].start, simple.words[-1].end
        between += text[gap:start] + " "
        gap = end
        spans.append((start, end))
    between = (between + text[gap:]).replace("2>&1", "").replace("&&", "").replace("||", "").replace(";", "")
    return [] if between.strip() else spans


def _wrapped(step: str, limits: str) -> str:
    script = "'" + (__file__.rpartition("/")[0] + "/show.sh").replace("'", "'\\''") + "'"
    show = f'/bin/sh {script} "$overdeck_output"'
    return (
        'if overdeck_output=$(mktemp "${TMPDIR:-/tmp}/overdeck-output.XXXXXX"); '
        'then echo "[output-filter: everything this prints: $overdeck_output]"; '
        f'{{ {step}; }} >"$overdeck_output" 2>&1 && '
        f"{show} 0 {limits} || {show} $? {limits}; else {step}; fi"
    )
