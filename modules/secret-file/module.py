"""Keeps secret files from being read into the session, overwritten or committed.

Looks at the paths a tool or a patch names and at the words of a Bash command. Does not see a path built from
variables, globs or braces (``cat .e*``), what a script or code of another language reads by itself, what ``xargs``
reads, names that are not below (``*.key``, ``.npmrc``, ``.envrc``, ``*.tfvars``, ``/etc/shadow``, ``/proc/*/environ``),
and secrets that a program prints (``env``, ``gh auth token``, ``kubectl get secret``).
"""

from posix import stat

from overdeck.dispatch.kit.shell import Command, commands
from overdeck.dispatch.module import Call, Verdict, deny

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
    ".credentials.json",
)
_ENDS = (".pem", ".p12", ".pfx", ".jks", ".keystore")
_PLACES = (".aws/credentials", ".docker/config.json", ".kube/config", ".cargo/credentials.toml")
_STEMS = ("secrets.",)
_STEM_ENDS = (".yaml", ".yml", ".json", ".toml")
_SAMPLES = (".example", ".sample", ".template", ".dist", ".schema", ".md")
_SAMPLE_PARTS = ("example", "sample", "template")
_SHOWS_NOTHING = (
    "[", "[[", "chmod", "chown", "echo", "file", "ls", "mkcert", "mkdir", "printf", "sha256sum", "ssh-add",
    "ssh-copy-id", "ssh-keygen", "stat", "test", "touch", "type", "wc", "which",
)  # fmt: skip
_GIT_SHOWS_NOTHING = ("check-ignore", "ls-files", "rm", "status", "update-index")
_OPENSSL_SHOWS_NOTHING = ("crl", "genpkey", "genrsa", "req", "s_client", "s_server", "verify", "x509")
_LISTS = ("find", "fd", "tree")
_OF_LISTS = ("cd", "echo", "grep", "head", "ls", "sort", "tail", "uniq", "wc")
_SEARCHES = ("ack", "ag", "awk", "egrep", "fgrep", "gawk", "grep", "rg", "sed")
_SEARCH_IN = ("-g", "--glob", "--include", "--iglob")
_USED_ONLY = (
    "--env-file", "--env-file-if-exists", "--dart-define-from-file", "--cacert", "--cert", "--key", "--kubeconfig",
    "--exclude", "--exclude-from", "--ignore-path", "--ssl-cert", "--ssl-key", "--ssl-certfile", "--ssl-keyfile",
    "--tls-cert", "--tls-key",
)  # fmt: skip
"""Options whose file the program reads for itself, or leaves out: it does not show it."""
_IDENTITY = ("ssh", "scp", "sftp", "rsync", "ansible", "ansible-playbook")
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
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    path = "/".join(parts)
    name = parts[-1].removesuffix("~") if parts else ""
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
    line = commands(str(call.input.get("command", "")))
    passive = all(command.program in (*_LISTS, *_OF_LISTS) for command in line)
    folder = ""
    for command in line:
        if command.program == "cd":
            folder = command.arguments[-1] + "/" if command.arguments else ""
        words = command.targets
        if not (_shows_nothing(command, passive) or _makes_from_sample(command, call.cwd)):
            words = [*words, *_arguments(command)]
        found += words
        found += [folder + word for word in words if folder and word[:1] not in ("/", "~")]
    return found


def _shows_nothing(command: Command, passive: bool) -> bool:
    """Whether a command only names files: ``ls``, ``git status``, a ``find`` whose finds nothing else reads."""
    program, words = command.program, command.arguments
    verb = words[0] if words else ""
    if program == "git":
        return verb in _GIT_SHOWS_NOTHING or (
            verb == "log"
            and not any(word[:2] in ("-p", "-u", "-L", "-c", "-m") or word[:3] in ("--p", "--c") for word in words)
        )
    if program == "openssl":
        return verb in _OPENSSL_SHOWS_NOTHING
    if program in ("find", "fd", "tree"):
        return passive and not any(
            word in ("-x", "-X") or word[:5] in ("-exec", "--exe", "-dele") for word in words
        )
    return program in _SHOWS_NOTHING


def _makes_from_sample(command: Command, cwd: str) -> bool:
    """Whether it is ``cp .env.example .env`` and nothing is lost: there is no such file yet, or ``-n`` keeps it."""
    words = [word for word in command.arguments if word[:1] != "-"]
    if command.program != "cp" or len(words) != 2 or is_secret(words[0]) or "ample" not in words[0]:
        return False
    if "-n" in command.arguments or "--no-clobber" in command.arguments:
        return True
    try:
        stat(words[1] if words[1][:1] == "/" else f"{cwd}/{words[1]}")
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def _arguments(command: Command) -> list[str]:
    """Words that may be paths: ``--key=value`` gives its value, ``f=@path`` its path; a search's pattern is none."""
    found = []
    skip = False
    words = command.arguments
    pattern = command.program in _SEARCHES and not any(
        (word[:1] == "-" != word[1:2] and ("e" in word or "f" in word))
        or word.partition("=")[0] in ("--regexp", "--file", "--expression")
        for word in words
    )
    before = ""
    for word in words:
        if skip or word.partition("=")[0] in _USED_ONLY:
            skip = not skip and "=" not in word
            continue
        if word[:1] == "-":
            skip = (word == "-i" and command.program in _IDENTITY) or (word == "-I" and command.program == "tree")
        elif pattern and before not in _SEARCH_IN:
            pattern = False
            continue
        before = word
        found.append(word)
        if "=" in word:
            found.append(word.partition("=")[2].removeprefix("@"))
        if word.startswith("@") or ":" in word:
            found += [word.removeprefix("@"), *word.split(":")]
    return found


def _allowed(path: str, allow: list[str]) -> bool:
    if not allow:
        return False
    from fnmatch import fnmatchcase

    return any(path == pattern or fnmatchcase(path, pattern) for pattern in allow)
