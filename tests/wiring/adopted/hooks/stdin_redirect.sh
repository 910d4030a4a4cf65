#!/bin/bash
input=$(</dev/stdin)
[ -n "$input" ] && { echo "read it" >&2; exit 2; }
exit 0
