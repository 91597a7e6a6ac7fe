/* studyargs.c -- turns flags into nodes of a study document. */
#include "cli/studyargs.h"

#include "base/mem.h"
#include "cli/notes.h"

#include <stdlib.h>
#include <string.h>

struct builder {
    struct document *doc;
    const char *flag;    /* whose value is being put in: what messages blame */
    bool failed;         /* out of memory */
    struct node nowhere; /* what callers get then, so that they need not look */
};

/* ---- nodes ---- */

static struct node *new_node(struct builder *b, enum node_kind kind)
{
    struct node *n = arena_new(&b->doc->arena, struct node, 1);
    if (!n) {
        b->failed = true;
        b->nowhere = (struct node){.kind = kind};
        return &b->nowhere;
    }
    n->kind = kind;
    n->flag = b->flag;
    return n;
}

static struct node *scalar(struct builder *b, const char *text, size_t length, bool quoted)
{
    struct node *n = new_node(b, NODE_SCALAR);
    const char *copy = wni_arena_strndup(&b->doc->arena, text, length);
    if (!copy) b->failed = true;
    n->text = copy ? copy : "";
    n->quoted = quoted;
    return n;
}

static struct node *text_node(struct builder *b, const char *text, bool quoted)
{
    return scalar(b, text, strlen(text), quoted);
}

/* One more entry; arrays of documents are as long as they need to be, so they are copied. */
static void append(struct builder *b, struct node *to, struct node *key, struct node *value)
{
    struct node **items = arena_new(&b->doc->arena, struct node *, to->n + 1);
    struct node **keys = arena_new(&b->doc->arena, struct node *, to->n + 1);
    if (!items || !keys || b->failed) {
        b->failed = true;
        return;
    }
    if (to->items) memcpy(items, to->items, to->n * sizeof(struct node *));
    if (to->keys) memcpy(keys, to->keys, to->n * sizeof(struct node *));
    items[to->n] = value;
    keys[to->n] = key;
    to->items = items;
    to->keys = keys;
    to->n++;
}

static struct node **find(const struct node *map, const char *key)
{
    for (size_t i = 0; i < map->n; i++)
        if (!strcmp(map->keys[i]->text, key)) return &map->items[i];
    return NULL;
}

static void set(struct builder *b, struct node *map, const char *key, struct node *value)
{
    struct node **old = find(map, key);
    if (old)
        *old = value;
    else
        append(b, map, text_node(b, key, false), value);
}

static void set_text(struct builder *b, struct node *map, const char *key, const char *text)
{
    set(b, map, key, text_node(b, text, false));
}

static void remove_key(struct node *map, const char *key)
{
    struct node **at = find(map, key);
    if (!at) return;
    size_t i = (size_t)(at - map->items);
    map->n--;
    memmove(&map->items[i], &map->items[i + 1], (map->n - i) * sizeof *map->items);
    memmove(&map->keys[i], &map->keys[i + 1], (map->n - i) * sizeof *map->keys);
}

/* The mapping under a key, made when it is not there or something else. */
static struct node *inner(struct builder *b, struct node *map, const char *key)
{
    struct node **at = find(map, key);
    if (at && (*at)->kind == NODE_MAP) return *at;
    struct node *fresh = new_node(b, NODE_MAP);
    set(b, map, key, fresh);
    return fresh;
}

/* ---- flags that change a study ---- */

/* "stop.trials" is a key inside a mapping. */
static void override(struct builder *b, struct node *root, const struct args *args, const char *flag,
                     const char *section, const char *key)
{
    const char *value = wni_arg(args, flag);
    b->flag = flag;
    if (value) set_text(b, section ? inner(b, root, section) : root, key, value);
    b->flag = NULL;
}

