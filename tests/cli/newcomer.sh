#!/bin/sh
# First mistakes: what someone who has read only the README runs into, and whether the program says what to do.
set -u
. "$(dirname "$0")/tap.lib"

unset WINNOW_STUDY WINNOW_STORE
winnow=$(realpath "$winnow")
cd "$out" || exit 1
here=sqlite:///winnow.db

# study FILE COMMAND [METRIC]: writes a study file
study()
{
    printf 'command: %s\nmetric: {name: %s, goal: minimize}\nparameters: {x: {type: float, min: 0, max: 1}}\nworkers: 2\nstop: {trials: 6}\n' \
        "$2" "${3:-loss}" >"$1"
}
# count WHAT FILE: lines that match
count()
{
    grep -Ec -- "$1" "$2"
}

# ---- a study that never worked is started over ----

study cmd.yaml './trainn {x}'
run run cmd.yaml
is 'a program that is not there' "$code" 2
says 'ended by an error, not by a limit' stdout 'ended by: error$'
says 'the next step is a run, not a resume' stdout "in $here; no trial reported: mend the program or the study and start over: winnow run cmd.yaml$"
cat >train.sh <<'EOF'
echo "epoch=1 val_loss=$1"
EOF
study cmd.yaml 'sh train.sh {x}'
run run cmd.yaml
is 'a wrong name of the metric: exit code 1' "$code" 1
says 'the mended file is run, and that is said' stderr "^winnow: starting over: no trial of study 'cmd' had reported anything$"
says 'which names there were' stderr "FAILED: it ended without reporting 'loss': it printed numbers for 'epoch' and 'val_loss'"
is 'the same is told once' "$(count 'FAILED: it ended without' stderr) $(count 'FAILED: same as trial [01]$' stderr)" '1 2'
says 'three such trials are enough' stderr "^winnow: 3 trials ended without a fault, and no trial has reported; the last: it ended without reporting 'loss'"
says 'and what to do if they are not' stdout 'start over: winnow run cmd.yaml \(--give-up N: not before N failures in a row\)$'
run run cmd.yaml --give-up 5 --quiet
says 'who says --give-up gets what was said' stderr '^winnow: 5 trials in a row failed without a report'
run resume cmd --trials 8 --quiet
says 'resuming it: either mend the program, or start over' stdout 'mend the program and go on: winnow resume cmd; or mend the study file and start over: winnow run FILE( \(--give-up N: not before N failures in a row\))?$' # as many as had begun
study cmd.yaml 'sh train.sh {x}' val_loss
run run cmd.yaml --quiet
is 'then it works' "$code" 0
silent 'and --quiet is quiet' stderr
run trials cmd --format csv
is 'all trials are of the last run' "$(sed 1d stdout | cut -d, -f1,2 | tr '\n' ' ')" '0,complete 1,complete 2,complete 3,complete 4,complete 5,complete '
run run cmd.yaml
is 'one that has results is not replaced' "$code" 2
says 'nor called different when it is not' stderr "^winnow: study 'cmd' is in $here already: go on with it as it is: 'winnow resume cmd'"
study cmd.yaml 'sh train.sh {x} --more' val_loss
echo 'seed: 4' >>cmd.yaml
run run cmd.yaml
says 'a file that differs is told where' stderr "\(this one differs from it in: command, seed\)"
run show cmd
says 'and the results are still there' stdout '6 complete'

study nan.yaml 'sh -c "echo loss=nan"'
run run nan.yaml --quiet
run run nan.yaml --quiet
is 'one that reported NaN is kept too: it says something about the program' "$code" 2

# ---- Python's logging ----

printf 'import logging\nlogging.basicConfig(level=logging.INFO)\nfor e in (1, 2):\n    logging.info("epoch=%%d loss=%%g", e, 1 / e)\n' >log.py
run run --name logging --store memory: --minimize loss --param x=0..1 --resource epoch=1..2 --trials 1 -- python3 log.py
says 'its lines are reports, prefix and all' stdout '^best loss: 0.5 at epoch 2, trial 0$'

# ---- endings ----

