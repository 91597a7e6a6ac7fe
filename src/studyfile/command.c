/* command.c -- splitting command lines without a shell, and filling in placeholders. */
#include "studyfile/command.h"

#include "base/closest.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static wn_status fail_at(struct command_mistake *m, size_t offset)
{
    m->offset = offset;
    return WN_EINVAL;
}

/* ---- splitting ---- */

struct splitter {
    const char *line, *at;
    struct buf word;
    bool bare; /* the word so far has no quote and no backslash */
    struct command_mistake *mistake;
};

static wn_status take_quoted(struct splitter *s, char quote)
{
    const char *open = s->at++;
    for (; *s->at && *s->at != quote; s->at++) {
        if (quote == '"' && s->at[0] == '\\' && (s->at[1] == '"' || s->at[1] == '\\')) s->at++;
        wni_buf_putc(&s->word, *s->at);
    }
    if (!*s->at) {
        wni_fail(&s->mistake->err, WN_EINVAL, "the quote %c is never closed", quote);
        return fail_at(s->mistake, (size_t)(open - s->line));
    }
    s->at++;
    return WN_OK;
}

static wn_status take_escaped(struct splitter *s)
{
    if (!s->at[1]) {
        wni_fail(&s->mistake->err, WN_EINVAL, "a backslash at the end escapes nothing");
        return fail_at(s->mistake, (size_t)(s->at - s->line));
    }
    wni_buf_putc(&s->word, s->at[1]);
    s->at += 2;
    return WN_OK;
}

/* Redirections, pipes and lists: someone expects a shell, and would wonder why the program got them as
 * arguments. */
static bool is_for_shell(const char *word)
{
    const char *rest = word + strspn(word, "012");
    return *rest && (*rest == '>' || *rest == '<' || (rest == word && !word[strspn(word, "|&;")]));
}

static wn_status take_word(struct splitter *s)
{
    size_t start = (size_t)(s->at - s->line);
    wn_status st = WN_OK;
    wni_buf_clear(&s->word);
    s->bare = true;
    while (!st && *s->at && !strchr(" \t\r\n", *s->at)) {
        if (s->at[0] == '\\' && s->at[1] == '\n') { /* as in a shell, joins lines */
            s->at += 2;
            continue;
        }
        bool special = strchr("'\"\\", *s->at) != NULL;
        s->bare = s->bare && !special;
        if (!special)
            wni_buf_putc(&s->word, *s->at++);
        else
            st = *s->at == '\\' ? take_escaped(s) : take_quoted(s, *s->at);
    }
    if (st || !s->bare || !is_for_shell(wni_buf_text(&s->word))) return st;
    wni_fail(&s->mistake->err, WN_EINVAL,
             "'%.64s' means something to a shell only; set 'shell: true' or quote it",
             wni_buf_text(&s->word));
    return fail_at(s->mistake, start);
}

/* Copies n words and the NULL that ends them into the arena. */
static const char *const *keep_words(struct arena *arena, const char *const *words, size_t n)
{
    const char **kept = arena_new(arena, const char *, n + 1);
    if (kept && n) memcpy(kept, words, n * sizeof *kept);
    return kept;
}

wn_status wni_command_split(const char *line, struct arena *arena, const char *const **words, size_t *n,
                            struct command_mistake *mistake)
{
    struct splitter s = {.line = line, .at = line, .mistake = mistake};
    const char **found = NULL;
    size_t count = 0, cap = 0;
    wn_status st = WN_OK;
    while (!st && *(s.at += strspn(s.at, " \t\r\n"))) {
        st = take_word(&s);
        if (st) break;
        if (s.bare && !s.word.len) continue; /* nothing but a joint between lines */
        const char *copy = s.word.failed ? NULL : wni_arena_strdup(arena, wni_buf_text(&s.word));
        if (!copy || !wni_reserve((void **)&found, &cap, count + 1, sizeof *found))
            st = wni_fail_memory(&mistake->err);
        else
            found[count++] = copy;
    }
    if (!st && !(*words = keep_words(arena, found, count))) st = wni_fail_memory(&mistake->err);
    *n = count;
    free(found);
    wni_buf_release(&s.word);
    return st;
}

/* ---- placeholders ---- */

enum piece_kind { PIECE_END, PIECE_TEXT, PIECE_NAME, PIECE_WRONG };

struct piece {
    enum piece_kind kind;
    const char *text; /* TEXT: as it is to appear; NAME: without its braces; WRONG: from the brace on */
    size_t length;
};

/* The piece at *at, which moves behind it.  One scanner serves checking and expanding, so they cannot
 * disagree. */
static struct piece next_piece(const char **at)
{
    const char *from = *at;
    size_t plain = strcspn(from, "{}");
    if (plain) {
        *at += plain;
        return (struct piece){PIECE_TEXT, from, plain};
    }
    if (!*from) return (struct piece){PIECE_END, from, 0};
    if (from[1] == from[0]) {
        *at += 2;
        return (struct piece){PIECE_TEXT, from, 1};
    }
    size_t length = strcspn(from + 1, "{}");
    if (*from == '}' || from[1 + length] != '}') {
        *at += 1;
        return (struct piece){PIECE_WRONG, from, 1};
    }
    *at += length + 2;
    return (struct piece){PIECE_NAME, from + 1, length};
}

