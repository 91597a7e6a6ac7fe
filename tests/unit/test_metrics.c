/* test_metrics.c -- bench/metrics.h against NumPy, SciPy and statsmodels (tools/gen-golden-metrics), and
 * against what must hold for any curves. */
#include "tests/check.h"

#include "bench/metrics.h"
#include "tests/golden.h"

enum { RUNS_MAX = 1024, TASKS_MAX = 8, STEPS_MAX = 16 };

/* ---- contests of the file ---- */

struct world {
    struct contest contest;
    struct curve curves[RUNS_MAX];
    size_t task[RUNS_MAX];
    double y_min[TASKS_MAX];
    double steps[RUNS_MAX][2][STEPS_MAX];
    size_t n_runs, n_tasks;
    struct standings standings;
    struct difference difference;
};

static void forget(struct world *w)
{
    wni_standings_release(&w->standings);
    wni_difference_release(&w->difference);
    *w = (struct world){0};
}

static void begin(struct world *w, const struct golden *g)
{
    forget(w);
    w->contest = (struct contest){.n_methods = (size_t)g->v[0],
                                  .n_tasks = (size_t)g->v[1],
                                  .n_blocks = (size_t)g->v[2],
                                  .curves = w->curves,
                                  .task = w->task,
                                  .y_min = w->y_min};
    CHECK(w->contest.n_blocks * w->contest.n_methods <= RUNS_MAX && w->contest.n_tasks <= TASKS_MAX, "room");
}

static void add_run(struct world *w, const struct golden *g)
{
    size_t at = w->n_runs++, n = (g->n - 2) / 2;
    CHECK(n <= STEPS_MAX, "%zu steps", n);
    for (size_t i = 0; i < n; i++) {
        w->steps[at][0][i] = g->v[2 + 2 * i];
        w->steps[at][1][i] = g->v[3 + 2 * i];
    }
    w->task[at / w->contest.n_methods] = (size_t)g->v[0];
    w->curves[at] = (struct curve){.time = w->steps[at][0], .value = w->steps[at][1], .n = n, .end = g->v[1]};
}

static void judge(struct world *w)
{
    struct err err = {0};
    CHECK_OK(wni_standings_compute(&w->contest, &w->standings, &err), err);
}

static void judge_at(struct world *w, double share)
{
    static double ranks[RUNS_MAX];
    struct err err = {0};
    wni_difference_release(&w->difference);
    CHECK_OK(wni_ranks_at(&w->contest, &w->standings, share, ranks, &err), err);
    CHECK_OK(
        wni_difference_compute(ranks, w->contest.n_blocks, w->contest.n_methods, 0.05, &w->difference, &err),
        err);
}

static void compare(const struct golden *g, const double *got, size_t first, double tol)
{
    for (size_t i = first; i < g->n; i++)
        golden_near(g, got[i - first], g->v[i], tol);
}

/* Means of values about 1 that may cancel to nothing. */
static void compare_values(const struct golden *g, const double *got)
{
    for (size_t i = 1; i < g->n; i++)
        CHECK(isnan(g->v[i]) ? isnan(got[i - 1]) : fabs(got[i - 1] - g->v[i]) <= 1e-12,
              "%s:%d: got %.17g, want %.17g", g->path, g->line, got[i - 1], g->v[i]);
}

static void compare_cliques(const struct golden *g, const struct difference *d)
{
    CHECK_INT(d->n_cliques, g->n);
    for (size_t i = 0; i < g->n; i++) {
        bool found = false;
        for (size_t k = 0; k < d->n_cliques; k++)
            found = found || d->cliques[k] == (uint64_t)g->v[i];
        CHECK(found, "no clique %g", g->v[i]);
    }
}

static void take_line(struct world *w, const struct golden *g)
{
    const struct standings *s = &w->standings;
    const struct difference *d = &w->difference;
    if (golden_is(g, "contest"))
        begin(w, g);
    else if (golden_is(g, "task"))
        w->y_min[w->n_tasks++] = g->v[0];
    else if (golden_is(g, "run"))
        add_run(w, g);
    else if (golden_is(g, "horizon"))
        judge(w), compare(g, s->horizon, 0, 1e-15);
    else if (golden_is(g, "y_max"))
        compare(g, s->y_max, 0, 0);
    else if (golden_is(g, "rank"))
        compare(g, s->rank.mean, 0, 1e-13);
    else if (golden_is(g, "rank_error"))
        compare(g, s->rank.error, 0, 1e-12);
    else if (golden_is(g, "regret"))
        compare(g, s->regret.mean, 0, 1e-12);
    else if (golden_is(g, "regret_error"))
        compare(g, s->regret.error, 0, 1e-10);
    else if (golden_is(g, "value"))
        compare_values(g, s->task_value[(size_t)g->v[0]].mean);
    else if (golden_is(g, "value_error"))
        compare_values(g, s->task_value[(size_t)g->v[0]].error);
    else if (golden_is(g, "at"))
        judge_at(w, g->v[0]);
    else if (golden_is(g, "mean_rank"))
        compare(g, d->mean_rank, 0, 1e-13);
    else if (golden_is(g, "friedman"))
        golden_near(g, d->friedman.statistic, g->v[0], 1e-11), golden_near(g, d->friedman.p, g->v[1], 1e-10);
    else if (golden_is(g, "pair")) {
        size_t i = (size_t)g->v[0], j = (size_t)g->v[1];
        golden_near(g, d->p[i * d->n + j], g->v[2], 1e-11);
        golden_near(g, d->adjusted[j * d->n + i], g->v[3], 1e-11);
    } else if (golden_is(g, "cliques"))
        compare_cliques(g, d);
    else
        fail_msg("unknown tag '%s'", g->tag);
}

