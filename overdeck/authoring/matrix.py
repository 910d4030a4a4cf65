"""A module's matrix: must-act and must-not-act cases, each run through the real front, twice.

Once with the prefilter and once around it; the answers must be the same bytes, because a prefilter may only
skip what the module would also have allowed. This is also a gate's canary.
"""

import json
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overdeck.authoring.fleet import entry_path, front_command, interpreter
from overdeck.dispatch.manifest import Manifest, ManifestError, read_manifest
from overdeck.dispatch.planning import Fleet, Recipe, compile_plan, overlay
from overdeck.git import git
from overdeck.process import NotCompleted, run

EXPECTATIONS = ("none", "deny", "ask", "allow", "defer", "advise", "tell", "rewrite", "keep_going", "stop")
DEADLINE_S = 20.0
MAX_AT_ONCE = 4
"""Cases at a time: each is two short calls of the front."""


@dataclass(frozen=True)
class Answer:
    """What the front said to one payload. ``ends`` is module id → none, fire, error or timeout (calls line)."""

    kinds: tuple[str, ...]
    text: str
    stdout: str
    ends: dict[str, str]
    us: int


@dataclass(frozen=True)
class MatrixResult:
    """One module's matrix: how many cases ran, and what was wrong with those that failed."""

    module: str
    cases: int
    failures: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """A matrix without a case proves nothing, so it is not ok."""
        return self.cases > 0 and not self.failures


@dataclass(frozen=True)
class Case:
    """One line of matrix.jsonl. ``config`` overlays the module's own for this case.

    ``files`` are written below the throwaway folder of the run before it, relative path → text; its state is ``state``
    there. ``{scratch}`` in a string of payload or config is that folder. ``repository`` names a folder of it that
    becomes a git work tree with all its files staged.
    """

    name: str
    payload: dict[str, Any]
    expect: str
    contains: str
    config: dict[str, Any]
    files: dict[str, str]
    repository: str


def read_cases(manifest: Manifest) -> list[Case]:
    """The cases of a module's matrix.jsonl; raises ValueError naming the line for anything that is not one."""
    path = Path(manifest.folder, "matrix.jsonl")
    if not path.is_file():
        raise ValueError(f"{path} is missing: a module without a matrix cannot be trusted")
    cases = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            raw = json.loads(line)
            case = Case(
                raw["name"],
                raw["payload"],
                raw["expect"],
                raw.get("contains", ""),
                raw.get("config", {}),
                raw.get("files", {}),
                raw.get("repository", ""),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path}:{number}: {type(error).__name__}: {error}") from None
        if not isinstance(case.payload, dict) or not isinstance(case.payload.get("hook_event_name"), str):
            raise ValueError(f"{path}:{number}: its payload names no hook_event_name")
        if case.expect not in EXPECTATIONS:
            raise ValueError(f"{path}:{number}: expect must be one of {', '.join(EXPECTATIONS)}")
        unknown = sorted(set(case.config) - set(manifest.config))
        if unknown:
            raise ValueError(f"{path}:{number}: the module has no config key {unknown[0]!r}")
        cases.append(case)
    return cases


def run_matrix(manifest: Manifest, *, most: int | None = None) -> MatrixResult:
    """Run the cases with the prefilter and around it, some at a time. Never raises for what the module does.

    With ``most`` only so many of them: must-act and must-not-act in turn, from all over the matrix. The config is the
    manifest's own and each case's: a module that ships is not broken because its user has rules that its cases do not
    know. A module of the user's is run under the config in force: both are theirs.
    """
    try:
        cases = read_cases(manifest)
        if not manifest.user:
            manifest = read_manifest(manifest.folder)
    except (ValueError, ManifestError) as error:
        return MatrixResult(manifest.id, 0, [str(error)])
    failures = [] if cases else [f"{manifest.folder}/matrix.jsonl holds no case, so nothing was tested"]
    chosen = cases if most is None else _some_of(cases, most)
    with ThreadPoolExecutor(min(MAX_AT_ONCE, os.cpu_count() or 1)) as pool:
        for found in pool.map(lambda case: _tried(manifest, case), chosen):
            failures += found
    if cases and manifest.cls == "gate":
        expected = {case.expect for case in cases}
        if "none" not in expected or not expected - {"none"}:
            failures.append("a gate's matrix needs a case it must act on and one it must not")
    return MatrixResult(manifest.id, len(chosen), failures)