static void override_method(struct builder *b, struct node *root, const struct args *args)
{
    const char *name = wni_arg(args, "method"), *changes = wni_arg(args, "set");
    b->flag = "method";
    if (name) {
        remove_key(root, "searcher");
        remove_key(root, "scheduler");
        set_text(b, root, "method", name);
    }
    b->flag = changes ? "set" : NULL;
    if (!changes) return;
    struct node **old = find(root, "method");
    struct node *plain = old && (*old)->kind == NODE_SCALAR ? *old : NULL;
    struct node *method = inner(b, root, "method");
    if (plain) {
        method->flag = plain->flag; /* it stands where the name stood */
        method->line = plain->line;
        method->column = plain->column;
        set(b, method, "name", plain);
    } else if (!old && !find(root, "searcher") && !find(root, "scheduler")) {
        set_text(b, method, "name", "rs"); /* as without --set */
    }
    for (const char *at = changes; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " "), k = strcspn(at, "=");
        if (k >= n) k = n;
        struct node *value = k < n ? scalar(b, at + k + 1, n - k - 1, false) : text_node(b, "", false);
        set(b, method, scalar(b, at, k, false)->text, value);
        at += n;
    }
    b->flag = NULL;
}

/* What override_method() cannot make sense of. */
static wn_status check_set(const struct args *args, struct err *err)
{
    const char *changes = wni_arg(args, "set");
    for (const char *at = changes ? changes : ""; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " "), k = strcspn(at, "=");
        if (k == 0 || k + 1 >= n)
            return wni_fail(err, WN_EINVAL,
                            "--set: expected PART.OPTION=VALUE, as in scheduler.eta=4, got '%.*s'", (int)n,
                            at);
        at += n;
    }
    return WN_OK;
}

static void override_all(struct builder *b, struct node *root, const struct args *args)
{
    static const struct {
        const char *flag, *section, *key;
    } rows[] = {{"name", NULL, "name"},
                {"store", NULL, "store"},
                {"folder", NULL, "folder"},
                {"backend", NULL, "backend"},
                {"workers", NULL, "workers"},
                {"seed", NULL, "seed"},
                {"trials", "stop", "trials"},
                {"results", "stop", "results"},
                {"time", "stop", "time"},
                {"timeout", "trial", "timeout"},
                {"grace", "trial", "grace"},
                {"retries", "trial", "retries"},
                {"pattern", "report", "pattern"},
                {"checkpoints", "trial", "checkpoints"},
                {"total-resource", "stop", "resource"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        override(b, root, args, rows[i].flag, rows[i].section, rows[i].key);
    override_method(b, root, args);
}

/* ---- a study made of flags ---- */

static bool take_prefix(const char **text, size_t *n, const char *prefix)
{
    size_t length = strlen(prefix);
    if (*n < length || memcmp(*text, prefix, length) != 0) return false;
    *text += length;
    *n -= length;
    return true;
}

static const char *find_dots(const char *text, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++)
        if (text[i] == '.' && text[i + 1] == '.') return text + i;
    return NULL;
}

/* MIN..MAX or MIN..MAX/STEP into a mapping. */
static void put_range(struct builder *b, struct node *map, const char *text, size_t n, const char *dots)
{
    const char *max = dots + 2, *end = text + n;
    const char *slash = memchr(max, '/', (size_t)(end - max));
    set(b, map, "min", scalar(b, text, (size_t)(dots - text), false));
    set(b, map, "max", scalar(b, max, (size_t)((slash ? slash : end) - max), false));
    if (slash) set(b, map, "step", scalar(b, slash + 1, (size_t)(end - slash - 1), false));
}

static struct node *list_of(struct builder *b, const char *text, size_t n)
{
    struct node *list = new_node(b, NODE_LIST);
    for (const char *at = text, *end = text + n; at <= end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        append(b, list, NULL, scalar(b, at, (size_t)(stop - at), false));
        at = stop + 1;
    }
    return list;
}

/* What the flag's value means is as in the study file: the same messages then fit. */
static struct node *read_range(struct builder *b, const char *text, size_t n)
{
    struct node *map = new_node(b, NODE_MAP);
    if (n == 4 && !memcmp(text, "bool", 4)) {
        set_text(b, map, "type", "bool");
        return map;
    }
    if (take_prefix(&text, &n, "ord:")) {
        set_text(b, map, "type", "ordinal");
        set(b, map, "values", list_of(b, text, n));
        return map;
    }
    bool log = take_prefix(&text, &n, "log"), whole = take_prefix(&text, &n, "int");
    if ((log || whole) && !take_prefix(&text, &n, ":")) { /* a value that happens to start like this */
        text -= (log ? 3 : 0) + (whole ? 3 : 0);
        n += (size_t)(log ? 3 : 0) + (whole ? 3 : 0);
        log = whole = false;
    }
    const char *dots = find_dots(text, n);
    if (!dots) return memchr(text, ',', n) ? list_of(b, text, n) : scalar(b, text, n, false);
    set_text(b, map, "type", whole ? "int" : "float");
    put_range(b, map, text, n, dots);
    if (log) set_text(b, map, "scale", "log");
    return map;
}

static wn_status read_parameters(struct builder *b, struct node *parameters, const char *flags,
                                 struct err *err)
{
    for (const char *at = flags ? flags : ""; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " "), k = strcspn(at, "=");
        if (k >= n) return wni_fail(err, WN_EINVAL, "--param: expected NAME=RANGE, got '%.*s'", (int)n, at);
        const char *name = scalar(b, at, k, false)->text;
        if (find(parameters, name)) return wni_fail(err, WN_EINVAL, "--param: '%s' is given twice", name);
        set(b, parameters, name, read_range(b, at + k + 1, n - k - 1));
        at += n;
    }
    return WN_OK;
}

