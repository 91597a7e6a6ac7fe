#!/bin/sh
# Compiles a small benchmark with the given flags, runs it three times and reports the best time.
#
#     ./measure.sh FLAGS...
#
# The program lies in the trial's folder, so any number of these may run side by side.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=${WINNOW_TRIAL_DIR:-$(mktemp -d)}
${CC:-cc} "$@" -x c "$here/benchmark.src" -o "$work/benchmark" -lm
best=
for run in 1 2 3; do
    seconds=$("$work/benchmark")
    best=$(printf '%s\n%s\n' "$seconds" ${best:-"$seconds"} | sort -g | head -n 1)
done
rm -f "$work/benchmark"
echo "{\"seconds\": $best}"
