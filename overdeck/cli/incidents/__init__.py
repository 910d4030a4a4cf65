"""The door ``od-incidents``: the incident registry for people and agents. A verb a file."""

from overdeck.cli.doors import door
from overdeck.cli.incidents import init, list, open, resolve, show

app = door("Incidents of the fleet: open them, find them, and resolve them with an artifact that is checked.")
app.command("init")(init.command)
app.command("open")(open.command)
app.command("list")(list.command)
app.command("show")(show.command)
app.command("resolve")(resolve.command)
for guessed in ("close", "done"):
    app.command(guessed, hidden=True)(resolve.command)
