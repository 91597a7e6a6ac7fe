/* fuzz_studyfile.c -- any bytes as a study file, and as a space in JSON.
 *
 * Beyond not crashing: a file is accepted with no complaint or refused with one, complaints are sorted and
 * safe to print, and what was accepted can be used: its command expands, its space is written and read back
 * as the same space. */
#include "base/node.h"
#include "base/utf8.h"
#include "studyfile/studyfile.h"
#include "tests/fuzz/must.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
    char tidy[4 * WN_WHY_MAX];
    MUST(strlen(text) < sizeof tidy);
    strcpy(tidy, text);
    wni_utf8_tidy(tidy);
    MUST(!strcmp(text, tidy));
}

static void check_problems(const struct problems *p)
{
    MUST(!p->failed);
    for (size_t i = 0; i < p->n; i++) {
        check_text(p->items[i].text);
        MUST(i == 0 || p->items[i - 1].line < p->items[i].line ||
             (p->items[i - 1].line == p->items[i].line && p->items[i - 1].column <= p->items[i].column));
    }
}

static void check_config(const struct space *space, const double *config)
{
    struct buf json = {0};
    struct document doc;
    struct err err;
    double *back = calloc(space->n + 1, sizeof *back);
    MUST(back);
    wni_config_write(space, config, &json);
    MUST(!wni_json_parse(&doc, "", json.data, json.len, &err));
    MUST(!wni_config_read(space, doc.root, back, NULL, &err));
    MUST(wni_config_equal(space, config, back));
    wni_document_release(&doc);
    wni_buf_release(&json);
    free(back);
}

static void check_space(const struct space *space)
{
    struct buf json = {0}, again = {0};
    struct document doc;
    struct space back;
    struct problems problems = {0};
    struct err err;
    wni_space_init(&back);
    wni_space_write(space, &json);
    MUST(!wni_json_parse(&doc, "", json.data, json.len, &err));
    wni_space_read(&back, doc.root, &problems);
    MUST(problems.n == 0 && back.n == space->n && back.size == space->size);
    wni_space_write(&back, &again);
    MUST(!strcmp(json.data, again.data));
    wni_space_release(&back);
    wni_document_release(&doc);
    wni_buf_release(&json);
    wni_buf_release(&again);
}

static void check_study(const struct studyfile *study)
{
    struct rng rng = wni_rng_stream(1, 0, 1);
    double *config = calloc(study->space.n + 1, sizeof *config);
    MUST(config && study->name && study->metric.name && study->scheduler && study->searcher &&
         study->options);
    MUST(study->resource.min > 0 && study->resource.max >= study->resource.min && study->workers > 0);
    wni_config_sample(&study->space, &rng, config);
    struct command_values values = {&study->space, config, study->resource.min, study->resource.max, 3};
    struct arena arena = {0};
    const char *const *argv = NULL;
    struct err err;
    MUST(study->command.n > 0);
    MUST(!wni_command_expand(&study->command, &values, &arena, &argv, &err) && argv && argv[0]);
    wni_arena_release(&arena);
    check_space(&study->space);
    check_config(&study->space, config);
    free(config);
}

static void fuzz_study(const char *text, size_t size)
{
    struct document doc;
    struct studyfile study;
    struct problems problems = {0};
    struct buf out = {.limit = 4 << 20};
    struct err err = {0};
    wn_status st = wni_yaml_parse(&doc, "s.yaml", text, size, &err);
    if (st) {
        MUST(st == WN_EINVAL && !strncmp(err.text, "s.yaml:", 7) && !doc.root);
        check_text(err.text);
        return;
    }
    st = wni_studyfile_read(&study, &doc, &problems);
    wni_document_release(&doc); /* before the study is used: it must not point there */
    check_problems(&problems);
    MUST(st == (problems.n ? WN_EINVAL : WN_OK));
    if (!st) check_study(&study);
    problems.file = "s.yaml";
    wni_problems_write(&problems, &out);
    wni_buf_release(&out);
    wni_problems_release(&problems);
    wni_studyfile_release(&study);
}

static void fuzz_space(const char *text, size_t size)
{
    struct document doc;
    struct space space;
    struct problems problems = {0};
    struct err err = {0};
    if (wni_json_parse(&doc, "", text, size, &err)) {
        check_text(err.text);
        return;
    }
    wni_space_init(&space);
    wni_space_read(&space, doc.root, &problems);
    wni_problems_sort(&problems);
    check_problems(&problems);
    if (space.n) check_space(&space); /* none at all is a complaint */
    wni_space_release(&space);
    wni_problems_release(&problems);
    wni_document_release(&doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_study((const char *)data, size);
    fuzz_space((const char *)data, size);
    return 0;
}
