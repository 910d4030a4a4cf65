"""Which first lines ask for the background: the native spawner reads them as its twin does."""

import json
import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overdeck.spawn.native import SOURCES
from overdeck.spawn.spawner import Output

MAIN = """
#include <stdio.h>
#include "background.h"
int main(void) {
    for (unsigned char length[2]; fread(length, 1, 2, stdin) == 2;) {
        char head[65536];
        size_t size = (size_t)length[0] << 8 | length[1];
        if (fread(head, 1, size, stdin) != size) return 1;
        putchar(asks_for_background(head, size) ? '1' : '0');
        fflush(stdout);
    }
    return 0;
}
"""
ASKING = [
    b'{"async":true}',
    b' { "async" : true , "asyncTimeout" : 60 }\r',
    b'{"async":true}\nmore',
    b'{"async":false,"async":true}',
    b'{"a":[1,{"async":false},-0.5e+3,"\\u00e4\\"",null],"async":true}',
]
NOT_ASKING = [
    b"",
    b'"async"',
    b'["async",true]',
    b'{"async":"true"}',
    b'{"async":true,"async":false}',
    b'{"inner":{"async":true}}',
    b'{"async":true',
    b'{"async":true}}',
    b'{"async":true,}',
    b'{"async":tru',
    b"{'async':true}",
    b'{"async":true} and "async"',
    b'\n{"async":true}',
    b'{"x":01,"async":true}',
    b'{"x":"\\q","async":true}',
    b'{"x":"\t","async":true}',
    b'{"async":1}',
]


@pytest.fixture(scope="module")
def asked(tmp_path_factory, native):
    """What the native spawner makes of a head."""
    folder = tmp_path_factory.mktemp("background")
    (folder / "main.c").write_text(MAIN)
    program = folder / "main"
    argv = ["cc", "-I", SOURCES, "-o", program, folder / "main.c", SOURCES / "background.c"]
    subprocess.run(argv, check=True)
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as running:
        assert running.stdin is not None and running.stdout is not None

        def ask(head: bytes) -> bool:
            running.stdin.write(len(head).to_bytes(2, "big") + head)
            return running.stdout.read(1) == b"1"

        yield ask
        running.stdin.close()


def twin(head: bytes) -> bool:
    output = Output(os.open(os.devnull, os.O_RDONLY))
    output.close()
    output.head = head
    return output.asks_for_background()


@pytest.mark.parametrize("head", ASKING)
def test_what_asks_for_the_background(asked, head):
    assert asked(head) and twin(head)


@pytest.mark.parametrize("head", NOT_ASKING)
def test_what_does_not(asked, head):
    assert not asked(head) and not twin(head)


TEXT = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers(-(10**9), 10**9) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT | st.just("async"), inner, max_size=3),
    max_leaves=8,
)


@given(value=JSON, cut=st.integers(0, 3), swap=st.tuples(st.integers(0, 60), st.sampled_from(b'{}[]",:0e.\\ t\n')))
def test_it_reads_any_line_whole_cut_or_damaged_as_its_twin_does(asked, value, cut, swap):
    text = bytearray(json.dumps({"x": value, "async": True}).encode())
    for head in (
        bytes(text),
        bytes(text[: len(text) - cut]),
        bytes([*text[: swap[0]], swap[1], *text[swap[0] + 1 :]]),
    ):
        assert asked(head) == twin(head), head
