"""The verbs of ``overdeck``."""

from overdeck.cli.adopt import adopt
from overdeck.cli.audit import audit
from overdeck.cli.commitgate import gate as commit_gate
from overdeck.cli.commitgate import hook as git_hook
from overdeck.cli.demo import demo
from overdeck.cli.doctor import doctor
from overdeck.cli.doors import door
from overdeck.cli.fires import fires_app
from overdeck.cli.hooks import app as hooks
from overdeck.cli.ingest import ingest
from overdeck.cli.install import install
from overdeck.cli.lint import lint
from overdeck.cli.plugins import app as plugins
from overdeck.cli.tui import tui
from overdeck.cli.uninstall import uninstall

COSTS = "What your hooks cost, and what is wrong"
WIRING = "One process instead of many"
FIRED = "What the modules did"

app = door("What your coding agents' hooks cost, which of them ever act, and one process instead of many.")
app.command("demo", rich_help_panel="Begin here")(demo)
app.command("audit", rich_help_panel=COSTS)(audit)
app.command("lint", rich_help_panel=COSTS)(lint)
app.command("doctor", rich_help_panel=COSTS)(doctor)
app.add_typer(plugins, name="plugins", rich_help_panel=COSTS)
app.command("install", rich_help_panel=WIRING)(install)
app.command("uninstall", rich_help_panel=WIRING)(uninstall)
app.command("adopt", rich_help_panel=WIRING)(adopt)
app.add_typer(hooks, name="hooks", rich_help_panel=WIRING)
app.add_typer(commit_gate, name="commit-gate", rich_help_panel=WIRING)
app.add_typer(git_hook, name="git-hook", rich_help_panel=WIRING)
app.command("tui", rich_help_panel=FIRED)(tui)
app.command("ingest", rich_help_panel=FIRED)(ingest)
app.add_typer(fires_app, name="fires", rich_help_panel=FIRED)
