#!/bin/sh
# winnow import: CSV files, and SQLite files with Optuna's schema.
set -u
. "$(dirname "$0")/tap.lib"

unset WINNOW_STUDY
export WINNOW_STORE="sqlite:///$out/i.db"
cat >"$out/old.csv" <<'CSV'
lr,units,act,fast,loss,note
0.001,16,relu,true,0.5,first
0.01,32,tanh,false,0.25,"with ""quotes"", and a comma"
0.1,64,"a,b",true,nan,
1e-05,128,relu,false,,none
CSV
run import "$out/nowhere.csv" --study a --minimize loss
is 'no such file: exit code 2' "$code" 2
run import "$out/old.csv" --minimize loss
says 'a study needs a name' stderr 'into which study\? Say --study NAME'
run import "$out/old.csv" --study a
says 'a new one needs a goal' stderr 'needs --minimize COLUMN or --maximize COLUMN'
run import "$out/old.csv" --study a --minimize los
says 'columns are named' stderr "has no column 'los' .* it has 'lr', 'units', 'act', 'fast', 'loss', 'note'"
run ls
is 'nothing was made' "$code" 2
run import "$out/old.csv" --study a --minimize loss --ignore note
is 'a new study' "$code $(cat "$out/stdout")" "0 4 trials imported into 'a'"
says 'says what it took for what: a log scale' stderr '^  lr +float 1e-05\.\.0\.1, log$'
says 'whole numbers' stderr '^  units +int 16\.\.128, linear$'
says 'words' stderr '^  act +one of relu, tanh, a,b$'
says 'true and false' stderr '^  fast +one of false, true$'
run trials a --format csv
is 'the trials' "$(sed 1d "$out/stdout" | cut -d, -f1-3,7,11- | tr '\n' ' ')" \
    '0,complete,0.5,1,0.001,16,relu,true, 1,complete,0.25,1,0.01,32,tanh,false, 2,failed,,0,0.1,64,"a,b",true,imported 3,failed,,0,1e-05,128,relu,false,imported '
cp "$out/stdout" "$out/export.csv"
run replay a
says 'nothing of it is a proposal' stdout "^study 'a': 0 proposals, bit-identical; 4 given by the user$"
run import "$out/old.csv" --study a --value loss
is 'once more, into the study that is there: all known' "$(cat "$out/stdout")" \
    "0 trials imported into 'a'; 4 left out, there already with the same value (--again imports them)"
says 'a column that is not used is named' stderr "column 'note' is not used"
run import "$out/old.csv" --study a --maximize loss --again --ignore note --method cqr
is 'or imported again' "$(cat "$out/stdout")" "4 trials imported into 'a'"
says 'flags that do nothing are named' stderr '^winnow: no effect on a study that is there already: --ignore, --method$'
says 'another goal too' stderr '^winnow: the study that is there already still minimizes: --maximize only names the column$'
sed 's/,0.25,"/,0.125,"/' "$out/old.csv" >"$out/newer.csv"
run import "$out/newer.csv" --study c --minimize loss --ignore note
run import "$out/old.csv" --study c --value loss
is 'a known configuration with another value is another trial' "$(cat "$out/stdout")" \
    "1 trial imported into 'c'; 3 left out, there already with the same value (--again imports them)"
printf 'lr,loss\n0.1,1\n0.2,1\nO.3,1\n0.4,2\n' >"$out/slip.csv"
run import "$out/slip.csv" --study slip --minimize loss
says 'a slip among numbers is pointed at' stderr "^winnow: .*slip.csv:4: column 'lr': 'O.3' is no number, so its values are taken for words$"
run ask --study a
run replay a
says 'the study goes on' stdout '1 proposal, bit-identical; 8 given'
sed 's/,32,tanh/,99999,tanh/' "$out/export.csv" >"$out/outside.csv"
run import "$out/outside.csv" --study a
is 'outside the space: exit code 2' "$code" 2
says 'with its line' stderr "outside.csv:3: parameter 'units': 99999 is outside 16\\.\\.128"
run import "$out/outside.csv" --study a --skip
is 'or left out' "$(cat "$out/stdout")" "0 trials imported into 'a'; 3 left out, there already with the same value (--again imports them)"
says 'and counted' stderr '1 trials outside the space are left out'
sed 's/complete/finished/' "$out/export.csv" >"$out/state.csv"
run import "$out/state.csv" --study a
says 'an unknown state, with its line' stderr "state.csv:2: .* not 'finished'"
run import "$out/export.csv" --study b --maximize value --method cqr
run export b
truth 'export and import give the same trials' sh -c 'cut -d, -f1-3,11- "$1" >"$1.cut"; cut -d, -f1-3,11- "$2" | cmp - "$1.cut"' sh "$out/export.csv" "$out/stdout"
run best b
says 'and another goal another best' stdout '^best value: 0\.5, trial 0'

