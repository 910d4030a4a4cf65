"""The door ``od-incidents``: the incident registry for people and agents. A verb a file."""

from overdeck.cli.doors import door
from overdeck.cli.incidents.coverage import coverage
from overdeck.cli.incidents.init import init
from overdeck.cli.incidents.list import list_incidents
from overdeck.cli.incidents.note import note
from overdeck.cli.incidents.open import open_incident
from overdeck.cli.incidents.playbook import playbook
from overdeck.cli.incidents.reopen import reopen
from overdeck.cli.incidents.resolve import resolve
from overdeck.cli.incidents.search import search
from overdeck.cli.incidents.show import show
from overdeck.cli.incidents.triage import triage
from overdeck.cli.incidents.tui import tui
from overdeck.cli.incidents.verify import verify

app = door("Incidents of the fleet: open them, find them, and resolve them with an artifact that is checked.")
app.command("init")(init)
app.command("open")(open_incident)
app.command("list")(list_incidents)
app.command("show")(show)
app.command("note")(note)
app.command("reopen")(reopen)
app.command("resolve")(resolve)
app.command("verify")(verify)
app.command("search")(search)
app.command("playbook")(playbook)
app.command("coverage")(coverage)
app.command("triage")(triage)
app.command("tui")(tui)
# What agents type before they have read the help.
for guessed in ("close", "done", "fix"):
    app.command(guessed, hidden=True)(resolve)
for guessed in ("new", "create"):
    app.command(guessed, hidden=True)(open_incident)
app.command("comment", hidden=True)(note)
app.command("view", hidden=True)(show)
