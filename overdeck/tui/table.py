"""A table of rows that sorts by any column, keeps its cursor on the same row, and changes only what changed."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import on
from textual.message import Message
from textual.strip import Strip
from textual.widgets import DataTable

from overdeck.column import Column
from overdeck.incidents.text import shown

R = TypeVar("R")


class RowTable(DataTable["Cell"], Generic[R]):
    """``key`` gives a row's identity; equal ones in a column are ordered by it."""

    class Picked(Message):
        """The cursor is on another row, or the rows were shown anew. ``key`` is None where there is no row."""

        def __init__(self, table: "RowTable[Any]", key: str | None) -> None:
            super().__init__()
            self.table = table
            self.key = key

        @property
        def control(self) -> "RowTable[Any]":
            return self.table

    class Sorted(Message):
        """The user chose another order."""

    def __init__(
        self, columns: Sequence[Column[R]], key: Callable[[R], str], *, sort_by: str, id: str, max_width: int = 60
    ) -> None:
        super().__init__(cursor_type="row", zebra_stripes=True, fixed_columns=1, id=id)
        self._shown_columns = columns
        self._key = key
        self._by: Column[R] = next(one for one in columns if one.key == sort_by)
        self._flipped = False
        self._rows: dict[str, R] = {}
        self._texts: dict[str, list[str]] = {}
        self._now: datetime | None = None
        self._picked: str | None = None
        self._max_width = max_width
        self._nothing = ""

    @property
    def sorted_by(self) -> Column[R]:
        return self._by

    @property
    def selected(self) -> R | None:
        """The row below the cursor."""
        return self._rows.get(self.selected_key or "")

    @property
    def selected_key(self) -> str | None:
        if not self.is_valid_row_index(self.cursor_row):
            return None
        return self.coordinate_to_cell_key(self.cursor_coordinate).row_key.value

    @property
    def keys(self) -> list[str]:
        """The rows' keys, as they are ordered on the screen."""
        return [str(row.key.value) for row in self.ordered_rows]

    def show(self, rows: Iterable[R], now: datetime, nothing: str = "") -> None:
        """Show these rows; the cursor stays on its row, or on its line where that row is gone.

        ``nothing``: what stands in their place where there are none.
        """
        self._now = now
        if nothing != self._nothing:
            self._nothing = nothing
            self.refresh()
        self._rows = {self._key(row): row for row in rows}
        self._fill()
        self._pick(again=True)

    def render_line(self, y: int) -> Strip:
        if not self._rows and self._nothing and y == self.header_height:
            text = set_cell_size(f" {shown(self._nothing)}", self.size.width)
            return Strip([Segment(text, self.rich_style)], self.size.width)
        strip = super().render_line(y)
        cut = self._cut_number() if y >= self.header_height else None
        if cut is None or cut >= strip.cell_length:
            return strip
        rest = strip.crop(cut)
        style = next((segment.style for segment in rest), None)
        return Strip.join([strip.crop(0, cut), Strip([Segment(f"{'':{rest.cell_length - 1}}…", style)])])

    def _cut_number(self) -> int | None:
        """Where on the screen a number begins that does not end on it: 2.8 % without its unit is another number."""
        end = 0
        for place, (one, column) in enumerate(zip(self._shown_columns, self.ordered_columns, strict=False)):
            width = column.get_render_width(self)
            end += width
            if place >= self.fixed_columns and end - self.scroll_x > self.size.width:
                start = end - width - int(self.scroll_x)
                return start if one.right and start < self.size.width else None
        return None

    def in_trouble(self, column: str, text: str) -> bool:
        """Whether a cell says something bad, so that it stands out in the theme's colour of errors."""
        return False

    def set_columns(self, columns: Sequence[Column[R]]) -> None:
        """Other columns; ``show`` fills them. Sorted by the first one where the old one is gone."""
        self._shown_columns = columns
        self._by = next((one for one in columns if one.key == self._by.key), columns[0])
        self._texts = {}

    def select(self, key: str) -> None:
        """Put the cursor on a row; nothing where it is not shown."""
        if key in self._texts:
            self.move_cursor(row=self.get_row_index(key), animate=False)

    def sort_next(self) -> None:
        columns = self._shown_columns
        place = next(i for i, one in enumerate(columns) if one.key == self._by.key)
        self.sort_by(columns[(place + 1) % len(columns)].key)

    def sort_by(self, key: str, *, flipped: bool = False) -> None:
        """Sort by that column, in its own direction or the other; it is scrolled into sight."""
        self._by = next(one for one in self._shown_columns if one.key == key)
        self._flipped = flipped
        self._fill(resorted=True)
        self._reveal(key)
        self.post_message(self.Sorted())

    def flip(self) -> None:
        self.sort_by(self._by.key, flipped=not self._flipped)

    @on(DataTable.HeaderSelected)
    def _sort_by_header(self, message: DataTable.HeaderSelected) -> None:
        message.stop()
        key = str(message.column_key.value)
        self.sort_by(key, flipped=key == self._by.key and not self._flipped)

    @on(DataTable.RowHighlighted)
    def _row_highlighted(self, message: DataTable.RowHighlighted) -> None:
        message.stop()
        self._pick()

    def _pick(self, *, again: bool = False) -> None:
        key = self.selected_key
        if again or key != self._picked:
            self._picked = key
            self.post_message(self.Picked(self, key))

    def _ordered(self) -> list[tuple[str, R]]:
        ordered = sorted(self._rows.items(), key=lambda item: item[0])
        return sorted(
            ordered, key=lambda item: self._by.order(item[1]), reverse=self._by.largest_first != self._flipped
        )

    def _fill(self, *, resorted: bool = False) -> None:
        """``resorted``: the rows are the same ones, only their order is another."""
        if self._now is None:
            return
        now, columns = self._now, self._shown_columns
        # What logs and files say is shown, never obeyed: rich hands an escape in a cell on to the terminal.
        ordered, known = self._ordered(), self._texts if resorted else {}
        texts = {key: known.get(key) or [shown(one.text(row, now)) for one in columns] for key, row in ordered}
        # Two cells more than the title: the mark of the sorted column never changes a width.
        widths = [
            min(self._max_width, max([cell_len(one.title) + 2, *(cell_len(row[i]) for row in texts.values())]))
            for i, one in enumerate(columns)
        ]
        before = [(column.key.value, column.width) for column in self.ordered_columns]
        same = before == [(one.key, width) for one, width in zip(columns, widths, strict=True)]
        if same and texts.keys() == self._texts.keys():
            self._change(texts)
            if list(texts) != list(self._texts):
                self._reorder(list(texts))
        else:
            self._refill(texts, widths)
        self._texts = texts
        self._mark()

    def _change(self, texts: dict[str, list[str]]) -> None:
        for key, row in texts.items():
            for one, old, new in zip(self._shown_columns, self._texts[key], row, strict=True):
                if old != new:
                    self.update_cell(key, one.key, Cell(key, one, new))

    def _reorder(self, keys: list[str]) -> None:
        before, places = self.selected_key, {key: place for place, key in enumerate(keys)}
        with self.prevent(DataTable.RowHighlighted):
            self.sort(self._shown_columns[0].key, key=lambda cell: places[cell.row])
            if before is not None:
                self.move_cursor(row=places[before], animate=False)

    def _render_cell(
        self,
        row_index: int,
        column_index: int,
        base_style: Style,
        width: int,
        cursor: bool = False,
        hover: bool = False,
    ) -> list[list[Segment]]:
        """DataTable's own way, for a cell that is one line of plain text: at 200 by 60 that is 900 of them a key."""
        if row_index < 0 or column_index < 0:
            return super()._render_cell(row_index, column_index, base_style, width, cursor, hover)
        component, post = self._get_styles_to_render_cell(
            False,
            False,
            column_index < self.fixed_columns,
            hover,
            cursor,
            self.show_cursor,
            self._show_hover_cursor,
            self.cursor_foreground_priority == "css",
            self.cursor_background_priority == "css",
        )
        style = base_style + Style.from_meta({"row": row_index, "column": column_index}) + component + post
        row, column = self._row_locations.get_key(row_index), self._column_locations.get_key(column_index)
        assert row is not None and column is not None
        cell = self._data[row][column]
        if not cursor and self.in_trouble(str(column.value), cell.plain):
            style += Style.parse(self.app.current_theme.error or "default")
        return [[Segment(cell.line(width, self.cell_padding), style)]]

    def _refill(self, texts: dict[str, list[str]], widths: list[int]) -> None:
        before, line, across = self.selected_key, self.cursor_row, self.scroll_x
        with self.prevent(DataTable.RowHighlighted), self.app.batch_update():
            self.clear(columns=True)
            for one, width in zip(self._shown_columns, widths, strict=True):
                self.add_column(Text(one.title), key=one.key, width=width)
            for key, row in texts.items():
                self.add_row(*(Cell(key, *pair) for pair in zip(self._shown_columns, row, strict=True)), key=key)
            # Every width and height is known: DataTable need not measure each cell once more, 60 ms for 1,000 rows.
            self._new_rows.clear()
            if texts:
                line = self.get_row_index(before) if before in texts else min(line, len(texts) - 1)
                self.move_cursor(row=line, animate=False)
        self.scroll_to(x=across, animate=False)

    def _mark(self) -> None:
        down = self._by.largest_first != self._flipped
        for one, column in zip(self._shown_columns, self.ordered_columns, strict=True):
            column.label = Text(one.title + ((" ▼" if down else " ▲") if one.key == self._by.key else ""))
        self._update_count += 1  # DataTable's own: its header is cached by it
        self.refresh()

    def _reveal(self, key: str) -> None:
        """Scroll across until the column is in sight, right of the fixed one."""
        start, fixed = 0, 0
        for place, column in enumerate(self.ordered_columns):
            width = column.get_render_width(self)
            if place < self.fixed_columns:
                fixed += width
            if column.key.value == key:
                left, right = start - fixed, start + width - self.size.width
                if place >= self.fixed_columns and not right <= self.scroll_x <= left:
                    self.scroll_to(x=min(left, max(right, 0)), animate=False)
                return
            start += width


class Cell(Text):
    """A text in one line that knows its row."""

    def __init__(self, row: str, column: Column[Any], text: str) -> None:
        super().__init__(text, justify="right" if column.right else "left", no_wrap=True, overflow="ellipsis")
        self.row = row

    def line(self, width: int, padding: int) -> str:
        """``width`` cells, ``padding`` of them empty on each side; what is too long ends in an ellipsis."""
        room, text = width - 2 * padding, self.plain
        missing = room - cell_len(text)
        if missing < 0:
            text = set_cell_size(text, room - 1) + "…"
        elif self.justify == "right":
            text = " " * missing + text
        else:
            text += " " * missing
        return f"{'':{padding}}{text}{'':{padding}}"
