#!/bin/sh
# winnow ls, show, trials, best, export, replay, rm: looking at studies in a real store, in every format.
set -u
. "$(dirname "$0")/tap.lib"
json() { python3 -c "import json, sys; d = json.load(sys.stdin); print($1)" <"$out/stdout"; }

unset WINNOW_STORE WINNOW_STUDY
store=sqlite:///$out/s.db
run ls --store "$store"
is 'a store that is not there: exit code 2' "$code" 2
says 'and says so' stderr 's\.db.*there is no such file'

cat >"$out/mlp.yaml" <<'YAML'
name: mlp
command: ./train --lr {lr}
metric: {name: loss, goal: minimize}
resource: {name: epoch, min: 1, max: 9}
parameters:
  lr:    {type: float, min: 1.0e-5, max: 0.1, scale: log}
  act:   {type: categorical, values: [relu, tanh]}
  state: {type: int, min: 1, max: 1000}
method: asha
stop: {trials: 5}
seed: 3
YAML
sed -e 's/^name: mlp/name: acc/' -e 's/minimize/maximize/' -e '/^resource/d' -e 's/asha/rs/' -e '/^stop/d' "$out/mlp.yaml" >"$out/acc.yaml"

run ask --file "$out/mlp.yaml" --store "$store"
is 'ask creates the study of a file' "$code" 0
run show --store "$store"
is 'the only study is meant without a name' "$(head -n 1 "$out/stdout")" 'study        mlp'
says 'a study without a value says so' stdout '^best         no finite value yet$'
run best --store "$store"
is 'best without a value: exit code 1' "$code" 1
says 'and says why' stderr "study 'mlp' has no finite value yet"
run best --store "$store" --format json
is 'as a listing it is empty' "$(json 'd')" '[]'
run export --store "$store" --reports --format json
is 'an export without reports is whole' "$(json 'd["trials"][0]["reports"], d["setup"]["metric"]')" '[] loss'

export WINNOW_STORE="$store"
run report 0 0.5
run report 0 0.25 --resource 3
run tell 0
run ask
run report 1 nan
is 'nan: stop' "$(cat "$out/stdout") $code" 'stop 3'
run tell 1
run ask
run report 2 0.125
run ask --file "$out/acc.yaml"
for i in 0 1; do
    run report $i 0.$((i + 1)) --study acc
    run tell $i --study acc
    run ask --study acc
done

run show
is 'two studies and no name: exit code 2' "$code" 2
says 'both are named' stderr "which study of $store\\? There are 'mlp' and 'acc': say --study NAME"
run show mlq
says 'did you mean' stderr "no study 'mlq' in $store; did you mean 'mlp'\\?"
run show something --store "$store"
says 'or which there are' stderr "no study 'something' in $store; there are 'mlp' and 'acc'"
run show mlp --study acc
says 'a study is named once' stderr "give the study once"
WINNOW_STUDY=acc run show
is 'WINNOW_STUDY is the default' "$(head -n 1 "$out/stdout")" 'study        acc'

run ls
says 'ls: a row' stdout '^mlp +asha +3 +1 running, 1 complete, 1 failed +0\.125 +2 +20[0-9-]+T[0-9:]+Z$'
says 'the best of a maximised study' stdout '^acc +rs +3 +1 running, 2 complete +0\.2 +1 '
run ls --format json
is 'ls as JSON' "$(json '[(r["name"], r["trials"], r["running"], r["failed"], r["best"], r["goal"]) for r in d]')" \
    "[('mlp', 3, 1, 1, 0.125, 'minimize'), ('acc', 3, 1, 0, 0.2, 'maximize')]"
run ls --format csv
is 'ls as CSV' "$(cut -d, -f1-5 "$out/stdout" | tail -n 2 | tr '\n' ' ')" 'mlp,asha,loss,minimize,3 acc,rs,loss,maximize,3 '

run show mlp
says 'show: the method' stdout '^method       asha \(random under asha\)$'
says 'show: the resource' stdout '^resource     epoch 1\.\.9$'
says 'show: the budget' stdout '^budget       trials 3 of 5, reports 4, epoch 5, time [0-9.]+ s$'
says 'show: the best' stdout '^best         0\.125 at epoch 1, trial 2$'
run show mlp --format json
is 'show as JSON' "$(json 'd["best"]["trial"], d["states"]["failed"], d["budget"]["trials"], sorted(d["best"]["config"])')" \
    "2 1 {'used': 3, 'limit': 5} ['act', 'lr', 'state']"
run show acc
says 'a study without a resource shows none' stdout '^budget       trials 3, reports 2, time'

