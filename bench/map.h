/* map.h -- a whole file as memory, without reading it.
 *
 * Pages come in when they are touched, so opening a table of gigabytes costs microseconds and a simulation
 * pays only for the rows it visits.  The file must not be cut short while it is mapped (the kernel would
 * answer with SIGBUS). */
#ifndef WNI_BENCH_MAP_H
#define WNI_BENCH_MAP_H

#include "base/err.h"

struct map {
    const unsigned char *data; /* NULL when the file is empty, or nothing is mapped */
    size_t size;
};

/* Regular files only: a directory, a pipe or a terminal is refused. */
wn_status wni_map_open(struct map *map, const char *path, struct err *err);
void wni_map_release(struct map *map); /* an empty map is fine */

#endif
