#!/bin/sh
# winnow resume changes a study: wider ranges, more categories, other limits; what is stored, told, adopted and refused.
set -u
. "$(dirname "$0")/tap.lib"

unset WINNOW_STUDY
winnow=$(realpath "$winnow")
cd "$out" || exit 1
export WINNOW_STORE="sqlite:///$out/w.db"
cat >train.sh <<'SH'
#!/bin/sh
echo "loss=$1"
SH
chmod +x train.sh
cat >study.yaml <<'YAML'
command: ./train.sh {x}
metric: {name: loss, goal: minimize}
parameters:
  x: {type: float, min: 0, max: 1}
  act: [relu, tanh]
  batch: {type: ordinal, values: [16, 32]}
stop: {trials: 6}
YAML
run run study.yaml --seed 4 --method cqr --quiet
is 'run: exit code 0' "$code" 0

# outside: how many trials have an x that the first range does not have
outside()
{
    "$winnow" trials study --format json | python3 -c 'import json, sys; print(sum(not 0 <= t["config"]["x"] <= 1 for t in json.load(sys.stdin)))'
}

# ---- limits are kept ----

run resume study --trials 8 --workers 2
says 'resume tells what it changes' stderr '^  stop.trials +6 -> 8$'
says 'workers too' stderr '^  workers +none -> 2$'
says 'and goes on' stdout '^8 trials'
run resume study --quiet
says 'without flags it stays so' stdout '^8 trials'
run show study
says 'show knows the limit' stdout '^budget +trials 8 of 8'
says 'and when it was changed' stdout '^changed +20[0-9T:-]*Z, from event [0-9]+ on$'
is 'once: what stays is no change' "$(grep -c '^changed' stdout)" 1

# ---- wider ----

sed -e 's/min: 0, max: 1/min: -50, max: 100/' -e 's/relu, tanh/gelu, relu, tanh/' -e 's/16, 32/16, 32, 64/' -e 's/trials: 6/trials: 20/' study.yaml >wider.yaml
is 'nothing lies outside before' "$(outside)" 0
run resume study --file wider.yaml
is 'a wider file: exit code 0' "$code" 0
says 'a range' stderr '^  x +float 0..1, linear -> float -50..100, linear$'
says 'a category' stderr '^  act +and gelu$'
says 'an ordinal value' stderr '^  batch +and 64$'
says 'method and seed are not in the file, and stay' stdout '^20 trials'
truth 'the wider range is searched' [ "$(outside)" -ge 5 ]
run replay study
says 'replay: every proposal under the setup it was made in' stdout "^study 'study': 20 proposals, bit-identical$"
run best study --format flags
truth 'what was learned counts: the best is far below' sh -c 'grep -q -- "^--x -[0-9]" stdout'
run show study
says 'categories keep their order' stdout '^  act +one of relu, tanh, gelu$'
is 'show tells both changes' "$(grep -c '^changed' stdout)" 2
run show study --format json
is 'as JSON with all setups' "$(python3 -c 'import json, sys; d = json.load(sys.stdin); print(len(d["setups"]), d["setups"][0]["event"], d["setups"][0]["setup"]["parameters"]["x"]["max"], d["setup"]["parameters"]["x"]["max"])' <stdout)" '3 0 1 100'

run resume study --param x=-60..100 --no-run
is '--no-run: exit code 0' "$code" 0
is 'prints what changed' "$(cat stdout)" 'x                float -50..100, linear -> float -60..100, linear'
run resume study --param x=-60..100 --no-run
is 'and what did not' "$(cat stdout)" 'nothing changes'
run trials study --format csv
is 'and runs nothing' "$(sed 1d stdout | wc -l)" 20
run resume study --trials 21 --no-run
run ask --study study
is 'a script that asks gets one more trial' "$code" 0
run replay study
is 'replay again' "$code" 0

# ---- refused ----

