#!/bin/sh
# What a run says about itself where nobody watches: odd reports, trials that get better all the time, lost trials.
set -u
. "$(dirname "$0")/tap.lib"

unset WINNOW_STUDY WINNOW_STORE
winnow=$(realpath "$winnow")
cd "$out" || exit 1

# try NAME TRIALS SCRIPT...: a study of 30 epochs
try()
{
    name=$1
    trials=$2
    shift 2
    run run --name "$name" --minimize loss --param x=0..1 --resource epoch=1..30 --workers 1 --trials "$trials" "$@"
}
count()
{
    grep -Ec -- "$1" "$2"
}

# ---- odd resources ----

try back 1 -- sh -c 'echo epoch=5 loss=.5; echo epoch=3 loss=.4; echo epoch=2 loss=.6; echo epoch=1 loss=.7'
is 'going back is warned of, once' "$(count 'warning: ' stderr) $(count 's  trial 0  warning: it reported epoch 3 after epoch 5: ' stderr)" '1 1'
is 'the best value has its own resource' "$(grep -o 'best so far: .*' stderr | tail -n 1 | cut -d' ' -f4-8 | sed 's/ *$//')" 'loss 0.4 at epoch 3'
says 'also in the end' stdout '^best loss: 0.4 at epoch 3, trial 0$'
run trials back --format csv
is 'the last value is the one at the largest' "$(sed 1d stdout | cut -d, -f3-7)" '0.5,5,0.4,3,4'
try beyond 1 -- sh -c 'for e in 1 2 40 41 42; do echo epoch=$e loss=.5; done'
says 'beyond the largest: a warning' stderr 's  trial 0  warning: it reported epoch 40, beyond the largest, 30: the trial is complete$'
run trials beyond --format csv
is 'the trial is complete' "$(sed 1d stdout | cut -d, -f2-4,7)" 'complete,0.5,40,3'
says 'its folder counts as the study does' winnow-runs/beyond/trial-00000/outcome.json '"reports": 3, "reports_unheard": 2,'
try usual 1 -- sh -c 'for e in 1 2 2 30; do echo epoch=$e loss=.5; done'
is 'nothing is said of usual ones' "$(count warning stderr)" 0

# ---- a trial that gets better all the time ----

try better 2 -- sh -c 'e=0; while [ $((e += 1)) -le 30 ]; do echo "epoch=$e loss=0.$((90 - e))"; sleep 0.02; done'
is 'is told of at its first value and its last' "$(grep -Eo 'trial 0  best so far: loss [0-9.]+ at epoch [0-9]+' stderr | sed 's/.*loss //' | sed -n '1p;$p' | tr '\n' '|')" \
    "$(grep -Eo 'best so far: loss [0-9.]+ at epoch [0-9]+' stderr | head -n 1 | sed 's/.*loss //')|0.6 at epoch 30|"
truth 'and not every time' test "$(count 'best so far' stderr)" -le 6
is 'its configuration is told once' "$(count 'trial 0 .* x=0' stderr)" 1

# ---- limits ----

run resume better --trials 1
is 'a limit below what there is: exit code 2' "$code" 2
is 'says so' "$(cat stderr)" "winnow: a limit of 1 trial is below the 2 there are: the limit counts all trials of study 'better'"
run resume better
says 'and is not stored' stdout 'its limit of 2 trials is reached'
try one 1 --results 1 -- sh -c 'echo epoch=30 loss=1'
says 'one report, one trial' stdout '^1 trial \(COMPLETE 1\), 1 report, '
says 'a limit of one' stdout 'its limit of 1 trial is reached; '

# ---- a runner that was killed ----

# killed NAME RETRIES: two trials lose their runner
killed()
{
    rm -f go
    "$winnow" run --name "$1" --minimize loss --param x=0..1 --workers 2 --trials 2 --retries "$2" --grace 0.2s -- sh -c '[ -e go ] || sleep 30; echo loss=1' >killed.out 2>&1 &
    pid=$!
    while [ "$("$winnow" trials "$1" --state running --format csv 2>/dev/null | sed 1d | wc -l)" -lt 2 ]; do sleep 0.1; done
    kill -9 $pid
    wait $pid 2>/dev/null
    touch go
    run resume "$1"
}
killed once 1
says 'says how many trials were lost, and what becomes of them' stderr '^2 trials were lost when their runner ended without a word: they are run again\.$'
says 'which is true' stdout 'COMPLETE 2\)'
killed never 0
says 'or that nothing does' stderr '^2 trials were lost when their runner ended without a word: they are not run again \(trial\.retries\)\.$'

# ---- Ctrl-C on a terminal ----

cat >screen.py <<'EOF'
import os, pty, signal, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], sys.argv[1:])
text, sent = b"", False
try:
    while chunk := os.read(fd, 65536):
        text += chunk
        if not sent and b" s left" in text:
            os.kill(pid, signal.SIGINT)
            sent = True
except OSError:
    pass
before, _, after = text.decode().partition("Interrupted: waiting for 1 running trial.")
print(sent, "% done" in after, " left" in after)
EOF
is 'no time is promised any more' "$(python3 screen.py "$winnow" run --store memory: --minimize loss --param x=0..1 --trials 4 --workers 1 -- sh -c 'sleep 1; echo loss=1')" 'True True False'
finish
