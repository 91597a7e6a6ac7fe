/* test_blackbox_network.c -- bench/mlp.c, models.c and network.c: a small network against a slow one in
 * double precision, the real networks against the outputs of the published models, and wide registers against
 * narrow ones, bit for bit. */
#include "tests/unit/tiny_network.h"

#include "base/node.h"
#include "bench/network.h"

/* ---- the small network ---- */

static struct blackbox *open_tiny(const struct tiny *t)
{
    return world_open_in(t->dir, "tiny");
}

/* ---- the same, slowly: straight from the formulas, in double ---- */

static void slow_linear(const float *weight, const float *bias, size_t rows, size_t cols, const double *x,
                        double *y)
{
    for (size_t i = 0; i < rows; i++) {
        y[i] = (double)bias[i];
        for (size_t j = 0; j < cols; j++)
            y[i] += (double)weight[i * cols + j] * x[j];
    }
}

static void slow_norm(const float *const norm[4], const double *x, double *y)
{
    for (size_t i = 0; i < WIDTH; i++)
        y[i] = (x[i] - (double)norm[2][i]) / sqrt((double)norm[3][i] + 1e-5) * (double)norm[0][i] +
               (double)norm[1][i];
}

/* The sigmoid of every output. */
static void slow_network(const struct tiny *t, size_t code, const double *scaled, double out[OUTPUTS])
{
    double in[INPUTS], x[WIDTH], y[WIDTH], z[2 * HIDDEN], step[WIDTH];
    for (size_t i = 0; i < EMBEDDED; i++)
        in[i] = (double)t->embedding[code * EMBEDDED + i];
    memcpy(in + EMBEDDED, scaled, NUMBERS * sizeof *scaled);
    slow_linear(t->first_weight, t->first_bias, WIDTH, INPUTS, in, x);
    for (size_t k = 0; k < LAYERS; k++) {
        slow_norm(t->layer[k].norm, x, y);
        slow_linear(t->layer[k].weight0, t->layer[k].bias0, (size_t)2 * HIDDEN, WIDTH, y, z);
        for (size_t i = 0; i < HIDDEN; i++)
            z[i] *= fmax(z[i + HIDDEN], 0);
        slow_linear(t->layer[k].weight1, t->layer[k].bias1, WIDTH, HIDDEN, z, step);
        for (size_t i = 0; i < WIDTH; i++)
            x[i] += step[i];
    }
    slow_norm(t->last, x, y);
    for (size_t i = 0; i < WIDTH; i++)
        y[i] = fmax(y[i], 0);
    slow_linear(t->head_weight, t->head_bias, OUTPUTS, WIDTH, y, out);
    for (size_t i = 0; i < OUTPUTS; i++)
        out[i] = 1 / (1 + exp(-out[i]));
}

/* In the order epoch, batch_size, learning_rate, momentum, weight_decay, num_layers, max_units, max_dropout.
 */
static void scale_numbers(const double *numbers, double *scaled)
{
    static const double sub[] = {0, 16, -9.209311485290527,   0.10000386089086533, -9.91645622253418,
                                 1, 64, 0.0005357532645575702};
    static const double div[] = {
        3.9512436389923096, 495, 6.896975040435791, 0.8822514414787292, 7.6138458251953125, 3, 960,
        0.9994120597839355};
    for (size_t i = 0; i < NUMBERS; i++) {
        double x = i == 0 || i == 2 || i == 4 ? log(numbers[i] + 1e-12) : numbers[i];
        scaled[i] = (x - sub[i]) / div[i];
    }
}

