"""``overdeck memory``: what sessions keep for those after them."""

from overdeck.cli.doors import group
from overdeck.cli.memory.add import add
from overdeck.cli.memory.forget import forget
from overdeck.cli.memory.list import list_lessons

app = group("Lessons of this project: kept by one session, told to the next by memory-recall (pack evidence).")
app.command("add")(add)
app.command("list")(list_lessons)
app.command("forget")(forget)
