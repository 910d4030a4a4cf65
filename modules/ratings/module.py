"""Keeps explicit ratings: a prompt that is nothing but a number from 1 to 10, perhaps with a comment.

``7``, ``8 - good work``, ``9/10``, ``9/10, nice``: one line, the number first. A sentence that begins with a number is
a sentence, several lines are a list, and behind a question a number, with a comment or without, is the answer to it
(known where last-response is on); ``9/10`` is a rating there, too. What is taken is said, so that a mistake is seen;
nothing is ever read out of the wording.
"""

import posix

from overdeck.dispatch.eventlog import emit
from overdeck.dispatch.jsontext import dumps
from overdeck.dispatch.module import Call, Verdict, tell
from overdeck.dispatch.record import APPENDING, now, torn

DASHES = (" - ", " – ", " — ")
MOST = 10
MAX_COMMENT = 500
"""Letters; of a rated answer as well."""


def evaluate(call: Call) -> Verdict | None:
    """Write the rating down and say so; None where the prompt is no rating."""
    prompt = call.payload.get("prompt")
    found = rating_of(prompt) if isinstance(prompt, str) else None
    if found is None:
        return None
    from overdeck.dispatch.kit.lastresponse import last_response  # most prompts are no rating

    rating, comment, of_ten = found
    answer = last_response(call.overdeck_state, call.session)
    if not of_ten and answer.rstrip().endswith(("?", "？")):
        return None
    low = rating < call.config["low"]
    row = {"ts": now(), "session": call.session, "rating": rating, "low": low, "comment": comment[:MAX_COMMENT]}
    if call.config["keep_answers"]:
        row["answer"] = answer[-MAX_COMMENT:]
    path = f"{call.overdeck_state}/modules/{call.source}/ratings.jsonl"
    try:
        append(f"{call.state}/ratings.jsonl", dumps(row) + "\n")
    except OSError as error:
        return tell(f"rating {rating} could not be kept in {path}: {error.strerror}")
    emit(call, "rating.captured", rating=rating, low=low)
    return tell(f"rating {rating} of {MOST} noted{' as low' if low else ''}")


def rating_of(prompt: str) -> tuple[int, str, bool] | None:
    """(rating, comment, whether it says "/10"); None for everything that may mean something else.

    >>> rating_of("8 - good work"), rating_of("9/10, nice"), rating_of("3 tests fail"), rating_of("10 - 3 is?")
    ((8, 'good work', False), (9, 'nice', True), None, None)
    """
    lines = prompt.strip().splitlines()
    if len(lines) != 1:
        return None
    line = lines[0]
    digits = line[: 2 if line.startswith("10") else 1]
    if digits not in ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10"):
        return None
    rest = line[len(digits) :]
    of_ten = rest.startswith("/10") and not rest[3:4].isalnum()
    rest = rest[3:] if of_ten else rest
    if not rest.strip(" .!"):
        return int(digits), "", of_ten
    dash = next((dash for dash in DASHES if rest.startswith(dash)), "")
    if not dash and not (of_ten and rest[0] in " ,:;.!"):
        return None
    comment = rest[len(dash) :].lstrip(" ,:;.!-–—")
    if not comment or not (comment[0].isalpha() or comment[0] > "\u2190"):  # a letter, or a sign such as a smile
        return None
    return int(digits), comment, of_ten


def append(path: str, line: str) -> None:
    """Add a whole line; raises OSError where it could not be written whole."""
    fd = posix.open(path, APPENDING, 0o600)
    try:
        if posix.fstat(fd).st_mode >> 12 != 0o10:  # a pipe would take it, and nobody would have it
            raise OSError(22, "it is not a file")
        raw = ("\n" + line if torn(fd) else line).encode("utf-8", "replace")
        if posix.write(fd, raw) < len(raw):
            raise OSError(28, "no space left")
    finally:
        posix.close(fd)