static wn_status put_parameters(struct builder *b, struct node *root, const char *flags, struct err *err)
{
    struct node *parameters = inner(b, root, "parameters");
    wn_status st = read_parameters(b, parameters, flags, err);
    return st || parameters->n || b->failed
               ? st
               : wni_fail(err, WN_EINVAL,
                          "nothing to tune: add --param NAME=RANGE, as in --param lr=log:1e-5..0.1");
}

/* In place of what the study says about them so far. */
static wn_status replace_parameters(struct builder *b, struct node *root, const char *flags, struct err *err)
{
    struct node *parameters = inner(b, root, "parameters"), *given = new_node(b, NODE_MAP);
    b->flag = "param";
    wn_status st = read_parameters(b, given, flags, err);
    b->flag = NULL;
    for (size_t i = 0; i < given->n && !st; i++)
        set(b, parameters, given->keys[i]->text, given->items[i]);
    return st;
}

static wn_status put_resource(struct builder *b, struct node *root, const char *flag, struct err *err)
{
    if (!flag) return WN_OK;
    const char *equals = strchr(flag, '='), *dots = find_dots(flag, strlen(flag));
    if (!equals || !dots || dots < equals)
        return wni_fail(err, WN_EINVAL, "--resource: expected NAME=MIN..MAX, as in epoch=1..81, got '%s'",
                        flag);
    b->flag = "resource";
    struct node *resource = inner(b, root, "resource");
    set(b, resource, "name", scalar(b, flag, (size_t)(equals - flag), true));
    put_range(b, resource, equals + 1, strlen(equals + 1), dots);
    return WN_OK;
}

/* What a study is called that has no file: as its program, which of `python3 train.py` is train. */
static struct node *program_name(struct builder *b, char *const *words, size_t n_words)
{
    const char *program = words[wni_command_script((const char *const *)words, n_words)];
    const char *slash = strrchr(program, '/'), *base = slash ? slash + 1 : program;
    size_t n = strcspn(base, ".");
    return n ? scalar(b, base, n, true) : text_node(b, "study", true);
}

static wn_status build_study(struct builder *b, struct node *root, const struct args *args, struct err *err)
{
    const char *less = wni_arg(args, "minimize"), *more = wni_arg(args, "maximize");
    if (less && more) return wni_fail(err, WN_EINVAL, "give either --minimize or --maximize");
    if (args->n_words == 0)
        return wni_fail(err, WN_EINVAL,
                        "the command is missing: put it after --, as in -- ./train --lr {lr}");
    struct node *metric = inner(b, root, "metric"), *command = new_node(b, NODE_LIST);
    set(b, metric, "name", text_node(b, less ? less : more, true));
    set_text(b, metric, "goal", less ? "minimize" : "maximize");
    for (size_t i = 0; i < args->n_words; i++)
        append(b, command, NULL, text_node(b, args->words[i], true));
    set(b, root, "command", command);
    set(b, root, "name", program_name(b, args->words, args->n_words));
    wn_status st = put_resource(b, root, wni_arg(args, "resource"), err);
    b->flag = "param";
    if (!st) st = put_parameters(b, root, wni_arg(args, "param"), err);
    b->flag = NULL;
    return st;
}

