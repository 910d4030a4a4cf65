"""What each shipped module costs when it is run, and docs/modules.md, which is made of that and of the manifests.

    .venv/bin/python bench/module_costs.py            # measure all, write both files (about two minutes)
    .venv/bin/python bench/module_costs.py --only ID  # measure one anew
    .venv/bin/python bench/module_costs.py --page     # only make the page again

Every figure is CPU time of a whole call by the native front, as a ratio to `python3 -I -S -c pass` measured beside it
(coin-flip pairs): with the module alone, and with every shipped module on.
"""

import argparse
import json
import os
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from overdeck.authoring.fleet import built_front, entry_path, front_command, interpreter
from overdeck.authoring.matrix import Case, placed, read_cases, set_up
from overdeck.bench import command_arm, compare
from overdeck.dispatch import planning
from overdeck.dispatch.manifest import Manifest, read_manifest
from overdeck.dispatch.planning import Recipe
from overdeck.dispatch.writing import replace
from overdeck.paths import shipped

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "modules.md"
COSTS = ROOT / "bench" / "module-costs.json"
PACKS = {
    "guards": "on unless the config says otherwise",
    "gates": 'on with `packs = ["guards", "gates"]`',
    "drafts": 'on with `packs = ["guards", "drafts"]`',
    "evidence": 'on with `packs = ["guards", "evidence"]`',
    "session": 'on with `packs = ["guards", "session"]`',
    "ambient": 'on with `packs = ["guards", "ambient"]`',
}
EVERY = (*PACKS,)
SHOWN = 12
"""Literals of a module that the page names."""
HEAD = """# Modules

Made by `python bench/module_costs.py`, from the manifests in `modules/`; a test holds it to them. *Alone* and
*in company* are what a call costs on which the module acts, in starts of a bare Python (`python3 -I -S -c
pass`, CPU, measured beside it): with no other module on, and with every shipped module on. A call that no
module may act on, by its tool and its literals, starts no Python at all (`bench/RESULTS.md`).

What can be set, and what it means: `module.toml` in the module's folder and `overdeck hooks show ID`; it is set
in the `[modules.ID]` table of the config. What a module deliberately does not see: the first lines of its
`module.py`, and `docs/plans/modules.md`. Its cases: `overdeck hooks test ID`. By hand, without a client:
`overdeck hooks run ID --file F` or `--command "…"`."""
TAIL = """
stop-gate, checkpoint, prompt-nudge and recall are measured on a call on which they have nothing to say, their usual
one: the next question of a session is minutes away. `SKIP=id,id` in the environment skips advisers, never gates.
`overdeck hooks off --session ID` silences stop-gate, checkpoint, memory-recall, prompt-nudge and subagent-brief.
"""


class Cost(NamedTuple):
    """Whole calls, in starts of a bare Python: the module alone, and among all of them."""

    alone: float
    company: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--only", default="")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    costs = kept_costs()
    if not options.page:
        built = built_front()
        if built is None or not built.fresh:
            print(
                "error: the native front of this source is not installed\n  next: ./dev test, then this again",
                file=sys.stderr,
            )
            return 2
        for manifest in manifests():
            if manifest.native is None and options.only in ("", manifest.id):
                print(f"measuring: {manifest.id}", file=sys.stderr)
                costs[manifest.id] = measured(manifest, options.pairs)
                _keep(costs)
    PAGE.write_text(page(costs), encoding="utf-8")
    return 0


def manifests() -> list[Manifest]:
    """Every shipped module's manifest, in the order of the packs."""
    found = [read_manifest(str(path.parent)) for path in shipped("modules").glob("*/module.toml")]
    return sorted(found, key=lambda manifest: (EVERY.index(manifest.pack), manifest.id))


def kept_costs() -> dict[str, Cost]:
    """What was measured the last time."""
    if not COSTS.exists():
        return {}
    return {id: Cost(**cost) for id, cost in json.loads(COSTS.read_text("utf-8")).items()}


def _keep(costs: dict[str, Cost]) -> None:
    known = {manifest.id for manifest in manifests()}
    kept = {id: cost._asdict() for id, cost in sorted(costs.items()) if id in known}
    COSTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def measured(manifest: Manifest, pairs: int) -> Cost:
    """The first case that a module must act on, as the client would send it; the first of all where there is none."""
    cases = sorted(read_cases(manifest), key=lambda case: case.expect == "none")
    alone, company = (_ratio(manifest, cases[0], together, pairs) for together in (False, True))
    return Cost(alone, company)


