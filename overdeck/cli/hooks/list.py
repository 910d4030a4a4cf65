"""``overdeck hooks list``."""

from typing import Annotated

import typer

from overdeck.cli.output import JsonOption, verb


def list_modules(
    all_modules: Annotated[bool, typer.Option("--all", help="Show modules that are off, too.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the hook modules in manifest order: class, events, literals, deadline, where they live."""
    from overdeck.authoring.fleet import load_fleet, recipe_for
    from overdeck.authoring.inventory import describe
    from overdeck.paths import Places

    with verb("hooks.list", as_json) as out:
        fleet = load_fleet(recipe_for(Places.from_environment()))
        shown = fleet.enabled + ([m for m in fleet.found if m not in fleet.enabled] if all_modules else [])
        rows = [describe(module, on=module in fleet.enabled) for module in shown]
        for problem in fleet.problems:
            out.warn(f"not loaded: {problem}")
        out.data = {"modules": rows, "problems": [str(problem) for problem in fleet.problems]}
        if not rows:
            out.line("No module is on. Next: overdeck hooks list --all")
            return
        out.table(
            ["module", "pack", "class", "deadline ms", "on", "flags", "literals", "events"],
            [
                [
                    str(row["id"]),
                    str(row["pack"]),
                    str(row["class"]),
                    str(row["timeout_ms"]),
                    "yes" if row["on"] else "no",
                    ", ".join(name for name in ("main_only", "background") if row[name]),
                    _some(row["literals"], row["rules"]),
                    ", ".join(f"{event}({matcher})" for event, matcher in row["events"].items()),
                ]
                for row in rows
            ],
            right=["deadline ms"],
            below="events",
        )


def _some(literals: list[str], rules: int | None) -> str:
    """The first literals, and how many more there are: truncation is announced."""
    if not literals:
        return "(runs always)" if rules is None else "(no rule is on)"
    more = len(literals) - 3
    return " ".join(literals[:3]) + (f" (+{more} more)" if more > 0 else "")