static void agrees_with_scipy(void **state)
{
    (void)state;
    static struct world w;
    struct golden g = golden_open("tests/golden/bench_metrics.txt");
    while (golden_next(&g))
        take_line(&w, &g);
    CHECK(g.records > 1000, "%d records", g.records);
    golden_close(&g);
    forget(&w);
}

/* ---- what must hold ---- */

static void curve_is_a_step_function(void **state)
{
    (void)state;
    const double time[] = {1, 2, 5}, value[] = {9, 4, 3};
    struct curve c = {.time = time, .value = value, .n = 3, .end = 10};
    CHECK_DOUBLE(wni_curve_at(&c, 0.999), NAN);
    CHECK_DOUBLE(wni_curve_at(&c, 1), 9); /* a result counts from its own moment on */
    CHECK_DOUBLE(wni_curve_at(&c, 1.999), 9);
    CHECK_DOUBLE(wni_curve_at(&c, 2), 4);
    CHECK_DOUBLE(wni_curve_at(&c, 1e9), 3);
    c.n = 0;
    CHECK_DOUBLE(wni_curve_at(&c, 3), NAN);
}

/* Random curves of random contests, in static storage. */
static void random_contest(struct world *w, struct rng *rng)
{
    struct contest *c = &w->contest;
    forget(w);
    *c = (struct contest){.n_methods = (size_t)check_between(rng, 2, 6),
                          .n_tasks = (size_t)check_between(rng, 1, 4),
                          .curves = w->curves,
                          .task = w->task,
                          .y_min = w->y_min};
    c->n_blocks = c->n_tasks * (size_t)check_between(rng, 1, 8);
    for (size_t t = 0; t < c->n_tasks; t++)
        w->y_min[t] = check_chance(rng, 50) ? -10 : NAN;
    for (size_t i = 0; i < c->n_blocks * c->n_methods; i++) {
        size_t n = (size_t)check_between(rng, 0, STEPS_MAX);
        double time = 0, value = 5;
        for (size_t k = 0; k < n; k++) {
            w->steps[i][0][k] = time += check_uniform(rng, 0.01, 4);
            w->steps[i][1][k] = value -= check_between(rng, 1, 3) / 4.0;
        }
        w->task[i / c->n_methods] = i / c->n_methods % c->n_tasks;
        w->curves[i] = (struct curve){w->steps[i][0], w->steps[i][1], n, time + check_uniform(rng, 0.1, 3)};
    }
}

static void check_standings(const struct world *w)
{
    const struct contest *c = &w->contest;
    const struct standings *s = &w->standings;
    for (size_t k = 0; k < METRIC_POINTS; k++) {
        double ranks = 0;
        for (size_t m = 0; m < c->n_methods; m++) {
            size_t at = m * METRIC_POINTS + k;
            ranks += s->rank.mean[at];
            CHECK(s->regret.mean[at] >= 0 && s->regret.mean[at] <= 1, "regret %g", s->regret.mean[at]);
            CHECK(k == 0 || s->regret.mean[at] <= s->regret.mean[at - 1] + 1e-12, "regret rises");
        }
        CHECK_NEAR(ranks, (double)(c->n_methods * (c->n_methods + 1)) / 2, 1e-9);
    }
}

static void ranks_add_up_and_regret_falls(void **state)
{
    (void)state;
    static struct world w;
    struct rng rng = wni_rng_stream(11, 0, 0);
    for (int i = 0; i < 200; i++) {
        random_contest(&w, &rng);
        judge(&w);
        check_standings(&w);
    }
    forget(&w);
}

