"""The verbs of ``overdeck``."""

from overdeck.cli.doors import door
from overdeck.cli.hooks import app as hooks

app = door("What your coding agents' hooks cost, which of them ever act, and one process instead of many.")
app.add_typer(hooks, name="hooks")
