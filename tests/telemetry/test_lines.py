import json
from datetime import datetime

import pytest
from loglines import CALL, FIRE

from overdeck.telemetry import lines


def raw(document: object) -> bytes:
    return json.dumps(document).encode()


def test_a_fire_line_of_the_contract_is_read() -> None:
    assert lines.fire(raw(FIRE)) == (datetime(2026, 3, 1, 10, 0, 0, 250_000), "PreToolUse", "m", "deny", None)


def test_an_offset_is_turned_into_utc() -> None:
    assert lines.fire(raw({**FIRE, "ts": "2026-03-01T12:00:00+02:00"})).ts == datetime(2026, 3, 1, 10)


def test_keys_nobody_knows_yet_are_kept() -> None:
    assert lines.fire(raw({**FIRE, "host": "a"})).extra == '{"host": "a"}'
    call = lines.call(raw({**CALL, "ran": {"m": {"us": 1, "bytes": 0, "end": "fire", "rss": 4}}}))
    assert call.extra == '{"ran": {"m": {"rss": 4}}}'


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "empty line"),
        (raw(FIRE)[:-9], "not JSON"),
        (raw(FIRE) + b" x", "not JSON"),
        (b"[" + raw(FIRE) + b"]", "not a JSON object"),
        (b'"deny"', "not a JSON object"),
        (b"NaN", "NaN is not JSON"),
        (raw(FIRE)[:-1] + b', "cost": NaN}', "NaN is not JSON"),
        (raw(FIRE)[:-1] + b', "cost": -Infinity}', "-Infinity is not JSON"),
        (raw(FIRE)[:-1] + b', "action": "act"}', "a key occurs twice"),
        (raw(FIRE).replace(b"deny", b"de\0ny"), "NUL byte"),
        (raw(FIRE).replace(b"deny", b"de\\u0000ny"), "action holds a NUL character"),
        (raw(FIRE).replace(b'"m"', b'"m\\u0000"'), "module holds a NUL character"),
        (raw(FIRE).replace(b'"m"', b'"m\\ud800"'), "module holds half a surrogate pair"),
        (raw(FIRE).replace(b'"m"', b'"\xff"'), "not UTF-8"),
        (b"[" * 100_000, "nested too deep"),
        (raw({**FIRE, "action": "allow"}), "unknown action"),
        (raw({**FIRE, "action": 1}), "action is not a string"),
        (raw({**FIRE, "module": ["m"]}), "module is not a string"),
        (raw({**FIRE, "module": ""}), "module is empty"),
        (raw({k: v for k, v in FIRE.items() if k != "event"}), "no key event"),
        (raw({**FIRE, "ts": 1772359200}), "ts is not a string"),
        (raw({**FIRE, "ts": "yesterday"}), "ts is not a time"),
        (raw({**FIRE, "ts": "2026-03-01"}), "ts is not a time"),
        (raw({**FIRE, "ts": "2026-02-30T10:00:00Z"}), "ts is not a time"),
        (raw({**FIRE, "ts": "2026-03-01T10:00:60Z"}), "ts is not a time"),
        (raw({**FIRE, "ts": "0001-01-01T00:00:00+23:59"}), "ts is not a time"),
    ],
)
def test_a_fire_line_that_is_not_of_the_contract_is_refused_with_its_reason(line: bytes, reason: str) -> None:
    with pytest.raises(lines.Rejected) as refusal:
        lines.fire(line)
    assert str(refusal.value) == reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"v": 2}, "unknown version"),
        ({"v": True}, "unknown version"),
        ({"sub": 1}, "sub is not true or false"),
        ({"in": "5"}, "in is not a whole number"),
        ({"us": 1.5}, "us is not a whole number"),
        ({"us": -1}, "us is out of range"),
        ({"out": 2**63}, "out is out of range"),
        ({"tool": 3}, "tool is not a string"),
        ({"plan": None}, "plan is not a string"),
        ({"ran": []}, "ran is not an object"),
        ({"ran": {"m": 3}}, "a module in ran is not an object"),
        ({"ran": {"": {"end": "fire"}}}, "a module in ran has no name"),
        ({"ran": {"m": {"us": 1, "bytes": 1}}}, "no key end"),
        ({"ran": {"m": {"us": 1, "bytes": 1, "end": "crash"}}}, "unknown end"),
        ({"err": 5}, "err is not a string"),
    ],
)
def test_a_call_line_that_is_not_of_the_contract_is_refused_with_its_reason(
    change: dict[str, object], reason: str
) -> None:
    with pytest.raises(lines.Rejected) as refusal:
        lines.call(raw({**CALL, **change}))
    assert str(refusal.value) == reason


def test_a_call_without_a_tool_has_an_empty_one() -> None:
    assert lines.call(raw({**CALL, "tool": None})).tool == ""


def test_a_reason_never_quotes_the_line() -> None:
    secret = "hunter2-in-the-prompt"
    for line in (raw({**FIRE, "action": secret}), secret.encode(), raw({**FIRE, "ts": secret})):
        with pytest.raises(lines.Rejected) as refusal:
            lines.fire(line)
        assert secret not in str(refusal.value)
