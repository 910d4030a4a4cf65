"""The verbs of ``overdeck``."""

from overdeck.cli.adopt import adopt
from overdeck.cli.audit import audit
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

app = door("What your coding agents' hooks cost, which of them ever act, and one process instead of many.")
app.command("audit")(audit)
app.command("lint")(lint)
app.command("install")(install)
app.command("uninstall")(uninstall)
app.command("adopt")(adopt)
app.add_typer(plugins, name="plugins")
app.command("doctor")(doctor)
app.add_typer(hooks, name="hooks")
app.command("ingest")(ingest)
app.add_typer(fires_app, name="fires")
app.command("tui")(tui)
app.command("demo")(demo)
