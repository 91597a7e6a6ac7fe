#!/bin/sh
# The programs in examples/*/ are tuned by the study files beside them, in small form.
set -u
. "$(dirname "$0")/tap.lib"
case $winnow in /*) ;; *) winnow=$PWD/$winnow ;; esac
build=${BUILD_DIR:-$(dirname "$winnow")}

for dir in examples/*/; do
    name=$(basename "$dir")
    truth "$name has a study file, which is fine" "$winnow" check "$dir/study.yaml"
    truth "$name has a README that runs it" grep -q 'winnow run study.yaml' "$dir/README.md"
    truth "$name is in examples/README.md" grep -q "\`$name/\`" examples/README.md
    cp -r "$dir" "$out/$name"
done
cp "$build/train-mlp" "$out/mlp/train"

# tuned NAME OPTIONS...: runs its study
tuned()
{
    name=$1
    shift
    cd "$out/$name" || exit 1
    code=0
    "$winnow" run study.yaml --format json "$@" >"$out/stdout" 2>"$out/stderr" || code=$?
    cd - >/dev/null || exit 1
    is "$name: exit code" "$code" 0
    if [ "$code" != 0 ]; then sed 's/^/# /' "$out/stderr" | tail -n 20; fi
}

# fact EXPRESSION: of the summary r
fact()
{
    python3 -c "import json, sys; r = json.load(sys.stdin); print($1)" <"$out/stdout"
}

tuned mlp --trials 8 --time 60s --method asha
is 'mlp: all trials end well' "$(fact 'r["trials"], set(r["states"]) <= {"COMPLETE", "STOPPED"}')" '8 True'
is 'mlp: loss is a number' "$(fact '0 < r["best"]["value"] < 5')" True
cd "$out/mlp" || exit 1
./train --epochs 3 --lr 0.2 >once
mkdir -p saved
WINNOW_CHECKPOINT_DIR=saved ./train --epochs 2 --lr 0.2 >twice
WINNOW_CHECKPOINT_DIR=saved ./train --epochs 3 --lr 0.2 >>twice 2>note
cd - >/dev/null || exit 1
truth 'mlp: going on from a checkpoint is the same as not stopping' cmp "$out/mlp/once" "$out/mlp/twice"
is 'mlp: and says so' "$(cat "$out/mlp/note")" 'going on after epoch 2'
is 'mlp: a mistake in its options' "$("$out/mlp/train" --lr x 2>&1; echo $?)" "--lr: expected a number from 0 to 1e+06, got 'x'
2"

tuned python --trials 4
is 'python: all trials end well' "$(fact 'r["trials"], set(r["states"]) <= {"COMPLETE", "STOPPED"}')" '4 True'
tuned python --trials 6 --method asha-promotion --name again
is 'python: trials pause and resume' "$(fact '"PAUSED" in r["states"]')" True

tuned shell --trials 30
is 'shell: comes near the minimum' "$(fact 'r["best"]["value"] < 1')" True

tuned compiler --trials 3
is 'compiler: times a program' "$(fact '0 < r["best"]["value"] < 60')" True
truth 'compiler: leaves no program behind' sh -c "! ls '$out'/compiler/winnow-runs/compiler/*/benchmark 2>/dev/null"
finish
