"""A page of nothing but fruit, for the tests of the frame: a table, an action that cannot always be done, a timer."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Static

from overdeck.column import Column
from overdeck.tui.actions import Action
from overdeck.tui.forms import Field, Form
from overdeck.tui.page import Page
from overdeck.tui.surroundings import Surroundings
from overdeck.tui.table import RowTable


@dataclass(frozen=True)
class Fruit:
    name: str
    count: int
    colour: str


BASKET = (
    Fruit("apple", 1_000, "red"),
    Fruit("banana", 2, "yellow"),
    Fruit("柿 persimmon", 30, "orange 🟠"),
    Fruit("quince", 30, "yellow"),
)


def _said(what: str) -> Column[Fruit]:
    return Column(what, what, lambda fruit, _now: str(getattr(fruit, what)), lambda fruit: getattr(fruit, what))


COLUMNS = (
    _said("name"),
    Column[Fruit](
        "count", "count", lambda f, _now: f"{f.count:,}", lambda f: f.count, right=True, largest_first=True
    ),
    _said("colour"),
    Column[Fruit]("long", "said of it", lambda f, _now: f"{f.name} " * 20, lambda f: f.name),
)


class FruitPage(Page):
    """``basket`` is what the next load finds; ``loads`` counts them; ``troubles`` is laid over how it stands."""

    PAGE = "hooks"
    HEADING = "Fruits"
    EVERY_S: ClassVar[float | None] = 0.02
    FILTER = "part of a fruit"
    OWN = (
        Action("eat", "e", "Eat", "Eat the selected fruit", lambda page: page.no_eating),
        Action("ask", "a", "Ask", "Ask what for"),
    )

    @dataclass
    class Loaded(Message):
        fruits: tuple[Fruit, ...]

    def __init__(self, around: Surroundings, *, alone: bool = False) -> None:
        super().__init__(around, alone=alone)
        self.basket = BASKET
        self.loads = 0
        self.eaten: list[str] = []
        self.answers: list[dict[str, str] | None] = []
        self.picked: list[str | None] = []
        self.found: tuple[Fruit, ...] = ()

    def body(self) -> ComposeResult:
        yield RowTable[Fruit](COLUMNS, lambda fruit: fruit.name, sort_by="count", id="fruits", max_width=30)
        yield Static("", markup=False, id="detail")

    def twin(self) -> str:
        return "overdeck fires --json"

    def copied(self) -> tuple[str, str] | None:
        fruit = self.query_one(RowTable).selected
        return ("the fruit's name", fruit.name) if fruit else None

    def load(self) -> None:
        self._load()

    @work(thread=True, exclusive=True, group="load")
    def _load(self) -> None:
        self.post_message(self.Loaded(self.basket))

    @on(Loaded)
    def _take(self, message: Loaded) -> None:
        self.loads += 1
        self.found = message.fruits
        self.filtered(self.filter_text)

    def filtered(self, text: str) -> None:
        self.query_one(RowTable).show([f for f in self.found if text in f.name], datetime.min)
        self.standing = replace(
            self.standing, busy="", as_of=self.around.clock(), facts=(f"{len(self.found)} fruits",)
        )

    @on(RowTable.Picked)
    def _pick(self, message: RowTable.Picked) -> None:
        self.picked.append(message.key)
        self.query_one("#detail", Static).update(f"on {message.key}")

    @property
    def no_eating(self) -> str | None:
        fruit = self.query_one(RowTable).selected
        if fruit is None:
            return "no fruit is selected"
        return "a quince is eaten cooked; cook it first" if fruit.name == "quince" else None

    def do_eat(self) -> None:
        self.eaten.append(self.query_one(RowTable).selected.name)

    def do_ask(self) -> None:
        fields = [Field("why", "Why?", needed="a reason is needed"), Field("whom", "For whom?", value="me")]
        self.app.push_screen(Form("Ask for a fruit", fields, "enter asks the market"), self.answers.append)
