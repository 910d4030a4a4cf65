#!/bin/sh
# show.sh FILE CODE HEAD TAIL BYTES: the first HEAD and the last TAIL lines of FILE, at most BYTES of each; exits CODE.
# Where anything is left out it says so, and how much. Files of earlier commands go after two days.
file=$1 code=$2 head=$3 tail=$4 bytes=$5
[ "$code" = 0 ] || tail=$((tail * 2))
lines=$(wc -l <"$file") && size=$(wc -c <"$file") || exit "$code"
if [ "$size" -eq 0 ]; then
    echo "[output-filter: it printed nothing; exit code $code]"
elif [ "$lines" -le $((head + tail)) ] && [ "$size" -le "$bytes" ]; then
    cat "$file"
else
    head -n "$head" "$file" | head -c "$bytes"
    echo
    echo "[output-filter: $((lines)) lines, $((size)) bytes, exit code $code: cut here to the first $head and the last $tail lines, at most $bytes bytes of each; all of it: $file]"
    tail -n "$tail" "$file" | tail -c "$bytes"
fi
find "${file%/*}" -maxdepth 1 -name 'overdeck-output.??????' -user "$(id -u)" -mtime +1 -exec rm -f {} + 2>/dev/null
exit "$code"
