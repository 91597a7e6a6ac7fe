#!/bin/sh
# Why a trial ended as it did, looked up afterwards: winnow trials, export, show --trial.
set -u
. "$(dirname "$0")/tap.lib"

unset WINNOW_STUDY WINNOW_STORE
winnow=$(realpath "$winnow")
cd "$out" || exit 1
# json EXPRESSION: of what was printed, as d
json()
{
    python3 -c "import json, sys; d = json.load(sys.stdin); print($1)" <stdout
}

cat >train.sh <<'EOF'
case $WINNOW_TRIAL in
0) echo "epoch=1 loss=0.5"; echo "epoch=2 loss=0.25" ;;
1) echo "epoch=1 loss=0.5"; echo "a,\"b\"" >&2; exit 7 ;;
2) exec sleep 30 ;;
esac
EOF
run run --name r --minimize loss --param x=0..1 --resource epoch=1..2 --trials 3 --workers 1 --timeout 1s --retries 1 --quiet --seed 5 -- sh train.sh
run trials r
says 'the table has a column for it, at the end' stdout '^trial .* x +reason$'
says 'with the first line' stdout '^ +1  failed .*  exit code 7$'
says 'of a timeout too' stdout '^ +2  timeout .*  it ran longer than 1 s$'
truth 'lines without one have no blanks at their end' sh -c '! grep -q " $" stdout'
run trials r --state complete
truth 'where no trial has one there is no column' sh -c 'grep -q " x$" stdout && ! grep -q reason stdout'
run trials r --format csv
is 'CSV: the first line' "$(head -n 1 stdout | sed 's/.*,//') $(sed 1d stdout | sed 's/.*,//' | tr '\n' '|')" 'reason |exit code 7|it ran longer than 1 s|'
run trials r --format json
is 'JSON: all of it' "$(json '[t["reason"] for t in d][:2]')" "[None, 'exit code 7\\nlast lines of stderr:\\na,\"b\"']"
for format in json jsonl; do
    run export r --format $format
    says "export as $format" stdout '"state": "failed".*"reason": "exit code 7\\nlast lines of stderr'
    says "and null where there is none" stdout '"state": "complete".*"reason": null'
done
run export r
cp stdout export.csv
run import export.csv --study again --minimize value
is 'what was exported is imported, and the reason is no parameter' "$code $(cat stdout)" "0 3 trials imported into 'again'"

# ---- one trial ----

run show r --trial 1
says 'show --trial: the state' stdout '^state        failed$'
says 'the reason, all lines' stdout '^             a,"b"$'
says 'attempts' stdout '^attempts     2$'
says 'the configuration' stdout '^  x +0\.[0-9]+$'
says 'reports' stdout '^  epoch 1  loss 0\.5  at [0-9.]+ s$'
says 'each time it ended' stdout '^  failed at [0-9.]+ s, to be tried again: exit code 7$'
says 'the folder' stdout '^folder       winnow-runs/r/trial-00001$'
run show r --trial 1 --format json
is 'as JSON' "$(json 'd["state"], d["attempt"], len(d["reports"]), [(e["state"], e["retry"]) for e in d["endings"]], list(d["config"]), d["folder"]')" \
    "failed 2 2 [('failed', True), ('failed', False)] ['x'] winnow-runs/r/trial-00001"
mkdir elsewhere
(cd elsewhere && "$winnow" show r --trial 0 --store sqlite:///../winnow.db) >stdout
says 'a folder that is not here is said not to be' stdout 'trial-00000 \(not in the current folder\)$'
run show r --trial 3
is 'a trial that is not there: exit code 2' "$code" 2
says 'which there are' stderr "^winnow: study 'r' has no trial 3: its trials are 0 to 2$"
run show r --trial x
is 'no number: exit code 2' "$code" 2

# ---- told by hand ----

printf 'name: hand\ncommand: "true"\nmetric: {name: loss, goal: minimize}\nparameters: {reason: {type: float, min: 0, max: 1}}\nstop: {trials: 9}\n' >hand.yaml
run ask --file hand.yaml
long="out of memory: $(printf '%080d' 1)"
run tell 0 --state failed --why "$long" --study hand
run trials hand
says 'a long one is cut' stdout 'out of memory: 0{42}\.\.\.$'
says 'a parameter of that name has another' stdout ' param\.reason +reason$'
run ask --study hand
run cancel 1 --study hand
run trials hand --state cancelled --format csv
says 'cancelled ones have one' stdout ',cancelled by the user$'
run show hand --trial 0
says 'in full' stdout "^reason       $long$"
printf 'bell \007' >why
run ask --study hand
run tell 2 --state failed --why "$(cat why)" --study hand
run show hand --trial 2
says 'and harmless' stdout '^reason       bell \?$'
finish
