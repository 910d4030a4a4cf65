"""``overdeck hooks test``."""

from typing import Annotated

import typer

from overdeck.cli.output import JsonOption, verb
from overdeck.plural import counted


def test(
    module_ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]…", help="Modules; all that are on when left out.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run each module's matrix through the real front, with the prefilter and around it. Exit 1 on a failure.

    The result is a module's canary: the verdict on a silent module goes by it, until one of its files changes.
    """
    from datetime import UTC, datetime

    from overdeck.authoring.canaries import check_has_matrix, remember
    from overdeck.authoring.fleet import load_fleet, recipe_for
    from overdeck.authoring.inventory import find
    from overdeck.authoring.matrix import run_matrix
    from overdeck.errors import ExitCode
    from overdeck.paths import Places

    with verb("hooks.test", as_json) as out:
        places = Places.from_environment()
        if module_ids:
            chosen = [find(places, module_id).manifest for module_id in module_ids]
        else:
            chosen = [manifest for manifest in load_fleet(recipe_for(places)).enabled if manifest.cls != "adopted"]
        for manifest in chosen:
            check_has_matrix(manifest)
        results = [run_matrix(manifest) for manifest in chosen]
        try:
            remember(places, zip(chosen, results, strict=True), datetime.now(UTC))
        except OSError as error:
            out.warn(f"the verdicts will not know of this result: {error}")
        out.data = {
            "modules": [{"id": r.module, "cases": r.cases, "ok": r.ok, "failures": r.failures} for r in results]
        }
        for result in results:
            out.line(
                f"{'ok  ' if result.ok else 'FAIL'} {result.module}: {counted(result.cases, 'case')}, each run twice"
            )
            for failure in result.failures:
                out.line(f"     {failure}")
        if not results:
            out.line("No module is on, so nothing was tested. Next: overdeck hooks list --all")
        if any(not result.ok for result in results):
            out.exit_code = ExitCode.FINDINGS
