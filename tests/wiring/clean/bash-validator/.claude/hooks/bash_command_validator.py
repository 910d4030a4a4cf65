#!/usr/bin/env python3
"""Says which commands have a better one."""

import json
import re
import sys

RULES = [
    (r"^grep\b(?!.*\|)", "Use 'rg' instead of 'grep' for better performance"),
    (r"^find\s+\S+\s+-name\b", "Use 'rg --files -g pattern' instead of 'find -name'"),
]


def issues_of(command):
    return [message for pattern, message in RULES if re.search(pattern, command)]


def main():
    try:
        data = json.load(sys.stdin)
    except json.JSONDecodeError as error:
        print(f"Error: Invalid JSON input: {error}", file=sys.stderr)
        sys.exit(1)
    if data.get("tool_name", "") != "Bash":
        sys.exit(0)
    command = data.get("tool_input", {}).get("command", "")
    if not command:
        sys.exit(1)
    issues = issues_of(command)
    if issues:
        for message in issues:
            print(f"- {message}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
