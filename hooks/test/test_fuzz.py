"""The native front under a fuzzer: plan lines and payloads, with the address and undefined-behaviour sanitizers.

The corpus is committed; a build with libFuzzer runs for 20 s here (an hour by hand: docs/plans/dispatch.md). Without
clang the corpus still goes through a sanitized build by gcc.
"""

import shutil
import subprocess
from pathlib import Path

import pytest
from fronts import compiled

CORPUS = Path(__file__).resolve().parent / "corpus"
SECONDS = 20
DOOR = Path(__file__).resolve().parent / "fuzz.c"
COMMON = ("-O1", "-g", "-fno-sanitize-recover=all")

REPLAY = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        uint8_t *data = malloc(1 << 20);
        size_t size = fread(data, 1, 1 << 20, file);
        fclose(file);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    return 0;
}
"""


def inputs() -> list[str]:
    return [str(path) for path in sorted(CORPUS.iterdir())]


def test_there_is_a_corpus() -> None:
    assert len(inputs()) > 50


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_the_corpus_passes_a_sanitized_build(tmp_path: Path) -> None:
    replay = tmp_path / "replay.c"
    replay.write_text(REPLAY)
    built = compiled(tmp_path, *COMMON, "-fsanitize=address,undefined", str(replay), compiler="gcc", door=DOOR)
    done = subprocess.run([str(built), *inputs()], capture_output=True, text=True, check=False, env={})
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.slow
def test_a_fuzzer_finds_nothing_in_20_seconds(tmp_path: Path) -> None:
    if shutil.which("clang") is None or not has_fuzzer(tmp_path):
        pytest.skip("no clang with its fuzzer: apt-get install clang libclang-rt-NN-dev")
    built = compiled(tmp_path, *COMMON, "-fsanitize=fuzzer,address,undefined", compiler="clang", door=DOOR)
    found = tmp_path / "found"
    found.mkdir()
    argv = [str(built), f"-max_total_time={SECONDS}", "-max_len=40000", str(found), str(CORPUS)]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=SECONDS + 60)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Done" in done.stderr


def has_fuzzer(folder: Path) -> bool:
    """Whether this clang can link a fuzzer at all: the runtime is a package of its own."""
    probe = folder / "probe.c"
    probe.write_text("int LLVMFuzzerTestOneInput(const char *d, long n) { return (void)d, (void)n, 0; }\n")
    argv = ["clang", "-fsanitize=fuzzer,address", "-o", str(folder / "probe"), str(probe)]
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0