static void a_small_network_agrees_with_the_slow_one(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct tiny t;
        make_tiny(&t, seed);
        struct blackbox *box = open_tiny(&t);
        struct rng rng = wni_rng_stream(seed, 1, 0);
        for (int round = 0; round < 20; round++) {
            double c[7], scaled[NUMBERS], sigmoids[OUTPUTS], value, seconds, latest = 0;
            check_random_config(&box->space, &rng, c);
            world_check_curve(box, c, 0);
            void *curve = world_curve(box, c, 0);
            for (size_t level = 0; level < box->n_levels; level++) {
                double numbers[] = {box->levels[level], c[2], c[3], c[5], c[4], c[0], c[1], c[6]};
                scale_numbers(numbers, scaled);
                slow_network(&t, 3, scaled, sigmoids); /* instance "b" has code 3 */
                latest = fmax(latest, sigmoids[0] * 46790.66796875 + 0.00014209747314453125);
                double accuracy = exp(sigmoids[1] * 32.233848571777344 - 27.63102149963379) - 1e-12;
                box->ops->read_curve(box, curve, level, &value, &seconds);
                /* float32 sums of this size are off by some 1e-6 in the exponent, times 32 */
                CHECK_NEAR(value, accuracy, 1e-4 * fabs(accuracy));
                CHECK_NEAR(seconds, latest, 1e-5 * latest);
            }
            free(curve);
        }
        box->ops->close(box);
        drop_tiny(&t);
    }
}

static void the_metric_may_be_any_output(void **state)
{
    (void)state;
    static const char *const outputs[] = {"time",
                                          "val_accuracy",
                                          "val_cross_entropy",
                                          "val_balanced_accuracy",
                                          "test_cross_entropy",
                                          "test_balanced_accuracy"};
    static const double mul[] = {46790.66796875,     32.233848571777344, 34.48017883300781,
                                 27.624671936035156, 5.54842472076416,   27.626203536987305};
    static const double add[] = {0.00014209747314453125, -27.63102149963379, 0.018199017271399498,
                                 -27.630813598632812,    0.3263173997402191, -27.63102149963379};
    struct tiny t;
    make_tiny(&t, 100);
    static const double config[] = {3, 128, 64, 0.01, 0.05, 0.9, 0.25};
    double scaled[NUMBERS], sigmoids[OUTPUTS];
    scale_numbers((double[]){20, 64, 0.01, 0.9, 0.05, 3, 128, 0.25}, scaled);
    slow_network(&t, 3, scaled, sigmoids);
    for (size_t i = 0; i < OUTPUTS; i++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "\"%s\"", outputs[i]);
        world_write_changed(t.dir, "blackbox.json", tiny_json, "\"val_accuracy\"", quoted);
        struct blackbox *box = open_tiny(&t);
        double v = sigmoids[i] * mul[i] + add[i], expected = i % 2 ? exp(v) - 1e-12 : v;
        CHECK_NEAR(world_value(box, config, 0, 19), expected, 1e-4 * fabs(expected));
        box->ops->close(box);
    }
    drop_tiny(&t);
}

/* ---- mistakes ---- */

