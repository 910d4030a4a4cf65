"""Keeps secret files from being read into the session, overwritten or committed.

Looks at the paths a tool or a patch names and at the words of a Bash command. Does not see a path built from
variables or globs (``cat .e*``), nor what a script reads by itself.
"""

from overdeck.dispatch.module import Call, Verdict, deny
from overdeck.dispatch.shell import commands

_NAMES = (
    ".env",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".git-credentials",
    ".vault-token",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "application_default_credentials.json",
    "credentials.json",
)
_ENDS = (".pem", ".p12", ".pfx", ".jks", ".keystore")
_PLACES = (".aws/credentials", ".docker/config.json", ".kube/config", ".cargo/credentials.toml")
_STEMS = ("secrets.",)
_STEM_ENDS = (".yaml", ".yml", ".json", ".toml")
_SAMPLES = (".example", ".sample", ".template", ".dist", ".schema", ".md")
_SAMPLE_PARTS = ("example", "sample", "template")
_SHOWS_NOTHING = ("[", "[[", "chmod", "chown", "echo", "ls", "mkdir", "printf", "stat", "test", "type", "which")
_PATCH_HEADERS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
_PATH_KEYS = ("file_path", "notebook_path", "path", "glob")


def evaluate(call: Call) -> Verdict | None:
    """Deny a tool call that names a secret file, unless the owner's ``allow`` list has it."""
    allow = call.config["allow"]
    if not isinstance(allow, list) or not all(isinstance(pattern, str) for pattern in allow):
        raise ValueError("[modules.secret-file] allow must be a list of strings")
    for path in _paths(call):
        if is_secret(path) and not _allowed(path, allow):
            return deny(
                f"{path} looks like a file of secrets: its content must not enter the session. Ask the owner for "
                "what you need, or use a sample file (.env.example). The owner can allow a path in "
                "[modules.secret-file] allow."
            )
    return None


def is_secret(path: str) -> bool:
    """Whether a path names a file that usually holds a key, a token or a password."""
    name = path.rstrip("/").rpartition("/")[2]
    if name.endswith(_SAMPLES) or any(part in _SAMPLE_PARTS for part in name.split(".")):
        return False
    if name in _NAMES or name.startswith(".env.") or name.endswith(_ENDS):
        return True
    if name.startswith(_STEMS) and name.endswith(_STEM_ENDS):
        return True
    return any(path == place or path.endswith("/" + place) for place in _PLACES)


def _paths(call: Call) -> list[str]:
    if call.tool == "apply_patch":
        lines = str(call.input.get("command", call.input.get("input", ""))).splitlines()
        return [line[len(head) :].strip() for line in lines for head in _PATCH_HEADERS if line.startswith(head)]
    if call.tool != "Bash":
        named = [call.input.get(key) for key in _PATH_KEYS]
        if call.tool == "Glob":
            named.append(call.input.get("pattern"))
        return [path for path in named if isinstance(path, str)]
    found: list[str] = []
    for command in commands(str(call.input.get("command", ""))):
        found += command.targets
        if command.program not in _SHOWS_NOTHING:
            found += _arguments(command.arguments)
    return found


def _arguments(arguments: list[str]) -> list[str]:
    """Words that may be paths: ``--key=value`` gives its value; an ``--env-file`` is read by the program only."""
    found = []
    skip = False
    for word in arguments:
        if skip or word.startswith("--env-file"):
            skip = word == "--env-file"
            continue
        found.append(word)
        if "=" in word:
            found.append(word.partition("=")[2])
        if word.startswith("@") or ":" in word:
            found += [word.removeprefix("@"), *word.split(":")]
    return found


def _allowed(path: str, allow: list[str]) -> bool:
    if not allow:
        return False
    from fnmatch import fnmatchcase

    return any(path == pattern or fnmatchcase(path, pattern) for pattern in allow)
