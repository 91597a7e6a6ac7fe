#!/bin/sh
# winnow bench run and report: results do not depend on threads or interruptions, mistakes have a place, the same results
# give the same report.
set -u
. "$(dirname "$0")/tap.lib"

cat >"$out/spec.yaml" <<'YAML'
name: small
methods: [rs, rea, asha, {name: rea, label: rea-20, population: 20}]
tasks: [digits, synthetic-curves, branin]
seeds: 4
YAML

# All that must not change: everything but the real seconds.
content()
{
    python3 - "$1/results.db" <<'PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for table in ("experiment", "methods", "tasks", "groups", "members", "runs", "improvements", "failures"):
    for row in sorted(db.execute(f"SELECT * FROM {table}"), key=str):
        print(table, *row)
print("timings", db.execute("SELECT count(*) FROM timings").fetchone()[0])
PYTHON
}

run bench run "$out/spec.yaml" --out "$out/one" --jobs 1
is 'run: exit code 0' "$code" 0
says 'run: how many' stderr '^48 of 48 runs are done$'
says 'run: what to do next' stderr "see the results with: winnow bench report $out/one"
truth 'one file, no journal' [ "$(ls -A "$out/one" | sort | tr '\n' ' ')" = '.lock results.db ' ]
content "$out/one" >"$out/one.txt"
truth 'every run is there, with its curve' awk '$1 == "runs" { runs++ } $1 == "improvements" { steps++ }
    END { exit !(runs == 48 && steps >= 96) }' "$out/one.txt"

run bench run "$out/spec.yaml" --out "$out/three" --jobs 3
content "$out/three" >"$out/three.txt"
truth 'three threads: the same content' cmp "$out/one.txt" "$out/three.txt"

# The curve is the one that winnow sim prints: its improvements.
run sim --task digits-mlp --method rea --seed 2
awk -F, 'NR > 1 && (NR == 2 || $5 < best) { best = $5; print NR - 1, $1, $5 }' "$out/stdout" >"$out/sim.txt"
python3 - "$out/one/results.db" >"$out/db.txt" <<'PYTHON'
import sqlite3, sys
for reports, time, value in sqlite3.connect(sys.argv[1]).execute(
        "SELECT reports, time, value FROM improvements WHERE method = 'rea' AND task = 'digits-mlp' AND seed = 2 ORDER BY step"):
    print(reports, repr(time).removesuffix(".0"), repr(value).removesuffix(".0"))
PYTHON
truth 'the curve is that of winnow sim' cmp "$out/sim.txt" "$out/db.txt"

# ---- stopping and going on ----

run bench run "$out/spec.yaml" --out "$out/one"
says 'again: nothing to do' stderr '^48 of 48 runs are done, 48 of them from before$'

# Killed at random moments: whatever was in the file is kept, and the end is the same.
killed=0
for delay in 0.01 0.02 0.03 0.05 0.04 0.02; do
    "$winnow" bench run "$out/spec.yaml" --out "$out/killed" --jobs 2 >/dev/null 2>&1 &
    pid=$!
    sleep $delay
    kill -9 $pid 2>/dev/null && killed=$((killed + 1))
    wait $pid 2>/dev/null
done
run bench run "$out/spec.yaml" --out "$out/killed" --jobs 2
is 'killed and run again: exit code 0' "$code" 0
content "$out/killed" >"$out/killed.txt"
truth 'killed and run again: the same content' cmp "$out/one.txt" "$out/killed.txt"
truth 'it was killed at work' [ $killed -ge 1 ]

sed 's/seeds: 4/seeds: 400/' "$out/spec.yaml" >"$out/long.yaml"
"$winnow" bench run "$out/long.yaml" --out "$out/interrupted" --jobs 2 >"$out/stdout" 2>"$out/stderr" </dev/null &
pid=$!
sleep 0.4
kill -TERM $pid
code=0
wait $pid || code=$?
is 'interrupted: exit code 130' "$code" 130
says 'interrupted: says so' stderr '^stopping after the runs that are under way'
says 'interrupted: how to go on' stderr "^go on with: winnow bench run $out/long.yaml --out $out/interrupted --jobs 2$"
truth 'interrupted: what is done is kept' python3 -c "
import sqlite3; n = sqlite3.connect('$out/interrupted/results.db').execute('SELECT count(*) FROM runs').fetchone()[0]
assert 0 < n < 4800, n"

run bench run "$out/spec.yaml" --out "$out/interrupted"
is 'a smaller plan in the same folder' "$code" 0

# ---- what was made differently is done again ----

