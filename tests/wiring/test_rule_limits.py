"""Scripts that look like trouble and are none: a rule that cannot decide says nothing."""

import json
from pathlib import Path

import pytest

from overdeck.wiring.rules import RULES, Context
from overdeck.wiring.rules.rule import hits
from overdeck.wiring.settings import parse_settings


def judged(tmp_path: Path, name: str, text: str, event: str = "PreToolUse", **hook: object) -> list[str]:
    script = tmp_path / name
    script.write_text(text)
    interpreter = {"sh": "bash", "py": "python3", "js": "node"}[name.rpartition(".")[2]]
    handler = {"type": "command", "command": interpreter, "args": [str(script)], "timeout": 10} | hook
    data = {
        "hooks": {event: [{"matcher": "Bash", "hooks": [handler]} if "Tool" in event else {"hooks": [handler]}]}
    }
    file = parse_settings(json.dumps(data).encode(), tmp_path / "settings.json")
    return [rule.id for rule, _ in hits(RULES, Context((file,)))]


@pytest.mark.parametrize(
    "text",
    [
        'case "$c" in *"claude -p"*) echo "Blocked: no nested client" >&2; exit 2 ;; esac',
        "# claude -p is what we forbid\nexit 0",
        'grep -q "api.anthropic.com" hosts.txt',
        "sleep 1 &\nwait",
        "server >/dev/null 2>&1 &",
        "{ server; } >/dev/null 2>&1 &",
        "exec >/dev/null 2>&1\nserver &",
        "server & pid=$!\nkill $pid",
        "curl -sm2 https://example.com",
        "timeout 2 curl -s https://example.com",
        "(curl -s https://example.com >/dev/null 2>&1) &",
        'echo "starting" >&2\necho \'{"decision": "block", "reason": "x"}\'',
        'if [ -z "$X" ]; then echo plain; exit 0; fi\necho \'{"decision": "block", "reason": "x"}\'',
        'echo plain | tee -a log >/dev/null\necho \'{"decision": "block", "reason": "x"}\'',
        'echo "usage: guard FILE" >&2\nexit 1',
        'echo "could not read the block list" >&2\nexit 1',
        "printf x | cat /dev/stdin",
        "cat | jq .",
        "cat file",
        'x=$(cat)\necho "$x" | jq .',
        'x=$(cat)\necho "$x" >> log',
        'x=$(cat)\nx=${x:0:100}\nprog "$x"',
        'n=$(cat "$HOME/n.$CLAUDE_SESSION_ID")\necho $((n + 1)) > "$HOME/n.$CLAUDE_SESSION_ID"',
        'exec 9>l; flock 9\nn=$(cat "$HOME/n")\necho $((n + 1)) > "$HOME/n"',
        "export PATH=/opt/bin:$PATH",
        "export PATH=$(brew --prefix)/bin:$PATH",
        "f() { npx thing; }\ncase $1 in x) f ;; esac",
        "while read -r line; do :; done",
        "this is ) not a ( script",
    ],
)
def test_a_shell_script_that_does_no_harm(tmp_path: Path, text: str) -> None:
    assert judged(tmp_path, "hook.sh", text + "\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess\nsubprocess.Popen(['server'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)",
        "import subprocess\np = subprocess.Popen(['x'])\np.wait()",
        "import subprocess\nsubprocess.Popen(['x'], **options)",
        "import urllib.request as r\nr.urlopen('https://example.com', None, 2)",
        "import requests\nrequests.get('https://example.com', timeout=1)",
        "FORBIDDEN = ['https://api.anthropic.com', 'claude -p']\nprint(len(FORBIDDEN), file=__import__('sys').stderr)",
        "import os\nwhile chunk := os.read(0, 65536):\n    pass",
        "import json, sys\ndata = json.load(sys.stdin)\ndata['x'] = 1\nprint(json.dumps(data))",
        "import json, sys\nprint('note', file=sys.stderr)\nprint(json.dumps({'decision': 'block', 'reason': 'x'}))",
        "import json\nif 0:\n    print('plain')\nelse:\n    print(json.dumps({'decision': 'block', 'reason': 'x'}))",
        "import json\nout = {'hookSpecificOutput': {}}\nout['hookSpecificOutput']['hookEventName'] = 'PreToolUse'\n"
        "print(json.dumps(out))",
        "import json\nout = {**base, 'hookSpecificOutput': {'x': 1}}\nprint(json.dumps(out))",
        "import sys\ntry:\n    pass\nexcept ValueError:\n"
        "    print('blocked by a bad file', file=sys.stderr)\n    sys.exit(1)",
        "import sys\nprint('usage: not allowed without FILE', file=sys.stderr)\nsys.exit(1)",
        "import json, os\nP = f'/tmp/{os.getpid()}'\nd = json.loads(open(P).read())\nopen(P, 'w').write('x')",
        "a = b\nb = a\na.write_text(a.read_text())",
        "raw = raw.strip()\nprint(raw)",
        "def broken(:\n",
        "x = " + "(" * 60 + "1" + ")" * 60,
        "x = " + "-" * 400 + "1",
    ],
)
def test_a_python_script_that_does_no_harm(tmp_path: Path, text: str) -> None:
    assert judged(tmp_path, "hook.py", text + "\n") == []


@pytest.mark.parametrize(
    "text",
    ["// readFileSync('/dev/stdin')\nreadFileSync(0)", "process.stdin.on('data', (chunk) => all.push(chunk))"],
)
def test_a_node_script_that_does_no_harm(tmp_path: Path, text: str) -> None:
    assert judged(tmp_path, "hook.js", text + "\n") == []


def test_a_hook_that_runs_beside_the_session_may_wait(tmp_path: Path) -> None:
    assert judged(tmp_path, "hook.sh", "curl -s https://example.com\nserver &\n", **{"async": True}) == []


def test_a_script_for_several_events_may_name_any(tmp_path: Path) -> None:
    text = "import json, sys\nevent = json.load(sys.stdin)['hook_event_name']\n"
    answer = (
        "print(json.dumps({'hookSpecificOutput': {'hookEventName': 'PostToolUse', 'additionalContext': 'x'}}))\n"
    )

    assert judged(tmp_path, "hook.py", text + answer) == []
    assert judged(tmp_path, "other.py", "import json\n" + answer) == ["hook-event-name"]
