"""The door ``od-incidents``: the incident registry for people and agents. A verb a file."""

from overdeck.cli.doors import Verb

HELP = "Incidents of the fleet: open them, find them, and resolve them with an artifact that is checked."
VERBS = [
    Verb("init", "overdeck.cli.incidents.init:init"),
    Verb("open", "overdeck.cli.incidents.open:open_incident"),
    Verb("list", "overdeck.cli.incidents.list:list_incidents"),
    Verb("show", "overdeck.cli.incidents.show:show"),
    Verb("note", "overdeck.cli.incidents.note:note"),
    Verb("reopen", "overdeck.cli.incidents.reopen:reopen"),
    Verb("resolve", "overdeck.cli.incidents.resolve:resolve"),
    Verb("verify", "overdeck.cli.incidents.verify:verify"),
    Verb("search", "overdeck.cli.incidents.search:search"),
    Verb("playbook", "overdeck.cli.incidents.playbook:playbook"),
    Verb("coverage", "overdeck.cli.incidents.coverage:coverage"),
    Verb("triage", "overdeck.cli.incidents.triage:triage"),
    Verb("tui", "overdeck.cli.incidents.tui:tui"),
    # What agents type before they have read the help.
    Verb("close", "overdeck.cli.incidents.resolve:resolve", hidden=True),
    Verb("done", "overdeck.cli.incidents.resolve:resolve", hidden=True),
    Verb("fix", "overdeck.cli.incidents.resolve:resolve", hidden=True),
    Verb("new", "overdeck.cli.incidents.open:open_incident", hidden=True),
    Verb("create", "overdeck.cli.incidents.open:open_incident", hidden=True),
    Verb("comment", "overdeck.cli.incidents.note:note", hidden=True),
    Verb("view", "overdeck.cli.incidents.show:show", hidden=True),
]
