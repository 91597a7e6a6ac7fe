#!/bin/sh
# winnow plot and importance: every picture as files and in the terminal, and when there is nothing to see.
set -u
. "$(dirname "$0")/tap.lib"

unset WINNOW_STUDY
export WINNOW_STORE="sqlite:///$out/p.db"
python3 - >"$out/trials.csv" <<'PY'
import random
random.seed(1)
print("lr,units,act,acc")
for i in range(80):
    lr, units, act = 10 ** random.uniform(-5, -1), random.randint(16, 512), random.choice(["relu", "it's", "x_y"])
    print(f"{lr:.6g},{units},{act},{'nan' if i == 7 else 1 - abs(lr - 0.01) * 5 - 0.01 * random.random()}")
PY
run import "$out/trials.csv" --study flat --maximize acc
cat >"$out/curves.yaml" <<'YAML'
name: curves
command: ./train {x}
metric: {name: loss, goal: minimize}
resource: {name: epoch, min: 1, max: 4}
parameters: {x: {type: float, min: 0, max: 1}}
method: asha
YAML
run ask --file "$out/curves.yaml"
run plot history curves --term
is 'nothing to draw: exit code 1' "$code" 1
says 'says why' stderr "study 'curves': nothing to draw as history: no trial has a finite value yet"
for v in 1 0.5 0.25; do run report 0 $v --study curves; done
run ask --study curves
run report 1 3 --study curves
run tell 1 --study curves

run import "$out/trials.csv" --study model --maximize acc --method cqr
run show model
says 'show: what a conformal model says about itself' stdout '^model        levels 0\.2 0\.4 0\.6 0\.8, gamma -?[0-9.e-]+ -?[0-9.e-]+, fitted [0-9]+, held_out [1-9]'
run import "$out/trials.csv" --study process --maximize acc --method gp
run show process
says 'and a Gaussian process' stdout '^model        fitted [0-9]+, noise [0-9.e-]+, bandwidth [0-9.e -]+, scale [0-9.e-]+$'
run show flat
truth 'and nothing where there is no model' sh -c '! grep -q ^model "$1"' sh "$out/stdout"

run importance flat --format csv
is 'importance: a row for each parameter' "$(sed 1d "$out/stdout" | wc -l)" 3
is 'what matters comes first' "$(sed -n 2p "$out/stdout" | cut -d, -f1)" lr
is 'they add up to 1' "$(sed 1d "$out/stdout" | awk -F, '{ s += $2 } END { printf "%.9f", s }')" 1.000000000
run importance flat
says 'with bars for people' stdout '^lr +0\.[0-9]+  █+'
run importance flat --format json
is 'as JSON' "$(python3 -c 'import json, sys; print([r["parameter"] for r in json.load(sys.stdin)][0])' <"$out/stdout")" lr
run importance curves
is 'too few trials: exit code 1' "$code" 1
says 'says how many it takes' stderr 'needs at least 10 trials with a value; the study has 2'
# A category decides nearly everything, so the search soon tries the good one only; that must not hide it.
cat >"$out/decisive.sh" <<'SH'
exec awk -v f="$1" -v lr="$2" -v l2="$3" -v batch="$4" 'BEGIN {
    a = log(lr) / log(10) + 2; b = log(l2) / log(10) + 4
    y = 0.10 + 0.06 * a * a + 0.01 * b * b + (batch - 32) ^ 2 * 1e-5
    print "loss=" (f == "linear" ? 0.45 + 0.4 * y : y) }'
SH
run run --quiet --name decisive --method cqr --trials 40 --minimize loss --param features=linear,quadratic --param lr=log:1e-4..1 \
    --param l2=log:1e-6..1e-1 --param batch=int:8..128 --folder "$out/runs" -- sh "$out/decisive.sh" {features} {lr} {l2} {batch}
run importance decisive --format csv
truth 'a category that was settled early comes first, far ahead' \
    awk -F, 'NR == 2 { ok = $1 == "features" && $2 > 0.8 } END { exit !ok }' "$out/stdout"
says 'forty trials are few' stderr '^winnow: 40 trials: take this as a hint, some 100 make it reliable$'
run importance decisive --share 0.1 --format csv
truth 'PED-ANOVA does not see it' awk -F, '$1 == "features" { ok = $2 < 0.1 } END { exit !ok }' "$out/stdout"
says 'and says why not to trust it' stderr "^winnow: searcher 'cqr' favours what looked good.*without --share the whole space counts$"
run importance flat --share 2
is 'a share is below 1' "$code" 2

for kind in history slice parallel importance timeline; do
    run plot $kind flat --term
    is "$kind in the terminal: exit code 0" "$code" 0
    truth "$kind in the terminal: a picture" sh -c '[ "$(wc -l <"$1")" -ge 3 ]' sh "$out/stdout"
