/* levels.h -- what each trial was worth at each level: values that can be compared with each other.
 *
 * Under a scheduler that compares trials at rungs, last values mix resources: a trial stopped after one epoch
 * stands beside one that ran to the end.  Searchers that model fidelities (bohb, mob, ht) want values at the
 * levels instead: the rungs, in order, and r_max as the last.
 *
 * A trial's value at a level follows the scheduler's rule (docs/adr/0006): a report counts at the highest
 * level it has reached and was not counted at before; levels it jumped over get nothing.  Each trial has at
 * most one value per level.  A bracket of Hyperband that begins at a higher rung does not matter here: the
 * value at a lower one is as good for a model.  Failed, lost and diverged trials have no values, as in
 * wni_search_observation().
 *
 * Where the scheduler has no levels (fifo, median) there is one, holding each trial's observation.
 *
 * Everything is read off the log, and an update reads only what is new: O(1) per event over a study, and 12
 * bytes per value and one per trial in memory. */
#ifndef WNI_SEARCH_LEVELS_H
#define WNI_SEARCH_LEVELS_H

#include "search/search.h"

struct level_values {
    const struct search_env *env;
    size_t n; /* levels, at least 1 */
    struct level_column {
        uint32_t *trials; /* by arrival */
        double *values;
        size_t n, trials_cap, values_cap;
    } columns[LEVELS_MAX + 1];
    uint8_t *reached; /* by trial: levels it was counted at or passed */
    size_t reached_cap;
    struct history_cursor at; /* how far the log was read */
};

/* Allocates nothing.  A zeroed struct may be released. */
void wni_level_values_init(struct level_values *v, const struct search_env *env);
void wni_level_values_release(struct level_values *v);

/* Reads what is new in the log; call it first in suggest(). */
wn_status wni_level_values_update(struct level_values *v, const struct history *h, struct err *err);

/* How many values a level holds at most: room for wni_level_values_get(). */
size_t wni_level_values_room(const struct level_values *v, const struct history *h, size_t level);

/* The trials and values at a level, by arrival (one level only: by trial); returns how many. */
size_t wni_level_values_get(const struct level_values *v, const struct history *h, size_t level,
                            uint32_t *trials, double *values);

/* The resource of a level; NAN where the scheduler has none. */
double wni_level_resource(const struct level_values *v, size_t level);

#endif
