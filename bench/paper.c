/* paper.c -- the groups of the paper's evaluation, and the page that puts everything together. */
#include "bench/paper.h"

#include "base/mem.h"
#include "bench/report.h"
#include "bench/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct paper_group {
    const char *name, *title, *methods, *tasks;
    bool curves; /* only tasks with more than one level: elsewhere stopping early means nothing */
    bool usual;  /* part of a run that names no groups */
} groups[] = {
    {"single-fidelity", "Single fidelity", "rs tpe gp rea bore cqr", "paper", false, true},
    {"multi-fidelity", "Multi-fidelity", "asha bohb ht mob cqr+mf", "paper", true, true},
    {"variants", "Last-value variants under ASHA", "asha rea+mf gp+mf bore+mf qr+mf cqr+mf", "paper", true,
     true},
    {"one-epoch", "Beyond the paper: one epoch", "rs asha one-epoch cqr+mf", "paper", true, true},
    {"released-baselines", "Beyond the paper: baselines as the authors' code has them",
     "rs tpe-late rea bore cqr", "paper", false, true},
    {"real-curves", "Beyond the paper: real learning curves", "asha bohb ht mob qr+mf cqr+mf",
     "taskset lcbench-blood-transfusion", true, true},
    {"yahpo-lcbench", "Beyond the paper: YAHPO LCBench surrogates", "asha bohb ht mob qr+mf cqr+mf",
     "yahpo-lcbench", true, false},
};

/* Methods with options, under names of their own.  In the released code TPE draws at random until it has
 * floor(0.15 n) > d good trials of n, d being the number of parameters, and the GP always does; so the group
 * above has TPE late and no GP.  It tells whether those baselines explain a difference from the paper. */
static const struct bench_method altered[] = {{"tpe-late", "tpe", "searcher.least=3.34"}};

static const char *const parts[] = {"claims", "surrogates", "benchmarks", "illustration"};

enum { N_GROUPS = sizeof groups / sizeof *groups, N_PARTS = sizeof parts / sizeof *parts, WORD_MAX = 64 };

/* ---- what is wanted ---- */

/* The next word of a list separated by commas or blanks; false at its end. */
static bool next_word(const char **list, char word[WORD_MAX])
{
    *list += strspn(*list, ", ");
    size_t n = strcspn(*list, ", ");
    snprintf(word, WORD_MAX, "%.*s", (int)n, *list);
    *list += n;
    return n > 0;
}

static bool in_list(const char *list, const char *name)
{
    char word[WORD_MAX];
    while (next_word(&list, word))
        if (!strcmp(word, name)) return true;
    return false;
}

bool wni_paper_wants(const struct paper_setup *setup, const char *part)
{
    if (setup->groups) return in_list(setup->groups, part) || in_list(setup->groups, "all");
    for (size_t i = 0; i < N_GROUPS; i++)
        if (!strcmp(groups[i].name, part)) return groups[i].usual;
    return true;
}

static wn_status check_groups(const char *list, struct err *err)
{
    const char *names[N_GROUPS + N_PARTS + 1] = {"all"};
    char word[WORD_MAX];
    for (size_t i = 0; i < N_GROUPS; i++)
        names[1 + i] = groups[i].name;
    for (size_t i = 0; i < N_PARTS; i++)
        names[1 + N_GROUPS + i] = parts[i];
    if (!list[strspn(list, ", ")]) return wni_fail(err, WN_EINVAL, "--groups: no group is named");
    while (next_word(&list, word)) {
        bool known = false;
        for (size_t i = 0; i < N_GROUPS + N_PARTS + 1; i++)
            known = known || !strcmp(names[i], word);
        if (known) continue;
        struct buf all = {0};
        for (size_t i = 0; i < N_GROUPS + N_PARTS + 1; i++)
            wni_buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
        wni_fail(err, WN_EINVAL, "unknown group '%s'; there are %s", word, wni_buf_text(&all));
        wni_buf_release(&all);
        return WN_EINVAL;
    }
    return WN_OK;
}