static void refuses_broken_networks(void **state)
{
    (void)state;
    static const struct {
        const char *file, *from, *to, *why;
    } cases[] = {
        {"weights.json", "first_layer.weight", "first.weight", "there is no tensor 'first_layer.weight'"},
        {"weights.json", "layers.1.linear1.bias", "gone", "there is no tensor 'layers.1.linear1.bias'"},
        {"weights.json", "layers.0.norm.running_var", "gone",
         "there is no tensor 'layers.0.norm.running_var'"},
        {"weights.json", "\"layers.0.linear1.weight\", \"shape\": [6, 7]",
         "\"layers.0.linear1.weight\", \"shape\": [6, 8]",
         "tensor 'layers.0.linear1.weight' has a shape that does not fit"},
        {"weights.json", "\"layers.1.linear0.weight\", \"shape\": [14, 6]",
         "\"layers.1.linear0.weight\", \"shape\": [16, 6]",
         "tensor 'layers.1.linear0.weight' has a shape that does not fit"},
        {"weights.json", "\"layers.0.linear0.weight\", \"shape\": [14, 6]",
         "\"layers.0.linear0.weight\", \"shape\": [13, 6]", "does not fit"},
        {"weights.json", "\"head.bias\", \"shape\": [6]", "\"head.bias\", \"shape\": [6, 1]",
         "'head.bias' has a shape"},
        {"weights.json", "\"head.bias\", \"shape\": [6]", "\"head.bias\", \"shape\": 6",
         "'head.bias' has a shape"},
        {"weights.json", "\"head.bias\", \"shape\": [6]", "\"head.bias\", \"shape\": [-6]",
         "'head.bias' has a shape"},
        {"weights.json", "\"first_layer.bias\", \"shape\": [6], \"offset\": ",
         "\"first_layer.bias\", \"shape\": [6], \"offset\": 99", "ends beyond the"},
        {"weights.json", "\"first_layer.bias\", \"shape\": [6], \"offset\": ",
         "\"first_layer.bias\", \"shape\": [6], \"offset\": -", "'first_layer.bias' has a shape"},
        {"weights.json", "\"embds_fct.0.weight\", \"shape\": [5, 3]",
         "\"embds_fct.0.weight\", \"shape\": [5, 11]",
         "cannot run a network of width 6 with 11 inputs, 11 of them embedded"},
        {"weights.json", "\"embds_fct.0.weight\", \"shape\": [5, 3]",
         "\"embds_fct.0.weight\", \"shape\": [5, 2]",
         "1 embeddings, 9 numbers and 6 outputs where yahpo-lcbench has 1, 8 and 6"},
        {"weights.json", "\"tensors\"", "\"arrays\"", "there is no list of tensors"},
        {"weights.json", "{\"tensors\"", "[\"tensors\"", "weights.json"},
        {"encoding.json", "\"b\": 3", "\"b\": 5", "no usable code for the value 'b' of 'OpenML_task_id'"},
        {"encoding.json", "\"b\": 3", "\"b\": -1", "no usable code for the value 'b' of 'OpenML_task_id'"},
        {"encoding.json", "\"b\": 3", "\"c\": 3", "no usable code for the value 'b' of 'OpenML_task_id'"},
        {"encoding.json", "{\"OpenML", "{\"openML", "no usable code for the value 'b' of 'OpenML_task_id'"},
        {"blackbox.json", "\"instance\": \"b\", ", "", "'instance' is missing"},
        {"blackbox.json", "\"instance\": \"b\"", "\"instance\": \"word\"",
         "no usable code for the value 'word'"},
        {"blackbox.json", "\"val_accuracy\"", "\"f1\"", "the network has no output 'f1'"},
        {"blackbox.json", "\"momentum\"", "\"inertia\"",
         "parameter 'inertia' is not an input of the network"},
        {"blackbox.json", "\"momentum\"", "\"epoch\"", "parameter 'epoch' is not an input of the network"},
        {"blackbox.json", ",\n  {\"name\": \"max_dropout\", \"type\": \"float\", \"min\": 0, \"max\": 1}", "",
         "there is no parameter 'max_dropout'"},
        {"blackbox.json", "\"max_dropout\"", "\"OpenML_task_id\"",
         "parameter 'OpenML_task_id' must be categorical"},
        {"blackbox.json", "\"yahpo-lcbench\"", "\"yahpo-other\"",
         "there is no network model for the family 'yahpo-other'"},
        {"blackbox.json", "\"yahpo-lcbench\"", "\"nb301\"",
         "1 embeddings, 8 numbers and 6 outputs where nb301 has 34, 1 and 4"},
    };
    struct tiny t;
    make_tiny(&t, 7);
    char *weights = world_read(t.dir, "weights.json");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool description = !strcmp(cases[i].file, "blackbox.json"),
             encoding = !strcmp(cases[i].file, "encoding.json");
        const char *original = description ? tiny_json : encoding ? tiny_encoding : weights;
        world_write_changed(t.dir, cases[i].file, original, cases[i].from, cases[i].to);
        world_refused(t.dir, "tiny", cases[i].why);
        world_write(t.dir, cases[i].file, original);
    }
    check_tmp_write(t.dir, "weights.f32", t.weights, t.n * sizeof(float) - 4);
    world_refused(t.dir, "tiny", "tensor 'head.bias' ends beyond the");
    check_tmp_write(t.dir, "weights.f32", "", 0);
    world_refused(t.dir, "tiny", "ends beyond the 0 floats");
    free(weights);
    drop_tiny(&t);
}

