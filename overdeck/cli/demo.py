"""``overdeck demo``."""

from typing import Annotated

import typer

from overdeck.cli.output import JsonOption, verb


def demo(
    pairs: Annotated[int, typer.Option(help="Pairs for the step that runs hookbench ab.", min=8, max=200)] = 20,
    as_json: JsonOption = False,
) -> None:
    """Tell the whole story on bundled input, in a throwaway home: cost, a deny, telemetry, a ratio, a refusal."""
    from overdeck.demo import tell
    from overdeck.errors import ExitCode

    with verb("demo", as_json, looks_itself=True) as out:
        story = tell(out.line, pairs=pairs)
        out.data = {"steps": [step._asdict() for step in story]}
        failed = [step.title for step in story if not step.ok]
        out.line(f"{len(story) - len(failed)} of {len(story)} steps went as they should.")
        if failed:
            out.warn(f"not as it should be: {', '.join(failed)}")
            out.exit_code = ExitCode.FINDINGS
