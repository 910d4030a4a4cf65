"""Our entries in the text of a client's settings file: finding, adding and removing them.

Text in, text out. An entry is ours by the argument ``--by-overdeck``, whatever
else it says, so that one from another version or place is replaced and no other tool's is ever touched.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overdeck.dispatch import clients, dialects, matchers
from overdeck.files import read_regular
from overdeck.wiring import splice
from overdeck.wiring.jsonspans import Item, JsonError, Node, line_of, scan
from overdeck.wiring.marker import MARKER
from overdeck.wiring.target import TARGETS

Group = dict[str, Any]
"""One element of an event's list: ``{"matcher": …, "hooks": […]}``."""


class Refused(ValueError):
    """The text cannot be changed safely; the message says why."""


@dataclass(frozen=True)
class Created:
    """Containers that were not there before us, and go when they are empty again."""

    hooks: bool = False
    events: frozenset[str] = frozenset()

    def __or__(self, other: "Created") -> "Created":
        return Created(self.hooks or other.hooks, self.events | other.events)


_ABROAD = [event for client in dialects.CLIENTS for event in dialects.of(client).EVENTS.values()]

EVERYTHING = Created(hooks=True, events=frozenset([*matchers.CLAUDE_EVENTS, *_ABROAD]))
"""What to assume where nobody remembers: an emptied container was ours."""


@dataclass(frozen=True)
class Edit:
    """A changed text. ``changes``: event → added, replaced, unchanged or removed."""

    text: str
    changes: Mapping[str, str]
    created: Created = Created()


@dataclass(frozen=True)
class Entry:
    """One hook of ours as it stands in a file."""

    event: str
    matcher: str | None
    hook: Mapping[str, Any]
    alone: bool
    """Whether its matcher group holds nothing else."""

    @property
    def argv(self) -> list[Any]:
        """Command and arguments as they stand in the file, whatever they are."""
        return [self.hook.get("command"), *self.hook.get("args", [])]


def group_for(event: str, matcher: str, argv: list[str], timeout_s: int, client: str = "claude") -> Group:
    """The matcher group that makes the client start ``argv`` for ``event``, by Claude's name; no matcher where it is
    ignored.
    """
    hook = TARGETS[client].hook(argv, timeout_s)
    return ({"matcher": matcher} if clients.subject_key(event) else {}) | {"hooks": [hook]}


def find(text: str) -> list[Entry]:
    """Our entries, in file order. Raises Refused where the text is not a settings object."""
    root = _root(text)
    return [
        Entry(event, group.node.value.get("matcher"), hook.node.value, _alone(group.node))
        for event, groups in _events(root)
        for group in groups.items
        for hook in _hooks(group.node)
        if is_ours(hook.node.value)
    ]


def in_file(file: Path) -> list[Entry]:
    """``find`` in a file; none where there is no such file or it is not JSON."""
    try:
        return find(read_regular(file).decode("utf-8-sig"))
    except (OSError, ValueError):
        return []


def is_ours(hook: object) -> bool:
    """Whether a hook object carries our marker, in its arguments or in a shell line."""
    if not isinstance(hook, dict):
        return False
    args = hook.get("args")
    if isinstance(args, list):
        return MARKER in args
    command = hook.get("command")
    return isinstance(command, str) and MARKER in command.split()


def put(text: str, wanted: Mapping[str, Group], *, drop_others: bool, owned: Created = Created()) -> Edit:
    """``text`` with exactly one entry of ours for each event of ``wanted``.

    ``drop_others`` takes ours away from every other event; ``owned`` is what earlier installs created. Raises
    Refused where a key that must be changed is repeated: the client reads the last one only.
    """
    changes: dict[str, str] = {}
    created = Created()
    new = text
    for event, group in wanted.items():
        new, changes[event], made = _put_one(new, event, group)
        created |= made
    if drop_others:
        for event in dict.fromkeys(entry.event for entry in find(new)):
            if event not in wanted:
                new = _take_event(new, event, owned)
                changes[event] = "removed"
    _verify(text, new, wanted)
    return Edit(new, changes, created)


def take(text: str, *, owned: Created = EVERYTHING) -> Edit:
    """``text`` without our entries, and without the containers in ``owned`` that are empty then."""
    new = text
    events = dict.fromkeys(entry.event for entry in find(text))
    for event in events:
        new = _take_event(new, event, owned)
    root = _root(new)
    hooks = _sole(root, "hooks")
    if events and hooks and owned.hooks and hooks.node.kind == "object" and not hooks.node.items:
        new = splice.remove(new, root, root.items.index(hooks))
    _verify(text, new, {})
    return Edit(new, dict.fromkeys(events, "removed"))


def _put_one(text: str, event: str, group: Group) -> tuple[str, str, Created]:
    """One event's entry brought to what it should be: the new text, the change, what was created."""
    place = next(_ours(text, event), None)
    if place is None:
        return *_add(text, event, group), Created() if _has_event(text, event) else _creates(text, event)
    groups, at, hook_at = place
    change = "unchanged"
    have = groups.items[at].node
    if not _says(have.value, group, hook_at):
        change = "replaced"
        if _alone(have):
            text = splice.replace(text, splice.style_of(text, _root(text)), groups, at, group)
        else:
            text = _take_hook(text, groups, at, hook_at)
            text, _ = _add(text, event, group)
    # a second one of ours would run as well: keep the one that is right
    while len(places := list(_ours(text, event))) > 1:
        wrong = [place for place in places if not _says(place[0].items[place[1]].node.value, group, place[2])]
        text = _take_hook(text, *(wrong or places)[-1])
        change = "replaced"
    return text, change, Created()


