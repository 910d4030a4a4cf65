"""The types that Claude Code 2.1.197 checks in a settings file, hooks and all: one wrong one drops the file.

Read in the shipped program; 35 of the keys, and every kind of hook, were tried with a wrong value in the real client
(docs/plans/wiring.md). Keys that it forgives (``theme``, ``effortLevel``, …) and keys it does not know are not here.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from overdeck.wiring.parsing import Flaw, kind, positive, shown

TARGETS = {"command": "command", "http": "url", "prompt": "prompt", "agent": "prompt", "mcp_tool": "tool"}
"""The handler types it knows, and the key that says what each runs."""

# fmt: off
_SWITCHES = (
    "agentPushNotifEnabled", "allowAllClaudeAiMcps", "allowManagedHooksOnly", "allowManagedMcpServersOnly",
    "allowManagedPermissionRulesOnly", "alwaysThinkingEnabled", "autoCompactEnabled", "autoDreamEnabled",
    "autoMemoryEnabled", "autoScrollEnabled", "autoUploadSessions", "awaySummaryEnabled", "channelsEnabled",
    "disableAgentView", "disableAllHooks", "disableArtifact", "disableBundledSkills",
    "disableClaudeAiConnectors", "disableRemoteControl", "disableSideloadFlags", "disableSkillShellExecution",
    "disableWorkflows", "doneMeansMerged", "enableAllProjectMcpServers", "enableArtifact", "enableWorkflows",
    "enforceAvailableModels", "fastMode", "fastModePerSessionOptIn", "fileCheckpointingEnabled",
    "forceRemoteSettingsRefresh", "includeCoAuthoredBy", "includeGitInstructions", "inputNeededNotifEnabled",
    "isolatePeerMachines", "prefersReducedMotion", "promptSuggestionEnabled", "remoteControlAtStartup",
    "respectGitignore", "respondToBashCommands", "showClearContextOnPlanAccept", "showMessageTimestamps",
    "showThinkingSummaries", "showTurnDuration", "skipDangerousModePermissionPrompt", "skipWebFetchPreflight",
    "skipWorkflowUsageWarning", "spinnerTipsEnabled", "switchModelsOnFlag", "syntaxHighlightingDisabled",
    "terminalProgressBarEnabled", "terminalTitleFromRename", "todoFeatureEnabled", "verbose",
)
_STRINGS = (
    "$schema", "advisorModel", "agent", "apiKeyHelper", "autoMemoryDirectory", "awsAuthRefresh",
    "awsCredentialExport", "claudeMd", "gcpAuthRefresh", "language", "minimumVersion", "model",
    "otelHeadersHelper", "outputStyle", "plansDirectory", "pluginTrustMessage", "prUrlTemplate",
    "proxyAuthHelper", "requiredMaximumVersion", "requiredMinimumVersion",
)
_STRING_LISTS = (
    "allowedHttpHookUrls", "availableModels", "claudeMdExcludes", "companyAnnouncements",
    "disabledMcpjsonServers", "enabledMcpjsonServers", "fallbackModel", "httpHookAllowedEnvVars",
    "pluginSuggestionMarketplaces",
)
_TABLES = (
    "attribution", "breakReminder", "enabledPlugins", "env", "extraKnownMarketplaces", "fileSuggestion",
    "modelOverrides", "permissions", "pluginConfigs", "quietHours", "remote", "sandbox", "skillOverrides",
    "spinnerTipsOverride", "spinnerVerbs", "statusLine", "subagentStatusLine", "voice", "worktree",
)
# fmt: on

EXPECTED: Mapping[str, str] = (
    dict.fromkeys(_SWITCHES, "true or false")
    | dict.fromkeys(_STRINGS, "a string")
    | dict.fromkeys(_STRING_LISTS, "a list of strings")
    | dict.fromkeys(_TABLES, "an object")
    | {"cleanupPeriodDays": "a number"}
)
"""Key beside ``hooks`` → what must stand there."""

_INSIDE = {
    ("attribution", "commit"): "a string",
    ("attribution", "pr"): "a string",
    ("attribution", "sessionUrl"): "true or false",
    ("permissions", "defaultMode"): "a string",
    ("permissions", "allow"): "a list",
    ("permissions", "deny"): "a list",
    ("permissions", "ask"): "a list",
    ("permissions", "additionalDirectories"): "a list of strings",
    ("statusLine", "padding"): "a number",
}
"""The same, one level down. A permission rule that is no string is forgiven."""

_IN_MANIFEST = {
    "name": "a string",
    "version": "a string",
    "description": "a string",
    "displayName": "a string",
    "repository": "a string",
    "license": "a string",
    "keywords": "a list of strings",
    "defaultEnabled": "true or false",
    "author": "an object",
}

_HOOK_KEYS = {
    "if": "a string",
    "statusMessage": "a string",
    "once": "true or false",
    "async": "true or false",
    "asyncRewake": "true or false",
    "args": "a list of strings",
    "headers": "a table of strings",
    "allowedEnvVars": "a list of strings",
    "input": "an object",
    "model": "a string",
}
_OF_TYPE = {
    "command": ("if", "statusMessage", "once", "async", "asyncRewake", "args"),
    "http": ("if", "statusMessage", "once", "headers", "allowedEnvVars"),
    "prompt": ("if", "statusMessage", "once", "model"),
    "agent": ("if", "statusMessage", "once", "model"),
    "mcp_tool": ("if", "statusMessage", "once", "input"),
}
_REQUIRED = {
    "command": ("command",),
    "http": ("url",),
    "prompt": ("prompt",),
    "agent": ("prompt",),
    "mcp_tool": ("server", "tool"),
}


def is_a(value: object, expected: str) -> bool:
    """Whether the value is what ``EXPECTED`` calls it; a list of strings holds nothing else, and so a table."""
    if expected == "a table of strings":
        return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())
    if expected == "a list of strings":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return kind(value) == expected


def beside_hooks(data: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """What is wrong with a settings file's other keys: (reason, fix, path)."""
    for key, expected in EXPECTED.items():
        if key in data and not is_a(data[key], expected):
            yield f"{key} is {_found(data[key], expected)}, not {expected}", f"write {expected}", [key]
    for (outer, key), expected in _INSIDE.items():
        table = data.get(outer)
        if isinstance(table, dict) and key in table and not is_a(table[key], expected):
            yield (
                f"{outer}.{key} is {_found(table[key], expected)}, not {expected}",
                f"write {expected}",
                [outer, key],
            )
    plugins = data.get("enabledPlugins")
    for name, on in plugins.items() if isinstance(plugins, dict) else ():
        if not isinstance(on, bool) and not is_a(on, "a list of strings"):
            yield (
                f"the plugin {name[:60]!r} is {kind(on)}, not on or off",
                "write true or false",
                [
                    "enabledPlugins",
                    name,
                ],
            )
    for name in ("statusLine", "subagentStatusLine"):
        line = data.get(name)
        if isinstance(line, dict) and (line.get("type") != "command" or not isinstance(line.get("command"), str)):
            yield f"{name} is no command", 'write {"type": "command", "command": "…"}', [name]


