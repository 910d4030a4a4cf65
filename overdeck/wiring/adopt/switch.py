"""The switch itself: the adopted hooks out of the text of a settings file and our entries in; and back again."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from overdeck.wiring import entries, splice
from overdeck.wiring.adopt.record import Taken
from overdeck.wiring.entries import Group, Refused
from overdeck.wiring.handler import Handler
from overdeck.wiring.jsonspans import JsonError, Node, scan


def switched(text: str, handlers: Sequence[Handler], wanted: Mapping[str, Group]) -> str:
    """``text`` without ``handlers`` and with one entry of ours for each event of ``wanted``. Raises Refused."""
    new = text
    # from the end, so that the pointers of those before stay true
    for handler in sorted(handlers, key=lambda one: _position(one.pointer), reverse=True):
        new = _without(new, handler)
    new = entries.put(new, wanted, drop_others=False).text
    _verify(text, new, handlers)
    return new


def put_back(text: str, taken: Sequence[Taken], *, keep: Mapping[str, Group]) -> str:
    """``text`` with ``taken`` at the ends of their events' lists, and of our entries only those in ``keep``.

    Raises Refused.
    """
    new = text
    for one in taken:
        group = {**one.group, "hooks": [one.hook]}
        new = _append(new, one.event, group)
    new = entries.take(new, owned=entries.Created()).text
    return entries.put(new, keep, drop_others=False).text if keep else new


def _append(text: str, event: str, group: Group) -> str:
    root = _scanned(text)
    style = splice.style_of(text, root)
    hooks = root.named("hooks")
    if len(hooks) > 1:
        raise Refused("the key 'hooks' is there twice")
    if not hooks:
        return splice.append(text, style, root, {event: [group]}, key="hooks")
    lists = hooks[0].node.named(event)
    if len(lists) > 1 or (lists and lists[0].node.kind != "array"):
        raise Refused(f"hooks.{event} is not one list")
    if not lists:
        return splice.append(text, style, hooks[0].node, [group], key=event)
    return splice.append(text, style, lists[0].node, group)


def _without(text: str, handler: Handler) -> str:
    """Without one handler; its matcher group goes when nothing else is in it."""
    root = _scanned(text)
    words = handler.pointer.split("/")[1:]
    if len(words) != 5 or words[0] != "hooks" or words[3] != "hooks":
        raise Refused(f"{handler.pointer} is no place of a hook")
    hooks = _sole(root, "hooks")
    groups = _sole(hooks, words[1].replace("~1", "/").replace("~0", "~"))
    at, hook_at = int(words[2]), int(words[4])
    inner = _sole(groups.items[at].node, "hooks")
    if len(inner.items) == 1:
        return splice.remove(text, groups, at)
    return splice.remove(text, inner, hook_at)


def _sole(node: Node, key: str) -> Node:
    found = node.named(key)
    if len(found) != 1:
        raise Refused(f"the key {key!r} is there {len(found)} times")
    return found[0].node


def _scanned(text: str) -> Node:
    try:
        return scan(text)
    except JsonError as error:
        raise Refused(f"it is not JSON: {error}") from None


def _position(pointer: str) -> tuple[str, int, int]:
    words = pointer.split("/")
    return words[2], int(words[3]), int(words[5])


def _verify(before: str, after: str, handlers: Sequence[Handler]) -> None:
    """What is neither theirs that went nor ours that came must mean the same as before."""
    gone = {handler.pointer for handler in handlers}
    if _kept(json.loads(before), gone) != _kept(json.loads(after), set()):
        raise AssertionError("the switch would change what it is not about")


def _kept(data: dict[str, Any], gone: set[str]) -> dict[str, Any]:
    """The file without our entries, without those in ``gone``, and without what is empty then."""
    rest = {key: value for key, value in data.items() if key != "hooks"}
    hooks: dict[str, Any] = {}
    for event, groups in data.get("hooks", {}).items():
        kept = []
        for at, group in enumerate(groups if isinstance(groups, list) else []):
            own = group.get("hooks", [])
            left = [
                hook
                for hook_at, hook in enumerate(own)
                if not entries.is_ours(hook) and f"/hooks/{_escaped(event)}/{at}/hooks/{hook_at}" not in gone
            ]
            if left or not own:
                kept.append({**group, "hooks": left})
        if kept:
            hooks[event] = kept
    return {**rest, "hooks": hooks}


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
