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
finish