/* ---- together ---- */

wn_status wni_studyargs_load(struct document *doc, const char *path, struct err *err)
{
    wn_status st = wni_document_load(doc, path, err);
    const char *dot = strrchr(path, '.');
    bool usual = dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml") || !strcmp(dot, ".json"));
    if (st == WN_ENOTFOUND) {
        struct err why = *err;
        return wni_fail(err, st, "%s; 'winnow init %s' writes a study file to start from", why.text, path);
    }
    if (st != WN_EINVAL && (st || doc->root->kind == NODE_MAP)) return st;
    if (usual) return st;
    wni_document_release(doc);
    return wni_fail(
        err, WN_EINVAL,
        "'%s' is not a study file; to tune a program put it behind --: winnow run --minimize METRIC "
        "--param NAME=RANGE -- %s%s {NAME}; 'winnow init' writes a study file",
        path,
        dot && !strcmp(dot, ".py") ? "python3 "
        : strchr(path, '/')        ? ""
                                   : "./",
        path);
}

static wn_status make_document(const struct args *args, struct document *doc, struct err *err)
{
    bool from_flags = wni_arg(args, "minimize") || wni_arg(args, "maximize");
    struct builder b = {.doc = doc};
    wn_status st = WN_OK;
    if (from_flags) {
        doc->name = "winnow";
        doc->root = new_node(&b, NODE_MAP);
        st = build_study(&b, doc->root, args, err);
    } else if (args->n_words != 1) {
        st =
            wni_fail(err, WN_EINVAL, "%s: expected a study file, or --minimize METRIC --param ... -- COMMAND",
                     args->command->name);
    } else if (wni_arg(args, "param") || wni_arg(args, "resource")) {
        st = wni_fail(err, WN_EINVAL,
                      "--param and --resource go with --minimize or --maximize, not with a file");
    } else {
        st = wni_studyargs_load(doc, args->words[0], err);
    }
    if (!st) st = check_set(args, err);
    if (!st && doc->root && doc->root->kind == NODE_MAP) override_all(&b, doc->root, args);
    if (!b.failed) return st;
    doc->root = NULL; /* it may be nowhere */
    return wni_fail_memory(err);
}

/* Reads the document, prints what is wrong, and releases it. */
static int read_study(struct document *doc, bool to_run, wn_status st, struct err *err,
                      struct studyfile *study)
{
    struct problems problems = {0};
    int code = EXIT_DONE;
    if (!st) {
        st = to_run ? wni_studyfile_read(study, doc, &problems)
                    : wni_studyfile_read_driven(study, doc, &problems);
        if (st == WN_EINVAL) wni_complain_problems(&problems);
        if (st == WN_EINVAL) code = EXIT_USAGE;
    }
    if (st && code == EXIT_DONE) {
        code = wni_complain(err, st);
        if (st != WN_ENOMEM) code = EXIT_USAGE; /* a file that cannot be read is a mistake of the same kind */
    }
    wni_problems_release(&problems);
    wni_document_release(doc);
    return code;
}

int wni_study_from_args(const struct args *args, struct studyfile *study, struct buf *text)
{
    struct document doc = {0};
    struct err err = {0};
    *study = (struct studyfile){0};
    wn_status st = make_document(args, &doc, &err);
    if (!st && doc.root) wni_node_write(doc.root, text);
    if (!st && text->failed) st = wni_fail_memory(&err);
    return read_study(&doc, true, st, &err, study);
}

/* Where it is wins over what its file says. */
static wn_status put_place(struct document *doc, const char *name, const char *store, struct err *err)
{
    struct builder b = {.doc = doc};
    set(&b, doc->root, "name", text_node(&b, name, true));
    set(&b, doc->root, "store", text_node(&b, store, true));
    if (!b.failed) return WN_OK;
    doc->root = NULL;
    return wni_fail_memory(err);
}

