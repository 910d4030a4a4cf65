"""What a Python script does, read from its syntax tree: its calls by their full names, and how statements follow.

Only what the text decides: a name that is not an import or a single assignment stays unresolved.
"""

import ast
from collections.abc import Iterator
from functools import cached_property

_READS_STDIN = ("sys.stdin.read", "sys.stdin.buffer.read", "sys.stdin.readline", "sys.stdin.buffer.readline")
_EXITS = ("sys.exit", "exit", "quit", "os._exit", "SystemExit")

Block = list[ast.stmt]


_DEEPEST = 150


class TooDeep(ValueError):
    """The tree is nested as no person writes it: walking it could end the stack."""


def _end(node: ast.expr) -> tuple[int, int]:
    return (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)


class Python:
    """One parsed script. Raises TooDeep for one that no person wrote."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.parents: dict[ast.AST, ast.AST] = {}
        self.imports: dict[str, str] = {}
        self.nodes: list[ast.AST] = [tree]
        depths: dict[ast.AST, int] = {tree: 0}
        for node in self.nodes:  # grows while it is walked
            depth = depths[node] + 1
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
                depths[child] = depth
                self.nodes.append(child)
            if depth > _DEEPEST:
                raise TooDeep
            if isinstance(node, ast.Import):
                for name in node.names:
                    self.imports[name.asname or name.name.partition(".")[0]] = (
                        name.name if name.asname else name.name.partition(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for name in node.names:
                    self.imports[name.asname or name.name] = f"{node.module}.{name.name}"

    def dotted(self, node: ast.AST) -> str:
        """``subprocess.run`` for ``sp.run`` under ``import subprocess as sp``; empty for what is no plain name."""
        if isinstance(node, ast.Name):
            return self.imports.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            head = self.dotted(node.value)
            return f"{head}.{node.attr}" if head else ""
        return ""

    @cached_property
    def calls(self) -> list[tuple[str, ast.Call]]:
        """Every call of something with a plain name."""
        found = [(self.dotted(node.func), node) for node in self.nodes if isinstance(node, ast.Call)]
        return [(name, node) for name, node in found if name]

    def calls_of(self, *names: str) -> Iterator[ast.Call]:
        """The calls of these full names."""
        return (node for name, node in self.calls if name in names)

    @cached_property
    def assigned(self) -> dict[str, list[ast.expr]]:
        """Name → what is assigned to it, everywhere in the script."""
        found: dict[str, list[ast.expr]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        found.setdefault(target.id, []).append(node.value)
            elif (
                isinstance(node, ast.AnnAssign | ast.NamedExpr)
                and isinstance(node.target, ast.Name)
                and node.value
            ):
                found.setdefault(node.target.id, []).append(node.value)
        return found

    def value(self, node: ast.expr) -> ast.expr:
        """The expression itself, or what the only assignment to a name gives it, where that stands before.

        Each step goes back in the text, so that a chain of names ends, whatever they say of each other.
        """
        given = self.assigned.get(node.id, []) if isinstance(node, ast.Name) else []
        if len(given) == 1 and _end(given[0]) <= (node.lineno, node.col_offset):
            return given[0]
        return node

    def text(self, node: ast.expr) -> str:
        """A constant text, through one name; empty where it is none."""
        node = self.value(node)
        return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""

    def is_raw_payload(self, node: ast.expr) -> bool:
        """Whether it is what stdin held, unparsed: ``sys.stdin.read()`` or the one name that holds it."""
        node = self.value(node)
        if not isinstance(node, ast.Call):
            return False
        if self.dotted(node.func) in _READS_STDIN[:2] and not node.args:
            return True
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("strip", "decode", "rstrip"):
            return self.is_raw_payload(node.func.value)
        return False

    def is_payload(self, node: ast.expr) -> bool:
        """Whether it is the parsed payload: ``json.load(sys.stdin)``, ``json.loads(sys.stdin.read())``."""
        node = self.value(node)
        if not isinstance(node, ast.Call) or not node.args:
            return False
        name, given = self.dotted(node.func), node.args[0]
        if name == "json.load":
            return self.dotted(given) in ("sys.stdin", "sys.stdin.buffer")
        return name == "json.loads" and self.is_raw_payload(given)

    def reads_all_of_stdin(self) -> ast.Call | None:
        """The first call that reads stdin to its end, whatever comes."""
        for name, node in self.calls:
            if name in _READS_STDIN[:2] and not node.args:
                return node
            if (
                name == "json.load"
                and node.args
                and self.dotted(node.args[0]) in ("sys.stdin", "sys.stdin.buffer")
            ):
                return node
        return None

    def payload_key(self, node: ast.expr) -> str:
        """The key of the payload that an expression is: ``data.get("tool_name")``, ``data["tool_name"]``
        or a name."""
        node = self.value(node)
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "get"
            and node.args
        ):
            return self.text(node.args[0]) if self.is_payload(node.func.value) else ""
        if isinstance(node, ast.Subscript):
            return self.text(node.slice) if self.is_payload(node.value) else ""
        return ""

    def exit_status(self, node: ast.stmt) -> int | str | None:
        """The status a statement ends the process with, or the text it ends with (status 1); None where it
        does not,
        or with what cannot be said.
        """
        call: ast.expr | None = None
        if isinstance(node, ast.Expr):
            call = node.value
        elif isinstance(node, ast.Raise):
            call = node.exc
        if isinstance(call, ast.Name) and call.id == "SystemExit" and isinstance(node, ast.Raise):
            return 0
        if not isinstance(call, ast.Call) or self.dotted(call.func) not in _EXITS:
            return None
        if not call.args:
            return 0
        if isinstance(call.args[0], ast.Constant) and call.args[0].value is None:
            return 0
        if isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, int | str):
            value = call.args[0].value
            return int(value) if isinstance(value, bool) else value
        if isinstance(call.args[0], ast.JoinedStr):
            return "".join(
                part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "…"
                for part in call.args[0].values
            )
        return None

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement that an expression stands in."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def block_of(self, statement: ast.stmt) -> Block:
        """The list of statements that a statement stands in."""
        parent = self.parents[statement]
        for name in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and statement in block:
                return block
        return [statement]

    def within(self, node: ast.AST, *kinds: type[ast.AST]) -> bool:
        """Whether it stands inside one of these."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, kinds):
                return True
        return False

    def top_blocks(self) -> list[Block]:
        """The statements that run once a start: the module's, those of ``main`` and of ``if __name__ …``."""
        blocks = [self.tree.body]
        for node in self.tree.body:
            if (
                (isinstance(node, ast.FunctionDef) and node.name == "main")
                or (isinstance(node, ast.If) and "__name__" in ast.dump(node.test))
                or isinstance(node, ast.Try)
            ):
                blocks.append(node.body)
        for node in [*blocks[-1]] if blocks else []:
            if isinstance(node, ast.Try):
                blocks.append(node.body)
        return blocks

    def printed(self, statement: ast.stmt) -> ast.expr | None:
        """What a statement prints to stdout, by ``print`` or ``sys.stdout.write``; None for any other."""
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            return None
        call = statement.value
        name = self.dotted(call.func)
        if name == "print" and len(call.args) == 1 and not any(word.arg == "file" for word in call.keywords):
            return call.args[0]
        return call.args[0] if name == "sys.stdout.write" and call.args else None

    def answer(self, node: ast.expr) -> ast.Dict | None:
        """The literal object behind ``json.dumps(…)``, through one name; None where it is none."""
        node = self.value(node)
        if isinstance(node, ast.Call) and self.dotted(node.func) == "json.dumps" and node.args:
            inner = self.value(node.args[0])
            return inner if isinstance(inner, ast.Dict) else None
        return None

    def answers(self) -> Iterator[tuple[ast.stmt, ast.Dict]]:
        """Every literal object that the script prints as JSON, or dumps to stdout."""
        for node in self.nodes:
            if isinstance(node, ast.Expr):
                printed = self.printed(node)
                found = self.answer(printed) if printed is not None else None
                if found is None and isinstance(node.value, ast.Call) and len(node.value.args) == 2:
                    call = node.value
                    if self.dotted(call.func) == "json.dump" and self.dotted(call.args[1]) == "sys.stdout":
                        inner = self.value(call.args[0])
                        found = inner if isinstance(inner, ast.Dict) else None
                if found is not None:
                    yield node, found

    def entries(self, node: ast.Dict) -> dict[str, ast.expr] | None:
        """Key → value of an object whose keys are all known; None for one that is spread from another."""
        found = {
            key.value: value
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant) and isinstance(key.value, str)
        }
        return found if all(isinstance(key, ast.Constant) and key.value in found for key in node.keys) else None