/* ---- wide registers and narrow ones ---- */

static void compare_curves(const struct blackbox *a, const struct blackbox *b, uint64_t seed, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        struct rng rng = wni_rng_stream(seed, (uint64_t)round, 0);
        double config[64], values[2], seconds[2];
        check_random_config(&a->space, &rng, config);
        void *x = world_curve(a, config, 0), *y = world_curve(b, config, 0);
        for (size_t level = 0; level < a->n_levels; level++) {
            a->ops->read_curve(a, x, level, &values[0], &seconds[0]);
            b->ops->read_curve(b, y, level, &values[1], &seconds[1]);
            CHECK_DOUBLE(values[0], values[1]);
            CHECK_DOUBLE(seconds[0], seconds[1]);
        }
        free(x);
        free(y);
    }
}

static void check_registers(const char *folder, const char *name, int rounds)
{
    struct blackbox *wide = world_open_in(folder, name);
    setenv("WINNOW_SIMD", "none", 1);
    struct blackbox *narrow = world_open_in(folder, name);
    unsetenv("WINNOW_SIMD");
    compare_curves(wide, narrow, 9, rounds);
    wide->ops->close(wide);
    narrow->ops->close(narrow);
}

static void wide_registers_give_the_same_bits(void **state)
{
    (void)state;
    struct tiny t;
    make_tiny(&t, 8);
    check_registers(t.dir, "tiny", 100);
    drop_tiny(&t);
    struct task_list list;
    world_tasks(&list, NULL);
    static const char *const names[] = {"nb301-cifar10", "yahpo-lcbench-covertype"};
    for (size_t i = 0; i < 2; i++) {
        const struct task *task = wni_tasks_get(&list, names[i]);
        if (task) check_registers(task->folder, task->name, 3);
    }
    wni_tasks_release(&list);
}

static void the_environment_decides_about_registers(void **state)
{
    (void)state;
    struct tiny t;
    struct mlp m;
    struct err err = {0};
    make_tiny(&t, 8);
    CHECK_OK(wni_mlp_open(&m, t.dir, &err), err);
#if defined(__x86_64__)
    CHECK_INT(m.avx2, __builtin_cpu_supports("avx2") != 0);
#else
    CHECK_INT(m.avx2, false);
#endif
    wni_mlp_release(&m);
    setenv("WINNOW_SIMD", "none", 1);
    CHECK_OK(wni_mlp_open(&m, t.dir, &err), err);
    CHECK_INT(m.avx2, false);
    wni_mlp_release(&m);
    unsetenv("WINNOW_SIMD");
    drop_tiny(&t);
}

/* ---- the real networks ---- */

struct reference {
    const char *task;
    size_t first_number, n_codes, first_code, first_output, n_outputs; /* columns of reference.csv */
    /* 1e-5 relative, but no finer than the reference is itself.  It was computed in float32: a sigmoid, known
     * to 2^-24 at best, times `grain`.  For lcbench's time that is 3 ms, which counts where the time is a
     * second or two. */
    double grain[6];
};

/* Splits a line into numbers; what is no number becomes NAN. */
static size_t split(const char *line, double *out, size_t max)
{
    size_t n = 0;
    for (const char *at = line; n < max; at++) {
        char *end;
        out[n] = strtod(at, &end);
        if (end == at) out[n] = NAN;
        n++;
        at += strcspn(at, ",\n");
        if (*at != ',') break;
    }
    return n;
}

