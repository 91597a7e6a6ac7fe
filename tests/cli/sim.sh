#!/bin/sh
# winnow sim: what it prints, that it repeats itself to the byte, and that it minds its limits.
set -u
. "$(dirname "$0")/tap.lib"

run sim --task digits-mlp --method asha --seed 3
is 'a study ends well' "$code" 0
silent 'nothing on stderr' stderr
is 'the header' "$(head -n 1 "$out/stdout")" 'time,trial,resource,value,best'
truth 'rows have five fields, time never goes back, best never rises' awk -F, '
    NR > 1 { if (NF != 5 || $1 < t || (NR > 2 && $5 > best)) exit 1; t = $1; best = $5 }' "$out/stdout"
truth 'the best is the least value so far' awk -F, '
    NR > 1 && $4 != "nan" { if (least == "" || $4 + 0 < least + 0) least = $4; if ($5 + 0 != least + 0) exit 1 }' "$out/stdout"
cp "$out/stdout" "$out/first"
run sim --task digits-mlp --method asha --seed 3
truth 'the same seed gives the same bytes' cmp "$out/first" "$out/stdout"
run sim --task digits-mlp --method asha --seed 4
truth 'another seed does not' sh -c "! cmp -s '$out/first' '$out/stdout'"

for method in rs rea asha asha-promotion hyperband sh median rea+mf cqr+mf; do
    run sim --task digits-mlp --method $method --max-time 0.2 --repeat 4 --threads 1
    cp "$out/stdout" "$out/first"
    run sim --task digits-mlp --method $method --max-time 0.2 --repeat 4 --threads 2
    truth "$method: one thread and two give the same bytes" cmp "$out/first" "$out/stdout"
    truth "$method: and there are rows" [ "$(wc -l <"$out/stdout")" -gt 20 ]
done
is 'several seeds come with a column and in order' "$(cut -d, -f1 "$out/stdout" | uniq | tr '\n' ' ')" 'seed 0 1 2 3 '
run sim --task digits-mlp --method cqr --max-trials 60
cp "$out/stdout" "$out/first"
WINNOW_SIMD=none run sim --task digits-mlp --method cqr --max-trials 60
truth 'vector instructions do not change a bit' cmp "$out/first" "$out/stdout"

run sim --task branin --method rs --max-results 17
is '--max-results counts reports' "$(sed 1d "$out/stdout" | wc -l)" 17
run sim --task digits-mlp --method rs --max-trials 9
is '--max-trials counts trials' "$(sed 1d "$out/stdout" | cut -d, -f2 | sort -un | wc -l)" 9
run sim --task digits-mlp --method rs --max-time 0.1
truth '--max-time ends by the virtual clock' awk -F, 'NR > 1 && $1 > 0.1 { exit 1 }' "$out/stdout"
run sim --task digits-mlp --method rs --max-resource 100 --format table --stats
truth '--max-resource ends when so many epochs were spent' awk 'NR == 2 && ($7 < 100 || $7 > 104) { exit 1 }' "$out/stdout"
run sim --task synthetic-curves --method asha --first-rung 9 --max-trials 30
truth '--first-rung: nobody is stopped before' awk -F, 'NR > 1 { last[$2] = $3 } END { for (t in last) { n[last[t]]++ } exit !(n[9] > 5 && !n[1] && !n[3]) }' "$out/stdout"
run sim --task digits-mlp --method asha --first-rung 28
is '--first-rung above the last level: exit code 2' "$code" 2
run sim --task digits-mlp --method rs --poll 0.05 --max-trials 30
truth '--poll runs, and reports keep their own time' awk -F, 'NR > 1 { if ($1 % 0.05 > 0.0001) own++ } END { exit !(own > 10) }' "$out/stdout"
run sim --task digits-mlp --method rs --charge-decisions --max-trials 30
is '--charge-decisions runs' "$code" 0
run sim --task digits-mlp --method asha --set scheduler.eta=9 --set scheduler.brackets=1
is 'options of a method can be set' "$code" 0
cp "$out/stdout" "$out/first"
run sim --task digits-mlp --method asha
truth 'and make a difference' sh -c "! cmp -s '$out/first' '$out/stdout'"

