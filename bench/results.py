"""Measure the numbers of DESIGN.md on this machine and write bench/RESULTS.md: ``./dev bench``.

Every row is a ratio of two commands run side by side in coin-flip pairs (overdeck.bench). Nothing here is
edited by hand afterwards; a row that misses its bar says so.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
import against_hyperfine
import fleets
import in_client
import logged
import registries
import screens
import statuslines

import overdeck
from overdeck.authoring.fleet import built_front, front_argv, interpreter, python_front, recipe_for, write_plans
from overdeck.bench import Arm, Comparison, InvalidMeasurement, command_arm, compare, event_arm
from overdeck.bench.outcome import Metric
from overdeck.bench.stress import stress
from overdeck.paths import Places, shipped
from overdeck.spawn.native import NativeSpawner, start_spawner
from overdeck.wiring.offline import can_isolate

RESULTS = Path(__file__).resolve().parent / "RESULTS.md"
CATNULL = """#include <fcntl.h>
#include <unistd.h>
int main(void)
{
    dup2(open("/dev/null", O_WRONLY), 1);
    execl("/bin/cat", "cat", (char *)0);
    return 127;
}
"""
"""`cat` to /dev/null without a shell around it, which would be 12 % of it."""


class Row(NamedTuple):
    """One comparison: b over a (or a over b, ``inverse``), and the bars it should stay under (over)."""

    what: str
    a: Arm
    b: Arm
    payload: bytes
    cpu_bar: float | None = None
    wall_bar: float | None = None
    inverse: bool = False
    pairs: int | None = None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--only", default="", help="rows that contain this text; RESULTS.md is not written")
    parser.add_argument(
        "--again", action="store_true", help="with --only: put these rows in the place of their old ones"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="overdeck-bench-") as folder:
        rows = [row for row in _rows(Path(folder)) if options.only in row.what]
        if not options.only or any(
            word in options.only for word in ("overdeck", "ingest", "read_json", "first row")
        ):
            rows += [row for row in _command_rows(Path(folder)) if options.only in row.what]
        lines = []
        for row in rows:
            print(f"measuring: {row.what}", file=sys.stderr)
            lines += _measured(row, options.pairs)
        if not options.only or options.only in KEYS:
            print(f"measuring: {KEYS}", file=sys.stderr)
            lines += _keys(Path(folder) / "screens")
        if not options.only or options.only in IN_CLAUDE:
            print(f"measuring: {IN_CLAUDE}", file=sys.stderr)
            lines += _in_claude(Path(folder) / "in-claude")
        if not options.only:
            print("measuring: 20 calls at a time", file=sys.stderr)
            lines += _concurrent(Path(folder))
            print("measuring: beside hyperfine", file=sys.stderr)
            lines += _beside_hyperfine()
    table = "\n".join(lines)
    if options.only:
        print(table)
        if options.again:
            RESULTS.write_text(_with_rows(RESULTS.read_text(encoding="utf-8"), lines), encoding="utf-8")
        return 0
    RESULTS.write_text(f"{_head(options.pairs)}\n{table}\n", encoding="utf-8")
    print(f"wrote {RESULTS.name}", file=sys.stderr)
    return 0


def _with_rows(text: str, lines: list[str]) -> str:
    """The page with each of these rows where a row of the same name and metric stands; a new one behind all of them."""
    new = {tuple(line.split(" | ")[:2]): line for line in lines}
    page = [new.pop(tuple(line.split(" | ")[:2]), line) for line in text.splitlines()]
    last = max((number for number, line in enumerate(page) if line.startswith("| ")), default=len(page) - 1)
    return "".join(f"{line}\n" for line in [*page[: last + 1], *new.values(), *page[last + 1 :]])


def _rows(folder: Path) -> list[Row]:
    places = Places.from_environment({"HOME": str(folder)})
    recipe = recipe_for(places)
    write_plans(recipe)
    installed = front_argv(recipe, "PreToolUse")
    twin = [*python_front(recipe), *installed[-4:]]
    stub = _stub(folder, installed)
    bare = command_arm("python3 -I -S", [str(interpreter()), "-I", "-S", "-c", "pass"])
    true = command_arm("true", ["/bin/true"])
    noop = shipped("bench", "scenarios", "payloads", "noop.bash.json").read_bytes()
    denied = shipped("bench", "scenarios", "payloads", "deny.bash.json").read_bytes()
    swarm = event_arm("14 hooks", shipped("bench", "scenarios", "swarm", "settings.json"), "PreToolUse", "Bash")
    rows = [
        Row("one Bash call, nothing acts: dispatcher / 14 Python hooks", swarm, command_arm("d", installed), noop),
        Row("one Bash call, gates act: dispatcher / 14 Python hooks", swarm, command_arm("d", installed), denied),
        Row("no-op call, Python twin / `python3 -I -S -c pass`", bare, command_arm("twin", twin), noop),
        Row("the `overdeck-hook` stub / the same twin started directly", command_arm("t", twin), stub, noop),
    ]
    rows += [Row(what, a, b, b"", registries.BAR, registries.BAR) for what, a, b in registries.rows(folder)]
    rows += [
        Row(what, a, b, said, statuslines.BAR, statuslines.BAR) for what, a, b, said in statuslines.rows(folder)
    ]
    built = built_front()
    if built is None or not built.fresh:
        print("no native front is installed here: its rows are left out", file=sys.stderr)
        return rows

    def front(count: int, event: str = "PreToolUse", *, code: str = fleets.MODULE, literals: int = 3) -> Arm:
        root = folder / f"fleet-{count}-{literals}-{len(code)}"
        plans = root / "state" / "plans" / "claude"
        if not root.exists():
            fleets.modules(root, count, code=code, literals=literals)
        return command_arm(f"{count} modules", [str(built.path), event, "--plan", str(plans)])

    text = fleets.source_text(1_400_000)
    big = fleets.call("ls", output=text, event="PostToolUse")
    bigger = fleets.call("ls", output=text * 14, event="PostToolUse")
    written = json.loads(fleets.call("ls")) | {
        "tool_name": "Edit",
        "tool_input": {"file_path": "/home/dev/proj/a.py", "old_string": "x", "new_string": text},
    }
    rows += [
        Row("no-op call, 20 modules / `true`", true, front(20), fleets.call("echo hi"), 1.1, 1.1),
        Row("no-op call, 200 modules / `true`", true, front(200), fleets.call("echo hi"), 1.5, 1.5),
    ]
    cat = _catnull(folder)
    if cat is not None:
        rows += [
            Row("1.5 MB tool output / `cat` to /dev/null", cat, front(20, "PostToolUse"), big, 1.4, 1.3),
            Row(
                "1.5 MB tool input, 60 literals / the same `cat`",
                cat,
                front(20),
                json.dumps(written).encode(),
                2.0,
                2.0,
            ),
            Row("20 MB tool output / the same `cat`", cat, front(20, "PostToolUse"), bigger, 4.5, 4.5, pairs=20),
        ]
    everything = fleets.shipped_fleet(folder / "everything")

    def shipped_front(event: str) -> Arm:
        return command_arm("all shipped", [str(built.path), event, "--plan", str(everything)])

    rows.append(
        Row(
            "all guards and gates on: no-op call / `true`",
            true,
            shipped_front("PreToolUse"),
            fleets.call("echo hi"),
            1.1,
            1.1,
        )
    )
    acting = fleets.shipped_fleet(folder / "acting", fleets.every_pack())
    rows.append(
        Row(
            "every pack on, journal and capture write each call: after a tool that no module minds / `true`",
            true,
            command_arm("every pack", [str(built.path), "PostToolUse", "--plan", str(acting)]),
            fleets.call("echo hi", output="hi", event="PostToolUse"),
            1.1,
            1.1,
        )
    )
    if cat is not None:
        rows += [
            Row(
                "all guards and gates on: 1.5 MB tool output / `cat` to /dev/null",
                cat,
                shipped_front("PostToolUse"),
                big,
                1.4,
                1.3,
            ),
            Row(
                "all guards and gates on: 1.5 MB tool input / the same `cat`",
                cat,
                shipped_front("PreToolUse"),
                json.dumps(written).encode(),
                2.0,
                2.0,
            ),
            Row(
                "all guards and gates on: 20 MB tool output / the same `cat`",
                cat,
                shipped_front("PostToolUse"),
                bigger,
                4.5,
                4.5,
                pairs=20,
            ),
        ]
    for what, tool, tool_input, bar in fleets.ACTING:
        asked = json.loads(fleets.call("ls")) | {"tool_name": tool, "tool_input": tool_input}
        what = f"all guards and gates on: {what} / `python3 -I -S -c pass`"
        rows.append(Row(what, bare, shipped_front("PreToolUse"), json.dumps(asked).encode(), bar, bar))
    one = fleets.call("word3 push x")
    everyone = fleets.call("; ".join(f"word{number} x" for number in range(28)))
    hooks = event_arm("28 hooks", fleets.hooks(folder / "hooks-28", 28), "PreToolUse", "Bash")
    modules = front(28, literals=1)
    scripts = sorted((folder / "hooks-28").glob("*.py"))
    adopted_plans = str(fleets.adopted(folder / "adopted-28", scripts))
    adopted = command_arm("28 adopted", [str(built.path), "PreToolUse", "--plan", adopted_plans])
    rows += [
        Row(
            "one gate acts, without `re` / `python3 -I -S -c pass`",
            bare,
            front(5, code=fleets.PLAIN),
            one,
            1.4,
            1.4,
        ),
        Row("one gate acts, with `re` / `python3 -I -S -c pass`", bare, modules, one, 2.2, 2.2),
        Row("28 Python hooks / 28 modules, nothing acts", modules, hooks, fleets.call("ls"), 500, None, True, 20),
        Row("28 Python hooks / 28 modules, one runs", modules, hooks, one, 25, None, True, 20),
        Row("28 Python hooks / the same 28 adopted, all run", adopted, hooks, everyone, 5, None, True, 20),
        Row("28 Python hooks / 28 modules, all run", modules, hooks, everyone, 7, None, True, 20),
    ]
    return rows


def _command_rows(folder: Path) -> list[Row]:
    """What a person types, against an empty command of the same framework."""
    root = folder / "logged"
    logged.home(root, fires=5_000_000, calls=500_000)
    logged.take_in(root)
    empty = replace(command_arm("empty", [sys.executable, str(root / "empty.py")]), home=root)
    state = Places.from_environment({"HOME": str(root)}).state
    tick = f'cat tick >>"{state}/hook-calls.jsonl" && exec "$0" ingest'

    def typed(*words: str, home: Path = root) -> Arm:
        return replace(command_arm(words[-1], [str(logged.BIN / words[0]), *words[1:]]), home=home, cwd=home)

    many = folder / "three-million"
    places = logged.home(many, fires=3_000_000, calls=1)
    again = f'rm -f "{places.database}" "{places.published}"; exec "$0" ingest'
    handlers = logged.settings_of(folder / "sixty", 60, plugins=10)
    plain = folder / "plain.py"
    plain.write_text(logged.EMPTY_COMMAND.replace("import duckdb\n", ""))
    nothing = b"{}"
    return [
        Row(
            "`overdeck fires` on 5 M rows / an empty typer command that imports duckdb",
            empty, typed("overdeck", "fires"), nothing, 1.6, 1.6,
        ),
        Row(
            "`overdeck ingest` of 100 new lines, 5 M rows before / the same empty command",
            empty,
            replace(command_arm("tick", ["sh", "-c", tick, str(logged.BIN / "overdeck")]), home=root, cwd=root),
            nothing, 1.6, 1.6,
        ),
        Row(
            "`overdeck audit` of 60 handlers with a script each, 10 plugins / an empty typer command",
            replace(command_arm("plain", [sys.executable, str(plain)]), home=handlers),
            typed("overdeck", "audit", home=handlers), nothing, 1.5, 1.5,
        ),
        Row(
            "`overdeck ingest` of 3 M fire lines / DuckDB's own `read_json` of the file",
            replace(
                command_arm("read", [sys.executable, str(many / "read_json.py"), str(places.fires_log)]),
                home=many, cwd=many,
            ),
            replace(command_arm("in", ["sh", "-c", again, str(logged.BIN / "overdeck")]), home=many, cwd=many),
            nothing, None, 5.5, pairs=8,
        ),
        *_screen_rows(folder / "screens"),
    ]  # fmt: skip


def _screen_rows(root: Path) -> list[Row]:
    """From a command to the first row of its table, as a terminal gets it."""
    screens.home(root)
    return [Row(what, a, b, b"", None, screens.BAR, pairs=20) for what, a, b in screens.rows(root)]


def _stub(folder: Path, installed: list[str]) -> Arm:
    """The Python stub as a wheel without a compiler would install it, for this interpreter."""
    text = (Path(overdeck.__file__).parent / "dispatch" / "overdeck-hook.in").read_text("utf-8")
    path = folder / "overdeck-hook"
    path.write_text(f"#!{sys.executable}\n{text.partition(chr(10))[2]}")
    path.chmod(0o755)
    return command_arm("stub", [str(path), *installed[-4:]])


def _catnull(folder: Path) -> Arm | None:
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    source, built = folder / "catnull.c", folder / "catnull"
    source.write_text(CATNULL)
    subprocess.run([compiler, "-O2", "-static", "-o", str(built), str(source)], check=True)
    return command_arm("cat", [str(built)])


def _measured(row: Row, pairs: int) -> list[str]:
    try:
        outcome = compare(
            row.a,
            row.b,
            payload=row.payload,
            pairs=row.pairs or pairs,
            allow_diff=True,
            # Without version managers' shims: a `python3` behind one would flatter us (39 execs, 65 ms instead of one).
            environ={"PATH": os.defpath},
            timeout_s=300.0,
        )
    except InvalidMeasurement as error:
        return [f"| {row.what} | | invalid: {error.message} | | | |"]
    return [
        _line(row.what, "cpu", outcome, row.cpu_bar, row.inverse),
        _line(row.what, "wall", outcome, row.wall_bar, row.inverse),
    ]


def _line(what: str, metric: Metric, outcome: Comparison, bar: float | None, inverse: bool) -> str:
    ratio = outcome.ratios[metric]
    digits = 0 if ratio.value >= 100 else 1 if ratio.value >= 10 else 3 if ratio.value >= 0.1 else 5
    met = "" if bar is None else "met" if (ratio.value >= bar if inverse else ratio.value <= bar) else "MISSED"
    limit = "" if bar is None else f"{'≥' if inverse else '≤'} {bar:g}"
    return (
        f"| {what} | {metric} | {ratio.value:.{digits}f} | {ratio.low:.{digits}f}–{ratio.high:.{digits}f} | {limit} "
        f"| {met} |"
    )


KEYS = "`overdeck tui`, key to screen while its worker takes in 2 M fire lines, 200 modules"


def _keys(root: Path) -> list[str]:
    """The median is in milliseconds: a person waits for it, whatever else the machine can do."""
    if not root.exists():
        screens.home(root, fires=500_000, calls=50_000)
    took = sorted(screens.keys_during_ingest(root))
    middle, limit = median(took), screens.KEY_BAR_MS
    met = "met" if middle <= limit else "MISSED"
    return [f"| {KEYS}: median of {len(took)}, in ms | wall | {middle:.0f} | | ≤ {limit} | {met} |"]


IN_CLAUDE = "ten tool calls in Claude Code, whole client runs"


def _in_claude(folder: Path) -> list[str]:
    """28 modules, and beside them the same as 28 Python hooks, over no hooks; nothing acts."""
    built, program = built_front(), in_client.found(os.environ)
    if built is None or not built.fresh or program is None or not can_isolate():
        print(
            "no Claude Code, no native front or no network namespace here: its rows are left out", file=sys.stderr
        )
        return []
    folder.mkdir()
    costs = in_client.measure(program, built.path, folder, pairs=20, hook_pairs=6)
    lines = []
    for arm, shown in (("modules", "28 modules"), ("hooks", "the same as 28 Python hooks")):
        for metric in ("cpu", "wall"):
            seen = costs.ratio(arm, metric)
            bar = in_client.MOST_CPU if (arm, metric) == ("modules", "cpu") else None
            met = "" if bar is None else "met" if seen.value <= bar else "MISSED"
            lines.append(
                f"| {IN_CLAUDE}, {len(getattr(costs, arm))} pairs: {shown} / no hooks | {metric} | {seen.value:.3f} "
                f"| {seen.low:.3f}–{seen.high:.3f} | {'' if bar is None else f'≤ {bar:g}'} | {met} |"
            )
    return lines


def _concurrent(folder: Path, at_once: int = 20, rounds: int = 50) -> list[str]:
    """p99 of 20 calls at a time against the median of a call alone, then the same under CPU stress, counted."""
    built = built_front()
    if built is None:
        return []
    root = folder / "concurrent"
    plans = fleets.modules(root, 5)
    argv = [str(built.path), "PreToolUse", "--plan", str(plans)]
    payload = fleets.call("word3 push --force")

    def call(_: int) -> tuple[float, bool]:
        started = time.perf_counter()
        done = subprocess.run(argv, input=payload, capture_output=True, check=False, env={})
        return time.perf_counter() - started, b'"permissionDecision":"deny"' in done.stdout

    alone = median(call(0)[0] for _ in range(30))
    with ThreadPoolExecutor(at_once) as pool:
        quiet = list(pool.map(call, range(at_once * rounds)))
    with stress(os.cpu_count() or 2), ThreadPoolExecutor(at_once) as pool:
        stressed = list(pool.map(call, range(at_once * rounds)))
    p99 = sorted(seconds for seconds, _ in quiet)[int(len(quiet) * 0.99)] / alone
    lost = sum(not denied for _, denied in quiet + stressed)
    lines = len((root / "state" / "hook-calls.jsonl").read_text().splitlines()) - 30
    expected = 2 * at_once * rounds
    what = f"{at_once} calls at a time × {rounds}"
    return [
        f"| {what}: p99 / median of a call alone | wall | {p99:.1f} | | ≤ 20 | {'met' if p99 <= 20 else 'MISSED'} |",
        f"| {what}, quiet and under CPU stress: verdicts lost; lines | | {lost}; {lines} | | 0; {expected} "
        f"| {'met' if not lost and lines == expected else 'MISSED'} |",
    ]


def _beside_hyperfine() -> list[str]:
    """What hookbench and hyperfine make of no difference, and what each spends on a run."""
    if not against_hyperfine.found():
        print("no hyperfine is installed here: its rows are left out", file=sys.stderr)
        return []
    python = str(interpreter())
    nothing = against_hyperfine.of_nothing([python, "-I", "-S", "-c", "pass"])
    what = f"{nothing.comparisons} comparisons of a hook with itself under bursts of load"
    limit = f"t beyond ±{against_hyperfine.NOTICED_T:g}"  # no bar: this is a cell of a table
    lines = [
        f"| {what}: verdicts of hookbench; {limit} in hyperfine's figures, worst ratio | | {nothing.verdicts}; "
        f"{nothing.noticed}, {nothing.worst:.2f} | | ≤ 1 | {'met' if nothing.verdicts <= 1 else 'MISSED'} |"
    ]
    for shown, argv in (("true", ["/bin/true"]), ("python3 -c 'import json'", [python, "-c", "import json"])):
        cost = against_hyperfine.overhead(argv)
        rivals = (
            ("its shell hands over the payload", cost.hyperfine + cost.shell),
            ("no payload", cost.hyperfine),
        )
        spent = f"spent between two runs of `{shown}`: hookbench / hyperfine"
        lines += [
            f"| {spent}, {which} | wall | {cost.hookbench / theirs:.2f} | | ≤ 1 "
            f"| {'met' if cost.hookbench <= theirs else 'MISSED'} |"
            for which, theirs in rivals
        ]
        both = (cost.hookbench + cost.read_later) / cost.hyperfine
        lines.append(f"| {spent}, no payload, with what hookbench reads later | wall | {both:.2f} | | | |")
    return lines


def _head(pairs: int) -> str:
    moment = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    built = built_front()
    native = "native, static" if built and built.fresh else "the Python twin"
    with start_spawner() as running:
        spawner = "native" if isinstance(running, NativeSpawner) else "the Python twin"
    return (
        "# Results\n\n"
        f"Written by `./dev bench` on {moment}: overdeck {overdeck.__version__}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores; the front is {native}, the spawner "
        f"{spawner}. Each row is one run of {pairs} coin-flip pairs at most (Hodges–Lehmann ratio, 95 % CI from exact "
        "signed ranks). Ratios of one run on one machine; never compare figures of two runs.\n\n"
        "| what | metric | ratio | 95 % CI | bar | |\n|---|---|---|---|---|---|"
    )


if __name__ == "__main__":
    raise SystemExit(main())
