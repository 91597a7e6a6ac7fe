#!/bin/sh
# winnow run with real processes: study files and flags, what is printed, exit codes, interrupts, trouble.
set -u
. "$(dirname "$0")/tap.lib"
case $winnow in /*) ;; *) winnow=$PWD/$winnow ;; esac
cd "$out" || exit 1
export WINNOW_STORE=memory:

cat >curve.sh <<'SH'
#!/bin/sh
# curve.sh X EPOCHS: a learning curve that goes on from its checkpoint
n=$(cat "$WINNOW_CHECKPOINT_DIR/n" 2>/dev/null || echo 0)
while [ "$n" -lt "$2" ]; do
    n=$((n + 1))
    echo $n >"$WINNOW_CHECKPOINT_DIR/n.new" && mv "$WINNOW_CHECKPOINT_DIR/n.new" "$WINNOW_CHECKPOINT_DIR/n"
    echo "ran epoch $n" >>"$WINNOW_TRIAL_DIR/epochs"
    awk -v x="$1" -v n=$n 'BEGIN { print "epoch=" n " loss=" (x - 0.3) ^ 2 + 1 / n }'
done
SH
chmod +x curve.sh
cat >study.yaml <<'YAML'
name: curves
command: ./curve.sh {x} {resource.max}
metric: {name: loss, goal: minimize}
resource: {name: epoch, min: 1, max: 9}
parameters: {x: {type: float, min: 0, max: 1}}
method: asha
workers: 2
stop: {trials: 9}
seed: 3
trial: {grace: 1s}
YAML

# ---- study files ----

run run study.yaml
is 'a study runs' "$code" 0
says 'the best value comes first' stdout '^best loss: 0\.1[0-9]* at epoch 9, trial [0-9]+$'
says 'with its configuration' stdout '^  x +0\.[0-9]+$'
says 'and the number of trials' stdout '^9 trials \(.*COMPLETE [0-9]+.*\), [0-9]+ reports, [0-9.]+ s; ended by: limit$'
says 'the log tells what is best' stderr 's  trial [0-9]+  best so far: loss [0-9.]+ at epoch [0-9]+  x=0\.[0-9]+$'
says 'and how trials end' stderr 'trial [0-9]+  COMPLETE  loss [0-9.]+ at epoch 9$'
is 'each trial has a folder' "$(ls winnow-runs/curves | wc -l)" 9
truth 'with its parameters' grep -Eq '^\{"x": 0\.[0-9]+\}$' winnow-runs/curves/trial-00004/config.json
truth 'what it printed' grep -q '^epoch=1 loss=' winnow-runs/curves/trial-00004/stdout
truth 'and how it ended' grep -q '"reason": "' winnow-runs/curves/trial-00004/outcome.json

run run study.yaml --quiet
silent '--quiet shows no progress' stderr
run run study.yaml --quiet --trials 3 --method rs --name other --folder elsewhere --format json --workers 1 --seed 4
is 'flags change the study' "$(python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["study"], r["trials"], r["reports"], r["states"], r["ended_by"], sorted(r["best"]), r["best"]["resource"])' <stdout)" \
    "other 3 27 {'COMPLETE': 3} limit ['config', 'resource', 'trial', 'value'] 9"
is 'and the folder' "$(ls elsewhere | wc -l)" 3
run run study.yaml --quiet --set scheduler.eta=9 --set scheduler.brackets=1
is 'options of the method can be set' "$code" 0
run run study.yaml --quiet --set scheduler.ete=9
is 'a mistake in them is usage' "$code" 2
says 'and explained' stderr "^--set: scheduler: unknown option 'ete'; did you mean 'eta'\?$"
run run study.yaml --quiet --results 5
says '--results counts reports' stdout ' 5 reports,'
run run study.yaml --quiet --method rs --trials 1000 --time 0.5s
is '--time ends the study' "$code" 0
says 'and cancels what runs' stdout 'CANCELLED'
run run study.yaml --quiet --plot
says '--plot draws' stdout 'best loss so far'
says 'learning curves too' stdout 'learning curves: loss'

# ---- pausing ----

run run study.yaml --method asha-promotion --checkpoints all --folder promotion
is 'promotion runs' "$code" 0
says 'some trials are paused' stdout 'PAUSED [1-9]'
truth 'no epoch is trained twice: they resume from their checkpoints' sh -c '
    for file in promotion/*/epochs; do sort "$file" | uniq -d | grep . && exit 1; done; true'
says 'and some did resume' stderr 'trial [0-9]+  (PAUSED|COMPLETE)  loss [0-9.]+ at epoch [3-9]$'
truth 'no trial failed: one that ran on while it was paused tells of that later' sh -c '! grep FAILED stdout'
run run --minimize loss --param x=0..1 --resource epoch=1..9 --method asha-promotion --trials 9 --workers 2 --folder anew -- \
    sh -c 'for n in 1 2 3 4 5 6 7 8 9; do echo epoch=$n loss=$0$n; sleep 0.01; done' '{x}'
