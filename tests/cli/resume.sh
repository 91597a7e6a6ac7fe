#!/bin/sh
# winnow resume and worker: a study goes on by its name alone, here and in several processes at once.
set -u
. "$(dirname "$0")/tap.lib"

unset WINNOW_STUDY
winnow=$(realpath "$winnow")
cd "$out" || exit 1
export WINNOW_STORE="sqlite:///$out/r.db"
cat >train.sh <<'SH'
#!/bin/sh
sleep 0.02
echo "loss=$1"
SH
chmod +x train.sh
cat >study.yaml <<'YAML'
name: file
command: ./train.sh {x}
metric: {name: loss, goal: minimize}
parameters: {x: {type: float, min: 0, max: 1}, word: [a, "7"], fixed: 3}
stop: {trials: 2}
seed: 5
YAML
run run study.yaml --quiet
is 'run: exit code 0' "$code" 0
rm study.yaml
run resume --quiet
is 'nothing is left to do' "$code" 0
says 'but the result is shown' stdout '^2 trials \(COMPLETE 2\)'
run resume file --trials 5 --workers 2 --quiet --format json
is 'a higher limit, without the file' "$(python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["study"], d["trials"], d["states"])' <"$out/stdout")" "file 5 {'COMPLETE': 5}"
run replay
says 'one study from end to end' stdout "^study 'file': 5 proposals, bit-identical$"

run run --name flags --store "$WINNOW_STORE" --maximize loss --param x=0..1 --param n=logint:1..64 --trials 2 --quiet -- ./train.sh '{x}'
is 'a study made of flags' "$code" 0
run resume flags --trials 4 --quiet
is 'goes on too' "$code" 0
says 'with its own goal' stdout '^best loss: 0\.'
run trials flags --format csv
is 'and all its trials' "$(sed 1d stdout | cut -d, -f1,2 | tr '\n' ' ')" '0,complete 1,complete 2,complete 3,complete '
run resume flags --trials many
is 'a mistake in a flag: exit code 2' "$code" 2
says 'is told' stderr 'trials'
run resume nothing
says 'a study that is not there' stderr "no study 'nothing' in .*; there are 'file' and 'flags'"

printf 'x,loss\n0.5,1\n0.25,2\n' >old.csv
run import old.csv --study imported --minimize loss
run resume imported
is 'a study without a command: exit code 2' "$code" 2
says 'says what is missing' stderr "no command is stored with it"

printf 'metric: loss\nparameters: {x: {type: float, min: 0, max: 1}}\n' >driven.yaml
run ask --file driven.yaml
is 'ask needs no command' "$code" 0
run tell 0 1 --study driven
for verb in resume worker; do
    run $verb driven
    is "$verb does: exit code 2" "$code" 2
    says "$verb says what is missing" stderr "^winnow: study 'driven' has no command: .*winnow resume driven --file FILE"
done
run resume driven --param x=0..2 --no-run
is 'it may be widened without one' "$code $(head -n 1 stderr)" '0 '
run run driven.yaml
says 'run does too' stderr "^driven.yaml:1:1: missing 'command'"
printf 'command: ./train.sh {x}\nstop: {trials: 2}\n' >command.yaml
run resume driven --file command.yaml --quiet
is 'a file that has one runs it' "$code" 0

for i in 1 2 3; do
    "$winnow" worker file --trials 30 --quiet >"worker$i" 2>&1 &
done
wait
run ls --format csv
is 'three workers share the trials that are left' "$(sed -n 's/^file,[^,]*,loss,minimize,\([0-9]*\),.*/\1/p' stdout)" 30
run trials file --state complete --format csv
is 'each was run once' "$(sed 1d stdout | wc -l) $(sed 1d stdout | cut -d, -f7 | sort -u)" '30 1'
run replay file
is 'and is what the log says' "$code" 0

# ---- runners that are interrupted or killed ----

cat >slow.sh <<'SH'
#!/bin/sh
# slow.sh X: three epochs from its checkpoint on; says which processes there are
echo $$ >>pids
n=$(cat "$WINNOW_CHECKPOINT_DIR/n" 2>/dev/null || echo 0)
while [ "$n" -lt 3 ]; do
    n=$((n + 1))
    echo $n >"$WINNOW_CHECKPOINT_DIR/n"
    echo "epoch=$n loss=$1"
    sleep 0.4
done
SH
chmod +x slow.sh