enum { COLUMNS_MAX = 64 };

/* Rows of the reference that differ in nothing but the epoch: one run of the network. */
struct curve_rows {
    double row[MLP_TILE][COLUMNS_MAX];
    size_t n;
};

static bool same_curve(const struct reference *r, const double *a, const double *b)
{
    size_t numbers = r->first_output - r->first_number - (r->first_code > r->first_number ? r->n_codes : 0);
    return !memcmp(a + r->first_code, b + r->first_code, r->n_codes * sizeof *a) &&
           !memcmp(a + r->first_number + 1, b + r->first_number + 1, (numbers - 1) * sizeof *a);
}

static void check_curve(const struct network *n, const struct reference *r, struct curve_rows *c,
                        double *worst)
{
    uint32_t codes[MLP_EMBEDDINGS_MAX];
    float prefix[MLP_WIDTH_MAX], raw[MLP_OUTPUTS_MAX][MLP_TILE];
    double epochs[MLP_TILE];
    for (size_t i = 0; i < r->n_codes; i++)
        codes[i] = (uint32_t)c->row[0][r->first_code + i];
    for (size_t k = 0; k < c->n; k++)
        epochs[k] = c->row[k][r->first_number];
    wni_network_begin(n, codes, c->row[0] + r->first_number, prefix);
    wni_network_run(n, prefix, epochs, c->n, raw);
    for (size_t k = 0; k < c->n; k++)
        for (size_t i = 0; i < r->n_outputs; i++) {
            double got = wni_network_output(n, i, raw[i][k]), expected = c->row[k][r->first_output + i];
            double excess = fabs(got - expected) / (1e-5 * fabs(expected) + r->grain[i] * 0x1p-23);
            CHECK(excess <= 1, "row %g, epoch %g, %s: %.9g, expected %.9g", c->row[k][0], epochs[k],
                  n->model->outputs[i], got, expected);
            worst[i] = fmax(worst[i], fabs(got - expected) / fabs(expected));
        }
    c->n = 0;
}

/* Checks every row and gives their number. */
static int check_rows(const struct network *n, const struct reference *r, const char *text, double *worst)
{
    static struct curve_rows c;
    int rows = 0, curves = 0;
    for (const char *line = strchr(text, '\n') + 1; *line && *line != '\n';
         line = strchr(line, '\n') + 1, rows++) {
        double row[COLUMNS_MAX];
        CHECK_INT(split(line, row, COLUMNS_MAX), r->first_output + r->n_outputs);
        if (c.n == MLP_TILE || (c.n && !same_curve(r, c.row[0], row))) check_curve(n, r, &c, worst), curves++;
        memcpy(c.row[c.n++], row, sizeof row);
    }
    if (c.n) check_curve(n, r, &c, worst), curves++;
    CHECK(curves > rows / 16 && curves < rows, "%d curves of %d rows", curves, rows);
    return rows;
}

/* Returns how many rows there are. */
static int check_reference(const struct reference *r)
{
    struct task_list list;
    const struct task *task = world_task_or_skip(&list, r->task);
    struct network n;
    struct err err = {0};
    double worst[6] = {0};
    CHECK_OK(wni_network_open(&n, task->folder, task->family, &err), err);
    char *text = world_read(task->folder, "reference.csv");
    int rows = check_rows(&n, r, text, worst);
    for (size_t i = 0; i < r->n_outputs; i++)
        print_message("# %s %s: largest relative error %.2g over %d rows\n", task->family,
                      n.model->outputs[i], worst[i], rows);
    free(text);
    wni_network_release(&n);
    wni_tasks_release(&list);
    return rows;
}