/* Swapping two methods swaps their numbers and changes no others. */
static void order_of_methods_does_not_matter(void **state)
{
    (void)state;
    static struct world w, swapped;
    struct rng rng = wni_rng_stream(12, 0, 0);
    for (int i = 0; i < 50; i++) {
        random_contest(&w, &rng);
        judge(&w);
        judge_at(&w, 0.5);
        size_t n = w.contest.n_methods;
        swapped.contest = w.contest;
        swapped.contest.curves = swapped.curves;
        for (size_t k = 0; k < w.contest.n_blocks * n; k++)
            swapped.curves[k] = w.curves[k / n * n + (n - 1 - k % n)];
        wni_standings_release(&swapped.standings);
        judge(&swapped);
        judge_at(&swapped, 0.5);
        for (size_t m = 0; m < n; m++) {
            CHECK_NEAR(swapped.difference.mean_rank[m], w.difference.mean_rank[n - 1 - m], 1e-12);
            CHECK_NEAR(swapped.standings.regret.mean[m * METRIC_POINTS + 30],
                       w.standings.regret.mean[(n - 1 - m) * METRIC_POINTS + 30], 1e-12);
        }
        CHECK_INT(swapped.difference.n_cliques, w.difference.n_cliques);
    }
    forget(&w);
    forget(&swapped);
}

/* One is always first, two never differ: the test must tell the first from each, and join the other two. */
static void clear_cases_are_told_apart(void **state)
{
    (void)state;
    double ranks[40 * 3];
    struct difference d;
    struct err err = {0};
    for (size_t b = 0; b < 40; b++) {
        ranks[3 * b] = 1;
        ranks[3 * b + 1] = b % 2 ? 2 : 3;
        ranks[3 * b + 2] = b % 2 ? 3 : 2;
    }
    CHECK_OK(wni_difference_compute(ranks, 40, 3, 0.05, &d, &err), err);
    CHECK(d.adjusted[1] < 1e-6 && d.adjusted[2] < 1e-6, "%g %g", d.adjusted[1], d.adjusted[2]);
    CHECK_DOUBLE(d.adjusted[1 * 3 + 2], 1);
    CHECK_DOUBLE(d.adjusted[0], 1);
    CHECK_INT(d.n_cliques, 1);
    CHECK_INT(d.cliques[0], 6);
    CHECK(d.friedman.p < 1e-9, "%g", d.friedman.p);
    wni_difference_release(&d);
}

static void equal_methods_are_one_clique(void **state)
{
    (void)state;
    double ranks[7 * 4];
    struct difference d;
    struct err err = {0};
    for (size_t i = 0; i < 28; i++)
        ranks[i] = 2.5;
    CHECK_OK(wni_difference_compute(ranks, 7, 4, 0.05, &d, &err), err);
    CHECK_INT(d.n_cliques, 1);
    CHECK_INT(d.cliques[0], 15);
    CHECK_DOUBLE(d.friedman.p, 1);
    wni_difference_release(&d);
}

/* A run that has not reported is last, shares that place with its like, and its regret is 1. */
static void runs_without_results_are_last(void **state)
{
    (void)state;
    const double early[] = {1}, late[] = {9}, three[] = {3}, two[] = {2}, one[] = {1};
    struct curve curves[] = {{early, three, 1, 10}, {late, one, 1, 10}, {late, two, 1, 10}};
    size_t task = 0;
    double unknown = NAN, ranks[3];
    struct contest c = {3, 1, 1, curves, &task, &unknown};
    struct standings s;
    struct err err = {0};
    CHECK_OK(wni_standings_compute(&c, &s, &err), err);
    CHECK_OK(wni_ranks_at(&c, &s, 0.5, ranks, &err), err);
    CHECK_DOUBLE(ranks[0], 1);
    CHECK_DOUBLE(ranks[1], 2.5);
    CHECK_DOUBLE(ranks[2], 2.5);
    CHECK_OK(wni_ranks_at(&c, &s, 1, ranks, &err), err);
    CHECK_DOUBLE(ranks[0], 3);
    CHECK_DOUBLE(s.y_max[0], 3); /* the worst that is held at the first point where anything is */
    CHECK_DOUBLE(s.y_min[0], 1); /* not known: the best seen */
    CHECK_DOUBLE(s.regret.mean[METRIC_POINTS + 10], 1);
    CHECK_DOUBLE(s.regret.mean[METRIC_POINTS + 49], 0);
    CHECK_DOUBLE(s.regret.mean[2 * METRIC_POINTS + 49], 0.5);
    CHECK(isnan(s.regret.error[0]), "an error from a single seed");
    wni_standings_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_scipy),
        cmocka_unit_test(curve_is_a_step_function),
        cmocka_unit_test(ranks_add_up_and_regret_falls),
        cmocka_unit_test(order_of_methods_does_not_matter),
        cmocka_unit_test(clear_cases_are_told_apart),
        cmocka_unit_test(equal_methods_are_one_clique),
        cmocka_unit_test(runs_without_results_are_last),
    };
    return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
