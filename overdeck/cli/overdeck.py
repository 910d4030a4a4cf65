"""The verbs of ``overdeck``."""

from overdeck.cli.doors import Verb

BEGIN = "Begin here"
COSTS = "What your hooks cost, and what is wrong"
WIRING = "One process instead of many"
FIRED = "What the modules did"
KEPT = "What sessions keep"

HELP = "What your coding agents' hooks cost, which of them ever act, and one process instead of many."
VERBS = [
    Verb("demo", "overdeck.cli.demo:demo", BEGIN),
    Verb("audit", "overdeck.cli.audit:audit", COSTS),
    Verb("lint", "overdeck.cli.lint:lint", COSTS),
    Verb("doctor", "overdeck.cli.doctor:doctor", COSTS),
    Verb("machine", "overdeck.cli.machine:machine", COSTS),
    Verb("probe", "overdeck.cli.probe:probe", COSTS),
    Verb("plugins", "overdeck.cli.plugins:app", COSTS),
    Verb("install", "overdeck.cli.install:install", WIRING),
    Verb("uninstall", "overdeck.cli.uninstall:uninstall", WIRING),
    Verb("adopt", "overdeck.cli.adopt:adopt", WIRING),
    Verb("hooks", "overdeck.cli.hooks:app", WIRING),
    Verb("commit-gate", "overdeck.cli.commitgate:gate", WIRING),
    Verb("git-hook", "overdeck.cli.commitgate:hook", WIRING),
    Verb("memory", "overdeck.cli.memory:app", KEPT),
    Verb("statusline", "overdeck.cli.statusline:statusline", FIRED),
    Verb("tui", "overdeck.cli.tui:tui", FIRED),
    Verb("ingest", "overdeck.cli.ingest:ingest", FIRED),
    Verb("fires", "overdeck.cli.fires:app", FIRED),
    Verb("events", "overdeck.cli.events:app", FIRED),
    Verb("capture", "overdeck.cli.capture:app", FIRED),
]
