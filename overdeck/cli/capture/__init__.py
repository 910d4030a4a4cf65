"""``overdeck capture``: what the modules of the pack `evidence` have captured."""

from overdeck.cli.capture.batches import batches
from overdeck.cli.capture.replay import replay
from overdeck.cli.capture.status import status
from overdeck.cli.doors import group

app = group("What was captured of the agents' work: names and sizes, once each, in batches (pack evidence).")
app.command("status")(status)
app.command("replay")(replay)
app.command("batches")(batches)
