#!/bin/sh
# Only commits are looked at; everything else costs one jq.
command=$(jq -r '.tool_input.command // ""')
case "$command" in
  "git commit"*) ;;
  *) exit 0 ;;
esac
if printf '%s\n' "$command" | grep -qi 'wip'; then
  echo "Not allowed: say what the commit does" >&2
  exit 2
fi