# refused WHAT PATTERN FLAGS...: exit code 2, a line that says why, and nothing has changed
refused()
{
    what=$1 pattern=$2
    shift 2
    before=$("$winnow" show study --format json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["setups"]))')
    run resume study --quiet "$@"
    is "$what: exit code 2" "$code" 2
    says "$what: why" stderr "$pattern"
    is "$what: nothing has changed" "$("$winnow" show study --format json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["setups"]))')" "$before"
}

refused 'a narrower range' "parameter 'x': the range can only grow: 0..1 does not contain -60..100" --param x=0..1
refused 'another scale' "parameter 'x': .*" --param x=log:1..100
refused 'another type' "parameter 'x': was float and cannot become int" --param x=int:-60..100
refused 'a missing category' "parameter 'act': value 'tanh' is missing" --param act=relu,gelu
refused 'an ordinal value in front' "parameter 'batch': values of an ordinal can only be added at the end" --param batch=ord:8,16,32,64
refused 'one more parameter' "parameter 'y': the study has none of that name.*winnow import" --param y=0..1
sed '/act:/d' wider.yaml >less.yaml
refused 'one less' "parameter 'act': is missing.*winnow import" --file less.yaml
sed -e 's/min: -50/min: -60/' -e 's/goal: minimize/goal: maximize/' wider.yaml >other.yaml
refused 'another goal' "created with goal 'minimize', not 'maximize'; this stays as it is" --file other.yaml
sed -e 's/min: -50/min: -60/' -e 's/name: loss/name: acc/' wider.yaml >other.yaml
refused 'another metric' "created with metric 'loss', not 'acc'" --file other.yaml
(sed 's/min: -50/min: -60/' wider.yaml && echo 'method: rs') >other.yaml
refused 'another method' "created with searcher 'cqr', not 'random'" --file other.yaml
(sed 's/min: -50/min: -60/' wider.yaml && echo 'seed: 5') >other.yaml
refused 'another seed' "created with seed 4, not 5" --file other.yaml
refused 'a file that is not there' "nowhere.yaml" --file nowhere.yaml
refused 'a mistake in a flag' "expected NAME=RANGE" --param x

# ---- while others run ----

cat >slow.sh <<'SH'
#!/bin/sh
sleep 0.05
echo "loss=$1"
SH
chmod +x slow.sh
run run --name shared --minimize loss --param x=0..1 --trials 1 --seed 2 --quiet -- ./slow.sh '{x}'
"$winnow" worker shared --trials 60 >worker.out 2>worker.err &
worker=$!
"$winnow" resume shared --trials 1000 >resumed.out 2>resumed.err &
resumed=$!
sleep 0.7
run resume shared --param x=-100..100 --trials 40 --no-run
is 'a study that others run can be changed' "$code" 0
wait $worker
is 'a worker goes on' "$?" 0
wait $resumed
is 'and so does whoever resumed it' "$?" 0
truth 'the worker says so' grep -q '^Changed from elsewhere, and adopted here:$' worker.err
truth 'and what it is' grep -q '^  x  *float 0..1, linear -> float -100..100, linear$' worker.err
truth 'the other adopts the limit, too' grep -q '^  stop.trials  *1000 -> 40$' resumed.err
run trials shared --format csv
truth 'the worker has its own limit' [ "$(sed 1d stdout | wc -l)" = 60 ]
truth 'and searches the wider range' sh -c '"$0" trials shared --format csv | cut -d, -f11 | grep -q "^-\{0,1\}[1-9]"' "$winnow"
run replay shared
is 'every proposal can be made again' "$code" 0

# ---- killed ----

run run --name killed --minimize loss --param x=0..1 --trials 1 --quiet -- ./slow.sh '{x}'
"$winnow" resume killed --param x=0..9 --trials 30 --quiet >/dev/null 2>&1 &
pid=$!
sleep 0.4
kill -9 $pid
wait $pid 2>/dev/null
run resume killed --quiet
says 'kill -9: the change is kept, or was never made' stdout '^30 trials'
run replay killed
is 'and the log is whole' "$code" 0

finish
