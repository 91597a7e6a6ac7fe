#!/bin/sh
# What the README shows works when pasted: its commands run, its program compiles and finds the minimum.
set -u
. "$(dirname "$0")/tap.lib"
build=$(dirname "$winnow")

# A program that uses a sanitized library has to be sanitized itself.
sanitize=
case $(nm -D --undefined-only "$build/libwinnow.so" 2>/dev/null) in
*__asan_init*) sanitize=-fsanitize=address,undefined ;;
*__tsan_init*) sanitize=-fsanitize=thread ;;
esac

# Lines of the code blocks of a language.
blocks()
{
    awk -v language="$1" '/^```/ { inside = !inside && $0 == "```" language; next } inside' README.md
}

blocks c >"$out/bowl.c"
truth 'the README has a program' [ -s "$out/bowl.c" ]
truth 'it compiles with the command shown' sh -c "
    grep -q 'cc bowl.c -Iinclude -Lbuild -lwinnow' README.md &&
    cc '$out/bowl.c' -Wall -Wextra $sanitize -Iinclude -L'$build' -lwinnow -Wl,-rpath,\"\$(realpath '$build')\" -o '$out/bowl'"
"$out/bowl" >"$out/stdout" 2>"$out/stderr"
is 'it runs' $? 0
truth 'and comes near the minimum' awk '/^best of 200: trial/ && $NF < 0.05 { found = 1 } END { exit !found }' "$out/stdout"

blocks sh | grep '^build/winnow' | sed "s#^build/winnow#$winnow#; s/#.*//" >"$out/commands"
truth 'the README shows commands' [ "$(wc -l <"$out/commands")" -ge 4 ]
while read -r line; do
    truth "$(echo "$line" | sed "s#^$winnow#winnow#")" sh -c "set -e; $line"
done <"$out/commands"
# A day with a study file: the README's own words, with a program that takes no time in place of python3.
mkdir "$out/study" "$out/bin"
cat >"$out/bin/python3" <<'SH'
#!/bin/sh
for e in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27; do echo "epoch=$e val_loss=$3"; done
SH
chmod +x "$out/bin/python3"
ln -s "$(realpath "$winnow")" "$out/bin/winnow"
awk '/^```/ { inside = !inside && $0 == "```text"; next } inside && /^winnow / { sub(/   .*/, ""); print }' README.md >"$out/day"
truth 'the README shows a day with a study' [ "$(wc -l <"$out/day")" -ge 8 ]
while read -r line; do
    truth "$line" env -u WINNOW_STORE -u WINNOW_STUDY PATH="$out/bin:$PATH" sh -c "cd '$out/study' && $line </dev/null"
    [ "$line" = 'winnow init' ] && sed -i 's/cqr+mf/asha/; s/trials: 100/trials: 20/' "$out/study/study.yaml"
    true
done <"$out/day"
for link in $(grep -o '](\([^)h][^)]*\))' README.md | tr -d ']()'); do
    truth "$link is there" [ -e "$link" ]
done
finish
