#!/bin/sh
grep -q 'curl .*| *sh' && { echo "Blocked: do not pipe curl into a shell" >&2; exit 2; }
exit 0
