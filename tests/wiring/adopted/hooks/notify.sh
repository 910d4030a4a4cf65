#!/usr/bin/env bash
jq -r '.message' >> "$HOME/notifications.log"
(sleep 5 >/dev/null 2>&1 </dev/null &)
