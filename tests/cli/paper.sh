#!/bin/sh
# winnow paper: on small tables that bear the names of the paper's tasks.
set -u
. "$(dirname "$0")/tap.lib"

# fcnet-protein has final values only, nas201-cifar10 has curves: noise that shrinks around a value of its own.
python3 - "$out/data" <<'PYTHON'
import itertools, json, os, random, struct, sys

def save(path, shape, numbers):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %r, }" % (shape,)
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<%df" % len(numbers), *numbers))

def family(name, task, levels, limits):
    rng, folder = random.Random(7), os.path.join(sys.argv[1], name)
    os.makedirs(folder)
    rows = list(itertools.product(range(1, 11), range(1, 11)))
    finals = [(a - 7) ** 2 + (b - 3) ** 2 + rng.random() for a, b in rows]
    values = [f + 30 * (1 - level / levels[-1]) * rng.random() for f in finals for level in levels]
    save(os.path.join(folder, "v.npy"), (100, len(levels), 1), values)
    open(os.path.join(folder, "configs.csv"), "w").write("a,b\n" + "".join("%d,%d\n" % row for row in rows))
    json.dump({"family": name, "kind": "table", "honesty": "real", "configs": "configs.csv",
               "parameters": [{"name": n, "type": "int", "min": 1, "max": 10} for n in "ab"],
               "resource": {"name": "epoch", "levels": levels},
               "tasks": [{"name": task, "metric": {"name": "loss", "goal": "minimize"}, "values": "v.npy", "limits": limits,
                          "best": min(values), "worst": max(values)}]}, open(os.path.join(folder, "blackbox.json"), "w"))

family("fcnet", "fcnet-protein", [27], {"results": 27 * 40})
family("nas201", "nas201-cifar10", [1, 3, 9, 27], {"results": 27 * 40})
PYTHON

if ! command -v gnuplot >/dev/null 2>&1; then
    echo "ok 1 - paper # SKIP gnuplot is not installed"
    echo 1..1
    exit
fi

run paper --data "$out/data" --seeds 3 --out "$out/p" --jobs 2
is 'exit code 0' "$code" 0
is 'says where the page is' "$(cat "$out/stdout")" "$out/p/index.html"
for group in single-fidelity multi-fidelity variants one-epoch released-baselines; do
    for kind in rank.svg regret.svg cd.svg tasks.svg rank.csv regret.csv cd.csv tasks.csv final.csv; do
        [ -s "$out/p/$group-$kind" ] || echo "$group-$kind"
    done
done >"$out/missing"
truth 'every group has its figures and tables' [ ! -s "$out/missing" ]
truth 'single fidelity: both tasks' sh -c 'cut -d, -f1 "$1" | sort -u | tr "\n" " " | grep -q "^fcnet-protein nas201-cifar10 task"' \
    sh "$out/p/single-fidelity-final.csv"
truth 'multi-fidelity: only the task with curves' sh -c '! grep -q fcnet "$1" && grep -q nas201 "$1"' sh "$out/p/multi-fidelity-final.csv"
for file in claims surrogates benchmarks times illustration-proposals; do
    truth "$file.csv" [ -s "$out/p/$file.csv" ]
done
truth 'claims: every one has a verdict' python3 - "$out/p/claims.csv" <<'PYTHON'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], encoding="utf-8")))
assert len(rows) >= 12, len(rows)
for row in rows:
    assert row["verdict"] in ("holds", "does not hold", "not testable") and row["measured"], row
verdicts = {row["claim"]: row["verdict"] for row in rows}
assert verdicts["Multi-fidelity results on FCNet with its learning curves."] == "not testable"
assert [v for c, v in verdicts.items() if c.startswith("Illustration")] == ["holds"]
PYTHON
truth 'surrogates: scores where there are enough configurations, the paper beside them' python3 - "$out/p/surrogates.csv" <<'PYTHON'
import csv, sys
rows = {(r["task"], r["n"], r["model"]): r for r in csv.DictReader(open(sys.argv[1], encoding="utf-8"))}
for model in ("GP", "QR", "CQR"):
    assert float(rows["fcnet-protein", "16", model]["rmse"]) > 0 and rows["fcnet-protein", "16", model]["scores"] == "3", model
assert ("fcnet-protein", "1024", "CQR") not in rows
assert rows["all", "1024", "CQR"]["paper_mae"] == "0.37" and rows["all", "1024", "CQR"]["rmse"] == ""
PYTHON
truth 'the page has it all' python3 - "$out/p/index.html" <<'PYTHON'
import sys
text = open(sys.argv[1], encoding="utf-8").read()
for word in ('id="claims"', 'id="single-fidelity"', 'id="surrogates"', 'id="benchmarks"', 'id="illustration"', 'id="times"',
             "3 seeds the verdicts are preliminary", "</html>"):
    assert word in text, word
assert text.count("<svg") == 5 * 4 + 1, text.count("<svg")
assert "http://" not in text.replace("http://www.w3.org/", "")
PYTHON
cp "$out/p/claims.csv" "$out/p/variants-rank.csv" "$out"
cp "$out/p/index.html" "$out/first.html"
run paper --data "$out/data" --seeds 3 --out "$out/p" --jobs 1
says 'again: nothing to run' stderr '^[0-9]+ of [0-9]+ runs are done, [0-9]+ of them from before$'
truth 'again: the same page, byte for byte' cmp "$out/first.html" "$out/p/index.html"
truth 'again: the same claims' cmp "$out/claims.csv" "$out/p/claims.csv"

run paper --data "$out/data" --seeds 2 --out "$out/q" --groups single-fidelity --tasks fcnet --jobs 2
is 'a part: exit code 0' "$code" 0
truth 'a part: one group, one task' sh -c 'test "$(sed 1d "$1/single-fidelity-final.csv" | cut -d, -f1 | sort -u)" = fcnet-protein && ! test -e "$1/variants-rank.csv" && ! test -e "$1/claims.csv"' sh "$out/q"
run paper --data "$out/data" --groups single-fidelty
is 'an unknown group: exit code 2' "$code" 2
says 'and those there are' stderr "unknown group 'single-fidelty'; there are all, single-fidelity"
run paper --data "$out/data" --tasks fcnte
says 'an unknown task' stderr "no task or family 'fcnte' at hand"
run paper --groups single-fidelity --tasks digits-mlp --seeds 1 --out "$out/r"
is 'nothing of the paper at hand: exit code 2' "$code" 2
says 'and what helps' stderr '--tasks digits-mlp: none of them is both at hand and in a group to be run .*--data DIR'
run paper --groups single-fidelity --seeds 1 --out "$out/r"
is 'no data: exit code 2' "$code" 2
says 'no data: what helps' stderr 'none of the tasks to compare methods on is at hand: .* --data DIR'
run paper --groups '' --out "$out/r"
says 'no group' stderr '--groups: no group is named'
truth 'nothing was made' [ ! -e "$out/r" ]
run paper --groups claims --seeds 1 --out "$out/r"
truth 'claims alone: nothing is said of what is not there' python3 - "$out/r/claims.csv" <<'PYTHON'
import csv, sys
for row in csv.DictReader(open(sys.argv[1], encoding="utf-8")):
    assert row["verdict"] == "not testable", row
    assert "at hand" not in row["measured"] and "not run" not in row["measured"], row
PYTHON
run paper --groups illustration --seeds 1 --out "$out/r"
is 'the illustration needs no table' "$code" 0
finish