run trials mlp
is 'trials: a header and a row each' "$(wc -l <"$out/stdout")" 4
says 'a parameter called like a column' stdout '^trial .* lr +act +param\.state$'
says 'a failed trial has no value' stdout '^ +1  failed +1 +1 +1 '
run trials mlp --format json
is 'trials as JSON' "$(json '[(t["trial"], t["state"], t["value"], t["best"], t["resource"], type(t["config"]["state"]).__name__) for t in d]')" \
    "[(0, 'complete', 0.25, 0.25, 3, 'int'), (1, 'failed', None, None, 1, 'int'), (2, 'running', 0.125, 0.125, 1, 'int')]"
run trials mlp --state failed --format csv
is 'only one state' "$(cut -d, -f1,2 "$out/stdout" | tr '\n' ' ')" 'trial,state 1,failed '
run trials mlp --from 1 --limit 1 --format csv
is 'a part' "$(sed 1d "$out/stdout" | cut -d, -f1)" 1
run trials mlp --state lots
says 'states are known' stderr '^winnow: --state: expected one of running'

run best acc
says 'best of a maximised study' stdout '^best loss: 0\.2, trial 1 \(complete\)$'
run best mlp --top 5 --format csv
is 'the best ones in order' "$(sed 1d "$out/stdout" | cut -d, -f1,5 | tr '\n' ' ')" '2,0.125 0,0.25 '
run best mlp --format flags
says 'as flags' stdout '^--lr [0-9.e-]+ --act (relu|tanh) --state [0-9]+$'
run best mlp --format env
says 'as variables' stdout '^param_lr=[0-9.e-]+$'

run export mlp
cp "$out/stdout" "$out/export.csv"
run trials mlp --format csv
truth 'an export is the list of trials' cmp "$out/export.csv" "$out/stdout"
run export mlp --reports
is 'reports' "$(cut -d, -f1-3 "$out/stdout" | tr '\n' ' ')" 'trial,resource,value 0,1,0.5 0,3,0.25 1,1,nan 2,1,0.125 '
run export acc --format jsonl --reports
is 'JSON lines' "$(python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
print([(r["trial"], [(x["resource"], x["value"]) for x in r["reports"]]) for r in rows])' <"$out/stdout")" \
    '[(0, [(1, 0.1)]), (1, [(1, 0.2)]), (2, [])]'
run export mlp --format json --reports
is 'one document' "$(json 'd["study"], [len(t["reports"]) for t in d["trials"]], d["trials"][1]["reports"][0]["value"]')" 'mlp [2, 1, 1] None'

run replay mlp
is 'replay: the same again' "$code $(cat "$out/stdout")" "0 study 'mlp': 3 proposals, bit-identical"
# Another seed in the stored setup is what a changed searcher looks like.
python3 - "$out/s.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("DROP TRIGGER setups_stay")
db.execute("""UPDATE setups SET setup = replace(setup, '"seed": "3"', '"seed": "4"') WHERE study = (SELECT id FROM studies WHERE name = 'mlp')""")
db.commit()
PY
run replay mlp
is 'a difference: exit code 1' "$code" 1
says 'where it begins' stdout "^study 'mlp' differs at trial 0, after 0 proposals that are the same$"
says 'and what differs' stdout '^  lr +logged [0-9.e-]+, proposed now [0-9.e-]+$'
run replay mlp --format json
is 'a difference as JSON' "$(json 'd["identical"], d["trial"], d["logged"] != d["proposed"]')" 'False 0 True'

for verb in show trials best export replay; do
    run "$verb" acc --format nonsense
    is "$verb: a format that is not there" "$code" 2
done

run rm acc
is 'rm wants the name typed: exit code 1' "$code" 1
says 'and says that nothing happened' stderr 'nothing was removed'
code=0
echo acc | "$winnow" rm acc >"$out/stdout" 2>"$out/stderr" || code=$?
is 'typed, it goes' "$code $(cat "$out/stdout")" "0 removed 'acc'"
run rm acc --yes
is 'and is gone: exit code 2' "$code" 2
run ls --format json
is 'the other one stays' "$(json '[r["name"] for r in d]')" "['mlp']"
run ls --store nothere.db
is 'a file for an address: exit code 2' "$code" 2
says 'says which it may stand for' stderr "^winnow: --store: expected SCHEME:ADDRESS, got 'nothere.db'; did you mean sqlite:///nothere.db\\?$"
run ls --store memory
says 'the one that has no file too' stderr 'did you mean memory:\?$'
finish
