"""``overdeck events``: what goes on, line by line."""

from overdeck.cli.doors import group
from overdeck.cli.events.tail import tail
from overdeck.cli.events.types import types

app = group("What clients and modules do, as it happens: one typed line each (module events, pack ambient).")
app.command("tail")(tail)
app.command("types")(types)