sed 's/population: 20/population: 30/' "$out/spec.yaml" >"$out/other.yaml"
cp -r "$out/one" "$out/changed"
run bench run "$out/other.yaml" --out "$out/changed"
says 'other options: those runs again' stderr '^12 runs had been made differently: not used$'
says 'and only those' stderr '^48 of 48 runs are done, 36 of them from before$'
run bench run "$out/spec.yaml" --out "$out/changed"
content "$out/changed" >"$out/changed.txt"
truth 'and back' cmp "$out/one.txt" "$out/changed.txt"

# ---- a run that fails ----

mkdir -p "$out/my data/broken"
cat >"$out/my data/broken/blackbox.json" <<'JSON'
{"family": "broken", "kind": "table", "honesty": "real", "parameters": [{"name": "x", "type": "int", "min": 1, "max": 3}],
 "configs": "configs.csv", "resource": {"name": "epoch", "levels": [1, 2]},
 "tasks": [{"name": "broken-one", "metric": {"name": "loss", "goal": "minimize"}, "values": "v.npy", "limits": {"results": 6},
            "best": 1, "worst": 6}]}
JSON
printf 'x\n1\n2\n3\n' >"$out/my data/broken/configs.csv"
python3 - "$out/my data/broken/v.npy" <<'PYTHON'
import struct, sys
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2, 1), }"
header += " " * (-(10 + len(header) + 1) % 64) + "\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<6f", 1, 2, 3, 4, 5, 6))
PYTHON
cat >"$out/broken.yaml" <<'YAML'
methods: [rs, {name: rea, label: large, population: 20}]
tasks: [broken-one, branin]
seeds: 2
limits: {trials: 3}
YAML
sed -i '3s/2/1/' "$out/my data/broken/configs.csv" # a row twice, another not at all
run bench run "$out/broken.yaml" --out "$out/broken" --data "$out/my data" --jobs 2
is 'a broken table: exit code 1' "$code" 1
says 'what failed, and why' stderr '^winnow: failed: large on broken-one, seed 1: .*configs.csv'
says 'the command that repeats it' stderr \
    "^  repeat it: winnow sim --task broken-one --method rea --set searcher.population=20 --seed 1 --workers 4 --max-trials 3 --data '$out/my data'$"
says 'and the others go on' stderr '^4 of 8 runs are done; 4 failed$'
repeat=$(sed -n 's/^  repeat it: winnow //p' "$out/stderr" | head -n 1)
eval "run $repeat"
says 'typed as it stands, it fails alone in the same way' stderr 'configs.csv'
printf 'x\n1\n2\n3\n' >"$out/my data/broken/configs.csv"
run bench run "$out/broken.yaml" --out "$out/broken" --data "$out/my data"
is 'mended: exit code 0' "$code" 0
says 'mended: the rest is done' stderr '^8 of 8 runs are done, 4 of them from before$'
content "$out/broken" >"$out/broken.txt"
truth 'mended: no failure is left' sh -c '! grep -q ^failures "$1"' sh "$out/broken.txt"

# ---- mistakes ----