def _tried(manifest: Manifest, case: Case) -> list[str]:
    with_prefilter = ask_front(manifest, case.payload, case=case)
    around = ask_front(manifest, case.payload, case=case, prefilter=False)
    return [f"{case.name}: {problem}" for problem in _problems(case, with_prefilter, around, manifest.id)]


def _some_of(cases: list[Case], most: int) -> list[Case]:
    """At most ``most`` cases, half of them must-act where there are so many, evenly spread and in their order."""
    acting = [index for index, case in enumerate(cases) if case.expect != "none"]
    quiet = [index for index, case in enumerate(cases) if case.expect == "none"]
    acts = min(len(acting), max(most - len(quiet), most // 2))
    spread = [kind[len(kind) * n // count] for kind, count in ((acting, acts), (quiet, min(len(quiet), most - acts)))
              for n in range(count)]  # fmt: skip
    return [cases[index] for index in sorted(spread)]


def ask_front(
    manifest: Manifest,
    payload: dict[str, Any] | bytes,
    *,
    event: str = "",
    config: dict[str, Any] | None = None,
    case: Case | None = None,
    prefilter: bool = True,
    client: str = "claude",
) -> Answer:
    """One payload of ``client`` through the real front, with a plan that holds this module alone, in a throwaway state.

    ``event`` is Claude's name of it. ``config`` overlays the module's own; ``case`` brings its configuration and the
    files to run among.
    """
    event = event or (str(payload.get("hook_event_name", "")) if isinstance(payload, dict) else "")
    # What a background module started may still write there when its folder goes.
    with tempfile.TemporaryDirectory(prefix="overdeck-matrix-", ignore_cleanup_errors=True) as scratch:
        plans = Path(scratch, "state", "plans", client)
        plans.mkdir(parents=True, mode=0o700)
        if case is not None:
            set_up(case, Path(scratch))
        given = payload if isinstance(payload, bytes) else placed(payload, scratch)
        raw = given if isinstance(given, bytes) else json.dumps(given, ensure_ascii=False).encode()
        recipe = _recipe(scratch, plans, client)
        mine = copy(manifest)
        overlay(mine, placed(case.config if case else config or {}, scratch), f"{manifest.folder}/matrix.jsonl")
        plan = compile_plan(recipe, _only(mine), event)
        plan.sources = []
        for module in plan.modules:
            if not prefilter:
                module.literals = []
        (plans / f"{event}.plan").write_bytes(plan.encode())
        (plans / f"{event}.plan").chmod(0o600)
        argv = [*front_command(recipe), event, "--plan", str(plans)]
        environ = {"HOME": scratch, "PATH": os.defpath, "LANG": "C.UTF-8"}
        done = run(argv, env=environ, cwd=scratch, stdin=raw, deadline_s=DEADLINE_S)
        if isinstance(done, NotCompleted):
            return Answer(("broken",), f"the front {done.why}", "", {}, 0)
        log = Path(recipe.calls)
        line = json.loads(log.read_text("utf-8").splitlines()[-1]) if log.is_file() else {}
    stdout = done.stdout.decode("utf-8", "replace").replace(scratch, "{scratch}")
    kinds, text = decode(stdout, event)
    if done.code or done.stderr:
        kinds, text = ("broken",), f"exit {done.code}: {done.stderr.decode('utf-8', 'replace')[-500:]}"
    ends = {name: ran["end"] for name, ran in line.get("ran", {}).items()}
    return Answer(kinds, text, stdout, ends, int(line.get("us", 0)))


def decode(stdout: str, event: str) -> tuple[tuple[str, ...], str]:
    """A client's answer to ``event``, by Claude's name, as the verdict kinds it carries, and all its text."""
    if not stdout:
        return (), ""
    answer = json.loads(stdout)
    specific = answer.get("hookSpecificOutput", {})
    kinds = []
    texts = [answer.get("reason", ""), answer.get("systemMessage", ""), answer.get("stopReason", "")]
    if "permissionDecision" in specific:
        kinds.append(specific["permissionDecision"])
        texts.append(specific.get("permissionDecisionReason", ""))
    if "decision" in specific:
        kinds.append(specific["decision"]["behavior"])
        texts.append(specific["decision"].get("message", ""))
    if answer.get("decision") in ("block", "deny"):  # Gemini CLI says deny everywhere
        kinds.append("keep_going" if event in ("Stop", "SubagentStop") else "deny")
    for key in ("updatedInput", "tool_input"):
        if key in specific:
            kinds.append("rewrite")
            texts.append(json.dumps(specific[key], ensure_ascii=False))
    if "additionalContext" in specific:
        kinds.append("advise")
        texts.append(specific["additionalContext"])
    if "systemMessage" in answer:
        kinds.append("tell")
    if answer.get("continue") is False:
        kinds.append("stop")
    return tuple(kinds), "\n".join(text for text in texts if text)


def _quoted(answer: Answer) -> str:
    """The beginning of its text behind a colon; nothing where it has none."""
    return f": {answer.text[:200]}" if answer.text else ""


def _problems(case: Case, with_prefilter: Answer, around: Answer, module: str) -> list[str]:
    for answer in (around, with_prefilter):
        if answer.ends.get(module) in ("error", "timeout") or "broken" in answer.kinds:
            return [f"the module failed: {answer.text or answer.ends[module]}"]
    problems = []
    if with_prefilter.stdout != around.stdout:
        problems.append(
            f"the prefilter changes the answer: {_said(with_prefilter)} with it, {_said(around)} around it"
        )
    kinds = around.kinds
    if case.expect == "none":
        if kinds:
            problems.append(f"expected silence, got {_said(around)}{_quoted(around)}")
    elif case.expect not in kinds:
        problems.append(f"expected {case.expect}, got {_said(around)}{_quoted(around)}")
    elif case.contains not in around.text:
        problems.append(f"expected {case.contains!r} in: {around.text[:200]}")
    return problems


def set_up(case: Case, scratch: Path) -> None:
    for name, text in case.files.items():
        path = scratch / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_text(text, "utf-8")
    if case.repository:
        nobody = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
        for words in (("init", "-q"), (*nobody, "commit", "-q", "--allow-empty", "-m", "Start"), ("add", "--all")):
            git(*words, cwd=scratch / case.repository, configured=False)


def placed(value: Any, scratch: str) -> Any:
    """The same with ``{scratch}`` in every string, keys too, replaced."""
    if isinstance(value, str):
        return value.replace("{scratch}", scratch)
    if isinstance(value, list):
        return [placed(item, scratch) for item in value]
    if isinstance(value, dict):
        return {placed(key, scratch): placed(item, scratch) for key, item in value.items()}
    return value


def _said(answer: Answer) -> str:
    return ", ".join(answer.kinds) or "nothing"


def _only(manifest: Manifest) -> Fleet:
    fleet = Fleet()
    fleet.enabled = [manifest]
    return fleet


def _recipe(scratch: str, plans: Path, client: str) -> Recipe:
    state = f"{scratch}/state"
    return Recipe(
        client=client,
        plans=str(plans),
        python=str(interpreter()),
        entry=str(entry_path()),
        state=state,
        config=f"{scratch}/config.toml",
        shipped=f"{scratch}/none",
        user=f"{scratch}/none",
        fires=f"{state}/hook-fires.jsonl",
        calls=f"{state}/hook-calls.jsonl",
    )
