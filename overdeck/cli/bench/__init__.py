"""``hookbench``: a verb a file."""

from overdeck.cli.bench import ab, gate
from overdeck.cli.doors import door

app = door("Measure what hooks cost: randomised pairs, exact tests, and a gate on per-call cost.")
app.command("ab")(ab.command)
app.command("gate")(gate.command)
