#!/bin/bash
NAME=$(jq -r .name)
DIR="$HOME/worktrees/$NAME"
git worktree add "$DIR" >&2 && echo "$DIR"