static bool piece_is(const struct piece *p, const char *name)
{
    return strlen(name) == p->length && !memcmp(p->text, name, p->length);
}

static bool is_known(const struct piece *p, const struct command_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        if (piece_is(p, names->parameters[i])) return true;
    return piece_is(p, "trial") || piece_is(p, "resource.min") || piece_is(p, "resource.max");
}

static void tell_unknown(const struct piece *p, const struct command_names *names, struct err *err)
{
    static const char *const fixed[] = {"trial", "resource.min", "resource.max"};
    char name[72];
    size_t length = p->length < sizeof name ? p->length : sizeof name - 1;
    memcpy(name, p->text, length);
    name[length] = '\0';
    const char *near = wni_closest(name, names->parameters, names->n);
    if (!near) near = wni_closest(name, fixed, sizeof fixed / sizeof *fixed);
    if (near)
        wni_fail(err, WN_EINVAL, "unknown placeholder {%s}; did you mean {%s}?", name, near);
    else
        wni_fail(err, WN_EINVAL, "placeholder {%s} is no parameter; write {{ and }} for braces", name);
}

wn_status wni_command_check(const char *text, const struct command_names *names, size_t *offset,
                            struct command_mistake *mistake)
{
    const char *at = text + *offset;
    for (;;) {
        const char *start = at;
        struct piece p = next_piece(&at);
        *offset = (size_t)(at - text);
        if (p.kind == PIECE_END) return WN_OK;
        if (p.kind == PIECE_TEXT) continue;
        if (p.kind == PIECE_WRONG)
            wni_fail(&mistake->err, WN_EINVAL, "'%c' without its partner; write %c%c for a brace", *start,
                     *start, *start);
        else if (!is_known(&p, names))
            tell_unknown(&p, names, &mistake->err);
        else if (p.length > 9 && !memcmp(p.text, "resource.", 9) && !names->has_resource)
            wni_fail(&mistake->err, WN_EINVAL, "placeholder {%.*s} needs 'resource' in the study",
                     (int)p.length, p.text);
        else
            continue;
        return fail_at(mistake, (size_t)(start - text));
    }
}

/* ---- expanding ---- */

/* Single quotes stop every meaning but their own. */
static void put_quoted(struct buf *out, const char *text)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
    if (*text && !text[strspn(text, harmless)]) {
        wni_buf_puts(out, text);
        return;
    }
    wni_buf_putc(out, '\'');
    for (; *text; text++)
        if (*text == '\'')
            wni_buf_puts(out, "'\\''");
        else
            wni_buf_putc(out, *text);
    wni_buf_putc(out, '\'');
}

static wn_status put_value(const struct piece *p, const struct command_values *v, bool shell, struct buf *out)
{
    char scratch[WN_WHY_MAX];
    for (size_t i = 0; i < v->space->n; i++) {
        const struct param *param = &v->space->params[i];
        if (!piece_is(p, param->name)) continue;
        const char *text = wni_param_text(param, v->config[i], scratch);
        if (shell)
            put_quoted(out, text);
        else
            wni_buf_puts(out, text);
        return WN_OK;
    }
    if (piece_is(p, "trial"))
        wni_buf_printf(out, "%" PRId64, v->trial);
    else if (piece_is(p, "resource.min"))
        wni_buf_double(out, v->min_resource);
    else if (piece_is(p, "resource.max"))
        wni_buf_double(out, v->max_resource);
    else
        return WN_EINVAL;
    return WN_OK;
}

static wn_status expand_word(const char *word, const struct command_values *v, bool shell, struct buf *out,
                             struct err *err)
{
    for (const char *at = word;;) {
        struct piece p = next_piece(&at);
        if (p.kind == PIECE_END) return out->failed ? wni_fail_memory(err) : WN_OK;
        if (p.kind == PIECE_TEXT)
            wni_buf_add(out, p.text, p.length);
        else if (p.kind == PIECE_WRONG || put_value(&p, v, shell, out))
            return wni_fail(err, WN_EINVAL, "command: '%.*s' cannot be filled in", (int)p.length, p.text);
    }
}

wn_status wni_command_expand(const struct command *command, const struct command_values *values,
                             struct arena *arena, const char *const **argv, struct err *err)
{
    size_t before = command->shell ? 2 : 0;
    const char **words = arena_new(arena, const char *, before + command->n + 1);
    if (!words) return wni_fail_memory(err);
    if (command->shell) {
        words[0] = "/bin/sh";
        words[1] = "-c";
    }
    struct buf word = {0};
    wn_status st = WN_OK;
    for (size_t i = 0; i < command->n && !st; i++) {
        wni_buf_clear(&word);
        st = expand_word(command->words[i], values, command->shell, &word, err);
        if (!st && !(words[before + i] = wni_arena_strdup(arena, wni_buf_text(&word))))
            st = wni_fail_memory(err);
    }
    wni_buf_release(&word);
    if (!st) *argv = words;
    return st;
}
