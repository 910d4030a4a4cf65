"""The incidents page: what is open or was, found as it is typed; the story of one, and everything one can do to it."""

import shlex
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.events import Resize
from textual.message import Message
from textual.timer import Timer

from overdeck.errors import ExitCode, OverdeckError
from overdeck.incidents import available
from overdeck.incidents.fold import RESOLVED, Incident
from overdeck.incidents.when import timestamp
from overdeck.tui.actions import Action
from overdeck.tui.forms import Form
from overdeck.tui.incidents.calls import CALLS, Answers, Call, Done, Wish
from overdeck.tui.incidents.list import IncidentList
from overdeck.tui.incidents.proof import Proof, Stage
from overdeck.tui.incidents.reading import TROUBLE, Reader, told
from overdeck.tui.incidents.story import StoryPane
from overdeck.tui.incidents.window import ProofWindow
from overdeck.tui.page import Page
from overdeck.tui.surroundings import Surroundings

WIDE = 140
"""Columns from which the story stands beside the list, not below it."""

OUTPUT_LINES = 40
"""Of what a run printed, beside the evidence, until the page is closed."""


def _call(name: str, key: str, title: str, help: str, *, bar: bool = True) -> Action:
    return Action(name, key, title, help, lambda page: page.why_not(name), bar=bar)