static wn_status check_tasks(const char *list, const struct task_list *tasks, struct err *err)
{
    char word[WORD_MAX];
    while (next_word(&list, word)) {
        bool known = !strcmp(word, "paper");
        for (size_t i = 0; i < tasks->n; i++)
            known = known || !strcmp(tasks->items[i].name, word) || !strcmp(tasks->items[i].family, word);
        if (!known)
            return wni_fail(err, WN_EINVAL,
                            "--tasks: no task or family '%s' at hand ('winnow tasks' lists them)", word);
    }
    return WN_OK;
}

bool wni_paper_has_task(const struct paper_setup *setup, const struct task *task)
{
    return !setup->tasks || in_list(setup->tasks, task->name) || in_list(setup->tasks, task->family) ||
           in_list(setup->tasks, "paper");
}

/* ---- the experiment ---- */

static struct bench_method method_of(const char *name)
{
    for (size_t i = 0; i < sizeof altered / sizeof *altered; i++)
        if (!strcmp(altered[i].name, name)) return altered[i];
    return (struct bench_method){name, name, ""};
}

static wn_status add_methods(struct experiment *e, struct bench_group *group, const char *names)
{
    char word[WORD_MAX];
    wn_status st = WN_OK;
    while (!st && next_word(&names, word)) {
        size_t index;
        struct bench_method method = method_of(word);
        if (!wni_method_find(method.method, NULL)) continue; /* the page names it */
        st = wni_experiment_add_method(e, &method, &index);
        if (!st) st = wni_group_add_method(group, index);
    }
    return st;
}

/* Takes out of the group what is not wanted. */
static void filter_tasks(const struct paper_setup *setup, const struct paper_group *from,
                         struct experiment *e, struct bench_group *group)
{
    size_t kept = 0;
    for (size_t i = 0; i < group->n_tasks; i++) {
        const struct task *task = &e->tasks[group->tasks[i]];
        if (wni_paper_has_task(setup, task) && (!from->curves || task->n_levels > 1))
            group->tasks[kept++] = group->tasks[i];
    }
    group->n_tasks = kept;
}

static wn_status add_group(const struct paper_setup *setup, const struct task_list *tasks,
                           const struct paper_group *from, struct experiment *e)
{
    char word[WORD_MAX];
    size_t g = e->n_groups;
    const char *list = from->tasks;
    wn_status st = wni_experiment_add_group(e, from->name, from->title);
    if (!st) st = add_methods(e, &e->groups[g], from->methods);
    while (!st && next_word(&list, word)) {
        st = wni_group_add_tasks(e, g, tasks, word);
        if (st == WN_ENOTFOUND) st = WN_OK; /* data that is not at hand: the page says on what we ran */
    }
    if (!st) filter_tasks(setup, from, e, &e->groups[g]);
    return st;
}

wn_status wni_paper_experiment(const struct paper_setup *setup, const struct task_list *tasks,
                               struct experiment *e, struct err *err)
{
    wni_experiment_init(e);
    e->name = "The paper's evaluation";
    e->seeds = setup->seeds;
    wn_status st = setup->groups ? check_groups(setup->groups, err) : WN_OK;
    if (!st && setup->tasks) st = check_tasks(setup->tasks, tasks, err);
    for (size_t i = 0; i < N_GROUPS && !st; i++)
        if (wni_paper_wants(setup, groups[i].name) && (st = add_group(setup, tasks, &groups[i], e)))
            wni_fail_memory(err);
    return st;
}

/* ---- the page ---- */

static const struct paper_group *group_named(const char *name)
{
    for (size_t i = 0; i < N_GROUPS; i++)
        if (!strcmp(groups[i].name, name)) return &groups[i];
    return NULL;
}

static void tell_missing(struct page *page, const struct comparison *c)
{
    const struct paper_group *from = group_named(c->group->name);
    const char *list = from ? from->methods : "";
    char word[WORD_MAX];
    struct buf missing = {0};
    while (next_word(&list, word))
        if (wni_group_method(c, word) == SIZE_MAX) wni_buf_printf(&missing, " %s", word);
    if (missing.len) wni_page_text(page, "Not in this program, so left out:%s.", wni_buf_text(&missing));
    if (from && from->curves && !strcmp(from->tasks, "paper"))
        wni_page_text(
            page, "Only tasks with more than one level of the resource take part: with final values alone, "
                  "stopping early is not possible.");
    wni_buf_release(&missing);
}

