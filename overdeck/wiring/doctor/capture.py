"""Is what `capture` spools taken in? A spool that nobody replays grows until it takes no more."""

from datetime import UTC, datetime

from overdeck.capture.standing import standing
from overdeck.dispatch.planning import SPOOL_BYTES
from overdeck.errors import OverdeckError
from overdeck.telemetry.words import size
from overdeck.wiring.doctor.check import Check, Finding, Result, Situation

LARGE = SPOOL_BYTES // 8
REPLAY = "overdeck capture replay"
ERRORS = "overdeck hooks errors replay"


def _spool(situation: Situation) -> Result:
    try:
        now = standing(situation.places.state, datetime.now(UTC))
    except OverdeckError as error:
        return Result("fail", error.message, error.hint, (Finding("capture: its store", error.message),))
    fleet = situation.fleet
    enabled = {module.id for module in fleet.enabled} if fleet is not None else set()
    on = "capture" in enabled
    if not on and not now.lines:
        return Result("skip", "nothing is captured here (pack evidence is off)")
    seen = f"{now.lines:,} events are spooled ({size(now.size)}), {now.kept.events:,} are kept"
    troubles = []
    if now.full:
        troubles.append(("full", f"the spool is full ({size(now.size)}): what happens now is not captured"))
    elif now.size > LARGE:
        troubles.append(
            ("large", f"{now.lines:,} events wait to be replayed ({size(now.size)}, takes {size(SPOOL_BYTES)})")
        )
    if now.unserved:
        off = "" if "replay" in enabled else " (the module replay is off)"
        troubles.append(
            ("unserved", f"a session began at {now.unserved}, and what was spooled is not replayed since{off}")
        )
    if now.problem:
        troubles.append(("unreadable", f"this cannot be read: {now.problem}"))
    if troubles:
        found = tuple(Finding(f"capture: {about}", said) for about, said in troubles)
        return Result("fail", "; ".join(said for _, said in troubles), f"{REPLAY}; why: {ERRORS}", found)
    behind = f", the oldest since {now.oldest}" if now.oldest else ""
    return Result("ok", seen + behind)


CAPTURE = (Check("capture", _spool, "module", "the spool of the module capture, and its store"),)
