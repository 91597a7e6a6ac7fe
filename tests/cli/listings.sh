#!/bin/sh
# winnow methods, tasks, version, help: listings in every format, the same facts in each.
set -u
. "$(dirname "$0")/tap.lib"

run version
says 'version' stdout '^winnow [0-9]+\.[0-9]+\.[0-9]+$'
run --version
says '--version' stdout '^winnow [0-9]'
run methods --format json
is 'methods as JSON' "$(python3 -c '
import json, sys
rows = {row["name"]: row for row in json.load(sys.stdin)}
asha = rows["asha"]
eta = {o["name"]: o for o in asha["options"]}["scheduler.eta"]
print(asha["scheduler"], asha["searcher"], asha["multi_fidelity"], eta["default"], rows["rs"]["multi_fidelity"])' <"$out/stdout")" \
    'asha random True 3 False'
run methods --format csv
is 'methods as CSV: a header' "$(head -n 1 "$out/stdout")" 'name,scheduler,searcher,summary,options'
rows=$(sed 1d "$out/stdout" | wc -l)
run methods
is 'methods as a table: as many rows' "$(sed 1d "$out/stdout" | wc -l)" "$rows"
is 'no line is longer than a terminal is wide' "$(awk 'length > 110' "$out/stdout")" ''
run methods asha-promotion
says 'one method: a line for each option, and the default it changes' stdout '^scheduler\.type +promotion +'
says 'what it is made of' stdout '^scheduler asha, searcher random$'
run methods asha-promotion --format csv
says 'as CSV' stdout '^scheduler\.eta,3,'
run methods ahsa
is 'an unknown method: exit code 2' "$code" 2
says 'what is near' stderr "did you mean 'asha'"

run tasks --format json
is 'tasks as JSON' "$(python3 -c '
import json, sys
rows = {row["name"]: row for row in json.load(sys.stdin)}
d = rows["digits-mlp"]
print(d["kind"], d["parameters"], d["levels"], d["honesty"], rows["branin"]["honesty"], rows["branin"]["limit_seconds"])' <"$out/stdout")" \
    'table 5 27 real synthetic None'
silent 'no warnings' stderr
mkdir -p "$out/data/broken"
echo '{"family": "broken"' >"$out/data/broken/blackbox.json"
run tasks --data "$out/data"
is 'a broken folder does not hide the rest' "$code" 0
says 'but is named' stderr 'warning: .*broken/blackbox.json'
says 'the rest is there' stdout '^digits-mlp '
WINNOW_DATA="$out/data" run tasks
says 'WINNOW_DATA is looked in' stderr 'broken/blackbox.json'

run
is 'nothing typed: exit code 2' "$code" 2
says 'and an overview on stderr' stderr '^usage: winnow COMMAND'
run help
is 'help: exit code 0' "$code" 0
commands=$(sed -n 's/^COMMAND(\(.*\))$/\1/p' cli/commands.def)
for command in $commands; do
    says "help lists $command" stdout "^  $command +[a-z]"
done
for command in $commands; do
    run help "$command"
    is "help $command: exit code 0" "$code" 0
    truth "help $command has usage and examples" sh -c "grep -q '^usage: winnow $command' '$out/stdout' && grep -q '^  winnow $command' '$out/stdout'"
    cp "$out/stdout" "$out/first"
    run "$command" --help
    truth "$command --help says the same" cmp "$out/first" "$out/stdout"
    run help --as man "$command"
    says "help --as man $command is a manual page" stdout '^\.SH EXAMPLES$'
    if command -v man >/dev/null 2>&1; then
        truth "and troff has nothing to say against it" sh -c "[ -z \"\$(man --warnings -l '$out/stdout' 2>&1 >/dev/null)\" ]"
    fi
done
run hlep
is 'an unknown command: exit code 2' "$code" 2
says 'did you mean' stderr "unknown command 'hlep'; did you mean 'help'\\?"
run help --as bash
truth 'bash completion is valid bash' bash -n "$out/stdout"
truth 'and completes commands' bash -c "
    . '$out/stdout'; COMP_WORDS=(winnow si); COMP_CWORD=1; _winnow; [ \"\${COMPREPLY[*]}\" = sim ]"
truth 'options' bash -c "
    . '$out/stdout'; COMP_WORDS=(winnow sim --wor); COMP_CWORD=2; _winnow; [ \"\${COMPREPLY[*]}\" = --workers ]"
truth 'and choices' bash -c "
    . '$out/stdout'; COMP_WORDS=(winnow tasks --format j); COMP_CWORD=3; _winnow; [ \"\${COMPREPLY[*]}\" = json ]"
cp "$out/stdout" "$out/completion"
printf 'x,loss\n0.5,1\n0.25,2\n' >"$out/old.csv"
run import "$out/old.csv" --study mlp --minimize loss --store "sqlite:///$out/names.db"
run import "$out/old.csv" --study tree --minimize loss --store "sqlite:///$out/names.db"
mkdir "$out/here" && touch "$out/here/study.yaml" "$out/here/study.yml" "$out/here/train.py"
program=$(realpath "$winnow")
# completes WHAT EXPECTED LINE: the words of the line, the last of which is completed
completes()
{
    is "$1" "$(cd "$out/here" && WINNOW_STORE= bash -c '. "$1"; COMP_LINE=$2; read -ra COMP_WORDS <<<"$2x"
        COMP_WORDS[-1]=${COMP_WORDS[-1]%x}; COMP_WORDS[0]=$3; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _winnow; echo "${COMPREPLY[*]}"' \
        bash "$out/completion" "$3" "$program" 2>&1)" "$2"
}
completes 'studies, of the store that is named' 'mlp tree' "winnow best --store sqlite:///$out/names.db "
completes 'behind --study too' 'tree' "winnow tell --store sqlite:///$out/names.db --study t"
completes 'no store: nothing, silently' '' 'winnow best '
completes 'pictures' 'parallel' 'winnow plot pa'
completes 'and studies' 'mlp' "winnow plot --store sqlite:///$out/names.db m"
completes 'commands to be explained' 'report replay' 'winnow help rep'
completes 'study files' 'study.yaml study.yml' 'winnow run st'
completes 'of ask as well' 'study.yaml study.yml' 'winnow ask --file '
completes 'methods' 'cqr cqr+mf' 'winnow methods cq'
run help --as zsh
says 'zsh completion: studies for resume' stdout "'\*: :_winnow_studies';;"
says 'study files' stdout "'\*: :_winnow_files';;"
says 'and where they come from' stdout 'winnow ls \$store --format csv'
says 'zsh completion has the commands' stdout "^        'sim:simulate a study"
if command -v zsh >/dev/null 2>&1; then truth 'and is valid zsh' zsh -n "$out/stdout"; fi
: >"$out/empty.db"
run ls --store "sqlite:///$out/empty.db"
is 'an empty file as a store: exit code 2' "$code" 2
says 'has no studies yet' stderr "empty.db': the file has no studies yet"
finish