cat >"$out/bad.yaml" <<'YAML'
methods: [rs, rea2, {name: cqr, levles: 8}, {name: asha, eta: x}]
tasks: [digits-mpl, nonsense-without-any-likeness]
seeds: 0
worker: 3
limits: {time: soon}
YAML
run bench run "$out/bad.yaml" --out "$out/bad"
is 'mistakes: exit code 2' "$code" 2
says 'an unknown method' stderr "bad.yaml:1:15: unknown method 'rea2'; did you mean 'rea'"
says 'an unknown option' stderr "bad.yaml:1:33: unknown option 'levles'; did you mean 'levels'"
says 'a bad value' stderr "bad.yaml:1:63: scheduler .*eta"
says 'an unknown task' stderr "bad.yaml:2:9: no task or family 'digits-mpl'; did you mean 'digits-mlp'"
says 'a task without any likeness' stderr "bad.yaml:2:21: no task or family 'nonsense"
says 'no seeds' stderr "bad.yaml:3:8: 'seeds' must be a whole number from 1"
says 'an unknown key' stderr "bad.yaml:4:1: unknown key 'worker'; did you mean 'workers'"
says 'a bad duration' stderr "bad.yaml:5:16: 'limits.time' must be a duration"
says 'and how many' stderr '^8 mistakes$'
truth 'nothing was written' [ ! -e "$out/bad" ]
printf 'methods: rs\ntasks: branin\n' >"$out/bad.yaml"
run bench run "$out/bad.yaml" --out "$out/bad"
says 'a single method' stderr 'bad.yaml:1:10: there is nothing to compare'
printf 'methods: [rea, {name: rea, population: 20}]\ntasks: branin\n' >"$out/bad.yaml"
run bench run "$out/bad.yaml" --out "$out/bad"
says 'two of one name' stderr "two methods with different options are called 'rea'; give one a 'label'"
printf 'groups: [{name: a b, methods: [rs, rea], tasks: branin}, {methods: rs}]\n' >"$out/bad.yaml"
run bench run "$out/bad.yaml" --out "$out/bad"
says 'a name that is no file name' stderr "'group.name' must be letters, digits"
says 'a group without a name' stderr "a group must be a mapping with 'name'"
printf 'groups: [{name: a, methods: [rs, rea], tasks: branin}, {name: a, methods: [rs, asha], tasks: branin}]\n' >"$out/bad.yaml"
run bench run "$out/bad.yaml" --out "$out/bad"
says 'two groups of one name' stderr "bad.yaml:1:63: two groups are called 'a'"
run bench run "$out/spec.yaml" --out "$out/bad" --workers 3
is 'an option of another part: exit code 2' "$code" 2
says 'an option of another part' stderr 'bench run: there is no --workers here; .* stands in SPEC'
run bench report "$out/one" --jobs 2
says 'an option that a report does not have' stderr 'bench report: there is no --jobs here'
run bench run "$out/spec.yaml"
says 'no folder' stderr '--out is missing'
run bench run
says 'no experiment' stderr 'expected: winnow bench run SPEC --out DIR'
run bench run "$out/absent.yaml" --out "$out/bad"
is 'a file that is not there: exit code 2' "$code" 2
run bench report "$out/my data"
says 'a folder without results' stderr 'holds no results: there is no results.db'
mkdir "$out/foreign"
printf 'no database' >"$out/foreign/results.db"
run bench report "$out/foreign"
truth 'a file that is no database' [ "$code" != 0 ]

# ---- the report ----

if command -v gnuplot >/dev/null 2>&1; then
    run bench report "$out/one"
    is 'report: exit code 0' "$code" 0
    for figure in rank regret cd tasks; do
        for kind in svg png pdf csv; do
            truth "report: small-$figure.$kind" [ -s "$out/one/small-$figure.$kind" ]
        done
    done
    for file in small-final small-values times; do
        truth "report: $file.csv" [ -s "$out/one/$file.csv" ]
    done
    is 'ranks: columns' "$(head -n 1 "$out/one/small-rank.csv")" 'percent,rs,rs_error,rea,rea_error,asha,asha_error,rea-20,rea-20_error'
    truth 'ranks: 50 points that add up to 10' awk -F, 'NR > 1 { n++; sum = $2 + $4 + $6 + $8; if (sum < 9.999 || sum > 10.001) exit 1 }
        END { exit n != 50 }' "$out/one/small-rank.csv"
    truth 'the page is well-formed, and needs no network' python3 - "$out/one/report.html" <<'PYTHON'
import html.parser, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
void = {"meta", "br", "img", "link", "input", "hr"}
class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.stack, self.ids, self.svgs = [], set(), 0
    def handle_starttag(self, tag, attrs):
        if tag not in void:
            self.stack.append(tag)
        self.svgs += tag == "svg"
        for name, value in attrs:
            assert not (name in ("src", "href", "xlink:href") and re.match(r"(https?:)?//", value or "")), value
            if name == "id":
                assert value not in self.ids, value
                self.ids.add(value)
    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in void:
            self.stack.pop()
    def handle_endtag(self, tag):
        assert self.stack.pop() == tag, tag
page = Page()
page.feed(text)
assert not page.stack and page.svgs == 4, (page.stack, page.svgs)
for word in ("Wilcoxon", "Friedman", "digits-mlp", "branin§", "rea-20"):
    assert word in text, word
PYTHON
    truth 'contents, and links to files that are there' python3 - "$out/one" <<'PYTHON'
import os, re, sys
text = open(sys.argv[1] + "/report.html", encoding="utf-8").read()
nav = re.search("<nav>(.*?)</nav>", text).group(1)
assert re.findall('href="#([^"]*)"', nav) == re.findall('<h2 id="([^"]*)"', text) == ["small", "times"], nav
files = re.findall('<a href="([^#"]*)"', text)
assert len(files) == 4 * 4 and all(os.path.getsize(os.path.join(sys.argv[1], f)) for f in files), files
PYTHON
    # rs and rea draw the same 10 configurations first
    printf 'name: equal\nmethods: [rs, rea]\ntasks: branin\nlimits: {trials: 5}\n' >"$out/equal.yaml"
    run bench run "$out/equal.yaml" --out "$out/equal"
    run bench report "$out/equal"
    truth 'who is equally good is equally bold, and one seed has no error' python3 - "$out/equal/report.html" <<'PYTHON'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
