"""``overdeck capture status``."""

from overdeck.cli.output import JsonOption, verb
from overdeck.plural import counted


def status(as_json: JsonOption = False) -> None:
    """Say what is spooled, since when, and what the store holds. Changes nothing."""
    from datetime import UTC, datetime

    from overdeck.capture.standing import standing
    from overdeck.capture.switched import switched_on
    from overdeck.paths import Places
    from overdeck.telemetry.words import size

    with verb("capture.status", as_json) as out:
        places = Places.from_environment()
        now = standing(places.state, datetime.now(UTC))
        on = switched_on(places)
        kept = now.kept
        out.data = {**now._asdict(), "kept": kept._asdict(), "on": on}
        since = f", since {now.oldest}" if now.oldest else ""
        out.line(
            f"spooled: {counted(now.lines, 'event')} ({size(now.size)} in {counted(now.files, 'file')}){since}"
        )
        batches = f"{kept.batches:,} batch" if kept.batches == 1 else f"{kept.batches:,} batches"
        last = f", last replayed {kept.replayed}" if kept.replayed else ", never replayed"
        out.line(f"kept: {counted(kept.events, 'event')}, {kept.open:,} of them open, {batches}{last}")
        if now.problem:
            out.warn(f"this cannot be read: {now.problem}")
        if now.full:
            out.warn("the spool is full: what happens now is not captured; next: overdeck capture replay")
        if kept.damaged:
            out.line(f"damaged: {kept.damaged:,} lines were cut short (a full disk does that) and are kept apart")
        if not on:
            out.line('Off. Next: packs = ["guards", "evidence"] in the config, then overdeck install')