int wni_study_from_stored(const struct args *args, const char *stored, const char *name, const char *store,
                          struct studyfile *study)
{
    struct document doc = {0};
    struct err err = {0};
    *study = (struct studyfile){0};
    wn_status st = wni_yaml_parse(&doc, name, stored, strlen(stored), &err);
    if (!st && doc.root->kind == NODE_MAP) {
        struct builder b = {.doc = &doc};
        if (args) override_all(&b, doc.root, args);
        st = b.failed ? wni_fail_memory(&err) : put_place(&doc, name, store, &err);
        if (st) doc.root = NULL;
    }
    return read_study(&doc, true, st, &err, study);
}

/* ---- a stored study, changed ---- */

static bool decides(const char *key)
{
    return !strcmp(key, "method") || !strcmp(key, "searcher") || !strcmp(key, "scheduler");
}

/* What the new file does not say stays as it was.  Nodes of the old document are linked into the new one. */
static void inherit(struct builder *b, struct node *root, const struct node *old)
{
    bool decided = false;
    for (size_t i = 0; i < root->n; i++)
        decided = decided || decides(root->keys[i]->text);
    for (size_t i = 0; i < old->n; i++) {
        const char *key = old->keys[i]->text;
        if (!find(root, key) && !(decided && decides(key))) set(b, root, key, old->items[i]);
    }
}

/* Where the study is does not change, whatever file and flags say. */
static void keep_place(struct builder *b, struct node *root, const struct node *name,
                       const struct node *store)
{
    const struct node *values[] = {name, store};
    static const char *const keys[] = {"name", "store"};
    for (int i = 0; i < 2; i++) {
        if (values[i])
            set(b, root, keys[i], text_node(b, values[i]->text, values[i]->quoted));
        else
            remove_key(root, keys[i]);
    }
}

/* `old` is what is stored, `doc` the same or the file of --file. */
static wn_status change_document(const struct args *args, struct document *doc, const struct document *old,
                                 struct err *err)
{
    struct builder b = {.doc = doc};
    if (doc->root->kind != NODE_MAP || old->root->kind != NODE_MAP) return WN_OK; /* read_study() complains */
    inherit(&b, doc->root, old->root);
    override_all(&b, doc->root, args);
    keep_place(&b, doc->root, wni_node_get(old->root, "name"), wni_node_get(old->root, "store"));
    wn_status st = replace_parameters(&b, doc->root, wni_arg(args, "param"), err);
    if (!b.failed) return st;
    doc->root = NULL;
    return wni_fail_memory(err);
}

/* `text` is what is to be stored: to the letter the old one if it says the same. */
static wn_status load_changed(const struct args *args, const char *stored, const char *name,
                              struct document *old, struct document *doc, struct buf *text, struct err *err)
{
    struct buf before = {0};
    const char *path = wni_arg(args, "file");
    wn_status st = wni_yaml_parse(old, name, stored, strlen(stored), err);
    if (st) return st;
    st = path ? wni_document_load(doc, path, err) : wni_yaml_parse(doc, name, stored, strlen(stored), err);
    wni_node_write(old->root, &before);
    if (!st) st = change_document(args, doc, old, err);
    if (!st && doc->root) wni_node_write(doc->root, text);
    if (!st && !strcmp(wni_buf_text(&before), wni_buf_text(text))) {
        wni_buf_clear(text);
        wni_buf_puts(text, stored);
    }
    if (!st && (before.failed || text->failed)) st = wni_fail_memory(err);
    wni_buf_release(&before);
    return st;
}

int wni_study_from_changes(const struct args *args, const char *stored, const char *name, const char *store,
                           struct studyfile *study, struct buf *text)
{
    struct document doc = {0}, old = {0};
    struct err err = {0};
    *study = (struct studyfile){0};
    wn_status st = load_changed(args, stored, name, &old, &doc, text, &err);
    if (!st && doc.root && doc.root->kind == NODE_MAP) st = put_place(&doc, name, store, &err);
    int code = read_study(&doc, !wni_flag(args, "no-run"), st, &err, study);
    wni_document_release(&old);
    return code;
}
