/* network.c -- black boxes whose learning curves come out of a surrogate network.
 *
 * A curve is computed 16 levels at a time, when one of them is first read: a trial that is stopped after a
 * few epochs, as most are, costs a fraction of the whole curve (about 0.3 ms of 2 ms for nb301).  Seconds are
 * the running maximum over the levels, since the network's cumulative time dips now and then. */
#include "bench/network.h"

#include "base/mem.h"
#include "bench/kind.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

struct input {
    bool is_word;
    size_t index;    /* among the model's words or numbers */
    uint32_t *codes; /* words: code of each value of the parameter */
};

struct network_box {
    struct box box;
    struct network network;
    struct input *inputs;               /* one per parameter */
    uint32_t codes[MLP_EMBEDDINGS_MAX]; /* of words that the task fixes */
    size_t value_output, seconds_output;
};

/* Followed by prefix[width], then values and seconds of every level. */
struct curve_state {
    size_t done; /* levels computed */
};

static void close_network(struct blackbox *base)
{
    struct network_box *n = (struct network_box *)base;
    wni_network_release(&n->network);
    wni_box_release(&n->box);
    free(n);
}

static double *values_of(const struct network_box *n, void *state)
{
    (void)n;
    return (double *)(void *)((char *)state + sizeof(struct curve_state));
}

static double *seconds_of(const struct network_box *n, void *state)
{
    return values_of(n, state) + n->box.base.n_levels;
}

static float *prefix_of(const struct network_box *n, void *state)
{
    return (float *)(void *)(seconds_of(n, state) + n->box.base.n_levels);
}

static wn_status open_curve(const struct blackbox *base, const double *config, uint64_t seed, void *state,
                            struct err *err)
{
    (void)seed, (void)err;
    const struct network_box *n = (const struct network_box *)base;
    uint32_t codes[MLP_EMBEDDINGS_MAX];
    double numbers[MLP_INPUTS_MAX];
    memcpy(codes, n->codes, sizeof codes);
    for (size_t i = 0; i < base->space.n; i++) {
        const struct input *input = &n->inputs[i];
        if (input->is_word)
            codes[input->index] = input->codes[(size_t)config[i]];
        else
            numbers[input->index] = wni_param_number(&base->space.params[i], config[i]);
    }
    wni_network_begin(&n->network, codes, numbers, prefix_of(n, state));
    return WN_OK;
}

static void compute_tile(const struct network_box *n, struct curve_state *c)
{
    float raw[MLP_OUTPUTS_MAX][MLP_TILE];
    double *values = values_of(n, c), *seconds = seconds_of(n, c);
    size_t from = c->done, left = n->box.base.n_levels - from, count = left < MLP_TILE ? left : MLP_TILE;
    wni_network_run(&n->network, prefix_of(n, c), n->box.base.levels + from, count, raw);
    for (size_t i = 0; i < count; i++) {
        double before = from + i > 0 ? seconds[from + i - 1] : 0;
        double now = wni_network_output(&n->network, n->seconds_output, raw[n->seconds_output][i]);
        seconds[from + i] = now > before ? now : before;
        values[from + i] = wni_network_output(&n->network, n->value_output, raw[n->value_output][i]);
    }
    c->done = from + count;
}

static void read_curve(const struct blackbox *base, void *state, size_t level, double *value, double *seconds)
{
    const struct network_box *n = (const struct network_box *)base;
    struct curve_state *c = state;
    while (c->done <= level)
        compute_tile(n, c);
    *value = values_of(n, state)[level];
    *seconds = seconds_of(n, state)[level];
}

static double last_value(const struct blackbox *base, void *state)
{
    const struct network_box *n = (const struct network_box *)base;
    float raw[MLP_OUTPUTS_MAX][MLP_TILE];
    wni_network_run(&n->network, prefix_of(n, state), base->levels + base->n_levels - 1, 1, raw);
    return wni_network_output(&n->network, n->value_output, raw[n->value_output][0]);
}

static const struct blackbox_ops network_ops = {
    .open_curve = open_curve, .read_curve = read_curve, .last_value = last_value, .close = close_network};

/* ---- opening ---- */

struct opening {
    struct network_box *n;
    const struct task *task;
    const struct family *family;
    struct document encoding; /* word -> value -> code */
    const char *prefix;       /* of the words' names in it */
    struct err *err;
};

static bool find_name(const char *const *names, size_t n, const char *name, size_t *index)
{
    for (*index = 0; *index < n; ++*index)
        if (!strcmp(names[*index], name)) return true;
    return false;
}

/* The code of a value of a word, which must be a row of its embedding. */
static wn_status get_code(const struct opening *o, size_t word, const char *value, uint32_t *out)
{
    const char *name = o->n->network.model->words[word];
    char key[256];
    int64_t code = -1;
    size_t used = strlen(o->prefix);
    if (used + strlen(name) < sizeof key) {
        memcpy(key, o->prefix, used);
        memcpy(key + used, name, strlen(name) + 1);
        const struct node *n = wni_node_get(wni_node_get(o->encoding.root, key), value);
        if (!n || !wni_node_int(n, &code)) code = -1;
    }
    if (code < 0 || (uint64_t)code >= o->n->network.mlp.embedding[word].n)
        return wni_fail(o->err, WN_EINVAL, "'%s/encoding.json': no usable code for the value '%s' of '%s'",
                        o->family->folder, value, name);
    *out = (uint32_t)code;
    return WN_OK;
}

