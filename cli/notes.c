/* notes.c -- what is no mistake in a study file, but likely to be one: a program that is not there, a
 * parameter that the program may never hear of.  The study may be meant for another folder or machine, so it
 * is only said.
 *
 * It also decides which word of a command is the user's own program: `env A=1 python3 -u train.py` is about
 * train.py. */
#include "cli/notes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Programs that only start another one, or a script: python3.11 too. */
static bool starts_others(const char *word)
{
    static const char *const names[] = {
        "python", "pypy", "sh",    "bash", "dash",    "zsh",    "ksh",  "fish",    "Rscript", "R",
        "julia",  "node", "deno",  "bun",  "perl",    "ruby",   "lua",  "luajit",  "php",     "octave",
        "env",    "nice", "nohup", "time", "timeout", "stdbuf", "srun", "taskset", "numactl", "torchrun"};
    const char *name = base_name(word);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (!strncmp(name, names[i], n) && !name[n + strspn(name + n, "0123456789.")]) return true;
    }
    return false;
}

static bool looks_like_file(const char *word)
{
    const char *base = base_name(word), *dot = strrchr(base, '.');
    return *base && (base != word || (dot && dot != base && isalpha((unsigned char)dot[1])));
}

/* An option, a setting, a number or what a parameter fills in. */
static bool is_no_program(const char *word)
{
    return *word == '-' || !*word || strpbrk(word, "={ \n;") || !word[strspn(word, "0123456789.smh")];
}

size_t wni_command_script(const char *const *words, size_t n)
{
    size_t plain = 0;
    if (n == 0 || !starts_others(words[0])) return 0;
    for (size_t i = 1; i < n; i++) {
        if (!strcmp(words[i], "-c")) break; /* the program itself is next */
        if (!strcmp(words[i], "-m")) return i + 1 < n ? i + 1 : 0;
        if (is_no_program(words[i]) || starts_others(words[i])) continue;
        if (looks_like_file(words[i])) return i;
        if (!plain) plain = i;
    }
    return plain;
}

static bool is_on_path(const char *program)
{
    const char *path = getenv("PATH");
    struct buf full = {0};
    bool found = false;
    for (const char *at = path ? path : ""; *at && !found;) {
        size_t n = strcspn(at, ":");
        wni_buf_clear(&full);
        wni_buf_add(&full, at, n);
        wni_buf_printf(&full, "%s%s", n ? "/" : "", program);
        found = full.failed || access(wni_buf_text(&full), X_OK) == 0;
        at += n + (at[n] == ':');
    }
    wni_buf_release(&full);
    return found;
}

static void note_program(const struct studyfile *s, const char *lead, FILE *to)
{
    const char *const *words = s->command.words;
    const char *program = s->command.n ? words[0] : "";
    for (size_t i = 0; i < s->n_env; i++)
        if (!strcmp(s->env[i].name, "PATH")) return;
    if (s->command.shell || !*program || strchr(program, '{')) return;
    size_t script = wni_command_script(words, s->command.n);
    if (!strchr(program, '/') && !is_on_path(program))
        fprintf(to, "%snote: there is no program '%s' on the PATH\n", lead, program);
    else if (strchr(program, '/') && access(program, X_OK) != 0)
        fprintf(to, "%snote: '%s' cannot be run from this folder\n", lead, program);
    else if (script && strcmp(words[script - 1], "-m") != 0 && looks_like_file(words[script]) &&
             access(words[script], F_OK) != 0)
        fprintf(to, "%snote: there is no file '%s' in this folder\n", lead, words[script]);
}

static bool is_in_command(const struct studyfile *s, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < s->command.n; i++)
        for (const char *at = s->command.words[i]; (at = strchr(at, '{')); at++)
            if (!strncmp(at + 1, name, length) && at[length + 1] == '}') return true;
    return false;
}

/* It fetches its parameters itself. */
static bool asks_itself(const struct studyfile *s)
{
    for (size_t i = 0; i < s->command.n; i++)
        if (strstr(s->command.words[i], "WINNOW_")) return true;
    return false;
}

static void note_unused(const struct studyfile *s, const char *lead, FILE *to)
{
    size_t n = 0;
    if (s->command.n == 0 || asks_itself(s)) return;
    for (size_t i = 0; i < s->space.n; i++) {
        const struct param *p = &s->space.params[i];
        if (p->kind == PARAM_CONSTANT || is_in_command(s, p->name)) continue;
        fprintf(to, "%s%s%s", n ? "" : lead, n ? ", " : "note: not in the command: ", p->name);
        n++;
    }
    if (n)
        fprintf(to, "; the program has to read %s from $WINNOW_PARAMS or config.json\n",
                n == 1 ? "it" : "them");
}

void wni_note_study(const struct studyfile *s, const char *lead, FILE *to)
{
    note_program(s, lead, to);
    note_unused(s, lead, to);
}
