#!/bin/bash
IFS= read -r input
case $input in
  *'"stop_hook_active":true'*) exit 0 ;;
esac
cd "$CLAUDE_PROJECT_DIR" || exit 0
if ! make -s lint >/tmp/lint.$$ 2>&1; then
  jq -n --rawfile why /tmp/lint.$$ '{decision: "block", reason: ("Lint fails:\n" + $why)}'
fi
rm -f /tmp/lint.$$
