#!/bin/sh
# winnow ask, report, tell, cancel: a study driven by a shell script.
set -u
. "$(dirname "$0")/tap.lib"

unset WINNOW_STUDY
export WINNOW_STORE="sqlite:///$out/d.db"
cat >"$out/study.yaml" <<'YAML'
name: drive
command: ./train {x}
metric: {name: loss, goal: minimize}
resource: {name: epoch, min: 1, max: 4}
parameters:
  x: {type: float, min: 0, max: 1}
  word: {type: categorical, values: ["it's", "two words", "$HOME"]}
method: asha-promotion
stop: {trials: 4}
trial: {retries: 1}
YAML
sed -e 's/asha-promotion/asha/' -e 's/^name: drive/name: stop/' "$out/study.yaml" >"$out/stop.yaml"

run ask
is 'no store yet: exit code 2' "$code" 2
run ask --file "$out/nowhere.yaml"
is 'no such file: exit code 2' "$code" 2
says 'is told' stderr "cannot open '.*nowhere.yaml'"
run ask --file "$out/study.yaml" --format env
is 'ask: exit code 0' "$code" 0
(
    eval "$(cat "$out/stdout")"
    printf '%s|%s|%s|%s\n' "$WINNOW_TRIAL" "$WINNOW_ATTEMPT" "$WINNOW_RESOURCE_MAX" "$param_word" >"$out/env"
    printf '%s' "$WINNOW_PARAMS" | python3 -c 'import json, sys; print(json.load(sys.stdin)["word"])' >"$out/word"
)
is 'the shell gets what was meant' "$(cat "$out/env")" "0|1|4|$(cat "$out/word")"
run ask --format flags
truth 'flags are words of the shell' sh -c 'read -r trial flags <"$1"; eval "set -- $flags"; [ "$trial" = 1 ] && [ $# = 4 ] && [ "$1" = --x ] && [ "$3" = --word ]' sh "$out/stdout"

run report 0 0.5
is 'a promotion method pauses at a rung' "$(cat "$out/stdout") $code" 'pause 4'
run tell 0
is 'told, it is paused' "$(cat "$out/stdout")" paused
run report 1 -0.25 --resource 1
is 'a negative value is a value' "$(cat "$out/stdout")" pause
run tell 1 --state failed --why 'no luck'
is 'a failure is recorded' "$(cat "$out/stdout")" failed
run ask
is 'it is tried again' "$(python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["trial"], d["attempt"], d["resumed_from"])' <"$out/stdout")" '1 2 1'
run report 7 1
is 'no such trial: exit code 2' "$code" 2
says 'is told' stderr 'trial 7: there is no such trial'
run report 0 1
is 'a paused trial reports nothing: exit code 1' "$code" 1
says 'is told too' stderr 'trial 0 is PAUSED: it cannot report'
run report 1 much
is 'a value is a number' "$code" 2
run report one 1
says 'a trial too' stderr "expected the number of a trial, got 'one'"
run report 1 1 --resource 0
is 'a resource is above 0' "$code" 2

run cancel 0 1 9
is 'cancel: those it can' "$(cat "$out/stdout" | tr '\n' ' ')$code" 'trial 0: cancelled trial 1: cancelled 2'
says 'and the one it cannot' stderr 'trial 9: there is no such trial'
run cancel 0
is 'once is enough: exit code 1' "$code" 1
says 'and said' stderr 'trial 0 is CANCELLED already'
run tell 0 0.5
is 'a cancelled trial is over' "$code" 1

run ask
run ask
run ask
is 'all trials are out: wait, exit code 3' "$code" 3
says 'says why' stderr 'nothing to start before a running trial'
run ask --wait 100ms
is 'a time is a time' "$code" 2
run ask --wait 0.2s
is 'waiting ends' "$code" 3
run tell 2 0.25 --resource 4
run tell 3 0.5
is 'a last value belongs to the largest resource' "$(cat "$out/stdout")" complete
run ask
is 'the study is complete: exit code 4' "$code" 4
says 'says so' stderr 'the study has all the trials it should have'
run export --reports
is 'what was recorded' "$(sed 1d "$out/stdout" | cut -d, -f1-3 | tr '\n' ' ')" '0,1,0.5 1,1,-0.25 2,4,0.25 3,4,0.5 '

run ask --file "$out/stop.yaml"
run report 0 0.1 --study stop
is 'the first one goes on' "$(cat "$out/stdout") $code" 'continue 0'
run ask --study stop
run report 1 0.9 --study stop
is 'a worse one is stopped' "$(cat "$out/stdout") $code" 'stop 3'
run tell 1 --study stop
is 'and recorded as stopped' "$(cat "$out/stdout")" stopped
run report 0 0.05 --study stop
run export stop --reports
is 'the resource goes up by one' "$(sed 1d "$out/stdout" | cut -d, -f1,2 | tr '\n' ' ')" '0,1 0,2 1,1 '
sed 's/max: 1}/max: 2}/' "$out/stop.yaml" >"$out/other.yaml"
run ask --file "$out/other.yaml"
is 'another space under the same name: exit code 2' "$code" 2
says 'what differs' stderr 'x'
run ask --lease 10s --study stop
says 'a lease is for a new study' stderr '--lease goes with --file'

sed -e 's/{trials: 4}/{results: 2}/' -e 's/^name: drive/name: budget/' "$out/study.yaml" >"$out/budget.yaml"
run ask --file "$out/budget.yaml"
run ask --study budget
run report 0 1 --study budget
run report 1 2 --study budget
run ask --study budget
is 'the budget of reports is used up: exit code 4' "$code" 4
says 'says so' stderr 'the study has used up its budget'

# The script of the manual, as it stands there.
cat >"$out/study.yaml" <<'YAML'
name: manual
command: ./one-epoch {lr} {units}
metric: {name: loss, goal: minimize}
resource: {name: epoch, min: 1, max: 4}
parameters: {lr: {type: float, min: 0.001, max: 1, scale: log}, units: {type: int, min: 1, max: 9}}
method: asha
stop: {trials: 3}
YAML
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' docs/manual/studies.md >"$out/script.sh"
truth 'the manual has a script' test -s "$out/script.sh"
printf '#!/bin/sh\necho 0.$4\n' >"$out/one-epoch"
chmod +x "$out/one-epoch"
ln -s "$(realpath "$winnow")" "$out/winnow"
(cd "$out" && unset WINNOW_STORE && PATH=$out:$PATH sh script.sh >"$out/script.out" 2>&1)
run show manual --store "sqlite:///$out/winnow.db"
says 'it runs until the study is complete' stdout '^trials       3: [0-9a-z, ]*complete'
says 'as far as the study lets it' stdout '^budget       trials 3 of 3, reports ([4-9]|1[0-2]), epoch'
finish
