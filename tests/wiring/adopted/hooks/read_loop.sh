#!/bin/sh
while IFS= read -r line; do
  case "$line" in
    *"git push"*) printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"pushes go through CI"}}\n'; exit 0 ;;
  esac
done