def _ratio(manifest: Manifest, case: Case, together: bool, pairs: int) -> float:
    with tempfile.TemporaryDirectory(prefix="overdeck-cost-") as folder:
        root = Path(folder)
        plans = root / "state" / "plans" / "claude"
        for made in (plans, root / "user"):
            made.mkdir(parents=True, mode=0o700)
        set_up(case, root)
        (root / "config.toml").write_text(_config(manifest, placed(case.config, folder), together), "utf-8")
        recipe = Recipe(
            client="claude", plans=str(plans), python=str(interpreter()), entry=str(entry_path()),
            state=str(root / "state"), config=str(root / "config.toml"), shipped=str(shipped("modules")),
            user=str(root / "user"), fires=f"{root}/state/fires.jsonl", calls=f"{root}/state/calls.jsonl",
        )  # fmt: skip
        replace(f"{plans}/{planning.RECIPE}", recipe.encode())
        event = str(case.payload["hook_event_name"])
        planning.write_plan(recipe, planning.compile_plan(recipe, planning.load(recipe), event))
        front = command_arm(manifest.id, [*front_command(recipe), event, "--plan", str(plans)])
        bare = command_arm("python3 -I -S", [str(interpreter()), "-I", "-S", "-c", "pass"])
        payload = json.dumps(placed(case.payload, folder), ensure_ascii=False).encode()
        outcome = compare(
            bare,
            front,
            payload=payload,
            pairs=pairs,
            allow_diff=True,
            environ={"PATH": os.defpath},
            timeout_s=300.0,
        )
    return round(outcome.ratios["cpu"].value, 2)


def _config(manifest: Manifest, own: dict[str, Any], together: bool) -> str:
    packs = EVERY if together else (manifest.pack,)
    lines = [f"packs = {json.dumps(packs)}"]
    for other in manifests():
        if other.id == manifest.id:
            lines += [f"[modules.{other.id}]", *(f"{key} = {_toml(value)}" for key, value in own.items())]
        elif not together and other.pack == manifest.pack:
            lines += [f"[modules.{other.id}]", "enabled = false"]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def page(costs: dict[str, Cost]) -> str:
    """docs/modules.md."""
    origins = tomllib.loads(shipped("modules", "origins.toml").read_text("utf-8"))
    lines = [HEAD]
    for pack, how in PACKS.items():
        lines += [
            "",
            f"## Pack `{pack}`: {how}",
            "",
            "| id | class | events | acts on | literals | alone | in company | cases | comes from |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        lines += [
            _row(manifest, costs.get(manifest.id), origins.get(manifest.id, ""))
            for manifest in manifests()
            if manifest.pack == pack
        ]
    return "\n".join([*lines, TAIL])


def _row(manifest: Manifest, cost: Cost | None, origin: str) -> str:
    events = "; ".join(f"{event} {matcher}" for event, matcher in manifest.events.items()).replace("|", ", ")
    if manifest.main_only:
        events += " (main agent only)"
    if manifest.native is not None:
        prices = ["by the front: no Python", "the same"]
    elif cost is None:
        prices = ["not measured yet", "not measured yet"]
    else:
        prices = [f"{cost.alone:.2f}", f"{cost.company:.2f}"]
    cells = [
        f"`{manifest.id}`", manifest.cls, events, manifest.summary.replace("|", ", "), _literals(manifest), *prices,
        str(len(read_cases(manifest))), origin,
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _literals(manifest: Manifest) -> str:
    if manifest.native is not None:
        return "none needed"
    found: list[str] = []
    for event in manifest.events:
        literals = manifest.literals_at(event)
        if literals is not None and not literals[0]:
            return "none: runs on every such call"
        found += literals[0] if literals is not None else []
    words = list(dict.fromkeys(found))
    if not words:
        return "of its rules: none shipped, not asked"
    more = len(words) - SHOWN
    return " ".join(f"`{word}`" for word in words[:SHOWN]) + (f" and {more} more" if more > 0 else "")


if __name__ == "__main__":
    raise SystemExit(main())
