"""``overdeck lint``: what is wrong with the hooks that somebody ships, for their CI."""

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from overdeck.cli.output import JsonOption, Output, verb
from overdeck.errors import ExitCode, not_found, usage
from overdeck.paths import Places

if TYPE_CHECKING:
    from overdeck.wiring.lint import Linted
    from overdeck.wiring.rules import Rule


class Level(StrEnum):
    """The level of finding that makes the command exit 1."""

    error = "error"
    warning = "warning"
    info = "info"


class Format(StrEnum):
    """How findings are printed."""

    text = "text"
    github = "github"
    sarif = "sarif"


def lint(
    *,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH...", help="A settings file, a plugin or a repository; the current folder if none."
        ),
    ] = None,
    fail_on: Annotated[
        Level, typer.Option("--fail-on", help="Exit 1 at such a finding or a worse one.")
    ] = Level.error,
    select: Annotated[
        list[str] | None, typer.Option("--select", metavar="RULES", help="Only these rules, with commas between.")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", metavar="RULES", help="Not these rules, with commas between.")
    ] = None,
    form: Annotated[
        Format, typer.Option("--format", help="github: annotations of a pull request; sarif: for code scanning.")
    ] = Format.text,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain",
            metavar="RULE",
            help="What a rule is for, with a file that breaks it and one that does not; all.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Judge the hooks at or below PATH: what the client drops in silence, what never runs, what its scripts do wrong.

    Reads settings files, plugins, and the scripts they name; runs none of them. Rules: docs/lint-rules.md.
    """
    with verb("lint", as_json) as out:
        from overdeck.wiring.rules import ADVICE, RULES

        rules = (*RULES, *ADVICE)
        if explain is not None:
            _explain(explain, rules, out)
            return
        if as_json and form is not Format.text:
            raise usage(
                f"--json and --format {form} are two forms of one answer", hint=f"overdeck lint --format {form}"
            )
        from overdeck.wiring.lint import hook_files, lint

        chosen = _chosen(rules, select, ignore)
        places = Places.from_environment()
        named = list(dict.fromkeys(paths or [Path()]))
        files = hook_files(named, places.claude_dir.absolute())
        if not files:
            out.warn(f"no file with hooks at or below {', '.join(map(str, named))}")
        linted = lint(files, chosen, places, path=os.environ.get("PATH"))
        out.data = linted.as_data()
        _show(linted, chosen, form, out)
        if linted.fails(fail_on.value):
            out.exit_code = ExitCode.FINDINGS


def _explain(name: str, rules: tuple["Rule", ...], out: Output) -> None:
    from overdeck.wiring.rules.page import explained, handbook

    if name == "all":
        out.data = [{"rule": rule.id, "severity": rule.severity, "page": explained(rule)} for rule in rules]
        out.line(handbook(rules).rstrip("\n"))
        return
    rule = next(iter(_known([name], rules)))
    out.data = {"rule": rule.id, "severity": rule.severity, "page": explained(rule)}
    out.line(explained(rule).rstrip("\n"))


def _chosen(rules: tuple["Rule", ...], select: list[str] | None, ignore: list[str] | None) -> list["Rule"]:
    wanted = _known(_split(select), rules) if select else list(rules)
    unwanted = _known(_split(ignore), rules) if ignore else []
    return [rule for rule in rules if rule in wanted and rule not in unwanted]


def _split(words: list[str] | None) -> list[str]:
    return [name for word in words or () for part in word.split(",") if (name := part.strip())]


def _known(names: list[str], rules: tuple["Rule", ...]) -> list["Rule"]:
    """The rules of these names. Raises OverdeckError for a name that is none (exit 3)."""
    from difflib import get_close_matches

    by_id = {rule.id: rule for rule in rules}
    for name in names:
        if name not in by_id:
            near = get_close_matches(name, by_id, n=3, cutoff=0.5)
            raise not_found(
                f"there is no rule {name!r}",
                hint=f"overdeck lint --explain {near[0]}" if near else "overdeck lint --explain all",
                data=sorted(by_id),
            )
    return [by_id[name] for name in names]


def _show(linted: "Linted", rules: list["Rule"], form: Format, out: Output) -> None:
    if form is Format.sarif:
        from overdeck.wiring.lint.formats import sarif

        out.line(sarif(linted, rules))
        return
    if form is Format.github:
        from overdeck.wiring.lint.formats import github

        for line in github(linted):
            out.line(line)
    else:
        for one in linted.spotted:
            out.line(f"{one.file}:{one.line}: {one.rule.severity} {one.rule.id}")
            out.line(f"    {one.hit.why}")
            out.line(f"    fix: {one.hit.fix}")
    counts = linted.counts()
    handlers = sum(len(file.all_handlers) for file in linted.files)
    say = out.line if form is Format.text else out.note
    say(
        f"{_count(counts['error'], 'error')}, {_count(counts['warning'], 'warning')}, {counts['info']} info "
        f"in {_count(len(linted.files), 'file')} with {_count(handlers, 'handler')}"
    )


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
