/* importing.c -- the list of trials that an import reads before it writes anything. */
#include "cli/importing.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double *wni_import_row(struct import_set *set, size_t width, wn_state state)
{
    if (!wni_reserve((void **)&set->configs, &set->configs_cap, (set->n + 1) * width, sizeof *set->configs) ||
        !wni_reserve((void **)&set->rows, &set->rows_cap, set->n + 1, sizeof *set->rows))
        return NULL;
    set->rows[set->n] =
        (struct import_row){.state = state, .first = set->n_reports, .asked = NAN, .ended = NAN};
    return set->configs + width * set->n++;
}

wn_status wni_import_report(struct import_set *set, double resource, double value, struct err *err)
{
    if (!wni_reserve((void **)&set->resources, &set->resources_cap, set->n_reports + 1,
                     sizeof *set->resources) ||
        !wni_reserve((void **)&set->values, &set->values_cap, set->n_reports + 1, sizeof *set->values))
        return wni_fail_memory(err);
    set->resources[set->n_reports] = resource;
    set->values[set->n_reports++] = value;
    set->rows[set->n - 1].n_reports++;
    return WN_OK;
}

void wni_import_drop(struct import_set *set)
{
    set->n_reports = set->rows[--set->n].first;
}

void wni_import_release(struct import_set *set)
{
    free(set->configs);
    free(set->rows);
    free(set->resources);
    free(set->values);
    wni_buf_release(&set->notes);
    *set = (struct import_set){0};
}
