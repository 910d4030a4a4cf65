"""``overdeck plugins``: what other people's plugins would run, before and after they are switched on."""

from overdeck.cli.doors import group
from overdeck.cli.plugins.audit import audit
from overdeck.cli.plugins.block import block
from overdeck.cli.plugins.list import list_plugins
from overdeck.cli.plugins.remove import remove

app = group("The client's plugins: judged before they are switched on, and removed in all places at once.")
app.command("list")(list_plugins)
app.command("audit")(audit)
app.command("remove")(remove)
app.command("block")(block)