run sim --task branin --max-trials 5 --method rs --format json
is '--format json gives an object a line' "$(python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
print(len(rows), sorted(rows[0]))' <"$out/stdout")" "5 ['best', 'resource', 'seed', 'time', 'trial', 'value']"
run sim --task branin --max-trials 5 --method rs --format none --stats
silent '--format none prints no rows' stdout
is '--stats is one line of JSON with these keys' "$(python3 -c '
import json, sys
print(sorted(json.loads(sys.stdin.read())))' <"$out/stderr")" \
    "['peak_memory_bytes', 'real_seconds', 'reports', 'reports_per_second', 'runs', 'simulated_seconds', 'trials']"
run sim --task digits-mlp --method grid --max-trials 100000
is 'a space that is used up ends the study' "$code" 0
is 'after all 504 configurations' "$(sed 1d "$out/stdout" | cut -d, -f2 | sort -un | wc -l)" 504

is 'a refused run leaves no half file' "$("$winnow" sim --task digits-mlp --set scheduler.eta=1 2>/dev/null | wc -c)" 0
run sim --task digits-mlp --method grid --max-trials 100000 --format table
says 'and the summary says so' stdout 'nothing left to try$'
run sim --task digits-mlp --method rs --max-trials 10 --format table
says 'a limit is a limit' stdout ' limit$'
run sim --task digits-mlp --searcher rea --scheduler median --max-trials 40
is 'a pair without a method of its own runs' "$code" 0
run sim --task digits-mlp --searcher rea --method rs
says 'but not beside a method' stderr 'give either --method or --scheduler and --searcher'
run sim --task branin --method rs --max-trials 5 --data /nonexistent
says 'a data folder that is not there is a warning' stderr "warning: .*'/nonexistent'"

run sim --method asha
is 'no task: exit code 2' "$code" 2
says 'and what to do' stderr '^winnow: sim: --task is missing; .winnow tasks. lists them$'
run sim --task digts-mlp
is 'an unknown task: exit code 2' "$code" 2
says 'did you mean' stderr "did you mean 'digits-mlp'\\?"
run sim --task branin --method ahsa
says 'an unknown method: did you mean' stderr "unknown method 'ahsa'; did you mean 'asha'\\?"
run sim --task digits-mlp --set scheduler.ete=4
says 'an unknown option of the method: did you mean' stderr "scheduler 'asha': unknown option 'ete'; did you mean 'eta'\\?"
run sim --task digits-mlp --set scheduler.eta=0
says 'a value out of range says what is expected' stderr "option 'eta': expected a number from .* got '0'"
run sim --task branin --wrkers 3
says 'an unknown flag: did you mean' stderr "unknown option '--wrkers'; did you mean '--workers'\\?"
run sim --task branin --workers 0
says 'a flag out of range' stderr '--workers: expected a whole number from 1 to 1000000, got .0.'
run sim --task branin --workers
says 'a flag without its value' stderr '--workers needs a value: N'
run sim --task branin --format xml
says 'a flag with another choice' stderr "--format: expected one of csv.json.table.none, got 'xml'"
run sim --task branin extra
says 'a stray word' stderr "sim: unexpected 'extra'"
run sim --task digits-mlp --method asha --max-results 100000 --format csv
"$winnow" sim --task digits-mlp --method asha 2>"$out/stderr" | head -n 1 >/dev/null
silent 'a closed pipe is not worth a message' stderr
if [ -e /dev/full ]; then
    code=0
    "$winnow" sim --task digits-mlp --method rs >/dev/full 2>"$out/stderr" || code=$?
    is 'a full disk: exit code 1' "$code" 1
    says 'and said so' stderr 'cannot write the output'
fi
finish
