"""One call of another client, between its payload and its answer: what the front does not do for Claude Code."""

from __future__ import annotations

from overdeck.dispatch import dialects, judging, keepgoing, matchers, record
from overdeck.dispatch.dialects.heard import SENTINELS
from overdeck.dispatch.module import Call, Verdict, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from overdeck.dispatch.dialects.heard import Wording
    from overdeck.dispatch.judging import Ask, Outcome
    from overdeck.dispatch.merge import Merged
    from overdeck.dispatch.plan import Module, Plan

_STRENGTH = ("deny", "stop", "defer", "ask", "keep_going", "advise", "tell", "allow")


class Abroad:
    """A call in Claude's words, and the way back."""

    __slots__ = ("calls", "dialect", "own_tool", "plan", "problem", "top", "whole")

    def __init__(self, plan: Plan, top: dict[str, Any]) -> None:
        self.plan = plan
        self.dialect = dialects.of(plan.client)
        heard = self.dialect.heard(plan.event, top)
        self.top = heard.top
        self.calls = heard.calls
        self.problem = heard.problem
        self.whole = not heard.hidden
        self.own_tool = str(top.get("tool_name", ""))

    def asked(self, asked: list[Module], skipped: list[str]) -> list[Module]:
        """Whom the call is for: what the plan's routes say, and where it hides a patch those that look at files too."""
        if asked and self.plan.event == "UserPromptSubmit" and self._hands_back():
            return []
        if self.whole:
            return [m for m in asked if m.id not in SENTINELS]
        subagent = "agent_id" in self.top
        found = []
        for m in self.plan.modules:
            if m.id in SENTINELS or m.native is not None or (m.main_only and subagent):
                continue
            if m.cls == "adviser" and m.id in skipped:
                continue
            m.complete()
            if m in asked or self.problem or self._worded(m):
                found.append(m)
        return found

    def _hands_back(self) -> bool:
        """Whether the prompt is what our Stop modules said: nobody typed it."""
        session, prompt = str(self.top.get("session_id", "")), self.top.get("prompt")
        return isinstance(prompt, str) and keepgoing.is_our_own(self.plan.state, session, prompt)

    def unjudged(self, others: list[Module]) -> list[Module]:
        """The gates for whose files the call names nothing that can be read: they say no."""
        if not self.problem:
            return []
        gates = [m for m in others if m.cls == "gate"]
        for m in gates:
            m.complete()
        return [m for m in gates if matchers.looks_at_files(m.matcher)]

    def failed(self, gates: list[Module]) -> list[Outcome]:
        """What becomes of those."""
        outcomes = []
        for m in gates:
            outcome = judging.Outcome(m.id, m.cls)
            outcome.fail(self.problem)
            outcomes.append(outcome)
        return outcomes

    @property
    def turn(self) -> str:
        return self.dialect.turn(self.top)

    def caller(self, _plan: Plan, _top: dict[str, Any], tool_input: dict[str, Any]) -> Ask:
        """What asks a module, in the module's own process: about every file that the call names."""

        tool = str(self.top.get("tool_name", ""))
        plain = not self.calls or (len(self.calls) == 1 and len(self.calls[0]) == 1)
        if not self.whole:
            self.calls[0] = [(tool, tool_input)]  # as the rewriters left it

        def ask(m: Module, evaluate: Callable[[Call], object]) -> object:
            if plain or (m.cls == "rewriter" and not self.whole):
                return evaluate(self._call(m, tool, tool_input))
            said = [evaluate(self._call(m, name, given)) for name, given in self._worded(m)]
            return _combined(said, m.cls, self.own_tool)

        return ask

    def _worded(self, m: Module) -> list[Wording]:
        """The call, file by file, in the first wording that the module's matcher takes."""
        found = []
        by_own_name = self.whole and matchers.matches(m.matcher, self.own_tool)
        for wordings in self.calls:
            taken = [one for one in wordings if matchers.matches(m.matcher, one[0])]
            if taken or by_own_name:
                found.append((taken or wordings)[0])
        return found

    def _call(self, m: Module, tool: str, given: dict[str, Any]) -> Call:
        payload = {**self.top, "tool_name": tool, "tool_input": given} if "tool_name" in self.top else self.top
        return Call(
            client=self.plan.client,
            event=self.plan.event,
            tool=tool,
            input=given,
            payload=payload,
            subagent="agent_id" in self.top,
            config=m.config,
            state=f"{self.plan.state}/modules/{m.id}",
            events=self.plan.events,
        )

    def own(self, changed: dict[str, Any]) -> dict[str, Any]:
        """A rewritten input in the client's own words."""
        return self.dialect.own_input(self.own_tool, changed)


def spread(outcomes: list[Outcome]) -> list[Outcome]:
    """Every verdict as an outcome of its own: a module that was asked about several files may have several."""
    found = []
    for outcome in outcomes:
        found.append(outcome)
        for kind, text in (outcome.data or {}).get("also", []) if outcome.kind not in ("raw", "rewrite") else []:
            more = judging.Outcome(outcome.id, outcome.cls)
            more.take({"kind": kind, "text": text, "data": None})
            found.append(more)
    return found


def envelope(plan: Plan, merged: Merged) -> dict[str, Any]:
    """The answer of this client. What it cannot carry is recorded, where the user can be told nothing."""
    answer, lost = dialects.of(plan.client).envelope(plan.event, merged)
    for what in lost:
        record.error(plan.state, "overdeck", plan.event, what)
    return answer


def _combined(said: list[object], cls: str, own_tool: str) -> object:
    """One verdict of a module that was asked several times: the strongest, the others behind it in ``also``."""
    verdicts: list[Verdict] = []
    for one in said:
        if one is None:
            continue
        encode(one, cls)  # nonsense is the module's error, whichever file it is about
        if not isinstance(one, Verdict) or one.kind == "rewrite":
            raise ValueError(f"{own_tool} names its files in one text: a rewrite of one of them cannot be carried")
        verdicts.append(one)
    if not verdicts:
        return None
    if len(verdicts) < len(said):
        # what is allowed for one file is not for the others
        verdicts = [one for one in verdicts if one.kind != "allow"]
        if not verdicts:
            return None
    verdicts.sort(key=lambda one: _STRENGTH.index(one.kind))
    first = verdicts[0]
    seen = {(first.kind, first.text)}
    also = []
    for one in verdicts[1:]:
        if (one.kind, one.text) not in seen:
            seen.add((one.kind, one.text))
            also.append([one.kind, one.text])
    return Verdict(first.kind, first.text, {"also": also} if also else None)
