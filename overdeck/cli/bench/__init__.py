"""``hookbench``: a verb a file."""

from overdeck.cli.doors import Verb

HELP = "Measure what hooks cost: randomised pairs, exact tests, and a gate on per-call cost."
VERBS = [
    Verb("ab", "overdeck.cli.bench.ab:ab"),
    Verb("fleet", "overdeck.cli.bench.fleet:fleet"),
    Verb("gate", "overdeck.cli.bench.gate:gate"),
    Verb("ladder", "overdeck.cli.bench.ladder:ladder"),
    Verb("report", "overdeck.cli.bench.report:report"),
    Verb("starts", "overdeck.cli.bench.starts:starts"),
]