is 'a program without checkpoints begins anew' "$code" 0
is 'which is nothing to warn of' "$(grep -c warning stderr)" 0
is '--checkpoints all keeps them' "$(ls promotion/*/checkpoint/n | wc -l)" 9
run run study.yaml --quiet --folder best
is 'by default the best is kept' "$(ls best/*/checkpoint/n | wc -l)" 1
run run study.yaml --quiet --folder none --checkpoints none
is 'or none' "$(ls none/*/checkpoint/n 2>/dev/null | wc -l)" 0
run run study.yaml --quiet --method rs --name cut --folder cut --trials 100 --time 0.5s --checkpoints none
says 'trials that the limit cut off' stdout 'CANCELLED'
is 'leave none behind' "$(ls cut/*/checkpoint/n 2>/dev/null | wc -l)" 0

# ---- without a file ----

run run --quiet --minimize loss --param x=log:0.001..1 --param n=int:1..4 --param act=relu,tanh --param fast=bool --param b=ord:8,16 \
    --param z=0..1/0.5 --param c=7 --param k=logint:1..1024 --trials 4 -- \
    sh -c 'echo "got $0 $1 $2 $3 $4 $5 $6 $7"; echo loss=1' {x} {n} {act} {fast} {b} {z} {c} {k}
is 'a study made of flags' "$code" 0
truth 'every kind of parameter arrives' grep -Eq '^got 0\.[0-9]+ [1-4] (relu|tanh) (true|false) (8|16) (0|0\.5|1) 7 [0-9]+$' winnow-runs/sh/trial-00002/stdout
run run --maximize acc --quiet --param x=0..1 --resource epoch=1..3 --method asha --trials 4 -- \
    sh -c 'for e in 1 2 3; do echo "{{\"epoch\": $e, \"acc\": $0}}"; done' {x}
is 'maximizing with a resource' "$code" 0
says 'the best is the largest' stdout '^best acc: 0\.[6-9]'
run run --minimize loss --quiet --param x=0..1 --pattern 'result is ([0-9.]+)' --trials 2 -- echo 'the result is {x}'
is 'a pattern finds reports' "$code" 0

# ---- mistakes ----

run run
is 'nothing to run: exit code 2' "$code" 2
says 'and what is expected' stderr 'expected a study file, or --minimize METRIC'
run run missing.yaml
is 'a file that is not there: exit code 2' "$code" 2
run run --minimize loss -- true
says 'nothing to tune' stderr 'nothing to tune: add --param'
run run --minimize loss --param x=0..1
says 'no command' stderr 'the command is missing'
run run --minimize loss --param x -- true
says 'a parameter without a range' stderr "expected NAME=RANGE, got 'x'"
run run --minimize loss --param x=0..1 --param x=0..2 -- true
says 'a parameter twice' stderr "'x' is given twice"
run run --minimize loss --param x=5..1 -- true
is 'a range that is none: exit code 2' "$code" 2
run run --minimize loss --param lr=log:0..1 -- true
says 'a log scale from 0' stderr 'log'
run run --minimize loss --param x=0..1 -- echo '{y}'
says 'an unknown placeholder' stderr 'placeholder \{y\}'
run run study.yaml --param x=0..1
says 'flags that do not go with a file' stderr 'not with a file'
run run study.yaml --workers 0
is 'a flag out of range: exit code 2' "$code" 2

# ---- trouble ----

run run --minimize loss --param x=0..1 --trials 5 -- ./no-such-program
is 'a program that is not there: exit code 2' "$code" 2
says 'and said so' stderr "^winnow: cannot run './no-such-program': No such file or directory$"
run run --minimize loss --param x=0..1 --trials 50 --give-up 3 -- sh -c 'echo no; echo why >&2; exit 7'
is 'one that never works: exit code 1' "$code" 1
says 'it gives up' stderr '^winnow: 3 trials in a row failed without a report; the last: exit code 7$'
says 'the reason is told' stderr 'FAILED: exit code 7$'
says 'with the last lines of its stderr' stderr '^            why$'
run run --minimize loss --param x=0..1 --trials 3 -- sh -c 'echo loss=1; exit 1'
is 'trials that all fail: exit code 1' "$code" 1
run run --minimize loss --param x=0..1 --trials 3 -- sh -c 'echo loss=nan; sleep 10'
says 'NaN fails a trial' stderr 'FAILED: it reported something that is not a finite number'
is 'and all of them the study' "$code" 1
run run --minimize loss --param x=0..1 --trials 2 --retries 2 --quiet -- \
    sh -c 'cd $WINNOW_CHECKPOINT_DIR; echo x >>runs; [ $(wc -l <runs) = 3 ] || exit 1; echo loss=1'
