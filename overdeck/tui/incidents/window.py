"""The window of a proof: what would be run and whether it may, how it goes, what it prints, and how it ended."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.style import Style
from textual.widgets import Static

from overdeck.telemetry.words import span
from overdeck.tui.incidents.proof import Proof, Stage
from overdeck.tui.surroundings import Surroundings

OUTPUT_LINES = 200
_LOOK_S = 0.1
_FRAME_LINES = 9
"""Of the window, besides what is told: its border, heading, command, keys and the line above them."""


class ProofWindow(ModalScreen[bool]):
    """Dismissed with True where the user wants to change what was typed; a proof goes on when it is closed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Run it"),
        Binding("n", "answer(False)", "Do not run it"),
        Binding("x", "cancel", "Cancel"),
        Binding("e,enter", "change", "Change and try again"),
        Binding("escape,q", "close", "Close"),
    ]

    DEFAULT_CSS = """
    ProofWindow { align: center middle; }
    ProofWindow > Vertical {
        width: 90%; max-width: 120; min-width: 60; height: auto; max-height: 100%; padding: 0 1;
        border: round $primary; background: $surface;
    }
    ProofWindow #heading { text-style: bold; }
    ProofWindow #typed, ProofWindow #output { color: $text-muted; }
    ProofWindow #told { height: auto; }
    ProofWindow #told > Static { margin: 1 0 0 0; }
    ProofWindow #plan { color: $warning; }
    ProofWindow #ended.refused { color: $error; }
    ProofWindow #ended.done { color: $success; }
    ProofWindow #keys {
        height: 1; margin: 1 0 0 0; link-style: none; link-background: $surface; link-color: $foreground;
    }
    """

    def __init__(self, proof: Proof, around: Surroundings) -> None:
        super().__init__()
        self.proof = proof
        self._around = around

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self.proof.heading, markup=False, id="heading")
            yield Static(f"The same: {self.proof.typed}", markup=False, id="typed")
            with VerticalScroll(id="told"):
                yield Static("", markup=False, id="ended")
                yield Static("", markup=False, id="plan")
                yield Static("", markup=False, id="steps")
                yield Static("", markup=False, id="output")
            yield Static("", id="keys")

    def on_mount(self) -> None:
        self.look()
        self.set_interval(_LOOK_S, self.look)

    def look(self) -> None:
        """Show the proof as it is now: what counts first, the rest below it."""
        proof = self.proof
        asking = proof.stage is Stage.asking
        proof.question_seen = proof.question_seen or asking
        self.query_one("#told").styles.max_height = max(4, self.size.height - _FRAME_LINES)
        ended = self.query_one("#ended", Static)
        ended.set_class(proof.stage is Stage.refused, "refused")
        ended.set_class(proof.stage is Stage.done, "done")
        self._show("#ended", "\n".join(self._end()))
        question = ["to be run, with your rights and without a network where this system can cut it:"]
        self._show("#plan", "\n".join([*question, *(f"  {line}" for line in proof.plan)]) if asking else "")
        lines = [*proof.steps]
        if not proof.over:
            waited = span(self._around.clock() - proof.since)
            lines.append(f"cancelling …, {waited}" if proof.cancelled else f"… {waited}")
        self._show("#steps", "\n".join(lines))
        output = proof.output(OUTPUT_LINES)
        self._show(
            "#output", "\n".join(["what it printed (the log keeps its digest):", *output]) if output else ""
        )
        self.query_one("#keys", Static).update(self._keys())

    def _show(self, selector: str, text: str) -> None:
        box = self.query_one(selector, Static)
        if str(box.content) != text:
            box.update(text)
        box.display = bool(text)

    def _end(self) -> list[str]:
        if self.proof.outcome is not None:
            return list(self.proof.outcome.lines)
        error = self.proof.error
        if error is None:
            return []
        return [
            f"error: {error.message}",
            f"next: {error.hint}",
            f"exit code of the command: {int(error.exit_code)}",
        ]

    def _keys(self) -> Content:
        asking, over = self.proof.stage is Stage.asking, self.proof.over
        refused = self.proof.stage is Stage.refused
        hints = (
            ("y", "run it", "answer(True)", asking),
            ("n", "do not", "answer(False)", asking),
            ("x", "cancel", "cancel", not over and not self.proof.cancelled),
            ("e", "change", "change", refused),
            ("esc", "close" if over else "close, it goes on", "close", True),
        )
        parts = []
        for key, title, action, possible in hints:
            if not possible:
                continue
            style = Style.from_meta({"@click": f"screen.{action}"}) + Style(bold=True)
            parts.append(Content.assemble((f" {key} {title} ", style)))
        return Content.assemble(*parts)

    def action_answer(self, agreed: bool) -> None:
        if self.proof.stage is Stage.asking:
            self.proof.answer(agreed)
        else:
            self._why_not("nothing is asked now")

    def action_cancel(self) -> None:
        if self.proof.over:
            self._why_not("it is over")
        else:
            self.proof.cancel()
        self.look()

    def action_change(self) -> None:
        if self.proof.stage is Stage.refused:
            self.dismiss(True)
        else:
            self._why_not("it is recorded" if self.proof.over else "it is still at work; x cancels it")

    def action_close(self) -> None:
        self.dismiss(False)

    def _why_not(self, reason: str) -> None:
        self.notify(reason, severity="warning", markup=False)
