"""What the page's forms ask of the core: the same functions as the verbs of ``od-incidents``, with the same words."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from overdeck.incidents import telling
from overdeck.incidents.committing import commit_command
from overdeck.incidents.watching import NOBODY, Watch
from overdeck.tui.forms import Field

if TYPE_CHECKING:  # what no first row needs is imported by the call that needs it
    from overdeck.incidents.fold import Incident
    from overdeck.incidents.proving import Consent
    from overdeck.incidents.registry import Registry
    from overdeck.incidents.resolving import Closing

Answers = Mapping[str, str]


@dataclass(frozen=True)
class Wish:
    """What is wanted of the registry: ``id`` of the incident, "" where it is about none or about all."""

    registry: "Registry"
    id: str
    answers: Answers
    at: str
    """A timestamp as the log has them."""
    watch: Watch = NOBODY
    consent: "Consent" = field(default=lambda plan: not plan)

    def answer(self, name: str) -> str | None:
        """What was typed behind ``--name``; None where nothing was, as where the option is left out."""
        return self.answers.get(name) or None

    @property
    def repo(self) -> Path | None:
        return Path(self.answers["repo"]).expanduser() if self.answers.get("repo") else None


@dataclass(frozen=True)
class Done:
    """What became of it; ``key`` and ``state`` are those of the incident to look at, "" for none."""

    lines: Sequence[str]
    key: str = ""
    state: str = ""


@dataclass
class _Said:
    """Warnings of the core, to be shown before the outcome."""

    warnings: list[str] = field(default_factory=list)

    def done(self, outcome: Sequence[str], wish: Wish, one: "Incident | None", *, recorded: bool) -> Done:
        commit = commit_command(wish.registry.log) if recorded else ""
        told = [*(f"warning: {warning}" for warning in dict.fromkeys(self.warnings)), *outcome]
        lines = [*told, *([f"commit the log, too: {commit}"] if commit else [])]
        return Done(lines) if one is None else Done(lines, one.key, one.state)


def note(wish: Wish) -> Done:
    """``od-incidents note``"""
    from overdeck.incidents import noting

    said = _Said()
    added = noting.note(
        wish.registry,
        wish.id,
        wish.answers["text"],
        wish.at,
        key=None,
        warn=said.warnings.append,
        link=wish.answer("link"),
    )
    return said.done([telling.noted(added)], wish, added.incident, recorded=added.recorded)


def reopen(wish: Wish) -> Done:
    """``od-incidents reopen``"""
    from overdeck.incidents import noting

    said = _Said()
    added = noting.reopen(
        wish.registry, wish.id, wish.answer("because"), wish.at, key=None, warn=said.warnings.append
    )
    return said.done([telling.reopened(added)], wish, added.incident, recorded=added.recorded)


def open_one(wish: Wish) -> Done:
    """``od-incidents open``"""
    from overdeck.incidents import opening

    said = _Said()
    sighting = opening.by_hand(
        wish.answer("class"),
        wish.answer("title"),
        fingerprint=wish.answer("fingerprint"),
        build=wish.answer("build"),
    )
    seen = opening.open_incident(wish.registry, sighting, wish.at, warn=said.warnings.append)
    lines = [telling.opened(seen), *telling.before(seen), telling.trailer(seen)]
    return said.done(lines, wish, seen.incident, recorded=seen.recorded)


def leave(wish: Wish) -> Done:
    """``od-incidents resolve --wont-fix``"""
    from overdeck.incidents.resolving import Closing

    return _close(wish, Closing([wish.id], wont_fix=True, because=wish.answer("because")))


def resolve(wish: Wish) -> Done:
    """``od-incidents resolve --artifact``"""
    from overdeck.incidents.resolving import Closing

    claim = Closing(
        [wish.id],
        _words(wish.answers["artifact"]),
        because=wish.answer("because"),
        summary=wish.answer("summary"),
        repo=wish.repo,
        broken=wish.answer("broken"),
    )
    return _close(wish, claim)


def _words(text: str) -> list[str]:
    """``text`` as a shell takes it apart: several artifacts, and quotes around one with a space in it."""
    try:
        return shlex.split(text)
    except ValueError:  # a quote that is not closed: the core says what it makes of it
        return [text]


def _close(wish: Wish, claim: "Closing") -> Done:
    from overdeck.incidents import resolving

    said = _Said()
    (closed,) = resolving.resolve(
        wish.registry, claim, wish.at, warn=said.warnings.append, consent=wish.consent, watch=wish.watch
    )
    said.warnings += telling.doubts(closed)
    return said.done([telling.closed(closed)], wish, closed.incident, recorded=closed.recorded)


def verify(wish: Wish) -> Done:
    """``od-incidents verify ID``, or ``--all`` where the wish is about none."""
    from overdeck.incidents import verifying

    said = _Said()
    done = verifying.verify(
        wish.registry,
        [wish.id] if wish.id else None,
        wish.at,
        warn=said.warnings.append,
        repo=wish.repo,
        consent=wish.consent,
        watch=wish.watch,
    )
    for one in done:
        said.warnings += telling.losses(one)
    lines = [telling.verified(one) for one in done] or ["no incident is resolved; od-incidents list --state all"]
    lost = any(one.verdict == verifying.LOST for one in done)
    return said.done(lines, wish, done[0].incident if len(done) == 1 else None, recorded=lost)


@dataclass(frozen=True)
class Call:
    """A form and what is done with it. ``verb``: the beginning of the command that does the same, ``{id}`` in it;
    the fields are its options by name, and ``text`` what stands behind it."""

    name: str
    heading: str
    about: str
    verb: str
    fields: tuple[Field, ...]
    do: Callable[[Wish], Done]
    wanted: tuple[str, ...] = ()
    """Options without which it is refused."""
    proves: bool = False
    """It may run what a commit holds, so it takes time, asks before and can be called off."""

    def fields_with(self, answers: Answers, id: str) -> list[Field]:
        """The fields for the incident ``id``, with what was typed before in them."""
        return [
            replace(one, label=one.label.format(id=id), value=answers.get(one.key, one.value))
            for one in self.fields
        ]

    def typed(self, id: str, answers: Answers) -> str:
        """The command that does the same, with what was answered so far."""
        words = [self.verb.format(id=id)]
        for one in self.fields:
            text = answers.get(one.key, "")
            if one.key == "text":
                words.append(shlex.quote(text) if text else "TEXT")
            elif one.key == "artifact":
                words += [f"--artifact {shlex.quote(word)}" for word in _words(text)] or ["--artifact REF"]
            elif text:
                words.append(f"--{one.key} {shlex.quote(text)}")
            elif one.key in self.wanted:
                words.append(f"--{one.key} …")
        return " ".join(words)


_REPO = Field("repo", "--repo: where the commits are", placeholder="the registry's repository")

CALLS = {
    one.name: one
    for one in (
        Call(
            "note",
            "Note on {id}",
            "Writes down what was seen, tried or ruled out. It changes no state.",
            "od-incidents note {id}",
            (
                Field("text", "TEXT: what is to be remembered"),
                Field("link", "--link: an incident that it has to do with", placeholder="none"),
            ),
            note,
        ),
        Call(
            "open",
            "Open an incident",
            "Where one of this class and fingerprint is open already, this is one more occurrence of it.",
            "od-incidents open",
            (
                Field("class", "--class: what kind of trouble", placeholder="hook-timeout, or its id"),
                Field("title", "--title: what happened, in one line"),
                Field("fingerprint", "--fingerprint: what makes two sightings the same", placeholder="the title"),
                Field("build", "--build: the commit that the session runs on", placeholder="unknown"),
            ),
            open_one,
            wanted=("class", "title"),
        ),
        Call(
            "reopen",
            "Open {id} again",
            "For what was thought to be over. What was seen again is better opened: that counts it.",
            "od-incidents reopen {id}",
            (Field("because", "--because: what shows that it is not over"),),
            reopen,
            wanted=("because",),
        ),
        Call(
            "leave",
            "Leave {id} as it is",
            "Closes it as wont-fix: nobody works on it, and whoever meets it again finds the reason.",
            "od-incidents resolve {id} --wont-fix",
            (Field("because", "--because: why it is not fixed"),),
            leave,
            wanted=("because",),
        ),
        Call(
            "resolve",
            "Resolve {id}",
            "What is to be run is listed first, and run only if you say so.",
            "od-incidents resolve {id}",
            (
                Field(
                    "artifact",
                    "--artifact: what proves the fix",
                    placeholder="commit:SHA, test:PATH::ID@SHA, repro:PATH or resume:PATH",
                ),
                Field("broken", "--broken: for repro and resume, a commit that has the trouble"),
                Field("because", "--because: your word for the link, where its trailer does not name {id}"),
                Field("summary", "--summary: what the fix was, in one line"),
                _REPO,
            ),
            resolve,
            proves=True,
        ),
        Call(
            "verify",
            "Verify {id}",
            "Checks the evidence again; what no longer holds is evidence-lost from then on.",
            "od-incidents verify {id}",
            (_REPO,),
            verify,
            proves=True,
        ),
        Call(
            "verify_all",
            "Verify every resolved incident",
            "Checks all evidence again; what no longer holds is evidence-lost from then on.",
            "od-incidents verify --all",
            (_REPO,),
            verify,
            proves=True,
        ),
    )
}
"""By name."""
