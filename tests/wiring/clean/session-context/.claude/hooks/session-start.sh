#!/bin/bash
set -u
if [ -n "${CLAUDE_ENV_FILE:-}" ]; then
  echo 'export NODE_ENV=development' >> "$CLAUDE_ENV_FILE"
  echo 'export PATH="$CLAUDE_PROJECT_DIR/node_modules/.bin:$PATH"' >> "$CLAUDE_ENV_FILE"
fi
cd "$CLAUDE_PROJECT_DIR" || exit 0
echo "## Recent changes"
git log --oneline -5 2>/dev/null
cat <<'EOF'
Open issues are in docs/issues.md.
EOF
exit 0