class IncidentsPage(Page):
    """Reads and acts in worker threads, which post messages; everything is decided by the core."""

    PAGE = "incidents"
    HEADING = "Incidents"
    EVERY_S: ClassVar[float | None] = 2
    FILTER = "what you see, in your own words, or an id"
    OWN = (
        _call("open", "o", "Open", "Record trouble: a new incident, or one more occurrence"),
        _call("note", "n", "Note", "Write down what was seen, tried or ruled out"),
        _call("resolve", "x", "Resolve", "Close it with an artifact that is checked, and run if you say so"),
        _call("verify", "v", "Verify", "Check the evidence that holds it closed once more"),
        _call("reopen", "u", "Reopen", "Open it again, with the reason"),
        _call("leave", "w", "Leave", "Close it as wont-fix, with the reason"),
        Action("next_state", "t", "State", "Open ones, resolved ones, left ones, those without evidence, all"),
        Action("next_type", "k", "Kind", "Only classes of one type, then of the next"),
        Action("next_part", "d", "Part", "Timeline, evidence or playbook of the incident"),
        Action(
            "proof",
            "P",
            "Proof",
            "Look at the proof that is at work, or was last: its plan, steps and output",
            lambda page: page.no_proof,
            bar=False,
        ),
        _call("verify_all", "V", "Verify all", "Check the evidence of every resolved incident", bar=False),
    )

    DEFAULT_CSS = """
    IncidentsPage #split { height: 1fr; }
    IncidentsPage IncidentList { height: 1fr; }
    IncidentsPage.-wide #split { layout: horizontal; }
    IncidentsPage.-wide IncidentList { width: 3fr; height: 100%; }
    IncidentsPage.-wide StoryPane { width: 2fr; height: 100%; border-top: none; border-left: solid $primary; }
    """

    @dataclass
    class Ended(Message):
        """What became of a call."""

        call: Call
        id: str
        answers: Answers
        result: Done | OverdeckError
        proof: Proof | None = None

    def __init__(self, around: Surroundings, *, alone: bool = False) -> None:
        super().__init__(around, alone=alone)
        self._reader = Reader(around)
        self._story = StoryPane(self._reader)
        self._list = IncidentList(self._reader, self._is_being_verified)
        self._writing = ""
        self._locked = ""
        self._proof: Proof | None = None
        self._stage: Stage | None = None
        self._looking: Timer | None = None

    def body(self) -> ComposeResult:
        with Container(id="split"):
            yield self._list
            yield self._story

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width >= WIDE, "-wide")

    def twin(self) -> str:
        place = f" --registry {shlex.quote(str(self.around.registry))}" if self.around.registry else ""
        return f"od-incidents {self._list.typed()} --json{place}"

    def copied(self) -> tuple[str, str] | None:
        one = self._list.selected if self._list.is_mounted else None
        return ("the incident's id", one.id) if one else None

    # The list.

    def load(self) -> None:
        self._list.load()

    def do_refresh(self) -> None:
        self._failed = ""
        self._list.reload()

    def _load_by_itself(self) -> None:
        if self.paused and self.is_current:
            self._list.look()
        super()._load_by_itself()

    def filtered(self, text: str) -> None:
        self._list.search(text)

    def do_clear_filter(self) -> None:
        """All rows again: also those of other types, and of other states where none is in this one."""
        super().do_clear_filter()
        self._list.show_all()

    def do_next_state(self) -> None:
        self._list.next_state()

    def do_next_type(self) -> None:
        self._list.next_type()

    @on(IncidentList.Changed)
    def _stand(self) -> None:
        standing = self._list.standing
        facts = list(standing.facts)
        if self._proof is not None and not self._proof.over:
            what = self._proof.id or "every resolved incident"
            how = "it asks you, P shows what" if self._proof.stage is Stage.asking else "P shows how it goes"
            facts.insert(0, f"being verified: {what}, {how}")
        self.standing = replace(standing, facts=facts, locked=self._locked, busy=self._writing or standing.busy)

    # The story of the selected one.

    @on(IncidentList.Selected)
    def _show_story(self, message: IncidentList.Selected) -> None:
        self._story.tell(message.key)
        self.redraw()

    @on(StoryPane.Unreadable)
    def _take_unreadable(self, message: StoryPane.Unreadable) -> None:
        self.fail(f"{message.error.message}; {message.error.hint}")

    def do_next_part(self) -> None:
        self._story.next()

    # What can be done, and doing it.

    def why_not(self, name: str) -> str | None:
        """Why the call ``name`` cannot be made now."""
        if not self._list.is_mounted or not self._list.is_read:
            return "the registry is not read; the lines above say why, and what to type"
        if self._writing:
            return f"{self._writing}: a moment"
        if CALLS[name].proves and self._proof is not None and not self._proof.over:
            return f"{self._proof.heading}: that is at work, and P shows it"
        if name == "open":
            return None
        if name == "verify_all":
            return None if self._list.resolved else "no incident is resolved"
        one = self._list.selected
        if one is None:
            return "no incident is selected"
        return available.why_not(name, one) or None

    @property
    def no_proof(self) -> str | None:
        return None if self._proof else "nothing was resolved or verified since this page was opened"

    def do_open(self) -> None:
        self._ask("open", "", {})

    def do_note(self) -> None:
        self._ask_about_selected("note")

    def do_reopen(self) -> None:
        self._ask_about_selected("reopen")

    def do_leave(self) -> None:
        self._ask_about_selected("leave")

    def do_resolve(self) -> None:
        self._ask_about_selected("resolve")

    def do_verify(self) -> None:
        if one := self._list.selected:
            self._prove(CALLS["verify"], one.id, one.key, {})

    def do_verify_all(self) -> None:
        self._prove(CALLS["verify_all"], "", "", {})

    def do_proof(self) -> None:
        if self._proof is not None:
            proof = self._proof
            self.app.push_screen(ProofWindow(proof, self.around), partial(self._after_window, proof))

    def _ask_about_selected(self, name: str) -> None:
        if one := self._list.selected:
            self._ask(name, one.id, {}, key=one.key)

    def _ask(self, name: str, id: str, answers: Answers, *, key: str = "", refused: str = "") -> None:
        call = CALLS[name]
        about = f"{call.about}\nThe same: {call.typed(id, answers)}"

        def take(given: dict[str, str] | None) -> None:
            if given is None:
                return
            if call.proves:
                self._prove(call, id, key, given)
            else:
                self._writing = "writing it down"
                self._stand()
                self._carry_out(call, id, given)

        self.app.push_screen(Form(call.heading.format(id=id), call.fields_with(answers, id), about, refused), take)

    @work(thread=True, group="call")
    def _carry_out(self, call: Call, id: str, answers: Answers) -> None:
        result: Done | OverdeckError
        try:
            result = call.do(Wish(self._reader.registry(), id, answers, self._now()))
        except TROUBLE as error:
            result = told(error)
        self.post_message(self.Ended(call, id, answers, result))

    def _prove(self, call: Call, id: str, key: str, answers: Answers) -> None:
        proof = self._proof = Proof(call, id, key, answers, self.around.clock(), lambda: not self.app.is_running)
        self._carry_proof(proof)
        self._looking = self._looking or self.set_interval(0.1, self._look_at_proof)
        self._stand()
        self._list.show_rows()
        self.do_proof()

    @work(thread=True, group="proof")
    def _carry_proof(self, proof: Proof) -> None:
        result: Done | OverdeckError
        try:
            here = self._reader.registry()
            wish = Wish(here, proof.id, proof.answers, self._now(), proof.watch, proof.consent)
            result = proof.call.do(wish)
        except TROUBLE as error:
            result = told(error)
        proof.end(result)
        self.post_message(self.Ended(proof.call, proof.id, proof.answers, result, proof))

    @on(Ended)
    def _take_end(self, message: Ended) -> None:
        result, proof = message.result, message.proof
        if proof is None:
            self._writing = ""
        elif proof.key:
            self._story.heard[proof.key] = proof.output(OUTPUT_LINES)
        self._locked = ""
        if isinstance(result, Done):
            self.say("\n".join(result.lines))
            if result.key:
                self._list.want(result.key, result.state)
            self._list.load()
        else:
            if result.exit_code is ExitCode.BUSY:
                self._locked = result.message
            if proof is None:
                refused = f"error: {result.message}\nnext: {result.hint}"
                self._ask(message.call.name, message.id, message.answers, refused=refused)
            elif not isinstance(self.app.screen, ProofWindow):
                self.fail(f"{proof.heading}: {result.message}; P shows more")
        self._stand()
        self._list.show_rows()

    def _after_window(self, proof: Proof, change: bool | None) -> None:
        if change and proof.error is not None:
            refused = f"error: {proof.error.message}\nnext: {proof.error.hint}"
            self._ask(proof.call.name, proof.id, proof.answers, key=proof.key, refused=refused)

    def _look_at_proof(self) -> None:
        """Tell where a proof in the background asks, or goes on."""
        proof = self._proof
        stage = proof.stage if proof else None
        if stage is not self._stage:
            self._stage = stage
            # A question that was seen and left is not put a second time.
            if proof and stage is Stage.asking and not proof.question_seen and self.app.screen is self:
                self.do_proof()
            self._stand()

    def _is_being_verified(self, one: Incident) -> bool:
        proof = self._proof
        if proof is None or proof.over:
            return False
        return proof.key == one.key if proof.key else one.state == RESOLVED

    def _now(self) -> str:
        return timestamp(self.around.clock().timestamp())
