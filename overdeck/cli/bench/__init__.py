"""``hookbench``: a verb a file."""

from overdeck.cli.bench.ab import ab
from overdeck.cli.bench.fleet import fleet
from overdeck.cli.bench.gate import gate
from overdeck.cli.bench.ladder import ladder
from overdeck.cli.bench.report import report
from overdeck.cli.bench.starts import starts
from overdeck.cli.doors import door

app = door("Measure what hooks cost: randomised pairs, exact tests, and a gate on per-call cost.")
app.command("ab")(ab)
app.command("fleet")(fleet)
app.command("gate")(gate)
app.command("ladder")(ladder)
app.command("report")(report)
app.command("starts")(starts)