# broken NAME SIGNALS: runs a study, sends the signals once there are reports; $code is its exit code
broken()
{
    rm -f pids
    "$winnow" run --name "$1" --minimize loss --param x=0..1 --resource epoch=1..3 --trials 4 --workers 2 --retries 1 --grace 0.2s --folder "$1-runs" \
        --quiet -- ./slow.sh '{x}' >stdout 2>stderr &
    pid=$!
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        sleep 0.1
        [ "$(cat "$1"-runs/*/stdout 2>/dev/null | wc -l)" -ge 3 ] && break
    done
    sleep 0.15
    for signal in $2; do
        kill -s "$signal" $pid
        sleep 0.1
    done
    code=0
    wait $pid || code=$?
}

# alive: how many of the trials' processes there still are
alive()
{
    for pid in $(cat pids); do
        case $(cut -d' ' -f3 "/proc/$pid/stat" 2>/dev/null) in Z | '') ;; *) echo $pid ;; esac
    done | wc -l
}

# goes_on NAME STATES: it ends as it should, with no trial missing or twice and no report lost
goes_on()
{
    run export "$1" --reports --format csv
    before=$(sed 1d stdout | wc -l)
    run resume "$1" --quiet
    is "$1: it can be resumed" "$code" 0
    says "$1: to its end" stdout "^4 trials \\($2\\)"
    run trials "$1" --format csv
    is "$1: each number once" "$(sed 1d stdout | cut -d, -f1 | tr '\n' ' ')" '0 1 2 3 '
    run export "$1" --reports --format csv
    truth "$1: nothing was lost" [ "$(sed 1d stdout | wc -l)" -ge "$before" ]
    is "$1: no process is left" "$(alive)" 0
}

broken once INT
is 'Ctrl-C: exit code 130' "$code" 130
goes_on once 'COMPLETE 4'
broken twice 'INT INT'
is 'twice: exit code 130' "$code" 130
is 'its trials are gone' "$(alive)" 0
run show twice --trial 0
says 'twice: they wait' stdout '^state +paused, to be continued$'
says 'twice: and why' stdout '^reason +interrupted; it continues when the study does$'
goes_on twice 'COMPLETE 4'
truth 'twice: gone on with, from their checkpoints' sh -c '[ "$(cat twice-runs/*/stdout | wc -l)" -le 12 ]'
broken killed KILL
is 'kill -9: exit code 137' "$code" 137
sleep 0.6
is 'the guard ends its trials' "$(alive)" 0
run trials killed --state running --format csv
is 'which the log takes for running' "$(sed 1d stdout | wc -l)" 2
goes_on killed 'COMPLETE 4'
truth 'killed: lost at once, run again, with their checkpoints' sh -c '[ "$(cat killed-runs/*/stdout | wc -l)" -le 12 ]'

# ---- what is kept of trials, and a limit of epochs ----

cat >curve.sh <<'SH'
#!/bin/sh
for n in 1 2 3; do
    echo $n >"$WINNOW_CHECKPOINT_DIR/n"
    echo "epoch=$n loss=$1"
done
SH
chmod +x curve.sh
curve="--quiet --minimize loss --param x=0..1 --resource epoch=1..3"
run run $curve --name kept --folder kept --trials 2 --checkpoints all -- ./curve.sh '{x}'
run resume kept --quiet --trials 4
is 'a study remembers whose checkpoints it keeps' "$(ls kept/*/checkpoint/n | wc -l)" 4
run resume kept --quiet --trials 5 --checkpoints best
truth 'and can change its mind' [ "$(ls kept/*/checkpoint/n | wc -l)" -lt 5 ]
run run $curve --name much --folder much --total-resource 6 -- ./curve.sh '{x}'
says 'a limit of epochs in all names the way on' stdout 'limit of 6 epochs in all is reached; go on with more: winnow resume much --total-resource 12$'
run resume much --quiet --total-resource 12
is 'which works' "$code" 0
says 'up to the next' stdout '^4 trials .*'

# ---- removing a study that runs; a worker in another folder ----

"$winnow" run --name busy --minimize loss --param x=0..1 --trials 2 --grace 0.2s --quiet -- sh -c 'echo $$ >busy.pid; sleep 30; echo loss=1' >busy.out 2>&1 &
busy=$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -s busy.pid ] && break
    sleep 0.1
done
run rm busy --yes
is 'a study that runs is not removed' "$code" 1
says 'and why' stderr "study 'busy' is running now, 1 trial of it: end its runner first"
kill -s TERM $busy
wait $busy
run rm busy --yes
is 'one that does not is' "$code" 0
mkdir -p elsewhere
(cd elsewhere && "$winnow" worker much --store sqlite:///../r.db >../stdout 2>../stderr)
says 'a worker says what is missing in its folder' stderr "note: .*curve.sh"
says 'and names the store where it is not the usual one' stdout ' --store sqlite:///../r.db$'
finish
