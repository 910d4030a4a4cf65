"""``overdeck hooks``: the modules of this user."""

from overdeck.cli.doors import group
from overdeck.cli.hooks.errors import errors
from overdeck.cli.hooks.list import list_modules
from overdeck.cli.hooks.new import new
from overdeck.cli.hooks.off import off
from overdeck.cli.hooks.run import run
from overdeck.cli.hooks.show import show
from overdeck.cli.hooks.test import test

app = group("The hook modules: what is on, what a module says to a payload, its test matrix, a new one.")
app.command("list")(list_modules)
app.command("show")(show)
app.command("test")(test)
app.command("run")(run)
app.command("errors")(errors)
app.command("off")(off)
app.command("new")(new)
