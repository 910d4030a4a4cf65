"""A column of a table: said once by the package that has the rows, shown by the terminal and by the screen."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True)
class Column(Generic[Row]):
    """``key`` names it, ``title`` heads it, ``text`` takes the row and the time (aware UTC), ``order`` gives what it
    sorts by, ``right`` is its alignment, ``largest_first`` how it sorts at first.
    """

    key: str
    title: str
    text: Callable[[Row, datetime], str]
    order: Callable[[Row], Any]
    right: bool = False
    largest_first: bool = False
