"""Runs cases of modules' matrices through the real front; what it is run under (strace) sees what they do.

    python watchedcases.py MOST FOLDER...

Announces each module by a datagram to a place that does not exist, which is the one thing it says itself. Fails where a
case does not give its verdict: then the module was not watched at work.
"""

import socket
import sys
from pathlib import Path

from overdeck.authoring.matrix import Case, ask_front, read_cases
from overdeck.dispatch.manifest import read_manifest

ANNOUNCED = "/overdeck-watched/"


def chosen(cases: list[Case], most: int) -> list[Case]:
    """Must-act cases from all over the matrix; where there are none, cases of any kind."""
    acting = [case for case in cases if case.expect != "none"] or cases
    count = min(most, len(acting))
    return [acting[len(acting) * number // count] for number in range(count)]


def main(most: int, folders: list[str]) -> int:
    """Run them; the exit code is the number of cases that gave another verdict, each named on stderr."""
    wrong = 0
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as announcing:
        for folder in folders:
            manifest = read_manifest(folder)
            announcing.connect_ex(ANNOUNCED + Path(folder).name)
            for case in chosen(read_cases(manifest), most):
                answer = ask_front(manifest, case.payload, case=case)
                failed = answer.ends.get(manifest.id) in ("error", "timeout") or "broken" in answer.kinds
                if failed or (case.expect != "none" and case.expect not in answer.kinds):
                    print(f"{manifest.id}: {case.name}: {answer}", file=sys.stderr)
                    wrong += 1
    return wrong


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
