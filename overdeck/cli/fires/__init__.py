"""``overdeck fires``: which modules ever act, and what to do about those that do not."""

import typer

from overdeck.cli.fires.candidates import candidates
from overdeck.cli.fires.keep import keep
from overdeck.cli.fires.options import FiresGroup
from overdeck.cli.fires.sql import sql
from overdeck.cli.fires.suspects import suspects
from overdeck.cli.fires.table import fires

app = typer.Typer(
    cls=FiresGroup,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.callback()(fires)
app.command("suspects")(suspects)
app.command("candidates")(candidates)
app.command("keep")(keep)
app.command("sql")(sql)
