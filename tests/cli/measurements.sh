#!/bin/sh
# winnow bench, surrogate, paper: the commands work and their tables have the promised columns.  No time is judged here.
set -u
. "$(dirname "$0")/tap.lib"

run bench history --trials 2000 --reports 10 --format csv
is 'bench history: columns' "$(head -n 1 "$out/stdout")" 'trials,reports,seconds,events_per_second,megabytes,bytes_per_trial'
run bench latency --methods rs,cqr --n 16,64 --format csv
is 'bench latency: columns' "$(head -n 1 "$out/stdout")" 'method,space,n,seconds'
is 'bench latency: a row for each method, space and n' "$(sed 1d "$out/stdout" | cut -d, -f1-3 | tr '\n' ' ')" \
    'rs,fcnet,16 rs,fcnet,64 rs,lcbench,16 rs,lcbench,64 cqr,fcnet,16 cqr,fcnet,64 cqr,lcbench,16 cqr,lcbench,64 '
run bench memory --methods rs --n 16 --space fcnet --format csv
is 'bench memory: columns' "$(head -n 1 "$out/stdout")" 'method,space,n,seconds,megabytes'
# Promised at 10,000 trials; the cap on what is fitted is reached long before.  Sanitizers keep what is freed.
for method in $("$winnow" methods --format csv | sed 1d | cut -d, -f1); do
    if nm "$winnow" 2>/dev/null | grep -Eq '__(asan|tsan)_init'; then break; fi
    run bench memory --methods "$method" --n 10000 --space fcnet --format csv
    truth "$method: at most 200 MB at 10,000 trials" awk -F, 'NR == 2 { fine = $5 > 0 && $5 <= 200 } END { exit !fine }' "$out/stdout"
done
run bench fit --n 64 --space fcnet --format csv
is 'bench fit: rows' "$(sed 1d "$out/stdout" | cut -d, -f1-3 | tr '\n' ' ')" 'quantile1,fcnet,64 quantile4,fcnet,64 '
run bench observations --space fcnet --n 20 --format csv
is 'bench observations: columns' "$(head -n 1 "$out/stdout")" \
    'activation_fn_1,activation_fn_2,batch_size,dropout_1,dropout_2,init_lr,lr_schedule,n_units_1,n_units_2,value'
truth 'bench observations: values of the space' awk -F, 'NR > 1 { rows++; if ($1 !~ /^(tanh|relu)$/ || $3 !~ /^(8|16|32|64)$/ || $10 + 0 != $10) exit 1 }
    END { exit rows != 20 }' "$out/stdout"
head -n 11 "$out/stdout" >"$out/first"
run bench observations --space fcnet --n 10 --format csv
truth 'bench observations: fewer are the first of more' cmp "$out/first" "$out/stdout"
run bench observations --space fcnet --n 10 --seed 1 --format csv
truth 'bench observations: another seed, others' sh -c "! cmp -s '$out/first' '$out/stdout'"
run bench observations --n 10
says 'bench observations: no space' stderr '--space is missing'
run bench observations --space fcnet
says 'bench observations: one number' stderr '--n takes one number'
run bench store --trials 30 --reports 4 --store "sqlite:///$out/bench.db" --format csv
is 'bench store: columns' "$(head -n 1 "$out/stdout")" \
    'trials,reports,seconds,trials_per_second,events_per_second,cpu_seconds,open_seconds,list_seconds'
is 'bench store: a row' "$(sed 1d "$out/stdout" | cut -d, -f1-2)" '30,4'
truth 'bench store: the study is there, and nothing beside the file' [ "$(ls "$out" | grep -c 'bench.db')" = 1 ]
run bench store --trials 1 --store "sqlite:///$out/nowhere/bench.db"
is 'bench store: no such folder: exit code 1' "$code" 1
says 'and which' stderr "nowhere/bench.db': cannot be opened: No such file or directory"
run bench speed
is 'an unknown measurement: exit code 2' "$code" 2
says 'and the known ones' stderr "unknown measurement 'speed'; there are run, report, history, latency, memory, fit, observations, store and runner"
run bench latency --n 16,x
says 'a bad list' stderr "--n: expected whole numbers from 1, separated by commas, got 'x'"