static wn_status match_word(struct opening *o, const struct param *p, struct input *input)
{
    input->is_word = true;
    if (!p->labels)
        return wni_family_fail(o->family, o->family->parameters, o->err, "parameter '%s' must be categorical",
                               p->name);
    input->codes = arena_new(&o->n->box.arena, uint32_t, (size_t)p->count);
    if (!input->codes) return wni_fail_memory(o->err);
    wn_status st = WN_OK;
    for (size_t k = 0; k < p->count && !st; k++)
        st = get_code(o, input->index, p->labels[k], &input->codes[k]);
    return st;
}

/* Finds for every parameter the input of the network that it is. */
static wn_status match_inputs(struct opening *o)
{
    struct network_box *n = o->n;
    const struct network_model *model = n->network.model;
    const struct space *space = &n->box.base.space;
    n->inputs = arena_new(&n->box.arena, struct input, space->n);
    if (!n->inputs) return wni_fail_memory(o->err);
    for (size_t i = 0; i < space->n; i++) {
        const struct param *p = &space->params[i];
        wn_status st = WN_OK;
        if (find_name(model->words, model->n_words, p->name, &n->inputs[i].index))
            st = match_word(o, p, &n->inputs[i]);
        else if (!find_name(model->numbers, model->n_numbers, p->name, &n->inputs[i].index) ||
                 !strcmp(p->name, "epoch") || (p->labels && !p->numbers))
            st = wni_family_fail(o->family, o->family->parameters, o->err,
                                 "parameter '%s' is not an input of the network", p->name);
        if (st) return st;
    }
    return WN_OK;
}

static bool is_parameter(const struct opening *o, const char *name)
{
    return wni_space_find(&o->n->box.base.space, name, NULL);
}

/* Inputs that are not parameters: the epoch, and one word that tells the task apart, its `instance`. */
static wn_status fix_others(struct opening *o)
{
    const struct network_model *model = o->n->network.model;
    const struct node *entry = o->family->tasks->items[o->task->index];
    for (size_t i = 1; i < model->n_numbers; i++)
        if (!is_parameter(o, model->numbers[i]))
            return wni_family_fail(o->family, o->family->parameters, o->err, "there is no parameter '%s'",
                                   model->numbers[i]);
    for (size_t i = 0; i < model->n_words; i++) {
        if (is_parameter(o, model->words[i])) continue;
        if (model->n_words > 1)
            return wni_family_fail(o->family, o->family->parameters, o->err, "there is no parameter '%s'",
                                   model->words[i]);
        const char *instance;
        wn_status st = wni_family_text(o->family, entry, "instance", NULL, &instance, o->err);
        if (!st) st = get_code(o, i, instance, &o->n->codes[i]);
        if (st) return st;
    }
    return WN_OK;
}

static wn_status choose_outputs(struct opening *o)
{
    struct network_box *n = o->n;
    const struct network_model *model = n->network.model;
    bool found = find_name(model->outputs, model->n_outputs, model->seconds, &n->seconds_output);
    found = found && find_name(model->outputs, model->n_outputs, o->task->metric, &n->value_output);
    if (found) return WN_OK;
    return wni_family_fail(o->family, o->family->tasks, o->err, "the network has no output '%s'",
                           o->task->metric);
}

static wn_status open_encoding(struct opening *o)
{
    wn_status st = wni_family_text(o->family, o->family->root, "prefix", "", &o->prefix, o->err);
    if (st) return st;
    const char *path = wni_path_join(&o->n->box.arena, o->family->folder, "encoding.json");
    return path ? wni_document_load(&o->encoding, path, o->err) : wni_fail_memory(o->err);
}

static size_t curve_size(const struct network_box *n)
{
    return sizeof(struct curve_state) + 2 * n->box.base.n_levels * sizeof(double) +
           n->network.mlp.width * sizeof(float);
}

static wn_status open_network(const struct task *task, const struct family *family, struct blackbox **out,
                              struct err *err)
{
    struct network_box *n = wni_new(struct network_box, 1);
    if (!n) return wni_fail_memory(err);
    struct opening o = {.n = n, .task = task, .family = family, .err = err};
    wn_status st = wni_box_init_family(&n->box, task, family, &network_ops, err);
    if (!st) st = wni_network_open(&n->network, family->folder, family->name, err);
    if (!st) st = open_encoding(&o);
    if (!st) st = match_inputs(&o);
    if (!st) st = fix_others(&o);
    if (!st) st = choose_outputs(&o);
    wni_document_release(&o.encoding);
    n->box.base.curve_size = st ? 0 : curve_size(n);
    if (st)
        close_network(&n->box.base);
    else
        *out = &n->box.base;
    return st;
}

const struct blackbox_kind wni_blackbox_network = {.name = "network", .open = open_network};
