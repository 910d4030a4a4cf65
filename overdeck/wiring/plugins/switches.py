"""A plugin's name in the text of the client's JSON files: switched off, forgotten, blocked; no other byte changed."""

import json
from collections.abc import Callable
from typing import Any

from overdeck.wiring import splice
from overdeck.wiring.entries import Refused
from overdeck.wiring.jsonspans import Item, JsonError, Node, line_of, scan
from overdeck.wiring.plugins.ledger import SWITCHES

Edit = Callable[[str], str]


def switch_off(text: str, plugin: str, *, always: bool) -> str:
    """A settings file's text with ``plugin`` switched off where it is on; with ``always`` also where it is not named.

    An explicit ``false`` is needed: without any word, a plugin may start by its manifest's ``defaultEnabled``.
    """
    while place := _switched_on(_root(text), plugin):
        container, index = place
        text = splice.replace(text, splice.style_of(text, _root(text)), container, index, False)
    root = _root(text)
    tables = root.named(SWITCHES)
    if not always or any(table.node.named(plugin) for table in tables):
        return text
    style = splice.style_of(text, root)
    if not tables:
        return splice.append(text, style, root, {plugin: False}, key=SWITCHES)
    if tables[-1].node.kind != "object":
        raise Refused(f"{SWITCHES} is not an object")
    return splice.append(text, style, tables[-1].node, False, key=plugin)


def forget_installed(text: str, plugin: str) -> str:
    """``installed_plugins.json`` without the plugin."""
    while place := _member(_root(text).named("plugins"), plugin):
        text = splice.remove(text, *place)
    return text


def forget_known(text: str, plugin: str) -> str:
    """``.claude.json`` without the plugin in any table about plugins, its own and each project's.

    A table is about plugins where its key says so; in one of switches the plugin is switched off.
    """
    while True:
        root = _root(text)
        tables = [root, *(project.node for item in root.named("projects") for project in item.node.items)]
        about = [item for table in tables for item in table.items if "plugin" in (item.key or "").lower()]
        switches = [item for item in about if item.key == SWITCHES]
        if place := next((found for item in switches if (found := _switched_on_in(item.node, plugin))), None):
            text = splice.replace(text, splice.style_of(text, root), *place, False)
            continue
        others = [item for item in about if item.key != SWITCHES]
        place = next((found for item in others if (found := _mention(item.node, plugin))), None)
        if place is None:
            return text
        text = splice.remove(text, *place)


def block(text: str, plugin: str, entry: dict[str, Any]) -> str:
    """``blocklist.json`` with ``entry`` for the plugin, where it has none."""
    root = _root(text)
    lists = root.named("plugins")
    style = splice.style_of(text, root)
    if not lists:
        return splice.append(text, style, root, [entry], key="plugins")
    if lists[-1].node.kind != "array":
        raise Refused("plugins is not a list")
    if any(
        isinstance(item.node.value, dict) and item.node.value.get("plugin") == plugin
        for item in lists[-1].node.items
    ):
        return text
    return splice.append(text, style, lists[-1].node, entry)


def mentions(text: str, plugin: str) -> bool:
    """Whether the text names the plugin, JSON escapes looked through where it is JSON."""
    if plugin in text:
        return True
    try:
        return plugin in json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return False


def _switched_on(root: Node, plugin: str) -> tuple[Node, int] | None:
    return next((found for table in root.named(SWITCHES) if (found := _switched_on_in(table.node, plugin))), None)


def _switched_on_in(table: Node, plugin: str) -> tuple[Node, int] | None:
    for index, item in enumerate(table.items):
        if item.key == plugin and item.node.value is not False:
            return table, index
    return None


def _member(tables: list[Item], plugin: str) -> tuple[Node, int] | None:
    for table in tables:
        for index, item in enumerate(table.node.items):
            if item.key == plugin:
                return table.node, index
    return None


def _mention(node: Node, plugin: str) -> tuple[Node, int] | None:
    """The first member called ``plugin``, or list element that is it, anywhere inside."""
    for index, item in enumerate(node.items):
        if item.key == plugin or (item.key is None and item.node.value == plugin):
            return node, index
        if found := _mention(item.node, plugin):
            return found
    return None


def _root(text: str) -> Node:
    try:
        root = scan(text)
    except JsonError as error:
        raise Refused(f"it is not JSON: {error}, line {line_of(text, error.at)}") from None
    if root.kind != "object":
        raise Refused("the top level is not an object")
    return root
