#!/bin/sh
# docs/manual/methods: every method has a page, and the page names its options with their defaults.
#
# The page of a method is where its row in README.md leads.  A searcher's options are on that page, a scheduler's there or on a
# page it links to.  An option's row is "| `name` | default |", or "| `name` | default (`method`: another) |".
set -u
. "$(dirname "$0")/tap.lib"

cat >"$out/check.py" <<'END'
import json, pathlib, re, sys

folder = pathlib.Path("docs/manual/methods")
index = (folder / "README.md").read_text()


def text_of(value):
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def default_on(page, option, method):
    row = re.search(rf"^\| `{re.escape(option)}` \| ([^|]*?) \|", page, re.M)
    if not row:
        return None
    others = dict(re.findall(r"`([^`]+)`: ([^,)]+)", row[1]))
    return others.get(method, row[1].split(" (")[0])


def complaint(method):
    row = re.search(rf"^\| \[`{re.escape(method['name'])}`\]\(([^)]+)\) \|", index, re.M)
    if not row:
        return "no row in README.md"
    if not (folder / row[1]).exists():
        return f"{row[1]} does not exist"
    page = (folder / row[1]).read_text()
    if f"`{method['name']}`" not in page and not re.search(rf"^# .*\b{re.escape(method['name'])}(,|:| )", page):
        return f"{row[1]} does not name it"
    linked = [folder / name for name in re.findall(r"\]\(([\w-]+\.md)\)", page)]
    pages = [page] + [p.read_text() for p in linked if p.exists()]
    for option in method["options"]:
        where = pages if option["name"].startswith("scheduler.") else pages[:1]
        found = [d for d in (default_on(p, option["name"], method["name"]) for p in where) if d is not None]
        if not found:
            return f"{row[1]} does not name {option['name']}"
        if found[0] != text_of(option["default"]):
            return f"{row[1]}: {option['name']} is {text_of(option['default'])}, not {found[0]}"
    return None


for method in json.load(sys.stdin):
    print(method["name"], complaint(method) or "fine", sep="\t")
END
run methods --format json
python3 "$out/check.py" <"$out/stdout" >"$out/verdicts"
while IFS="$(printf '\t')" read -r name verdict; do
    is "$name: its page is true" "$verdict" fine
done <"$out/verdicts"
truth 'something was checked' [ "$(wc -l <"$out/verdicts")" -ge 16 ]
finish
