/* command_keys.c -- the keys `command` and `shell`. */
#include "base/mem.h"
#include "base/utf8.h"
#include "studyfile/keys.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 128 << 10, WORDS_MAX = 10000 }; /* about what Linux lets a program be started with */
enum { PLACEHOLDERS_MAX = 2000 };

/* A complaint about the character at `offset` of a scalar.  Where the file has the text as it is, the column
 * is exact. */
static void complain_at(struct reader *r, const struct node *node, const struct command_mistake *mistake)
{
    struct node here = *node;
    if (node->verbatim) here.column += (int)wni_utf8_count(node->text, mistake->offset);
    wni_problem(r->problems, &here, "'command': %s", mistake->err.text);
}

static bool is_too_long(struct reader *r, const struct node *word)
{
    if (strlen(word->text) < WORD_MAX) return false;
    wni_problem(r->problems, word, "'command' is longer than %d KiB", WORD_MAX >> 10);
    return true;
}

static void read_line(struct reader *r, const struct node *line)
{
    struct command *command = &r->study->command;
    struct command_mistake mistake = {0};
    bool shell = false;
    const struct node *shell_node = wni_node_get(r->root, "shell");
    if (!wni_needs_text(r, line, "command", "a command line or a list of words") || is_too_long(r, line))
        return;
    if (shell_node) wni_node_bool(shell_node, &shell);
    if (shell) {
        const char **words = wni_keep_array(r, 2, sizeof *words);
        if (words) words[0] = wni_keep_text(r, line->text);
        command->words = words;
        command->n = 1;
        return;
    }
    wn_status st = wni_command_split(line->text, &r->study->arena, &command->words, &command->n, &mistake);
    if (st == WN_ENOMEM)
        r->problems->failed = true;
    else if (st)
        complain_at(r, line, &mistake);
    else if (command->n == 0)
        wni_problem(r->problems, line, "'command' is empty");
}

static void read_word(struct reader *r, const struct node *item, size_t number, const char **out)
{
    char got[NODE_DESCRIPTION_MAX];
    if (item->kind != NODE_SCALAR || wni_node_is_null(item))
        wni_problem(r->problems, item, "'command': word %zu must be text, got %s", number,
                    wni_node_describe(item, got));
    else if (!is_too_long(r, item))
        *out = wni_keep_text(r, item->text);
}

static void read_words(struct reader *r, const struct node *list)
{
    const struct node *shell = wni_node_get(r->root, "shell");
    bool on;
    if (list->n == 0 || list->n > WORDS_MAX) {
        wni_problem(r->problems, list, list->n ? "'command' has too many words" : "'command' is empty");
        return;
    }
    if (wni_node_bool(shell, &on) && on)
        wni_problem(r->problems, shell,
                    "'shell: true' needs 'command' as one line of text, not a list of words");
    const char **words = wni_keep_array(r, list->n + 1, sizeof *words);
    for (size_t i = 0; i < list->n && words; i++)
        read_word(r, list->items[i], i + 1, &words[i]);
    r->study->command.words = words;
    r->study->command.n = list->n;
}

void wni_read_command(struct reader *r, const struct node *at, const struct node *value)
{
    (void)at;
    if (value->kind == NODE_LIST)
        read_words(r, value);
    else
        read_line(r, value);
}

/* ---- placeholders ---- */

/* Names that were declared, right or wrong: a mistake in a parameter is no mistake in the command. */
static const struct node *declared_name(const struct node *parameters, size_t i)
{
    const struct node *name =
        parameters->kind == NODE_MAP ? parameters->keys[i] : wni_node_get(parameters->items[i], "name");
    return name && name->kind == NODE_SCALAR ? name : NULL;
}

static void check_taken(struct reader *r, const struct node *name)
{
    static const char *const taken[] = {"trial", "resource.min", "resource.max"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!strcmp(name->text, taken[i]))
            wni_problem(r->problems, name, "parameter '%s': {%s} means something else in 'command'", taken[i],
                        taken[i]);
}

static void check_text(struct reader *r, const struct node *node, const struct command_names *names)
{
    struct command_mistake mistake = {0};
    size_t offset = 0;
    if (node->kind != NODE_SCALAR || strlen(node->text) >= WORD_MAX) return;
    while (!wni_problems_full(r->problems) && wni_command_check(node->text, names, &offset, &mistake))
        complain_at(r, node, &mistake);
}

void wni_check_placeholders(struct reader *r, const struct node *command, const struct node *parameters)
{
    size_t n = parameters ? parameters->n : 0;
    if (n > PLACEHOLDERS_MAX) n = PLACEHOLDERS_MAX; /* more parameters are refused anyway */
    const char **declared = wni_new(const char *, n);
    struct command_names names = {declared, 0, wni_node_get(r->root, "resource") != NULL};
    if (!declared) {
        r->problems->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct node *name = declared_name(parameters, i);
        if (!name) continue;
        check_taken(r, name);
        declared[names.n++] = name->text;
    }
    if (command && command->kind == NODE_SCALAR) check_text(r, command, &names);
    for (size_t i = 0; command && command->kind == NODE_LIST && i < command->n && i < WORDS_MAX; i++)
        check_text(r, command->items[i], &names);
    free(declared);
}