done
run plot history flat --term
says 'a title' stdout 'acc .*best so far'
truth 'no escape codes where nobody sees colours' sh -c '! grep -q "$(printf "\033")" "$1"' sh "$out/stdout"
run plot curves curves --term
says 'curves of a study with a resource' stdout 'epoch'
run plot curves flat --term
says 'there are none without' stderr 'its trials report one value each'
for case in 'minimize 0.2 0.6 5000 0.5' 'maximize 0.2 0.6 -5000 0.2' 'minimize 0.001 10 1e30 [1-9]'; do
    set -- $case
    awk -v a="$2" -v b="$3" -v far="$4" 'BEGIN { print "x,v"; for (i = 0; i < 20; i++) print i "," (i == 3 ? far : a * exp(log(b / a) * ((i * 7 + 1) % 19) / 19)) }' >"$out/far.csv"
    run import "$out/far.csv" --study "far$4" "--$1" v
    run plot "far$4" --term
    line=2
    [ "$1" = maximize ] && line=16
    truth "$1: a value far away ($4) does not squash the others" sh -c 'sed -n "$1p" "$2" | grep -Eq "^ +$3[0-9.]* ┤"' sh $line "$out/stdout" "$5"
    truth "$1: and stands at the edge, at its trial" sh -c 'sed -n "$1p" "$2" | grep -Eq "┤(⠒⠒⠒⠚)? {7,12}[^ ]"' sh $line "$out/stdout"
done
run plot history flat --term
cp "$out/stdout" "$out/expected"
for words in 'flat' 'flat history' '--study flat' 'history --study flat'; do
    run plot $words --term
    truth "plot $words: the same picture" cmp "$out/stdout" "$out/expected"
done
run plot history flat --term
says 'without colour the marks of the legend differ' stdout '⠂⠠ trials +⠒⠒ best so far'
run plot timeline flat --term
says 'and a title names no colours' stdout '^ *trials at a time$'
run plot --term
is 'without a word: which study?' "$code" 2
says 'is asked' stderr 'which study'
run plot flat slice --term
says 'the study may come first' stdout ' units '
says 'a log scale is labelled by its values' stdout '^ +[0-9.e-]+ +lr \(log scale\) +0\.0[0-9]+$'
run plot flta --term
is 'a word that is neither: exit code 2' "$code" 2
says 'says so, and what is near' stderr "'flta' is neither a picture \(history, .*\) nor a study: .*did you mean 'flat'"
run plot pie --study flat
says 'a word that can only be a picture' stderr "unknown picture 'pie'"
run plot pie flat
is 'an unknown picture: exit code 2' "$code" 2
says 'which there are' stderr 'choose from history, curves, slice'
run plot history flat --term --out "$out/x"
is 'either or' "$code" 2

if command -v gnuplot >/dev/null 2>&1; then
    run plot all flat --out "$out/plots"
    is 'all as files: exit code 0' "$code" 0
    is 'what gnuplot has to say' "$(cat "$out/stderr")" 'winnow: no curves: its trials report one value each: there are no learning curves'
    for kind in history slice parallel importance timeline; do
        for type in svg png pdf csv gp; do
            truth "flat-$kind.$type" test -s "$out/plots/flat-$kind.$type"
        done
    done
    is 'every trial with a value is in the data' "$(sed 1d "$out/plots/flat-slice.csv" | wc -l)" 79
    run plot all curves --out "$out/plots"
    truth 'learning curves' test -s "$out/plots/curves-curves.png"
    is 'a study with two trials has no importance, and the rest' "$(cat "$out/stderr")" 'winnow: no importance: it needs at least 10 trials with a value'
    run plot slice flat --out "$out/one.jpg"
    is 'a picture that we do not draw: exit code 2' "$code" 2
    says 'and those we do' stderr "one.jpg': pictures end in .png, .svg or .pdf"
    run plot slice flat --out "$out/one/picture.png"
    is 'one file: exit code 0, and its name' "$code $(cat "$out/stdout")" "0 $out/one/picture.png"
    is 'it is a picture, and nothing is beside it' "$(head -c 4 "$out/one/picture.png" | tail -c 3) $(ls -A "$out/one")" 'PNG picture.png'
    program=$(realpath "$winnow")
    (cd "$out" && "$program" plot flat --out h.svg >h.name && grep -q '<svg' h.svg)
    is 'the history if no kind is named, here' "$?" 0
    run plot all flat --out "$out/one/all.pdf"
    is 'one file for all pictures: exit code 2' "$code" 2
    says 'says what to do' stderr "all.pdf' is one picture: say which, as in 'winnow plot slice', or give a folder with --out"
    PATH=/nowhere run plot history flat --out "$out/one/without.png"
    is 'one file without gnuplot leaves nothing behind' "$code $(ls -A "$out/one")" '2 picture.png'
    PATH=/nowhere run plot history flat --out "$out/without"
    is 'without gnuplot: a clear failure' "$code" 2
    says 'that says what to install' stderr 'gnuplot is not installed'
fi
finish
