/* studyload.c -- a study file from disk, and the setup of a study that it describes. */
#include "cli/study_option.h"
#include "studyfile/studyfile.h"

#include <errno.h>
#include <string.h>

wn_status wni_read_text_file(const char *path, struct buf *out, struct err *err)
{
    FILE *file = fopen(path, "rb");
    char chunk[4096];
    size_t n;
    if (!file) return wni_fail(err, WN_EINVAL, "cannot open '%s': %s", path, strerror(errno));
    out->limit = 64 << 20;
    while ((n = fread(chunk, 1, sizeof chunk, file)) > 0)
        wni_buf_add(out, chunk, n);
    wn_status st = WN_OK;
    if (ferror(file)) st = wni_fail(err, WN_EIO, "cannot read '%s': %s", path, strerror(errno));
    if (!st && out->failed) st = wni_fail(err, WN_EINVAL, "'%s' is too large", path);
    fclose(file);
    return st;
}

int wni_load_studyfile(const char *path, struct studyfile *out)
{
    struct document doc = {0};
    struct problems problems = {0};
    struct err err = {0};
    int code = EXIT_DONE;
    *out = (struct studyfile){0};
    wn_status st = wni_document_load(&doc, path, &err);
    if (!st && (st = wni_studyfile_read_driven(out, &doc, &problems)) == WN_EINVAL) {
        wni_complain_problems(&problems);
        code = EXIT_USAGE;
    } else if (st) {
        code = wni_complain(&err, st == WN_EIO ? WN_EINVAL : st);
    }
    wni_problems_release(&problems);
    wni_document_release(&doc);
    return code;
}

struct study_setup wni_setup_of_file(const struct studyfile *f, const char *text)
{
    bool has_resource = f->resource.name != NULL;
    return (struct study_setup){.space = &f->space,
                                .scheduler = f->scheduler->name,
                                .searcher = f->searcher->name,
                                .options = {f->options, NULL},
                                .seed = (uint64_t)f->seed,
                                .goal = f->metric.goal,
                                .min_resource = has_resource ? f->resource.min : 0,
                                .max_resource = has_resource ? f->resource.max : 0,
                                .retries = (unsigned)f->trial.retries,
                                .method = f->method,
                                .metric = f->metric.name,
                                .resource = f->resource.name,
                                .file = text};
}
