"""Rules about the placeholders that stand for a folder: ``${CLAUDE_PROJECT_DIR}`` and its kin."""

import re
from collections.abc import Iterator

from overdeck.wiring.commandline import simple_words
from overdeck.wiring.rules.rule import DOCS, Context, Hit, Rule
from overdeck.wiring.shellcommand import BUILTINS
from overdeck.wiring.shellscript import Unclear, parse

_NAMES = r"CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA)"
_UNQUOTED = re.compile(rf"\$(?:{_NAMES}\b|\{{{_NAMES}\}})")
_UNBRACED = re.compile(rf"\$({_NAMES})\b")
_TAKES_WHOLE_LINE = ("[[", "((", "case")


def _unquoted(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers():
        if not handler.starts_process or handler.args is not None or handler.shell not in ("", "bash"):
            continue
        try:
            commands = parse(handler.command)
        except Unclear:
            continue
        for command in commands:
            if command.name in _TAKES_WHOLE_LINE:
                continue
            found = next((match for word in command.words if (match := _UNQUOTED.search(word.bare))), None)
            if found:
                written = found.group()
                yield Hit(
                    file.path,
                    handler.pointer + "/command",
                    f"{written} stands outside quotes: where that folder's name has a blank, the shell cuts "
                    "the path in two, and the hook never runs",
                    f'quote it: "{written}"/…, or use the exec form: "command" and "args"',
                )
                break


def _unbraced(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers():
        if not handler.starts_process or handler.args is None:
            continue
        words = [handler.command, *handler.args]
        scripts = [word for word in words if not re.search(r"[;\n ]", word)]  # not a program's own text
        shell_text = any(word in ("-c", "-lc", "-ec", "-e", "--eval", "-Command") for word in words)
        found = next((match for word in scripts if (match := _UNBRACED.search(word))), None)
        if found and not shell_text:
            yield Hit(
                file.path,
                handler.pointer + ("/command" if _UNBRACED.search(handler.command) else "/args"),
                f"no shell reads the exec form, and the client fills in ${{{found[1]}}} only: ${found[1]} "
                "stays as it stands, and names no file",
                f"write ${{{found[1]}}}",
            )


def _shell_form(context: Context) -> Iterator[Hit]:
    for file, handler in context.handlers():
        if not handler.starts_process or handler.args is not None or handler.shell:
            continue
        if not _UNQUOTED.search(handler.command) or re.search(r"(?:^|\s)~", handler.command):
            continue
        places = {"CLAUDE_PROJECT_DIR": "/p", "CLAUDE_PLUGIN_ROOT": "/r", "CLAUDE_PLUGIN_DATA": "/d"}
        words = simple_words(handler, places)
        if not words or words[0] in BUILTINS or re.match(r"[A-Za-z_]\w*=", handler.command):
            continue
        try:
            command = parse(handler.command)[-1]
        except Unclear:
            continue
        if any(_UNQUOTED.search(word.bare) for word in command.words):
            continue  # unquoted-placeholder says it, with the same cure
        texts = [re.sub(rf"\$({_NAMES})\b", r"${\1}", word.text) for word in command.words]
        arguments = ", ".join(f'"{text}"' for text in texts[1:])
        yield Hit(
            file.path,
            handler.pointer + "/command",
            "a shell is started to read one plain command line, and its quoting has to be right",
            f'"command": "{texts[0]}", "args": [{arguments}]',
        )


UNQUOTED = Rule(
    "unquoted-placeholder",
    "warning",
    f"measured: the shell form is /bin/sh -c (FACTS 1); {DOCS}, which quotes it",
    _unquoted,
)
UNBRACED = Rule(
    "unbraced-placeholder",
    "error",
    f"measured: the exec form is started directly, ${{CLAUDE_PROJECT_DIR}} filled in (FACTS 1); {DOCS}",
    _unbraced,
)
SHELL_FORM = Rule("shell-form", "info", f"measured: the two forms (FACTS 1); {DOCS}", _shell_form)
