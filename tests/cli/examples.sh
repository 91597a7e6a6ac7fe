#!/bin/sh
# The programs in examples/ do what their comments say, and the same every time.
set -u
build=${BUILD_DIR:-$(dirname "${WINNOW:-build/winnow}")}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
n=0

# result WHAT STATUS [FILE]: a TAP line; what the program printed follows when it failed
result()
{
    n=$((n + 1))
    if [ "$2" = 0 ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        if [ -n "${3:-}" ]; then sed 's/^/# /' "$3"; fi
    fi
}

# prints PROGRAM WHAT PATTERN: a line of its output matches
prints()
{
    grep -Eq "$3" "$out/$1"
    result "$1: $2" $? "$out/$1"
}

# fulfils PROGRAM WHAT AWK-CONDITION: some line fulfils it
fulfils()
{
    awk "$3 { found = 1 } END { exit !found }" "$out/$1"
    result "$1: $2" $? "$out/$1"
}

programs=$(cd examples && ls *.c | sed 's/\.c$//')
count=$(echo $programs | wc -w)
echo "1..$((4 * count + 12))"

for program in $programs; do
    "$build/example-$program" >"$out/$program" 2>"$out/err"
    result "$program: exits with 0" $? "$out/err"
    [ ! -s "$out/err" ]
    result "$program: says nothing on stderr" $? "$out/err"
    "$build/example-$program" >"$out/again" 2>&1
    cmp -s "$out/$program" "$out/again"
    result "$program: prints the same again" $? "$out/again"
    grep -q "| \`$program.c\` |" examples/README.md
    result "$program: is in examples/README.md" $?
done

prints ask_tell 'asks 100 times' '^100 trials$'
fulfils ask_tell 'comes near the minimum' '/^best value/ && $3 >= 0.3978 && $3 < 2'
prints ask_tell 'shows the configuration' '^found by trial [0-9]+: \{"x": -?[0-9.]+, "y": [0-9.]+\}$'
fulfils early_stopping 'every trial ends one way or the other' '/complete,/ && $1 + $4 == 100 && $1 >= 5 && $4 >= 50'
fulfils early_stopping 'saves more than half' '/saved$/ && $6 > 50 && $6 < 100'
fulfils promotion 'keeps to its budget' '/^[0-9]+ epochs in/ && $1 >= 400 && $1 < 427'
fulfils promotion 'resumes' '/times resumed$/ && $6 > 10'
! grep -q 'not from where' "$out/promotion"
result 'promotion: every checkpoint fits' $? "$out/promotion"
prints enqueue 'refuses a value outside the space' "^refused: parameter 'lr': 5 is outside 0.0001\.\.0.1$"
prints enqueue 'keeps the order' '^trial 1: error 0\.08[0-9]*, \{"lr": 0.001, "optimizer": "adam", "nesterov": (true|false)\}$'
prints workers 'asks for each worker' '^40 trials, 40 complete$'
"$build/example-workers" "sqlite:///$out/shared.db" >/dev/null && "$build/example-workers" "sqlite:///$out/shared.db" >"$out/shared"
prints shared 'a second run goes on with the first' '^80 trials, 80 complete$'