static void nb301_agrees_with_the_published_model(void **state)
{
    (void)state;
    static const struct reference r = {.task = "nb301-cifar10",
                                       .first_number = 2,
                                       .n_codes = 34,
                                       .first_code = 3,
                                       .first_output = 37,
                                       .n_outputs = 4};
    int rows = check_reference(&r);
    CHECK(rows >= 4800, "only %d rows", rows); /* flat and cond */
}

static void lcbench_agrees_with_the_published_model(void **state)
{
    (void)state;
    static const struct reference r = {.task = "yahpo-lcbench-airlines",
                                       .first_number = 3,
                                       .n_codes = 1,
                                       .first_code = 2,
                                       .first_output = 11,
                                       .n_outputs = 6,
                                       .grain = {46790.67, 0, 34.48, 0, 5.55, 0}};
    int rows = check_reference(&r);
    CHECK(rows >= 2380, "only %d rows", rows);
}

/* Index of a word among the network's inputs; `name` has the prefix of config_space.json. */
static size_t word_index(const struct network *n, const char *name)
{
    const char *bare = strrchr(name, '_') ? strstr(name, "darts_COLON_") : NULL;
    for (size_t i = 0; bare && i < n->model->n_words; i++)
        if (!strcmp(n->model->words[i], bare + strlen("darts_COLON_"))) return i;
    fail_msg("'%s' is not an input of the network", name);
    return 0;
}

/* Whether the condition of a child edge is met by the codes of a row. */
static bool is_active(const struct node *condition, const struct node *encoding, const struct network *n,
                      const double *codes)
{
    const char *parent = wni_node_get(condition, "parent")->text;
    const struct node *values = wni_node_get(condition, "values"), *one = wni_node_get(condition, "value");
    for (size_t k = 0; k < (values ? values->n : 1); k++) {
        double code;
        const char *value = values ? values->items[k]->text : one->text;
        CHECK(wni_node_number(wni_node_get(wni_node_get(encoding, parent), value), &code), "no code for %s",
              value);
        if (code == codes[word_index(n, parent)]) return true;
    }
    return false;
}

/* The order of nb301's inputs cannot be read off the weights (28 embeddings have one shape).  But in the
 * "cond" rows an edge has code 0 exactly when its condition is not met, which fixes what each column is. */
static void nb301_inputs_stand_in_the_networks_order(void **state)
{
    (void)state;
    struct task_list list;
    const struct task *task = world_task_or_skip(&list, "nb301-cifar10");
    struct network n;
    struct document space = {0}, encoding = {0};
    struct err err = {0};
    char path[CHECK_PATH_MAX];
    CHECK_OK(wni_network_open(&n, task->folder, task->family, &err), err);
    snprintf(path, sizeof path, "%s/config_space.json", task->folder);
    CHECK_OK(wni_document_load(&space, path, &err), err);
    snprintf(path, sizeof path, "%s/encoding.json", task->folder);
    CHECK_OK(wni_document_load(&encoding, path, &err), err);
    const struct node *conditions = wni_node_get(space.root, "conditions");
    CHECK_INT(conditions->n, 24);
    char *text = world_read(task->folder, "reference.csv");
    int rows = 0;
    for (const char *line = strchr(text, '\n') + 1; *line && *line != '\n'; line = strchr(line, '\n') + 1) {
        double row[64];
        if (!strstr(line, ",cond,") || strstr(line, ",cond,") > strchr(line, '\n')) continue;
        split(line, row, 64);
        for (size_t i = 0; i < conditions->n; i++) {
            const char *child = wni_node_get(conditions->items[i], "child")->text;
            bool active = is_active(conditions->items[i], encoding.root, &n, row + 3);
            CHECK((row[3 + word_index(&n, child)] != 0) == active, "row %g: %s", row[0], child);
        }
        rows++;
    }
    CHECK(rows > 1000, "only %d rows", rows);
    free(text);
    wni_document_release(&space);
    wni_document_release(&encoding);
    wni_network_release(&n);
    wni_tasks_release(&list);
}