printf 'lr,loss,epoch\n0.01,0.5,3\n0.02,0.25,9\n' >"$out/epochs.csv"
cat >"$out/study.yaml" <<'YAML'
name: file
command: ./train {lr}
metric: {name: loss, goal: minimize}
resource: {name: epoch, min: 1, max: 9}
parameters: {lr: {type: float, min: 0.001, max: 1, scale: log}, fixed: 7}
method: asha
YAML
run import "$out/epochs.csv" --file "$out/study.yaml" --resource epoch
is 'a study from a file' "$(cat "$out/stdout")" "2 trials imported into 'file'"
run export file --reports
is 'with the resource of each value' "$(sed 1d "$out/stdout" | cut -d, -f1-3 | tr '\n' ' ')" '0,3,0.5 1,9,0.25 '

awk 'BEGIN { print "x,loss"; for (i = 0; i < 300; i++) print i "," i * 7 % 300 }' >"$out/many.csv"
run import "$out/many.csv" --study many --minimize loss
run trials many --format json
is 'a listing longer than a block is one document' "$(python3 -c '
import json, sys
rows = json.load(sys.stdin)
print(len(rows), all(r["trial"] == r["config"]["x"] == i for i, r in enumerate(rows)))' <"$out/stdout")" '300 True'
run trials many --format csv
is 'and one table' "$(wc -l <"$out/stdout") $(grep -c trial "$out/stdout")" '301 1'
run trials many
is 'aligned throughout' "$(awk '{ print length }' "$out/stdout" | sort -u | wc -l)" 1
truth 'somebody who reads three lines does not hear of it' sh -c '"$1" trials many 2>"$2" | head -n 3 >/dev/null; [ ! -s "$2" ]' sh "$winnow" "$out/stderr"
run best many --top 3 --format csv
is 'the best three of many' "$(sed 1d "$out/stdout" | cut -d, -f1,3 | tr '\n' ' ')" '0,0 43,1 86,2 '

python3 - "$out/optuna.db" <<'PY'
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript("""
CREATE TABLE studies (study_id INTEGER PRIMARY KEY, study_name VARCHAR(512) NOT NULL);
CREATE TABLE study_directions (study_direction_id INTEGER PRIMARY KEY, direction VARCHAR(8) NOT NULL, study_id INTEGER NOT NULL, objective INTEGER NOT NULL);
CREATE TABLE trials (trial_id INTEGER PRIMARY KEY, number INTEGER, study_id INTEGER, state VARCHAR(8) NOT NULL, datetime_start DATETIME, datetime_complete DATETIME);
CREATE TABLE trial_params (param_id INTEGER PRIMARY KEY, trial_id INTEGER, param_name VARCHAR(512), param_value FLOAT, distribution_json TEXT);
CREATE TABLE trial_values (trial_value_id INTEGER PRIMARY KEY, trial_id INTEGER NOT NULL, objective INTEGER NOT NULL, value FLOAT, value_type VARCHAR(7) NOT NULL);
CREATE TABLE trial_intermediate_values (trial_intermediate_value_id INTEGER PRIMARY KEY, trial_id INTEGER NOT NULL, step INTEGER NOT NULL, intermediate_value FLOAT, intermediate_value_type VARCHAR(7) NOT NULL);
INSERT INTO studies VALUES (1, 'opt'), (2, 'two'), (3, 'odd'), (4, 'either');
INSERT INTO study_directions VALUES (1, 'MAXIMIZE', 1, 0), (2, 'MINIMIZE', 2, 0), (3, 'MINIMIZE', 2, 1), (4, 'MINIMIZE', 3, 0), (5, 'MINIMIZE', 4, 0);
""")
def dist(name, **attributes):
    return json.dumps({"name": name + "Distribution", "attributes": attributes})
space = {"lr": dist("Float", low=1e-5, high=0.1, log=True, step=None), "n": dist("Int", low=1, high=9, log=False, step=1),
         "act": dist("Categorical", choices=["relu", "tanh", None]), "b": dist("Categorical", choices=[True, False]),
         "q": dist("Float", low=0.0, high=1.0, log=False, step=0.1), "one": dist("Int", low=3, high=3, log=False, step=1),
         "old": dist("IntUniform", low=0, high=10, step=5)}
