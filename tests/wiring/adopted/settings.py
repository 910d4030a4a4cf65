"""The settings that hold all hooks of this folder, after the patterns of public settings files."""

from typing import Any

_PY = "python3 ~/.claude/hooks/"
NODE = "node $HOME/.claude/hooks/check.js"

_HOOKS: dict[str, list[tuple[str, list[str | dict[str, Any]]]]] = {
    "PreToolUse": [
        (
            "Bash",
            [
                _PY + "block_rm.py",
                _PY + "ask_push.py",
                '"$HOME"/.claude/hooks/sub/sibling.py',
                {"command": "python3", "args": ["-u", "{home}/.claude/hooks/legacy_block.py"], "timeout": 5},
                _PY + "exit1_deny.py",
                _PY + "exit2_json.py",
                _PY + "wrong_type.py",
                _PY + "noisy_json.py",
                _PY + "rewrite_npm.py",
                _PY + "rewrite_allow.py",
                _PY + "halt.py",
                _PY + "crash.py",
                _PY + "syntax.py",
                _PY + "os_exit.py",
                _PY + "exit_builtin.py",
                _PY + "dev_stdin.py",
                _PY + "missing.py",
                "sh ~/.claude/hooks/read_loop.sh",
                "$HOME/.claude/hooks/stdin_redirect.sh",
                "jq -r '.tool_input.command' >> ~/.claude/bash-command-log.txt",
                "cat | jq -e '.tool_input.command | test(\"rm -rf\")' > /dev/null && "
                "{ echo 'one-liner says no' >&2; exit 2; } || exit 0",
                "no-such-program --check",
                "env FOO=bar python3 ~/.claude/hooks/environment.py one 'two words'",
                "{home}/venv/bin/python3 ~/.claude/hooks/environment.py venv",
                NODE,
            ],
        ),
        ("Edit|Write|MultiEdit", [_PY + "protect_env.py", "bash $HOME/.claude/hooks/guard.sh"]),
        ("", [_PY + "counter.py", {"command": _PY + "log_all.py", "timeout": 10}, _PY + "atexit_thread.py"]),
        ("mcp__.*|Read", [_PY + "dataclassy.py", "python3 {home}/.claude/hooks/environment.py a -b"]),
        ("*", [_PY + "silent.py", _PY + "no_read.py"]),
    ],
    "PostToolUse": [
        ("Write|Edit", [_PY + "post_format.py"]),
        ("Bash", [_PY + "post_output.py", _PY + "post_size.py", _PY + "big_context.py", _PY + "log_all.py"]),
        ("Read", [{"command": _PY + "background.py", "async": True}]),
    ],
    "UserPromptSubmit": [("", [_PY + "context.py", _PY + "secrets_prompt.py"])],
    "SessionStart": [("startup|resume", [_PY + "session.py --load-context"])],
    "Stop": [("", [_PY + "stop_todo.py", _PY + "stop_exit2.py"])],
    "Notification": [("", ["~/.claude/hooks/notify.sh"])],
}


def settings(home: str, *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """The settings for a user whose home is ``home``; the commands in ``without`` left out."""
    hooks: dict[str, Any] = {}
    for event, groups in _HOOKS.items():
        hooks[event] = []
        for matcher, given in groups:
            chosen = [{"command": one} if isinstance(one, str) else one for one in given]
            filled = [
                {
                    "type": "command",
                    **one,
                    "command": one["command"].replace("{home}", home),
                    **({"args": [word.replace("{home}", home) for word in one["args"]]} if "args" in one else {}),
                }
                for one in chosen
                if one["command"] not in without
            ]
            hooks[event].append({"matcher": matcher, "hooks": filled})
    return {"model": "opus", "permissions": {"deny": ["Read(./secrets/**)"]}, "hooks": hooks}