run surrogate --task digits-mlp --model cqr --n 64 --seeds 3 --format csv
is 'surrogate: columns' "$(head -n 1 "$out/stdout")" 'task,model,n,seed,rmse,mae,calibration,mean_gap,seconds'
truth 'surrogate: better than no model, and plausible' awk -F, 'NR > 1 { if ($5 > 0.9 || $5 <= $6 || $6 < 0.1 || $7 <= 0 || $7 > 0.6) exit 1; rows++ }
    END { exit rows != 3 }' "$out/stdout"
cut -d, -f1-8 "$out/stdout" >"$out/first"
run surrogate --task digits-mlp --model cqr --n 64 --seeds 3 --format csv
cut -d, -f1-8 "$out/stdout" >"$out/second"
truth 'surrogate: the same again' cmp "$out/first" "$out/second"
run surrogate --task digits-mlp --model cqr --n 64 --seeds 3 --targets authors --format csv
truth 'surrogate: other targets, other scores' sh -c "sed 1d '$out/stdout' | grep -q . && ! cut -d, -f1-8 '$out/stdout' | cmp -s - '$out/first'"
run surrogate --task hartmann6 --n 64 --targets log
is 'surrogate: no logarithm of a negative value: exit code 2' "$code" 2
says 'and which task' stderr "task 'hartmann6' has a value of -"
run surrogate --task digits-mlp --n 500
is 'surrogate: nothing left to test on: exit code 2' "$code" 2
says 'and why' stderr 'too few to train on 500'
run surrogate --n 64
says 'surrogate: no task' stderr '--task is missing'

if command -v gnuplot >/dev/null 2>&1; then
    run paper illustration --out "$out/figures/new"
    is 'paper illustration: exit code 0' "$code" 0
    for kind in svg png pdf gp; do
        truth "paper illustration: .$kind is there" [ -s "$out/figures/new/illustration.$kind" ]
    done
    truth 'proposals go where the noise is' awk -F, 'NR > 1 { d = $1 % 3.14159265 - 1.5707963; near += d * d < 0.64 ? $2 : 0; all += $2 }
        END { exit !(all > 0.999 && near > 0.8) }' "$out/figures/new/illustration-proposals.csv"
    cp "$out/figures/new/illustration-proposals.csv" "$out/first"
    run paper illustration --out "$out/figures/new"
    truth 'and the same again' cmp "$out/first" "$out/figures/new/illustration-proposals.csv"
else
    echo '# skip: gnuplot is not installed'
    n=$((n + 1))
    echo "ok $n - paper illustration # SKIP gnuplot is not installed"
fi
run paper illustration --out /proc/nowhere
is 'a folder that cannot be made: exit code 1' "$code" 1
says 'and which' stderr "cannot make the directory '/proc/nowhere'"
run paper ilustration
says 'an unknown part' stderr "unknown part 'ilustration'"
run bench runner --workers 4 --trials 12 --format csv
is 'bench runner runs processes' "$code" 0
is 'and says what it measured' "$(head -n 1 "$out/stdout")" \
    'store,workers,trials,seconds,trials_per_second,core_percent,waiting_percent,children_percent,refill_ms_mean,refill_ms_max,late_percent,execute_ms_mean,execute_ms_max'
truth 'in figures' awk -F, 'NR > 1 && ($2 != 4 || $3 != 12 || !($4 >= 0.15) || !($6 > 0) || !($8 > 0) || !($9 > 0) ||
                                       $10 < $9 || $11 < 0 || $12 < $9 || $13 < $12) { exit 1 }' "$out/stdout"
is 'next to what the machine can do' "$(cut -d , -f 1 "$out/stdout" | tail -n 3 | tr '\n' ' ')" 'bare memory sqlite '

finish
