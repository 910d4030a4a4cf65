"""Measure the numbers of DESIGN.md on this machine and write bench/RESULTS.md: ``./dev bench``.

Every row is a ratio of two commands run side by side in coin-flip pairs (overdeck.bench). Nothing here is
edited by hand afterwards; a row that misses its bar says so.
"""

import argparse
import json
import os
import platform
import shlex
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import overdeck
from overdeck.authoring.fleet import entry_path, front_argv, interpreter, recipe_for, write_plans
from overdeck.bench import Comparison, InvalidMeasurement, command_arm, compare, event_arm
from overdeck.paths import Places, shipped

RESULTS = Path(__file__).resolve().parent / "RESULTS.md"


class Row(NamedTuple):
    """One comparison: B over A, the bar it should stay under (None: reported only)."""

    what: str
    measure: Callable[[], Comparison]
    cpu_bar: float | None = None
    wall_bar: float | None = None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--only", default="", help="rows that contain this text; RESULTS.md is not written")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="overdeck-bench-") as folder:
        rows = [row for row in _rows(Path(folder), options.pairs) if options.only in row.what]
        lines = []
        for row in rows:
            print(f"measuring: {row.what}", file=sys.stderr)
            lines += _measured(row)
    table = "\n".join(lines)
    if options.only:
        print(table)
        return 0
    RESULTS.write_text(f"{_head(options.pairs)}\n{table}\n", encoding="utf-8")
    print(f"wrote {RESULTS.name}", file=sys.stderr)
    return 0


def _rows(folder: Path, pairs: int) -> list[Row]:
    places = Places.from_environment({"HOME": str(folder)})
    recipe = recipe_for(places)
    write_plans(recipe)
    front = front_argv(recipe, "PreToolUse")
    stub = [str(Path(sysconfig.get_path("scripts"), "overdeck-hook")), *front[4:]]
    bare = [str(interpreter()), "-I", "-S", "-c", "pass"]
    noop = shipped("bench", "scenarios", "payloads", "noop.bash.json").read_bytes()
    denied = shipped("bench", "scenarios", "payloads", "deny.bash.json").read_bytes()
    acting = json.dumps({**json.loads(noop), "tool_input": {"command": "cat .env"}}).encode()
    swarm = event_arm(
        "14 Python hooks", shipped("bench", "scenarios", "swarm", "settings.json"), "PreToolUse", "Bash"
    )

    def against(a: list[str], b: list[str], payload: bytes) -> Callable[[], Comparison]:
        return lambda: compare(
            command_arm("A", a), command_arm("B", b), payload=payload, pairs=pairs, allow_diff=True
        )

    def swarm_against(payload: bytes) -> Callable[[], Comparison]:
        return lambda: compare(
            swarm, command_arm("dispatcher", front), payload=payload, pairs=pairs, allow_diff=True
        )

    return [
        Row("one Bash call, nothing acts: dispatcher / 14 Python hooks", swarm_against(noop), cpu_bar=0.1),
        Row("one Bash call, gates act: dispatcher / 14 Python hooks", swarm_against(denied), cpu_bar=0.25),
        Row("no-op call, Python path / `python3 -I -S -c pass`", against(bare, front, noop)),
        Row("one gate acts, Python path / `python3 -I -S -c pass`", against(bare, front, acting)),
        Row("the `overdeck-hook` stub / the same front started directly", against(front, stub, noop)),
    ]


def _measured(row: Row) -> list[str]:
    try:
        outcome = row.measure()
    except InvalidMeasurement as error:
        return [f"| {row.what} | | invalid: {error.message} | | | |"]
    lines = []
    for metric, bar in (("cpu", row.cpu_bar), ("wall", row.wall_bar)):
        ratio = outcome.ratios[metric]
        met = "" if bar is None else ("met" if ratio.value <= bar else "MISSED")
        lines.append(
            f"| {row.what} | {metric} | {ratio.value:.3f} | {ratio.low:.3f}–{ratio.high:.3f} | "
            f"{'' if bar is None else f'≤ {bar:g}'} | {met} |"
        )
    return lines


def _head(pairs: int) -> str:
    moment = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return (
        "# Results\n\n"
        f"Written by `./dev bench` on {moment}: overdeck {overdeck.__version__}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores. Each row is one run of {pairs} coin-flip "
        "pairs (Hodges–Lehmann ratio, 95 % CI from exact signed ranks); below 1 means B is cheaper. Ratios of one "
        "run on one machine; never compare figures of two runs.\n\n"
        f"The front measured: `{shlex.join(['python3', '-I', '-S', entry_path().name])} …`\n\n"
        "| what (B / A) | metric | ratio | 95 % CI | bar | |\n|---|---|---|---|---|---|"
    )


if __name__ == "__main__":
    raise SystemExit(main())
