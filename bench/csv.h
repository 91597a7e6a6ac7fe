/* csv.h -- comma-separated values as RFC 4180 has them, row by row over a mapped file.
 *
 * Fields may be quoted, and then hold commas, line breaks and doubled quotes; lines end in LF or CRLF; a byte
 * order mark is skipped.  Rows of another length than the header, stray quotes and a quote that never closes
 * are errors with the line they are on.  Fields point into the file: no row is copied unless a doubled quote
 * forces it.
 *
 *     struct csv csv;
 *     st = wni_csv_open(&csv, path, err);                        csv.names[0..n_columns) are the header
 *     while ((st = wni_csv_next(&csv, err)) == WN_OK) ...        csv.fields[0..n_columns)
 *     wni_csv_release(&csv);                                     st is WN_EXHAUSTED at the end of the file
 */
#ifndef WNI_BENCH_CSV_H
#define WNI_BENCH_CSV_H

#include "base/arena.h"
#include "bench/map.h"

enum { CSV_COLUMNS_MAX = 4096 };

struct csv_field {
    const char *text; /* not zero-terminated; valid until the next row */
    size_t length;
};

struct csv {
    struct map map;
    const char *path;
    const char *at, *end; /* what is still to be read */
    size_t line;          /* number of the next line, from 1 */
    size_t row_line;      /* line on which the current row began */
    size_t row;           /* rows read so far, the header not counted */
    size_t n_columns;
    const char **names;
    struct csv_field *fields;
    size_t fields_cap;
    struct arena arena;   /* names and path */
    struct arena scratch; /* fields of the current row that had doubled quotes */
};

wn_status wni_csv_open(struct csv *csv, const char *path, struct err *err);
/* The next row into csv->fields; WN_EXHAUSTED after the last. */
wn_status wni_csv_next(struct csv *csv, struct err *err);
void wni_csv_release(struct csv *csv); /* an empty one is fine */

/* The same over text in memory, which must outlive it; `name` is for messages. */
wn_status wni_csv_open_text(struct csv *csv, const char *name, const char *text, size_t length,
                            struct err *err);

#endif
