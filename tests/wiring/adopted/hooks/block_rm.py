#!/usr/bin/env python3
"""Blocks recursive removals: exit 2 and a reason on stderr."""
import json
import re
import sys

DANGEROUS = [r"\brm\s+.*-[a-z]*r[a-z]*f", r"\brm\s+--recursive", r">\s*/dev/sd[a-z]"]


def main():
    try:
        data = json.load(sys.stdin)
    except json.JSONDecodeError as e:
        print(f"Error: Invalid JSON input: {e}", file=sys.stderr)
        sys.exit(1)
    command = data.get("tool_input", {}).get("command", "")
    for pattern in DANGEROUS:
        if re.search(pattern, command.lower()):
            print(f"BLOCKED: Dangerous command detected: {command[:60]}", file=sys.stderr)
            sys.exit(2)
    sys.exit(0)


if __name__ == "__main__":
    main()