full = dict(lr=0.001, n=3, act=1, b=0, q=0.30000000000000004, one=3, old=5)
trials = [("COMPLETE", full, [0.1, 0.2], 0.25), ("PRUNED", dict(full, lr=0.01, act=2, b=1, q=0.7), [0.05], 0.05),
          ("FAIL", dict(full, n=9, old=10), [float("nan")], None), ("RUNNING", {"lr": 0.01}, [], None),
          ("COMPLETE", {"lr": 0.01, "n": 4}, [], 0.3), ("COMPLETE", dict(full, n=7), [0.1, 0.5], 0.5)]
for i, (state, params, steps, value) in enumerate(trials):
    db.execute("INSERT INTO trials VALUES (?, ?, 1, ?, ?, ?)", (i + 1, i, state, f"2024-01-01 12:00:0{i}.000000", f"2024-01-01 12:00:0{i + 1}.500000"))
    for name, x in params.items():
        db.execute("INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) VALUES (?, ?, ?, ?)", (i + 1, name, x, space[name]))
    for step, x in enumerate(steps):
        db.execute("INSERT INTO trial_intermediate_values (trial_id, step, intermediate_value, intermediate_value_type) VALUES (?, ?, ?, ?)",
                   (i + 1, step, None if x != x else x, "NAN" if x != x else "FINITE"))
    if value is not None:
        db.execute("INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES (?, 0, ?, 'FINITE')", (i + 1, value))
db.execute("INSERT INTO trials VALUES (20, 0, 3, 'COMPLETE', NULL, NULL)")
db.execute("INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) VALUES (20, 'x', 1, ?)", (dist("Strange", low=1),))
for i, name in enumerate(("xa", "xb")):  # none of them has all parameters
    db.execute("INSERT INTO trials VALUES (?, ?, 4, 'COMPLETE', NULL, NULL)", (21 + i, i))
    db.execute("INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) VALUES (?, ?, 3, ?)", (21 + i, name, space["n"]))
db.commit()
PY
run import "$out/optuna.db"
is 'several studies in a file: exit code 2' "$code" 2
says 'are named' stderr "choose with --from NAME: 'opt', 'two', 'odd', 'either'"
run import "$out/optuna.db" --from nine
says 'one that is not there' stderr "has no study 'nine'; there are 'opt', 'two', 'odd', 'either'"
run import "$out/optuna.db" --from two
says 'two objectives are too many' stderr "study 'two' has 2 objectives; a study here has one"
run import "$out/optuna.db" --from odd
says 'an unknown distribution is named' stderr "parameter 'x' is distributed as 'StrangeDistribution'"
run import "$out/optuna.db" --from either
is 'nothing to import: exit code 2' "$code" 2
says 'and no study is made of it' stderr "has no trial to import; nothing was written"
run import "$out/optuna.db" --from opt --method asha
is 'Optuna: the trials that ended' "$code $(cat "$out/stdout")" "0 4 trials imported into 'opt'"
says 'those that had not' stderr '1 trials that had not ended are left out'
says 'those that lack a parameter' stderr '1 trials lack a parameter of the others'
says 'steps begin at 0' stderr 'steps count from 0: step k is taken for resource k \+ 1'
run show opt
says 'its goal' stdout '^goal         maximize value$'
says 'its space: a float' stdout '^  lr +float 1e-05\.\.0\.1, log$'
says 'a grid' stdout '^  q +float 0\.\.1, linear, step 0\.1$'
says 'a choice of nothing' stdout '^  act +one of relu, tanh, null$'
says 'a range of one value' stdout '^  one +constant 3$'
says 'a distribution of Optuna 2' stdout '^  old +int 0\.\.10, linear, step 5$'
says 'its steps' stdout '^resource     step 1\.\.2$'
says 'its best' stdout '^best         0\.5 at step 2, trial 3$'
run trials opt --format csv
is 'its trials' "$(sed 1d "$out/stdout" | cut -d, -f1-4,10- | tr '\n' ' ')" \
    '0,complete,0.25,2,1.5,0.001,3,tanh,true,0.3,3,5, 1,stopped,0.05,1,2.5,0.01,3,null,false,0.7,3,5, 2,failed,,1,3.5,0.001,9,tanh,true,0.3,3,10,imported 3,complete,0.5,2,6.5,0.001,7,tanh,true,0.3,3,5, '
run export opt --reports
is 'its reports, and a result that is none of them' "$(sed 1d "$out/stdout" | cut -d, -f1-3 | tr '\n' ' ')" '0,1,0.1 0,2,0.2 0,2,0.25 1,1,0.05 2,1,nan 3,1,0.1 3,2,0.5 '
run import "$out/optuna.db" --from opt --study a
is 'into another space: exit code 2' "$code" 2
says 'the parameter is named' stderr "is not one of the study's"
run import "$out/i.db" --study z
says 'a file of ours is none of theirs' stderr 'is this a study of Optuna 3 to 5\?'
finish
