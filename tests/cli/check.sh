#!/bin/sh
# winnow check: every mistake at once, each with its place; a good file is summed up.
set -u
. "$(dirname "$0")/tap.lib"

cat >"$out/good.yaml" <<'YAML'
name: mlp
command: ./train --lr {lr} --units {units} --epochs {resource.max}
metric: {name: val_loss, goal: minimize}
resource: {name: epoch, min: 1, max: 81}
parameters:
  lr:         {type: float, min: 1.0e-5, max: 0.1, scale: log}
  units:      {type: int, min: 16, max: 512, scale: log}
  dropout:    {type: ordinal, values: [0.0, 0.3, 0.6]}
  activation: {type: categorical, values: [relu, tanh]}
method: asha
workers: 4
stop: {trials: 200, time: 2h, resource: 20000}
seed: 7
trial: {timeout: 30m, retries: 1, grace: 10s}
YAML
run check "$out/good.yaml"
is 'a good file: exit code 0' "$code" 0
silent 'nothing on stderr' stderr
says 'says it is fine' stdout "good.yaml: study 'mlp' is fine"
says 'and what it will do' stdout '^  minimize val_loss over epoch 1\.\.81, asha with 4 workers$'
says 'and how the command was split' stdout '^  runs \./train --lr \{lr\} --units \{units\} --epochs \{resource.max\}$'
says 'with every parameter' stdout '^  lr +float 1e-05\.\.0\.1, log$'
says 'a program that is not here is noted' stdout "^  note: './train' cannot be run from this folder$"
says 'and parameters that the command does not take' stdout '^  note: not in the command: dropout, activation; the program has to read them from \$WINNOW_PARAMS or config.json$'
sed 's#./train .*#pythonn --x {lr}{units} {dropout} {activation}#' "$out/good.yaml" >"$out/other.yaml"
run check "$out/other.yaml"
says 'one that is nowhere too' stdout "^  note: there is no program 'pythonn' on the PATH$"
truth 'and nothing more' sh -c '[ "$(grep -c note: "$1")" = 1 ]' sh "$out/stdout"
sed 's#pythonn#sh#' "$out/other.yaml" >"$out/sh.yaml"
run check "$out/sh.yaml"
truth 'a program that is there needs no note' sh -c '! grep -q note: "$1"' sh "$out/stdout"

sed 's/^parameters/paramaters/' "$out/good.yaml" >"$out/misspelt.yaml"
run check "$out/misspelt.yaml"
is 'a misspelt key is one mistake, whatever depends on it' "$(cut -d: -f2- "$out/stderr")" "5:1: unknown key 'paramaters'; did you mean 'parameters'?
1 mistake"

cat >"$out/bad.yaml" <<'YAML'
name: mlp
comand: ./train --lr {lr}
command: ./train --lr {rl}
metric: {name: val_loss, goal: minimise}
parameters:
  lr: {type: float, min: 0, max: 0.1, scale: log}
  units: {type: integer, min: 16, max: 512}
method: ahsa
workers: many
YAML
run check "$out/bad.yaml"
is 'a bad file: exit code 2' "$code" 2
silent 'nothing on stdout' stdout
says 'an unknown key, with its place and a guess' stderr "bad.yaml:2:1: .*comand.*command"
says 'a parameter that is not there' stderr 'bad.yaml:3:[0-9]+: .*rl'
says 'a goal that is none' stderr 'bad.yaml:4:32: .*minimise.*minimize'
says 'a log scale from 0' stderr 'bad.yaml:6:[0-9]+: .*log scale needs a lower bound above 0'
says 'a type that is none' stderr 'bad.yaml:7:17: .*integer'
says 'a method that is none' stderr "bad.yaml:8:9: .*'ahsa'; did you mean 'asha'"
says 'a number that is none' stderr 'bad.yaml:9:10: .*many'
says 'all of them counted' stderr '^[7-9] mistakes$'

printf 'name: [unclosed\n' >"$out/broken.yaml"
run check "$out/broken.yaml"
is 'a file that is not YAML: exit code 2' "$code" 2
says 'with its place' stderr 'broken.yaml:[0-9]+:[0-9]+: '
run check "$out/missing.yaml"
is 'a file that is not there: exit code 2' "$code" 2
says 'and its name' stderr 'missing.yaml'
says 'and how to get one' stderr "'winnow init .*missing.yaml' writes"
run check
is 'no file: exit code 2' "$code" 2
run check "$out/good.yaml" "$out/bad.yaml"
is 'several files: the worst counts' "$code" 2
says 'and the good one is still summed up' stdout "is fine"
finish