static wn_status put_illustration(struct page *page, uint32_t counts[ILLUSTRATION_BINS], struct err *err)
{
    struct illustration setup = ILLUSTRATION_INIT;
    wn_status st = wni_illustration_draw(&setup, page->directory, counts, err);
    wni_page_heading(page, 2, "illustration", "Illustration");
    if (st) return st;
    wni_buf_puts(&page->html, "<div style=\"max-width:34rem\">\n");
    st = wni_page_figure(
        page, "illustration",
        "A function that is all noise. Thompson sampling from predicted quantiles looks where low "
        "values are to be had: at π/2 and 3π/2, where the noise is largest.",
        err);
    wni_buf_puts(&page->html, "</div>\n");
    return st;
}

static wn_status put_groups(struct page *page, const struct comparison *all, size_t n, struct err *err)
{
    wn_status st = WN_OK;
    for (size_t g = 0; g < n && !st; g++) {
        st = wni_report_group(page, &all[g], err);
        if (!st) tell_missing(page, &all[g]);
    }
    return st;
}

/* What stands below the groups.  It is written first, because the claims, at the top, ask about it. */
static wn_status put_lower_half(struct page *page, const struct paper_setup *setup,
                                const struct task_list *tasks, struct results *results,
                                struct paper_measures *measures, struct err *err)
{
    wn_status st = WN_OK;
    if (wni_paper_wants(setup, "surrogates"))
        st = wni_surrogate_section(page, setup, tasks, results, measures, err);
    if (!st && wni_paper_wants(setup, "illustration")) st = put_illustration(page, measures->proposals, err);
    if (!st && wni_paper_wants(setup, "benchmarks")) st = wni_benchmark_section(page, setup, tasks, err);
    return st;
}

static wn_status put_sections(struct page *page, const struct paper_setup *setup,
                              const struct task_list *tasks, struct results *results,
                              const struct archive *archive, const struct comparison *comparisons,
                              struct err *err)
{
    struct paper_measures measures = {0};
    struct page lower = {.directory = page->directory, .n_figures = 1000}; /* ids of its own */
    wn_status st = put_lower_half(&lower, setup, tasks, results, &measures, err);
    if (!st && wni_paper_wants(setup, "claims"))
        st = wni_claims_section(page, archive, comparisons, &measures, err);
    if (!st) st = put_groups(page, comparisons, archive->plan.n_groups, err);
    wni_buf_puts(&page->html, wni_buf_text(&lower.html));
    if (lower.html.failed) page->html.failed = true;
    wni_page_release(&lower);
    if (!st && archive->plan.n_groups) st = wni_report_times(page, archive, err);
    if (!st) wni_report_failures(page, archive);
    return st;
}

static wn_status compare_all(const struct archive *a, struct comparison *out, struct err *err)
{
    wn_status st = WN_OK;
    for (size_t g = 0; g < a->plan.n_groups && !st; g++)
        st = wni_compare(&out[g], a, g, err);
    return st;
}

wn_status wni_paper_report(const struct paper_setup *setup, const struct task_list *tasks,
                           struct results *results, const char *directory, struct err *err)
{
    struct page page;
    struct archive archive;
    wn_status st = wni_archive_load(&archive, results, err);
    if (st) return st;
    size_t n = archive.plan.n_groups;
    struct comparison *comparisons = wni_new(struct comparison, n);
    st = comparisons ? compare_all(&archive, comparisons, err) : wni_fail_memory(err);
    wni_page_begin(&page, directory, archive.plan.name);
    wni_page_text(&page,
                  "Optimizing Hyperparameters with Conformal Quantile Regression (Salinas et al., ICML "
                  "2023), done again "
                  "with winnow %d.%d.%d: %llu seeds, 4 asynchronous workers, simulated on a virtual clock.",
                  WN_VERSION_MAJOR, WN_VERSION_MINOR, WN_VERSION_PATCH,
                  (unsigned long long)archive.plan.seeds);
    wni_report_marks(&page);
    if (!st) st = put_sections(&page, setup, tasks, results, &archive, comparisons, err);
    for (size_t g = 0; comparisons && g < n; g++)
        wni_comparison_release(&comparisons[g]);
    free(comparisons);
    wni_archive_release(&archive);
    if (!st) return wni_page_write(&page, "index.html", err);
    wni_page_release(&page);
    return st;
}
