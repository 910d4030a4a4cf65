#!/bin/bash
# Blocks edits outside of the project, as many do with jq.
set -euo pipefail
INPUT=$(cat)
FILE=$(echo "$INPUT" | jq -r '.tool_input.file_path // empty')
if [[ "$FILE" == *".env"* ]]; then
  echo "Blocked: $FILE is protected" >&2
  exit 2
fi
exit 0