/* The black box passes every value as given: its curve is what the "flat" rows of the reference have. */
static void the_nb301_box_follows_the_flat_rows(void **state)
{
    (void)state;
    struct task_list list;
    const struct task *task = world_task_or_skip(&list, "nb301-cifar10");
    struct blackbox *box = world_open(&list, task->name);
    struct network n;
    struct document encoding = {0};
    struct err err = {0};
    char path[CHECK_PATH_MAX], key[256];
    CHECK_OK(wni_network_open(&n, task->folder, task->family, &err), err);
    snprintf(path, sizeof path, "%s/encoding.json", task->folder);
    CHECK_OK(wni_document_load(&encoding, path, &err), err);
    char *text = world_read(task->folder, "reference.csv");
    int rows = 0;
    for (const char *line = strchr(text, '\n') + 1; *line && *line != '\n' && rows < 150;
         line = strchr(line, '\n') + 1) {
        double row[64], config[34];
        split(line, row, 64);
        if (!strstr(line, ",flat,") || strstr(line, ",flat,") > strchr(line, '\n') || row[2] > 97) continue;
        for (size_t i = 0; i < box->space.n; i++) {
            const struct param *p = &box->space.params[i];
            config[i] = -1;
            snprintf(key, sizeof key, "NetworkSelectorDatasetInfo_COLON_darts_COLON_%s", p->name);
            for (size_t k = 0; k < p->count; k++) {
                double code;
                CHECK(wni_node_number(wni_node_get(wni_node_get(encoding.root, key), p->labels[k]), &code),
                      "%s", p->name);
                if (code == row[3 + word_index(&n, key)]) config[i] = (double)k;
            }
            CHECK(config[i] >= 0, "%s has no value with the reference's code", p->name);
        }
        double value = world_value(box, config, 0, (size_t)row[2] - 1);
        CHECK_NEAR(value, row[37], 1e-5 * row[37]);
        rows++;
    }
    CHECK_INT(rows, 150);
    free(text);
    wni_document_release(&encoding);
    wni_network_release(&n);
    box->ops->close(box);
    wni_tasks_release(&list);
}

static void all_lcbench_tasks_are_different_networks(void **state)
{
    (void)state;
    struct task_list list;
    world_tasks(&list, NULL);
    double seen[64], config[] = {3, 128, 64, 0.01, 0.05, 0.9, 0.25};
    size_t n = 0;
    for (size_t i = 0; i < list.n; i++) {
        if (strcmp(list.items[i].family, "yahpo-lcbench") != 0) continue;
        struct blackbox *box = world_open(&list, list.items[i].name);
        world_check_curve(box, config, 0);
        seen[n] = world_value(box, config, 0, 49);
        for (size_t k = 0; k < n; k++)
            CHECK(seen[k] != seen[n], "%s is like another: %g", box->name, seen[n]);
        n++;
        box->ops->close(box);
    }
    wni_tasks_release(&list);
    if (n == 0) {
        print_message("# skip: no yahpo-lcbench in $WINNOW_DATA or " SHARED_DATA "\n");
        skip();
    }
    CHECK_INT(n, 34);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_network_agrees_with_the_slow_one),
        cmocka_unit_test(the_metric_may_be_any_output),
        cmocka_unit_test(refuses_broken_networks),
        cmocka_unit_test(wide_registers_give_the_same_bits),
        cmocka_unit_test(the_environment_decides_about_registers),
        cmocka_unit_test(nb301_agrees_with_the_published_model),
        cmocka_unit_test(lcbench_agrees_with_the_published_model),
        cmocka_unit_test(nb301_inputs_stand_in_the_networks_order),
        cmocka_unit_test(the_nb301_box_follows_the_flat_rows),
        cmocka_unit_test(all_lcbench_tasks_are_different_networks),
    };
    return cmocka_run_group_tests_name("blackbox_network", tests, NULL, NULL);
}