def _says(have: Group, want: Group, hook_at: int) -> bool:
    same_hook: bool = have["hooks"][hook_at] == want["hooks"][0]
    return same_hook and have.get("matcher", "") == want.get("matcher", "")


def _add(text: str, event: str, group: Group) -> tuple[str, str]:
    root = _root(text)
    style = splice.style_of(text, root)
    hooks = _sole(root, "hooks")
    if hooks is None:
        return splice.append(text, style, root, {event: [group]}, key="hooks"), "added"
    groups = _sole(_object(hooks.node, "hooks"), event)
    if groups is None:
        return splice.append(text, style, hooks.node, [group], key=event), "added"
    if groups.node.kind != "array":
        raise Refused(f"hooks.{event} is not a list")
    return splice.append(text, style, groups.node, group), "added"


def _has_event(text: str, event: str) -> bool:
    hooks = _sole(_root(text), "hooks")
    return hooks is not None and _sole(hooks.node, event) is not None


def _creates(text: str, event: str) -> Created:
    return Created(_sole(_root(text), "hooks") is None, frozenset({event}))


def _take_event(text: str, event: str, owned: Created) -> str:
    while place := next(_ours(text, event), None):
        text = _take_hook(text, *place)
    hooks = _sole(_root(text), "hooks")
    groups = hooks and _sole(hooks.node, event)
    if hooks and groups and not groups.node.items and event in owned.events:
        text = splice.remove(text, hooks.node, hooks.node.items.index(groups))
    return text


def _take_hook(text: str, groups: Node, at: int, hook_at: int) -> str:
    """Without one hook; its group goes too when nothing else is in it."""
    group = groups.items[at].node
    if _alone(group):
        return splice.remove(text, groups, at)
    inner = _sole(group, "hooks")
    assert inner is not None  # the hook was found in it
    return splice.remove(text, inner.node, hook_at)


def _ours(text: str, event: str) -> Iterator[tuple[Node, int, int]]:
    """Where our hooks of one event are: (the event's list, index of the group, index of the hook)."""
    for name, groups in _events(_root(text)):
        if name == event:
            for at, group in enumerate(groups.items):
                for hook_at, hook in enumerate(_hooks(group.node)):
                    if is_ours(hook.node.value):
                        yield groups, at, hook_at


def _events(root: Node) -> Iterator[tuple[str, Node]]:
    hooks = _sole(root, "hooks")
    if hooks is None:
        return
    for item in _object(hooks.node, "hooks").items:
        if item.key is not None and item.node.kind == "array":
            _sole(hooks.node, item.key)
            yield item.key, item.node


def _hooks(group: Node) -> tuple[Item, ...]:
    inner = _sole(group, "hooks") if group.kind == "object" else None
    return inner.node.items if inner is not None and inner.node.kind == "array" else ()


def _alone(group: Node) -> bool:
    return len(_hooks(group)) == 1


def _sole(node: Node, key: str) -> Item | None:
    """The one member called ``key``; raises Refused where there are several."""
    found = node.named(key)
    if len(found) > 1:
        raise Refused(f"the key {key!r} is there {len(found)} times, and the client reads only the last")
    return found[0] if found else None


def _root(text: str) -> Node:
    try:
        root = scan(text)
    except JsonError as error:
        raise Refused(f"it is not JSON: {error}, line {line_of(text, error.at)}") from None
    return _object(root, "the top level")


def _object(node: Node, name: str) -> Node:
    if node.kind != "object":
        raise Refused(f"{name} is not an object")
    return node


def _verify(before: str, after: str, wanted: Collection[str]) -> None:
    """The last line of defence: what is not ours means the same as before, and ours is there once an event."""
    if _theirs(json.loads(before)) != _theirs(json.loads(after)):
        raise AssertionError("the edit would change what is not ours")
    events = [entry.event for entry in find(after)]
    if any(events.count(event) != 1 for event in wanted):
        raise AssertionError("the edit would not leave one entry an event")


def _theirs(data: dict[str, Any]) -> dict[str, Any]:
    """A settings object without our hooks and without empty lists and tables of hooks."""
    rest = {key: value for key, value in data.items() if key != "hooks"}
    hooks = {}
    for event, groups in data.get("hooks", {}).items():
        kept = groups
        if isinstance(groups, list):
            kept = [_without_ours(group) for group in groups]
            kept = [new for old, new in zip(groups, kept, strict=True) if new == old or new["hooks"]]
        if kept:
            hooks[event] = kept
    return rest | ({"hooks": hooks} if hooks else {})


def _without_ours(group: Any) -> Any:
    if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
        return group
    return group | {"hooks": [hook for hook in group["hooks"] if not is_ours(hook)]}
