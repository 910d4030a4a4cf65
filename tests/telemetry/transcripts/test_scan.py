"""The lines that may speak of hooks, found without parsing the others."""

import json

import transcripts as make
from hypothesis import given
from hypothesis import strategies as st

from overdeck.telemetry.transcripts.records import Record, record
from overdeck.telemetry.transcripts.scan import candidates, scan


def test_records_are_found_with_their_offsets_among_other_lines() -> None:
    lines = [make.line(make.tool_result(1, "x")), make.line(make.success(2)), b"\n", make.line(make.killed(3))]
    data = b"".join(lines)
    found = scan(data, 1000)

    assert [record.uuid[-1] for _pos, record in found.records] == ["2", "3"]
    assert [data[pos - 1000 :].split(b"\n")[0] + b"\n" for pos, _record in found.records] == [lines[1], lines[3]]


def test_a_tool_that_printed_a_transcript_is_not_taken_for_one() -> None:
    quoted = make.line(make.tool_result(1, make.line(make.success(2)).decode()))

    assert list(candidates(quoted)) == []


def test_a_broken_line_is_refused_where_it_may_be_a_record_and_passed_over_elsewhere() -> None:
    torn = make.line(make.success(1))
    data = b"{broken\n" + torn[:200] + torn
    found = scan(data, 0)

    assert [(refused.pos, refused.bytes, refused.reason) for refused in found.refused] == [
        (8, len(data) - 8, "not JSON")
    ]


def test_other_attachments_are_counted_by_type_and_not_parsed() -> None:
    half = make.line(make.attachment(1, {"type": "file", "content": "x" * 50}))[:-20] + b"\n"
    found = scan(half + make.line(make.attachment(2, {"type": "hook_of_tomorrow"})), 0)

    assert found.others == {"file": 1, "hook_of_tomorrow": 1}
    assert not found.refused and not found.records


@given(
    st.lists(
        st.one_of(
            st.builds(make.success, st.integers(0, 99), stdout=st.text(max_size=20), content=st.text(max_size=20)),
            st.builds(make.tool_result, st.integers(0, 99), st.text(max_size=40)),
            st.dictionaries(
                st.sampled_from(["type", "attachment", "x"]), st.sampled_from(["attachment", '"', "\\"])
            ),
            st.just(make.tool_result(7, json.dumps(make.success(8)))),
            st.builds(make.denied, st.integers(0, 99), st.text(max_size=20)),
        ),
        max_size=8,
    ),
    st.booleans(),
)
def test_the_scan_finds_what_parsing_every_line_finds(documents: list[dict[str, object]], compact: bool) -> None:
    separators = (",", ":") if compact else (" , ", " : ")
    raw = [json.dumps(document, separators=separators, ensure_ascii=compact).encode() for document in documents]
    slow = []
    for line in raw:
        try:
            slow.append(record(line))
        except ValueError:
            continue
    found = scan(b"".join(line + b"\n" for line in raw), 0)

    assert [record for _pos, record in found.records] == [one for one in slow if isinstance(one, Record)]