assert text.count("<b>1.50</b>") == 2 * 4 + 2 and "<br>±" not in text, text.count("<b>1.50</b>")
assert re.search('<figure style="max-width:min\\(100%,[0-9]+px\\)">', text)
PYTHON
    # a long label, and all three marks: the widest that a figure has to hold
    printf 'name: wide\nmethods: [rs, {name: rea, label: a-label-of-as-many-letters-as-there-may-}]\ntasks: [digits, synthetic-curves, branin]\nseeds: 2\n' >"$out/wide.yaml"
    run bench run "$out/wide.yaml" --out "$out/wide"
    run bench report "$out/wide"
    is 'gnuplot has no complaint' "$(cat "$out/stderr")" ''
    truth 'no text leaves its figure, and letters are equally large in SVG and PDF' python3 - "$out/one/small" "$out/wide/wide" <<'PYTHON'
import re, sys, zlib
def sizes_in_pdf(path):
    found = set()
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", open(path, "rb").read(), re.S):
        try:
            text = zlib.decompress(stream)
        except zlib.error:
            continue
        for a, b in re.findall(rb"([-0-9.]+) ([-0-9.]+) [-0-9.]+ [-0-9.]+ [-0-9.]+ [-0-9.]+ Tm", text):
            found.add(round(max(abs(float(a)), abs(float(b))), 2))
    return found
for stem in sys.argv[1:]:
    for figure in ("rank", "regret", "cd", "tasks"):
        svg = open(f"{stem}-{figure}.svg", encoding="utf-8").read()
        width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', svg).groups())
        texts = re.findall(r'<g transform="translate\(([-0-9.]+),([-0-9.]+)\)( rotate\([-0-9.]+\))?"[^>]*font-size="([0-9.]+)"\s+'
                           r'text-anchor="(\w+)">\s*<text>(.*?)</text>', svg, re.S)
        assert len(texts) > 10, (stem, figure, len(texts))
        for x, y, turned, size, anchor, text in texts:
            length = 0.45 * float(size) * len(re.sub("<[^>]*>", "", text))  # a little less than Helvetica's
            at, end = (height - float(y), height) if turned else (float(x), width)
            low = at - length * {"start": 0, "middle": 0.5, "end": 1}[anchor]
            assert low >= 0 and low + length <= end, (stem, figure, text, low, low + length, end)
        sizes = {round(0.75 * float(size), 2) for _, _, _, size, _, _ in texts}
        pdf = sizes_in_pdf(f"{stem}-{figure}.pdf")
        assert abs(max(pdf) - max(sizes)) < 0.1, (stem, figure, sizes, pdf)
PYTHON
    mkdir "$out/first"
    cp "$out/one"/*.csv "$out/one"/*.svg "$out/one"/*.png "$out/one"/*.html "$out/first"
    run bench report "$out/one"
    for file in "$out/first"/*; do
        cmp -s "$file" "$out/one/${file##*/}" || echo "${file##*/}" >>"$out/differ"
    done
    truth 'again: the same bytes' [ ! -s "$out/differ" ]
    truth 'the database is untouched' sh -c 'python3 - "$1/results.db" <<P
import sqlite3, sys
assert sqlite3.connect(sys.argv[1]).execute("PRAGMA integrity_check").fetchone()[0] == "ok"
P' sh "$out/one"
    # threads do not show in the report, except for real seconds
    run bench report "$out/three"
    truth 'the other folder: the same numbers' cmp "$out/one/small-rank.csv" "$out/three/small-rank.csv"
    truth 'the other folder: the same figures' cmp "$out/one/small-cd.svg" "$out/three/small-cd.svg"

    python3 - "$out/one/results.db" <<'PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("DELETE FROM runs WHERE method = 'rs' AND task = 'branin' AND seed = 3")
db.execute("INSERT INTO failures VALUES ('rs', 'branin', 3, 'it <broke>', 'winnow sim --task branin')")
db.commit()
PYTHON
    run bench report "$out/one"
    truth 'an unfinished experiment says what is left out' grep -q '1 pair of task and seed is left out' "$out/one/report.html"
    truth 'failures are told, and escaped' grep -q 'it &lt;broke&gt;' "$out/one/report.html"
else
    n=$((n + 1))
    echo "ok $n - report # SKIP gnuplot is not installed"
fi
finish