run resume cmd
is 'nothing is left to do' "$code" 0
says 'the limit is named, with the command that goes on' stdout 'its limit of 6 trials is reached; go on with more: winnow resume cmd --trials 12$'
says 'seconds are of this time, the rest of all times' stdout '^6 trials .*, 6 reports, 0\.[0-9] s this time; ended by: limit$'
run run cmd.yaml --name few --quiet --results 2
says 'a limit of reports too' stdout 'its limit of 2 reports is reached; go on with more: winnow resume few --results 4$'
study grid.yaml 'sh train.sh {x}' val_loss
sed -i 's/^parameters.*/parameters: {x: [1, 2]}/' grid.yaml
echo 'method: grid' >>grid.yaml
run run grid.yaml --quiet
says 'where nothing is left to try, nothing is advised' stdout '; there is nothing left to try$'
run run --name gave --minimize loss --param x=0..1 --give-up 3 --trials 50 -- sh -c 'echo {x} >&2; exit 1'
says 'giving up is no limit' stdout 'ended by: gave up$'
says 'and what to do is said' stdout 'start over: run the same command again$'
is 'failures that differ in numbers are told once' "$(count '^ +[0-9.]+ s .*FAILED: exit code 1$' stderr) $(count 'FAILED: same as trial 0, but for numbers$' stderr)" '1 2'
run run --name two --minimize loss --param x=0..1 --trials 4 -- sh -c 'case $WINNOW_TRIAL in 1) echo other >&2 ;; *) echo usual >&2 ;; esac; exit 1'
is 'failures that differ in words are told each' "$(count '^ +(usual|other)$' stderr) $(count 'FAILED: same as trial 0$' stderr)" '2 2'

# ---- a study that runs ----

"$winnow" run --name busy --minimize loss --param x=0..1 --resource epoch=1..3 --method asha-promotion --trials 2 --workers 2 --grace 0.2s -- \
    sh -c 'touch started; until [ -e go ]; do sleep 0.05; done; for e in 1 2 3; do echo "epoch=$e loss={x}"; done' >busy.out 2>busy.err &
pid=$!
while [ "$("$winnow" trials busy --state running --format csv 2>/dev/null | sed 1d | wc -l)" -lt 2 ]; do sleep 0.1; done
run run --name busy --minimize loss --param x=0..1 -- true
is 'is not begun again' "$code" 2
says 'and it is said that it runs' stderr "^winnow: study 'busy' is running now, 2 trials of it, in $here .*: help it with 'winnow worker busy'"
"$winnow" resume busy >resume.out 2>resume.err &
other=$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    grep -q waiting resume.err && break
    sleep 0.1
done
is 'who resumes it is told what is waited for' "$(cat resume.err)" 'Another process runs this study: waiting for its 2 trials.'
"$winnow" resume busy >again.out 2>again.err &
third=$!
while ! grep -q waiting again.err; do sleep 0.1; done
kill -s INT $third
wait $third
is 'Ctrl-C ends the wait, and does not speak of 0 trials' "$? $(tail -n 1 again.err)" '130 Interrupted.'
touch go
wait $pid
wait $other
is 'then both end' "$?" 0

# ---- no study here ----

mkdir empty
(cd empty && "$winnow" best cmd) >stdout 2>stderr
is 'the wrong folder: exit code 2' $? 2
says 'says what to do' stderr "there is no such file; go to the folder where the study was run, or say where it is with --store or \\\$WINNOW_STORE$"
(cd empty && "$winnow" ls) >stdout 2>stderr
says 'ls too' stderr 'go to the folder where'
run run nothing.yaml
says 'a study file that is not there' stderr "^winnow: cannot open 'nothing.yaml': No such file or directory; 'winnow init nothing.yaml' writes a study file to start from$"
printf 'import sys\nfor x in [1]:\n    print("loss=%%s" %% {1: 2}[x])\n' >train.py
run run train.py
is 'a program for a study file: exit code 2' "$code" 2
says 'says where programs go' stderr "^winnow: 'train.py' is not a study file; to tune a program put it behind --: winnow run --minimize METRIC --param NAME=RANGE -- python3 train.py \{NAME\}"
printf 'name: [\n' >odd.yaml
run run odd.yaml
says 'a mistake in a study file is still told by its place' stderr 'odd.yaml:[0-9]+:[0-9]+: '
run rm cmd --yes
says 'rm says what it leaves' stdout '^what its trials printed and saved is still in winnow-runs/cmd$'
rm -r winnow-runs/nan
run rm nan --yes
is 'and nothing where nothing is left' "$(cat stdout)" "removed 'nan'"