is 'failed trials are run again' "$code" 0
says 'and then complete' stdout 'COMPLETE 2'
run run --minimize loss --param x=0..1 --trials 1 --timeout 0.3s --grace 0.2s -- sh -c 'trap "" TERM; echo loss=1; while :; do sleep 0.05; done'
says 'a trial that takes too long' stderr 'TIMEOUT: it ran longer than 0.3 s'
run run --name hang --minimize loss --param x=0..1 --trials 30 --timeout 0.2s --give-up 2 -- sh -c 'echo loading the data; exec sleep 30'
says 'trials that hang are given up on as well' stderr '^winnow: 2 trials in a row failed without a report; the last: it ran longer than 0.2 s$'
says 'with what they printed last' stderr '^            loading the data$'
run run study.yaml --folder /proc/nothing
is 'a folder that cannot be made: exit code 1' "$code" 1
says 'and said so' stderr "cannot make folder '/proc/nothing'"

# ---- interrupts ----

# interrupted WHAT SIGNALS COMMAND...: starts a study, sends the signals with pauses, leaves its exit code in $code
interrupted()
{
    signals=$1
    shift
    "$winnow" run --minimize loss --param x=0..1 --workers 2 --grace 0.3s "$@" >stdout 2>stderr &
    pid=$!
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do # both trials are there
        sleep 0.1
        [ "$(ls -d marks/* 2>/dev/null | wc -l)" -ge 2 ] && break
    done
    for signal in $signals; do
        kill -s "$signal" $pid
        sleep 0.2
    done
    code=0
    wait $pid || code=$?
    rm -rf marks
}

interrupted INT -- sh -c 'mkdir -p marks/$WINNOW_TRIAL; sleep 1; echo loss=1'
is 'Ctrl-C: exit code 130' "$code" 130
says 'running trials finish' stdout '^2 trials \(COMPLETE 2\)'
says 'and that is said' stderr 'Interrupted: waiting for 2 running trials. Ctrl-C again stops them now.'
interrupted 'INT INT' -- sh -c 'mkdir -p marks/$WINNOW_TRIAL; sleep 60; echo loss=1'
is 'twice: exit code 130' "$code" 130
says 'running trials are stopped' stdout '^2 trials \(PAUSED 2\)'
interrupted TERM -- sh -c 'trap "" TERM; mkdir -p marks/$WINNOW_TRIAL; while :; do sleep 0.05; done'
is 'SIGTERM stops at once' "$code" 130
interrupted INT --on-interrupt stop -- sh -c 'mkdir -p marks/$WINNOW_TRIAL; sleep 60; echo loss=1'
says '--on-interrupt stop does so at the first Ctrl-C' stdout '^2 trials \(PAUSED 2\)'

interrupted KILL -- sh -c 'mkdir -p marks/$WINNOW_TRIAL; echo $$ >>pids; sleep 60; echo loss=1'
is 'a runner that is killed' "$code" 137
gone=no
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    alive=0
    for pid in $(cat pids); do # a zombie that nobody reaps is dead, too
        case $(cut -d' ' -f3 "/proc/$pid/stat" 2>/dev/null) in Z | '') ;; *) alive=1 ;; esac
    done
    if [ $alive = 0 ]; then
        gone=yes
        break
    fi
    sleep 0.1
done
is 'its trials end soon after' "$gone" yes

# ---- a store ----

mkdir usual && cp study.yaml curve.sh usual
(cd usual && WINNOW_STORE= "$winnow" run study.yaml --quiet --trials 3 >stdout 2>stderr)
is 'without a word about it, studies are kept in winnow.db' "$("$winnow" ls --store sqlite:///usual/winnow.db --format csv | sed 1d | cut -d, -f1)" curves
run run study.yaml --quiet --store sqlite:///runs.db --trials 4
is 'a study in a file' "$code" 0
run run study.yaml --quiet --store sqlite:///runs.db --trials 7
is 'is not begun twice' "$code" 2
says 'and how to go on is said' stderr "study 'curves' is in sqlite:///runs.db already \\(this one differs from it in: stop\\): go on with it as it is: 'winnow resume curves', with what has changed: add flags such as --trials and --param, or '--file FILE', remove it: 'winnow rm curves'"
run resume curves --quiet --store sqlite:///runs.db --trials 7
says 'it goes on where it was' stdout '^7 trials '
says 'and says how to go on' stdout '; its limit of 7 trials is reached; go on with more: winnow resume curves --trials 14 --store sqlite:///runs.db$'
run run study.yaml --quiet --store sqlite:///no/such/folder/runs.db
truth 'a store that cannot be opened' [ "$code" != 0 ]

# ---- init ----

run init fresh.yaml
is 'init writes a study file' "$code" 0
says 'and says how to go on' stdout '^  winnow run fresh.yaml$'
run check fresh.yaml
is 'that passes the check' "$code" 0
run init fresh.yaml
is 'one that is there is not overwritten' "$code" 2
says 'and said so' stderr "'fresh.yaml' is there already; --force overwrites it"
run init fresh.yaml --force
is 'unless forced' "$code" 0
run init -
truth 'a dash prints it' cmp stdout fresh.yaml
run init no/such/folder.yaml
is 'a folder that is not there: exit code 1' "$code" 1
finish
