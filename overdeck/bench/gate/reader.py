"""The tables of a gate file into what they mean, or what is wrong with them, by file and key."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from overdeck.bench.gate.builds import runs_its_own
from overdeck.bench.gate.scenario import GateConfig, Scenario, Settings, Tolerance
from overdeck.bench.limits import LONGEST_TIMEOUT_S
from overdeck.bench.payloads import generate
from overdeck.errors import InvalidMeasurement, OverdeckError
from overdeck.payloadfile import payload_bytes

_TOP = {"base", "build", "tolerance", "hook", "scenario"}
_SCENARIO = {
    "name", "argv", "settings", "handler", "event", "tool", "payload", "payload_size", "prepare", "env", "hook",
    "tolerance", "timeout_s", "exit", "allow_diff",
}  # fmt: skip


class Reader:
    """Turns the tables of one file into what they mean; whatever is wrong is said with the file and the key."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.hooks: dict[str, Any] = {}
        self.used: set[str] = set()

    def whole(self, document: Mapping[str, Any]) -> GateConfig:
        for text in _texts(document):
            if "\0" in text:
                raise self._wrong(f"holds a NUL character, which no program can be given: {text[:60]!r}")
        self._known(document, _TOP, "at top level")
        base = document.get("base", "")
        if not isinstance(base, str):
            raise self._wrong("base is not a string")
        common = self._tolerance(document.get("tolerance", {}), Tolerance(), "in [tolerance]")
        hooks = document.get("hook", {})
        if not isinstance(hooks, dict) or not all(isinstance(table, dict) for table in hooks.values()):
            raise self._wrong("hook is not a table of tables")
        self.hooks = hooks
        for name, table in hooks.items():
            self._known(table, {"tolerance"}, f"in hook {name!r}")
        tables = document.get("scenario", [])
        if not isinstance(tables, list) or not tables:
            raise self._wrong("has no [[scenario]]: nothing would be measured")
        scenarios = tuple(self._scenario(table, common) for table in tables)
        names = [scenario.name for scenario in scenarios]
        if len(set(names)) < len(names):
            raise self._wrong("has two scenarios of one name")
        if unused := sorted(set(hooks) - self.used):
            raise self._wrong(f"has a tolerance for the hook {unused[0]!r}, which no scenario names")
        return GateConfig(self.file, base, self._words(document.get("build", []), "build"), scenarios)

    def _scenario(self, table: Any, common: Tolerance) -> Scenario:
        name = table.get("name") if isinstance(table, dict) else None
        if not isinstance(name, str) or not name:
            raise self._wrong("has a scenario without a name")
        where = f"in scenario {name!r}"
        self._known(table, _SCENARIO, where)
        environ = table.get("env", {})
        if not isinstance(environ, dict) or not all(isinstance(value, str) for value in environ.values()):
            raise self._wrong(f"env {where} is not a table of strings")
        prepare = table.get("prepare", [])
        timeout = table.get("timeout_s", 60.0)
        if (
            not isinstance(timeout, int | float)
            or isinstance(timeout, bool)
            or not 0 < timeout <= LONGEST_TIMEOUT_S
        ):
            raise self._wrong(
                f"timeout_s {where} is no number of seconds, more than 0 and at most {LONGEST_TIMEOUT_S:g}"
            )
        allow_diff = table.get("allow_diff", False)
        if not isinstance(prepare, list) or not isinstance(allow_diff, bool):
            raise self._wrong(f"prepare {where} is not a list of commands, or allow_diff not true or false")
        argv, settings = self._started(table, where)
        return Scenario(
            name=name,
            argv=argv,
            payload=self._payload(table, where),
            tolerance=self._tolerance(table.get("tolerance", {}), self._of_hook(table, common, where), where),
            settings=settings,
            prepare=tuple(self._words(words, f"prepare {where}") for words in prepare),
            environ={key: self._filled(value) for key, value in environ.items()},
            timeout_s=float(timeout),
            exits=self._exits(table.get("exit", 0), where),
            allow_diff=allow_diff,
        )

    def _started(self, table: Mapping[str, Any], where: str) -> tuple[tuple[str, ...], Settings | None]:
        argv = self._words(table.get("argv", []), f"argv {where}")
        if "settings" not in table:
            if not argv:
                raise self._wrong(f"has no argv {where}, and no settings")
            if "handler" in table:
                raise self._wrong(f"has a handler {where}, but no settings to find it in")
            if not runs_its_own(table["argv"]):
                raise self._same_on_both(f"argv {where}", "{bin}", '"{bin}/hook"')
            return argv, None
        if argv:
            raise self._wrong(f"has argv and settings {where}: give one")
        if not runs_its_own([self._text(table, "settings", where)]):
            raise self._same_on_both(f"settings {where}", "{source}", '"{source}/.claude/settings.json"')
        return (), Settings(
            self._filled(self._text(table, "settings", where)),
            self._text(table, "event", where),
            self._text(table, "tool", where) if "tool" in table else "",
            self._text(table, "handler", where) if "handler" in table else None,
        )

    def _same_on_both(self, what: str, folder: str, example: str) -> InvalidMeasurement:
        return InvalidMeasurement(
            f"{self.file}: {what} names no side's own folder as what is run, so both sides would run the same, "
            f"whatever head does: it needs {folder} ({{bin}}, {{prefix}}, {{source}} and {{home}} are the side's)",
            code="gate-config",
            hint=f"name what is measured by its side: {example}",
        )

    def _exits(self, value: Any, where: str) -> frozenset[int]:
        codes = value if isinstance(value, list) else [value]
        if not codes or not all(type(code) is int and 0 <= code <= 255 for code in codes):
            raise self._wrong(f"exit {where} is no exit code (0 to 255), nor a list of them")
        return frozenset(codes)

    def _payload(self, table: Mapping[str, Any], where: str) -> bytes:
        if "payload_size" in table:
            size = table["payload_size"]
            if "payload" in table:
                raise self._wrong(f"has payload and payload_size {where}: give one")
            if not isinstance(size, int) or isinstance(size, bool):
                raise self._wrong(f"payload_size {where} is no number of bytes")
            try:
                return generate(self._text(table, "event", where), self._text(table, "tool", where), size)
            except OverdeckError as error:
                raise self._wrong(f"asks for a payload {where} that cannot be made: {error.message}") from None
        if "payload" not in table:
            raise self._wrong(f"has no payload {where}, and no payload_size")
        name = self._text(table, "payload", where)
        try:
            return payload_bytes(self.file.parent / name)
        except OverdeckError as error:
            raise self._wrong(f"names a payload {where} that cannot be used: {error.message}") from None
        except OSError as error:
            raise self._wrong(
                f"names the payload {name} {where}, which cannot be read: {error.strerror}"
            ) from None

    def _of_hook(self, table: Mapping[str, Any], common: Tolerance, where: str) -> Tolerance:
        if "hook" not in table:
            return common
        name = self._text(table, "hook", where)
        self.used.add(name)
        return self._tolerance(self.hooks.get(name, {}).get("tolerance", {}), common, f"in hook {name!r}")

    def _tolerance(self, table: Any, otherwise: Tolerance, where: str) -> Tolerance:
        if not isinstance(table, dict):
            raise self._wrong(f"tolerance {where} is not a table")
        self._known(table, set(Tolerance._fields), where)
        for metric, value in table.items():
            if metric == "starts":
                right = isinstance(value, int) and not isinstance(value, bool) and value >= 0
            else:
                right = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 10
            if not right:
                kind = "whole number of starts" if metric == "starts" else "share (0.03 = 3 %)"
                raise self._wrong(f"{where}: {metric} = {value!r} is no {kind}")
        return otherwise._replace(**table)

    def _text(self, table: Mapping[str, Any], key: str, where: str) -> str:
        value = table.get(key)
        if not isinstance(value, str) or not value:
            raise self._wrong(f"{key} {where} is missing, or no string")
        return value

    def _words(self, value: Any, where: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise self._wrong(f"{where} is not a list of strings")
        return tuple(map(self._filled, value))

    def _filled(self, word: str) -> str:
        return word.replace("{gate}", str(self.file.absolute().parent))

    def _known(self, table: Mapping[str, Any], known: set[str], where: str) -> None:
        if unknown := sorted(set(table) - known):
            raise self._wrong(f"has an unknown key {where}: {', '.join(unknown)}")

    def _wrong(self, what: str) -> InvalidMeasurement:
        return InvalidMeasurement(
            f"{self.file} {what}",
            code="gate-config",
            hint='a [[scenario]] that is right: name = "a call", argv = ["{bin}/hook"], payload = "payload.json", '
            "tolerance = { cpu = 0.05 }",
        )


def _texts(value: Any) -> Iterator[str]:
    """Every string in a TOML document, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
