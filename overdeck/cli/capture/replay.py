"""``overdeck capture replay``."""

from overdeck.cli.output import JsonOption, verb


def replay(as_json: JsonOption = False) -> None:
    """Take what is spooled into the store now; the module `replay` does so at every session start. Twice is once."""
    from datetime import UTC, datetime

    from overdeck.capture.replay import replay as take
    from overdeck.capture.switched import keep_days
    from overdeck.paths import Places

    with verb("capture.replay", as_json) as out:
        places = Places.from_environment()
        done = take(places.state, keep_days=keep_days(places), now=datetime.now(UTC))
        taken = done.taken
        out.data = {**taken._asdict(), "files": done.files, "waiting": done.waiting, "swept": done.swept}
        out.line(f"{taken.new:,} new events, {taken.batches:,} batches closed")
        if taken.known:
            out.line(f"{taken.known:,} events were known already")
        if taken.expired or done.swept:
            out.line(f"{taken.expired + done.swept:,} events are older than keep_days and are gone")
        if taken.damaged:
            out.warn(f"{taken.damaged:,} lines were cut short and are kept apart: df -h {places.state}")
        if done.waiting:
            out.line(f"{done.waiting} files are still written to: they are read again by the next replay")
        for problem in done.problems:
            out.warn(f"this cannot be read: {problem}")
