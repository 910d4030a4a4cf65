"""Was output cut on its way? A command that fails in silence is often one that was not heard.

Tried for real: a program that prints a known text and ends with a known code, once into a file and once through a
filter, as a client's shell would. And the front's own logs: lines that are none were cut, too.
"""

import os
import tempfile
from pathlib import Path

from overdeck.process import Completed, run
from overdeck.telemetry import lines
from overdeck.wiring.doctor.check import Check, Finding, Result, Situation
from overdeck.wiring.doctor.recent import RECENTLY, Damage, recent

LINES = 3000
CODE = 3
ROUNDS = 3
SHOWN = 3
DEADLINE_S = 20.0

_PROGRAM = f"i=0; while [ $i -lt {LINES} ]; do echo line $i; i=$((i+1)); done"
_EXPECTED = b"".join(b"line %d\n" % number for number in range(LINES))


def _cut(situation: Situation) -> Result:
    env = {"PATH": situation.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}
    troubles = []
    with tempfile.TemporaryDirectory(prefix="overdeck-doctor-") as scratch:
        for _ in range(ROUNDS):
            for how, tail in (("through a filter", "| cat"), ("into a file", "> out")):
                line = f"({_PROGRAM}) {tail}; [ ! -f out ] || cat out; exit {CODE}"
                Path(scratch, "out").unlink(missing_ok=True)
                ran = run(["/bin/sh", "-c", line], env=env, cwd=scratch, deadline_s=DEADLINE_S)
                if not isinstance(ran, Completed):
                    troubles.append((how, f"a shell {ran.why}"))
                elif ran.code != CODE:
                    troubles.append((how, f"a shell that ends with {CODE} ended with {ran.code}"))
                elif ran.stdout != _EXPECTED:
                    troubles.append((how, f"{len(ran.stdout)} of {len(_EXPECTED)} bytes arrived"))
    if troubles:
        found = tuple(Finding(how, f"{how}: {why}") for how, why in dict(troubles).items())
        said = "; ".join(finding.said for finding in found)
        return Result(
            "fail", f"{said} ({len(troubles)} of {2 * ROUNDS} tries)", "COMMAND > FILE 2>&1; wc -c FILE", found
        )
    return Result(
        "ok",
        f"{2 * ROUNDS} shells ended with their own code, all {len(_EXPECTED) >> 10} KiB arrived, filtered or not",
    )


def _journals(situation: Situation) -> Result:
    places = situation.places
    damages: list[Damage] = []
    read = 0
    for good, damaged in (
        recent(places.calls_log, lines.call),
        recent(places.fires_log, lines.fire),
    ):
        read += len(good)
        damages += damaged
    if not damages:
        return Result("ok" if read else "skip", f"{read} lines of calls and fires {RECENTLY}, none damaged")
    per_file = {damage.path: [other for other in damages if other.path == damage.path] for damage in damages}
    found = tuple(
        Finding(str(path), f"{path}: {len(hurt)} lines are damaged, at byte {hurt[0].offset}: {hurt[0].why}")
        for path, hurt in per_file.items()
    )
    return Result(
        "warn",
        "; ".join(finding.said for finding in found[:SHOWN]),
        "overdeck ingest; df -h; who else writes it?",
        found,
    )


OUTPUT = (
    Check("cut output", _cut, "output", "a shell's text through a filter and into a file", "output-truncated"),
    Check("journals", _journals, "output", "the last hour of the calls and fires logs", "journal-corruption"),
)
