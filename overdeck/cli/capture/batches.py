"""``overdeck capture batches``."""

from typing import Annotated

import typer

from overdeck.cli.output import JsonOption, verb


def batches(
    number: Annotated[
        int | None, typer.Argument(help="Show the events of this batch.", show_default=False)
    ] = None,
    session: Annotated[str, typer.Option("--session", help="Only batches of this session.")] = "",
    last: Annotated[int, typer.Option("--last", min=1, help="So many of the newest.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """List the batches that the seams of the work have closed, or the events of one."""
    from overdeck.capture import store
    from overdeck.errors import not_found
    from overdeck.paths import Places

    with verb("capture.batches", as_json) as out:
        try:
            with store.opened(store.path_of(Places.from_environment().state), to_write=False) as kept:
                listed = kept.batches(session=session, last=last) if number is None else []
                events = kept.events(number) if number is not None else []
        except FileNotFoundError:
            listed, events = [], []
        if number is not None:
            if not events:
                raise not_found(
                    f"there is no batch {number}", code="no-such-batch", hint="overdeck capture batches"
                )
            out.data = {"number": number, "events": [event._asdict() for event in events]}
            out.table(
                ["at", "event", "tool", "bytes", "subagent"],
                [
                    [event.ts, event.event, event.tool, f"{event.size:,}", "yes" if event.sub else "no"]
                    for event in events
                ],
                right=["bytes"],
            )
            return
        out.data = {"batches": [batch._asdict() for batch in listed]}
        if not listed:
            out.line(
                f"No batch {f'of {session} ' if session else ''}has been closed yet. Next: overdeck capture status"
            )
            return
        out.table(
            ["batch", "opened", "closed", "events", "why", "session"],
            [[str(one.number), one.opened, one.closed, f"{one.events:,}", one.why, one.session] for one in listed],
            right=["batch", "events"],
            below="session",
        )
