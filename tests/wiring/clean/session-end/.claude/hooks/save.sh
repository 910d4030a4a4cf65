#!/bin/bash
# Sends the notes of this session home, in the background of nobody.
cd "$CLAUDE_PROJECT_DIR" || exit 0
git diff --quiet notes/ && exit 0
git commit -qm "Notes" notes/ && timeout 20 git push -q origin HEAD