def in_manifest(data: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """What is wrong with a plugin.json beside its hooks, as ``beside_hooks``."""
    if "name" not in data:
        yield "the plugin has no name", 'add "name": "…"', []
    for key, expected in _IN_MANIFEST.items():
        if key in data and not is_a(data[key], expected):
            yield f"{key} is {_found(data[key], expected)}, not {expected}", f"write {expected}", [key]
    if isinstance(data.get("name"), str) and (not data["name"] or " " in data["name"]):
        yield "the plugin's name is empty or has blanks", "write-it-so, in one word", ["name"]
    author = data.get("author")
    if isinstance(author, dict) and not isinstance(author.get("name"), str):
        yield "the author has no name", 'write {"name": "…"}', ["author"]


def flaws(hook: Mapping[str, Any]) -> Iterator[Flaw]:
    """What in one hook object makes it drop the file."""
    type = hook.get("type")
    if "type" not in hook:
        yield Flaw("the hook has no type", 'add "type": "command"')
    elif not isinstance(type, str) or type not in TARGETS:
        yield Flaw(f"unknown hook type {shown(type)}", f"write one of {', '.join(TARGETS)}", "type")
        type = None
    for key in _REQUIRED.get(type, ()) if isinstance(type, str) else ():
        if key not in hook:
            yield Flaw(f"the hook has no {key}", f'add "{key}": "…", or remove the hook')
        elif not isinstance(hook[key], str):
            yield Flaw(f"{key} is {kind(hook[key])}, not a string", "write a string", key)
    for key in _OF_TYPE.get(type, ()) if isinstance(type, str) else ():
        if key in hook and not is_a(hook[key], _HOOK_KEYS[key]):
            reason = f"{key} is {_found(hook[key], _HOOK_KEYS[key])}, not {_HOOK_KEYS[key]}"
            yield Flaw(reason, f"write {_HOOK_KEYS[key]}", key)
    if type == "command" and "shell" in hook and hook["shell"] not in ("bash", "powershell"):
        yield Flaw(f"shell is {shown(hook['shell'])}", "write bash or powershell", "shell")
    if type == "http" and isinstance(hook.get("url"), str) and not re.match(r"\s*[A-Za-z][\w+.-]*:.", hook["url"]):
        yield Flaw(f"{shown(hook['url'])} is no URL", "write http://… or https://…", "url")
    if "timeout" in hook and positive(hook["timeout"]) in (None, math.inf):
        written = shown(hook["timeout"])
        if hook["timeout"] is None or isinstance(hook["timeout"], bool):
            written = kind(hook["timeout"])
        yield Flaw(f"timeout is {written}, not a number above 0", "write seconds as a number: 10", "timeout")


def _found(value: object, expected: str) -> str:
    inside = kind(value) == expected.removesuffix(" of strings").replace("a table", "an object")
    return (
        f"{kind(value)} with something else in it" if inside and expected.endswith("of strings") else kind(value)
    )