# ---- flags ----

run run --minimize loss --param x=5..1 -- ./a
is 'a flag is blamed, not the program' "$(cat stderr)" "--param: parameter 'x': min 5 is above max 1
1 mistake"
run run --minimize loss --param x=0..1 --resource epoch=9..1 -- ./a
says 'the right one' stderr "^--resource: 'resource.max' 1 is below 'resource.min' 9$"
run run cmd.yaml --workers 0
says 'also with a file' stderr "^--workers: 'workers' must be a whole number"
run run cmd.yaml --set scheduler.eta
says '--set without a value' stderr "^winnow: --set: expected PART.OPTION=VALUE, as in scheduler.eta=4, got 'scheduler.eta'$"
run run cmd.yaml --method asha --set scheduler.etaa=4
says 'a near name of that part' stderr "^--set: scheduler: unknown option 'etaa'; did you mean 'eta'\?$"
says 'and the method is blamed for what is its own' stderr "^--method: method 'asha' stops trials early and needs 'resource'"
run run cmd.yaml --method bohb --set searcher.zzzzzzzz=4
truth 'and the names of that part only' sh -c 'grep -q "searcher: unknown option" stderr && ! grep -q eta stderr'
run run --name set --minimize val_loss --param x=0..1 --trials 1 --quiet --set searcher.nothing=1 -- sh train.sh '{x}'
says '--set without a method' stderr "^--set: searcher: unknown option 'nothing'"

# ---- a narrow terminal ----

cat >screen.py <<'EOF'
import os, pty, sys, struct, fcntl, termios
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], sys.argv[1:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 50, 0, 0))
text = b""
try:
    while chunk := os.read(fd, 65536):
        text += chunk
except OSError:
    pass
sys.stdout.write(text.decode())
EOF
python3 screen.py "$winnow" run --store memory: --minimize loss --param x=0..1 --resource epoch=1..1000 --trials 12 --workers 2 -- \
    sh -c 'echo epoch=1 loss=1; sleep 0.2; [ {trial} = 1 ] && exit 1; echo epoch=777 loss=1' >stdout
says 'the end of a long line is not cut off' stdout '[0-9]+ % done, about [0-9]+ s left'
truth 'no line is longer than the terminal' python3 -c '
import re
for line in open("stdout"):
    if "trials: " in line or "% done" in line:
        assert len(re.sub(r"\x1b\[[0-9]*[A-Z]", "", line).strip("\r\n")) < 50, line'
# ---- a study made of flags is called as the script, not as what runs it ----

mkdir -p tools
echo 'echo loss=0.5' >tools/kv.test.sh
cp tools/kv.test.sh plain
named()
{
    expected=$1
    shift
    run run --quiet --store sqlite:///names.db --trials 1 --minimize loss --param x=0..1 -- "$@"
    is "$* is called $expected" "$code $("$winnow" best "$expected" --store sqlite:///names.db --format csv >best.csv && echo found)" '0 found'
    rm -f names.db*
}
named kv sh tools/kv.test.sh {x}
named kv env A=1 nice -n 1 bash --norc -e tools/kv.test.sh {x}
named plain sh plain {x}
named sh sh -c 'echo loss=1'

# ---- notes of check, also where the study begins ----

study script.yaml 'sh gone.sh {x}'
run check script.yaml
says 'a script that is not there is noted' stdout "^  note: there is no file 'gone.sh' in this folder$"
study script.yaml "sh -u tools/kv.test.sh"
run check script.yaml
is 'one that is there is not' "$(grep -c 'no file' stdout)" 0
run run script.yaml --name unused
says 'run says which parameter the program may never see' stderr '^winnow: note: not in the command: x; the program has to read it from \$WINNOW_PARAMS or config.json$'
run run script.yaml --name unused2 --quiet
silent 'but for --quiet' stderr
printf 'command: sh -c '"'"'echo loss=$(printf "%%s" "$WINNOW_PARAMS" | tr -dc 0-9 | cut -c1-3)'"'"'\nmetric: loss\nparameters: {x: {type: float, min: 0, max: 1}}\nstop: {trials: 1}\n' >asks.yaml
run check asks.yaml
is 'nor where the command fetches them' "$code $(grep -c note: stdout)" '0 0'

finish
